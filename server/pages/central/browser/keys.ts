// Keyboard shortcuts of the office's pages: search, and rows of a list. Each is a letter without a modifier, so a
// person can turn them all off (WCAG 2.1.4).

const STORED = 'guias.central.teclas'

/** Reports whether the focus is in a text field, where a pressed key types text. */
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('input:not([type=checkbox]), select, textarea, [contenteditable]')

const links = () => [...document.querySelectorAll<HTMLAnchorElement>('.tabla tbody a.codigo')]

/** Moves the focus up or down by some rows, from the focused row. */
function move(by: number): void {
  const all = links()
  const here = all.findIndex((link) => link.closest('tr')!.contains(document.activeElement))
  all[Math.min(Math.max(here + by, 0), all.length - 1)]?.focus()
}

/** Ticks or clears the box of the focused row. */
const tick = () => document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('[name=guia]')?.click()

/** Reads whether the person turned the shortcuts on or off; null if the browser has no stored choice. */
function read(): string | null {
  try {
    return localStorage.getItem(STORED)
  } catch {
    return null
  }
}

/** Stores whether the shortcuts are on. If the browser stores nothing, the choice holds until the page is left. */
function write(choice: 'si' | 'no'): void {
  try {
    localStorage.setItem(STORED, choice)
  } catch {}
}

/** Starts the shortcuts, unless the person turned them off in this browser. */
export function listenToKeys(): void {
  const help = document.querySelector<HTMLDialogElement>('#teclas')
  const opener = document.querySelector<HTMLButtonElement>('#abrir-teclas')
  const using = document.querySelector<HTMLInputElement>('#usar-teclas')
  if (!help || !opener || !using) return
  const keys: Readonly<Record<string, () => void>> = {
    '/': () => document.querySelector<HTMLInputElement>('#q')?.select(),
    j: () => move(1),
    k: () => move(-1),
    x: tick,
    '?': () => help.showModal(),
  }
  using.checked = read() !== 'no'
  using.addEventListener('change', () => write(using.checked ? 'si' : 'no'))
  opener.hidden = false
  opener.addEventListener('click', () => help.showModal())
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, altKey, metaKey, target } = event
    if (!using.checked || ctrlKey || altKey || metaKey || help.open || isTyping(target) || !keys[key]) return
    event.preventDefault()
    keys[key]()
  })
}
