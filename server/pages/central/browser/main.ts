// Script of the office's pages. The pages also work without it. The script copies secrets, ticks all boxes of a list,
// and handles keyboard shortcuts. It sends a form for many guides in slices and shows the progress, and keeps the page
// up to date.
import { listenToKeys } from './keys.ts'
import { keepLive } from './live.ts'

for (const place of document.querySelectorAll<HTMLElement>('[data-copia]')) {
  const secret = document.getElementById(place.dataset.copia ?? '')
  const told = place.querySelector('[role="status"]')
  if (!secret || !told || !navigator.clipboard) continue
  place.hidden = false
  place.querySelector('button')?.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(secret.textContent ?? '')
      told.textContent = 'Copiado.'
    } catch {
      told.textContent = 'El navegador no dejó copiarlo. Selecciónelo y cópielo.'
    }
  })
}

/** Makes the box «all» tick or clear the other boxes of a form. */
function tickTogether(form: HTMLFormElement): void {
  const all = form.querySelector<HTMLInputElement>('[name=todas]')!
  const boxes = [...form.querySelectorAll<HTMLInputElement>('[name=guia]')]
  form.addEventListener('change', ({ target }) => {
    if (target === all) for (const box of boxes) box.checked = all.checked
    all.checked = boxes.every(({ checked }) => checked)
  })
  // The ticked boxes are sent one by one, so the box «all» is not sent.
  form.addEventListener('submit', () => {
    all.disabled = true
    setTimeout(() => {
      all.disabled = false
    })
  })
}

for (const form of document.querySelectorAll<HTMLFormElement>('form.varias')) tickTogether(form)

/** Form for many guides, and the element that shows its progress. */
class Progress {
  readonly #form: HTMLFormElement
  readonly #part = document.getElementById('avance')!
  readonly #bar = this.#part.querySelector('progress')!
  readonly #said = this.#part.querySelector('[role=status]')!
  readonly #button = this.#part.querySelector('button')!
  readonly #refused = this.#part.querySelector('ul')!
  readonly #total: number
  #left: string[]
  #done = 0
  #running = false

  constructor(form: HTMLFormElement) {
    this.#form = form
    this.#left = new FormData(form).getAll('guia').map(String)
    this.#total = this.#left.length
    this.#button.addEventListener('click', () => {
      if (this.#running) this.#running = false
      else void this.run()
    })
  }

  get #size(): number {
    return Number(this.#form.dataset.tanda)
  }

  /** True if the form has more guides than one request takes. */
  get isLong(): boolean {
    return this.#total > this.#size
  }

  async run(): Promise<void> {
    this.#form.hidden = true
    this.#part.hidden = false
    document.getElementById('avance-titulo')!.focus()
    this.#running = true
    this.#button.textContent = 'Detener'
    while (this.#running && this.#left.length > 0) {
      this.#say(`Van ${this.#total - this.#left.length} de ${this.#total}.`)
      const trouble = await this.#sendSlice()
      if (trouble) {
        this.#running = false
        this.#button.textContent = 'Seguir'
        return this.#say(trouble)
      }
    }
    this.#button.textContent = 'Seguir'
    this.#button.hidden = this.#left.length === 0
    const refused = this.#refused.childElementCount
    const whole = this.#left.length > 0 ? `Se detuvo: faltan ${this.#left.length}. ` : 'Listo. '
    this.#say(`${whole}Se hizo en ${this.#done}${refused > 0 ? `, y en ${refused} no se pudo` : ''}.`)
    this.#running = false
  }

  #say(text: string): void {
    this.#said.textContent = text
    this.#bar.value = this.#total - this.#left.length
  }

  /**
   * Sends one slice of the guides. If the answer is lost, sends the slice again: each guide has the same idempotency
   * key as before.
   */
  async #sendSlice(): Promise<string | undefined> {
    const slice = this.#left.slice(0, this.#size)
    const body = new URLSearchParams()
    for (const [name, value] of new FormData(this.#form)) if (name !== 'guia') body.append(name, String(value))
    for (const guia of slice) body.append('guia', guia)
    try {
      const answer = await fetch(this.#form.action, { method: 'POST', body })
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const done = page.getElementById('hechas')?.dataset.hechas
      if (done === undefined) return 'La página ya no contesta. Entre otra vez, y repita lo que falta.'
      this.#done += Number(done)
      this.#refused.append(...page.querySelectorAll('#negadas > li'))
      this.#left = this.#left.slice(slice.length)
      return undefined
    } catch {
      return `Se cortó la conexión: faltan ${this.#left.length}. Lo que ya se hizo no se repite.`
    }
  }
}

const form = document.querySelector<HTMLFormElement>('form#varias')
if (form) {
  const progress = new Progress(form)
  form.addEventListener('submit', (event) => {
    if (!progress.isLong) return
    event.preventDefault()
    void progress.run()
  })
}

listenToKeys()

const live = document.getElementById('vivo')
if (live && 'EventSource' in window) keepLive(live)
