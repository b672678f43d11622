// Script of the first page. It remembers the codes that people searched on this phone, and forgets them on request. The
// codes stay in the browser's own storage.
import { inGroups, normalizeGuideCode } from '../../../platform/codes/guideCode.ts'

const STORED = 'buscados'
const MAX_CODES = 4

const form = document.querySelector<HTMLFormElement>('form.buscador')!
const part = document.getElementById('buscados')!
const list = part.querySelector('ul')!

/** Returns the stored codes, newest first. Skips anything else in the storage. */
function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]')
    if (!Array.isArray(stored)) return []
    return stored.filter((one) => typeof one === 'string' && normalizeGuideCode(one) === one).slice(0, MAX_CODES)
  } catch {
    return [] // private windows may have no storage
  }
}

function write(codes: readonly string[]): void {
  try {
    if (codes.length > 0) localStorage.setItem(STORED, JSON.stringify(codes))
    else localStorage.removeItem(STORED)
  } catch {}
}

function show(): void {
  const codes = read()
  part.hidden = codes.length === 0
  list.replaceChildren(
    ...codes.map((code) => {
      const [entry, link] = [document.createElement('li'), document.createElement('a')]
      link.href = `${form.getAttribute('action')}/${code}`
      link.className = 'boton codigo'
      link.textContent = inGroups(code)
      entry.append(link)
      return entry
    }),
  )
}

form.addEventListener('submit', () => {
  const code = normalizeGuideCode(form.querySelector('input')!.value)
  if (code) write([code, ...read().filter((one) => one !== code)].slice(0, MAX_CODES))
})
part.querySelector('button')!.addEventListener('click', () => {
  write([])
  show()
  form.querySelector('input')!.focus()
})
// When a person comes back to a page, browsers may show its old state, so the list is drawn again.
addEventListener('pageshow', show)
show()
