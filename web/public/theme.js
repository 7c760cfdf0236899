// Runs before the first paint, so that a dark page never flashes white. A file of its own because
// the page's policy allows no inline script.
;(function () {
  function read() {
    try {
      return localStorage.getItem('silu.theme')
    } catch {
      return null
    }
  }
  var kept = read()
  var dark = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
})()
