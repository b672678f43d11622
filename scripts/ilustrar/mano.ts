import type { Locator, Page } from 'playwright-core'

/** Effort of a task: taps, scans of labels, seconds and pixels. */
export interface Cuenta {
  toques: number
  lecturas: number
  segundos: number
  /** Pixels that the user scrolled to reach the touched elements; automatic scrolling does not count. */
  pixeles: number
}

type Caja = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>

/** Simulated user of a page on a phone, who scrolls and taps. Counts these actions. */
export class Mano {
  readonly #pagina: Page
  readonly #desde = performance.now()
  #toques = 0
  #lecturas = 0
  #pixeles = 0
  constructor(pagina: Page) {
    this.#pagina = pagina
  }

  /** Scrolls an element into view and taps it, in its middle unless `donde` gives a point. */
  async tocar(que: Locator, donde?: { x: number; y: number }): Promise<void> {
    const { x, y, width, height } = await this.#acercar(que)
    this.#toques++
    await this.#pagina.touchscreen.tap(x + (donde?.x ?? width / 2), y + (donde?.y ?? height / 2))
  }

  /** Taps the input that opens the camera, and takes a photo. */
  async fotografiar(entrada: Locator, foto: string): Promise<void> {
    await this.#acercar(entrada.locator('xpath=..'))
    this.#toques++
    await entrada.setInputFiles(foto)
  }

  /** Scans a label with the camera, which needs no tap. */
  async leer(entrada: Locator, buffer: Buffer): Promise<void> {
    this.#lecturas++
    await entrada.setInputFiles({ name: 'etiqueta.png', mimeType: 'image/png', buffer })
  }

  /** Draws on a canvas with a finger, which counts as one tap. */
  async trazar(lienzo: Locator, dibujar: () => Promise<void>): Promise<void> {
    await this.#acercar(lienzo)
    this.#toques++
    await dibujar()
  }

  cuenta(): Cuenta {
    const segundos = (performance.now() - this.#desde) / 1_000
    return { toques: this.#toques, lecturas: this.#lecturas, segundos, pixeles: Math.round(this.#pixeles) }
  }

  /** Returns the position of an element in the window, after scrolling if the element is not fully visible. */
  async #acercar(que: Locator): Promise<Caja> {
    await que.waitFor()
    const caja = await this.#quieta(que)
    const { height } = this.#pagina.viewportSize()!
    const barra = this.#pagina.locator('.barra')
    const tapa = (await barra.isVisible()) && (await barra.filter({ has: que }).count()) === 0
    const fin = tapa ? (await barra.boundingBox())!.y : height
    if (caja.y >= 0 && caja.y + caja.height <= fin) return caja
    const antes = await this.#altura()
    await this.#pagina.mouse.wheel(0, caja.y + caja.height / 2 - fin / 2)
    const despues = await this.#quieta(que)
    this.#pixeles += Math.abs((await this.#altura()) - antes)
    return despues
  }

  /** Waits until an element stops moving, and returns its position. */
  async #quieta(que: Locator): Promise<Caja> {
    for (let antes = await que.boundingBox(); ; ) {
      await new Promise((listo) => setTimeout(listo, 30))
      const ahora = await que.boundingBox()
      if (ahora && antes && ahora.y === antes.y && ahora.height === antes.height) return ahora
      antes = ahora
    }
  }

  /**
   * Returns the scroll position. Avoids Playwright's `evaluate()`, which the page's Content Security Policy would
   * report as an eval.
   */
  async #altura(): Promise<number> {
    const sesion = await this.#pagina.context().newCDPSession(this.#pagina)
    const { result } = await sesion.send('Runtime.evaluate', { expression: 'scrollY' })
    await sesion.detach()
    return result.value as number
  }
}
