// Colours for code. The highlighter and each language are loaded when code in it is first seen.
import type { HLJSApi, LanguageFn } from 'highlight.js'

type Loader = () => Promise<LanguageFn>

const LOADERS = import.meta.glob<LanguageFn>(
  '../../node_modules/highlight.js/lib/languages/{bash,c,clojure,cmake,cpp,csharp,css,dart,diff,dockerfile,elixir,erlang,go,graphql,haskell,http,ini,java,javascript,json,julia,kotlin,latex,less,lisp,lua,makefile,markdown,matlab,nginx,nix,objectivec,ocaml,perl,pgsql,php,powershell,properties,protobuf,python,r,ruby,rust,scala,scss,shell,sql,swift,typescript,vim,wasm,xml,yaml}.js',
  { import: 'default' },
)
const BY_NAME = new Map<string, Loader>(
  Object.entries(LOADERS).map(([path, load]) => [path.replace(/^.*\/(\w+)\.js$/, '$1'), load]),
)

const ALIASES: Record<string, string> = {
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  py: 'python',
  sh: 'bash',
  zsh: 'bash',
  console: 'shell',
  html: 'xml',
  svg: 'xml',
  vue: 'xml',
  yml: 'yaml',
  toml: 'ini',
  'c++': 'cpp',
  'c#': 'csharp',
  cs: 'csharp',
  rs: 'rust',
  rb: 'ruby',
  kt: 'kotlin',
  golang: 'go',
  md: 'markdown',
  jsonc: 'json',
  docker: 'dockerfile',
  make: 'makefile',
  ps1: 'powershell',
  postgresql: 'pgsql',
  tex: 'latex',
  proto: 'protobuf',
  objc: 'objectivec',
  patch: 'diff',
}

/** Longer code stays plain: colouring it would hold up the page. */
const MOST_CHARS = 40_000

let core: Promise<HLJSApi> | null = null

/** The code as HTML with classes; null where the language is unknown or the code too long. */
export async function highlighted(code: string, language: string): Promise<string | null> {
  const name = ALIASES[language.toLowerCase()] ?? language.toLowerCase()
  const load = BY_NAME.get(name)
  if (!load || code.length > MOST_CHARS) return null
  core ??= import('highlight.js/lib/core').then((module) => module.default)
  const [api, grammar] = await Promise.all([core, load()])
  if (!api.getLanguage(name)) api.registerLanguage(name, grammar)
  return api.highlight(code, { language: name, ignoreIllegals: true }).value
}
