// The one sanitiser for everything a model, a tool or a vendor wrote.
import DOMPurify from 'dompurify'

const TAGS = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'li'],
  ...['strong', 'em', 's', 'del', 'code', 'pre', 'a', 'img', 'div', 'span'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
]
const ATTRIBUTES = ['href', 'title', 'src', 'alt', 'start', 'class', 'data-lang']
const CLASSES = /^(md-table|md-math|md-math-block|align-(left|center|right)|hljs-[\w -]+)$/

const purifier = DOMPurify(window)

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.hasAttribute('class') && !CLASSES.test(node.className)) node.removeAttribute('class')
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer nofollow')
  }
})

/** Clean nodes, ready to be put into the page. */
export function sanitise(html: string): DocumentFragment {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#|blob:|data:image\/(?:png|jpeg|gif|webp);)/i,
    // Values that are no addresses and need not look like one.
    ADD_URI_SAFE_ATTR: ['start', 'data-lang'],
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  })
}
