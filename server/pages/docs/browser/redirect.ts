// Script in the head of the reading view, which runs before the page is painted. Chapters had their place there once:
// their addresses, `#section/lotes/que-hacer` and `#error-validacion`, lead to the chapters' own pages.

/** True if the reader follows an address. A page that is loaded again stays where it was. */
let isFollowed = performance.getEntriesByType('navigation').every((entry) => {
  const { type } = entry as PerformanceNavigationTiming
  return type === 'navigate'
})

function redirect() {
  const [, chapter, part] = /^#\/?section\/([\w-]+)(?:[/#]([\w.-]+))?$/.exec(decodeURI(location.hash)) ?? []
  const [error] = /^#error-\w+$/.exec(location.hash) ?? []
  if (error) location.replace(`docs/errores${error}`)
  else if (chapter && isFollowed) location.replace(`docs/${chapter}${part ? `#${part}` : ''}`)
  isFollowed = true
}

addEventListener('hashchange', redirect)
redirect()
