import type { Locator, Page } from 'playwright-core'

/** What a job took. */
export interface Cuenta {
  toques: number
  lecturas: number
  segundos: number
  /** How many pixels the page was scrolled to reach what was touched; what it scrolls by itself is not counted. */
  pixeles: number
}

type Caja = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>

/** One hand before a page: it scrolls and touches as on a phone, and what it does is counted. */
export class Mano {
  readonly #pagina: Page
  readonly #desde = performance.now()
  #toques = 0
  #lecturas = 0
  #pixeles = 0
  constructor(pagina: Page) {
    this.#pagina = pagina
  }

  /** Touches that, in its middle unless told where, once it is in sight. */
  async tocar(que: Locator, donde?: { x: number; y: number }): Promise<void> {
    const { x, y, width, height } = await this.#acercar(que)
    this.#toques++
    await this.#pagina.touchscreen.tap(x + (donde?.x ?? width / 2), y + (donde?.y ?? height / 2))
  }

  /** Touches what opens the camera, and takes that picture. */
  async fotografiar(entrada: Locator, foto: string): Promise<void> {
    await this.#acercar(entrada.locator('xpath=..'))
    this.#toques++
    await entrada.setInputFiles(foto)
  }

  /** Lets the camera read a label; the phone is held, not touched. */
  async leer(entrada: Locator, buffer: Buffer): Promise<void> {
    this.#lecturas++
    await entrada.setInputFiles({ name: 'etiqueta.png', mimeType: 'image/png', buffer })
  }

  /** Draws with a finger, which is one touch. */
  async trazar(lienzo: Locator, dibujar: () => Promise<void>): Promise<void> {
    await this.#acercar(lienzo)
    this.#toques++
    await dibujar()
  }

  cuenta(): Cuenta {
    const segundos = (performance.now() - this.#desde) / 1_000
    return { toques: this.#toques, lecturas: this.#lecturas, segundos, pixeles: Math.round(this.#pixeles) }
  }

  /** Where that is in the window, which it is scrolled into if it isn't whole in sight. */
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

  /** Where that is once it has come to rest. */
  async #quieta(que: Locator): Promise<Caja> {
    for (let antes = await que.boundingBox(); ; ) {
      await new Promise((listo) => setTimeout(listo, 30))
      const ahora = await que.boundingBox()
      if (ahora && antes && ahora.y === antes.y && ahora.height === antes.height) return ahora
      antes = ahora
    }
  }

  /** Not Playwright's `evaluate()`, which the page's policy would report as an eval. */
  async #altura(): Promise<number> {
    const sesion = await this.#pagina.context().newCDPSession(this.#pagina)
    const { result } = await sesion.send('Runtime.evaluate', { expression: 'scrollY' })
    await sesion.detach()
    return result.value as number
  }
}
