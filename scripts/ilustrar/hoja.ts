import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import sharp from 'sharp'

/** Views in which each page is drawn; images are cut at two screens of height. Widths in pixels. */
const VISTAS = [
  { vista: '360-claro', width: 360, colorScheme: 'light', letra: '' },
  { vista: '360-oscuro', width: 360, colorScheme: 'dark', letra: '' },
  { vista: '360-letra-200', width: 360, colorScheme: 'light', letra: '200%' },
  { vista: '1440-claro', width: 1_440, colorScheme: 'light', letra: '' },
  { vista: '1440-oscuro', width: 1_440, colorScheme: 'dark', letra: '' },
] as const
const PANTALLA = 740
const ALTO = 2 * PANTALLA
const MARGEN = 24
/**
 * Maximum width of an image on a sheet, in pixels. Wider images are scaled down on the sheet, and kept unscaled in
 * files of their own.
 */
const ANCHO_EN_HOJA = 720

/** Screenshot of a page's state, with the name of its view. */
interface Retrato {
  vista: string
  imagen: Buffer
}

interface PortraitOptions {
  /** True for a page that chooses light or dark only when it loads. */
  recargar?: boolean
}

/** Sheet of images in rows, one row per state. */
export class Hoja {
  readonly #filas: { nombre: string; retratos: Retrato[] }[] = []

  /** Adds a row with a page's current state in all views. */
  async retratar(nombre: string, pagina: Page, { recargar = false }: PortraitOptions = {}): Promise<void> {
    const retratos: Retrato[] = []
    for (const { vista, width, colorScheme, letra } of VISTAS) {
      await pagina.setViewportSize({ width, height: PANTALLA })
      await pagina.emulateMedia({ colorScheme })
      if (recargar) await pagina.reload({ waitUntil: 'networkidle' })
      await agrandar(pagina, letra)
      // A page as high as the documentation is cut before it is drawn.
      const height = Math.min(ALTO, await alturaDe(pagina))
      const clip = { x: 0, y: 0, width, height }
      retratos.push({ vista, imagen: await pagina.screenshot({ fullPage: true, clip, scale: 'css' }) })
    }
    await agrandar(pagina, '')
    await pagina.setViewportSize({ width: VISTAS[0].width, height: PANTALLA })
    await pagina.emulateMedia({ colorScheme: 'light' })
    this.#filas.push({ nombre, retratos })
  }

  /** Adds a row with existing images. */
  agregar(nombre: string, imagenes: Buffer[]): void {
    this.#filas.push({ nombre, retratos: imagenes.map((imagen, i) => ({ vista: String(i + 1), imagen })) })
  }

  /** Writes the sheet, and each image into a folder with the name of the sheet. */
  async guardar(carpeta: string, hoja: string): Promise<void> {
    const suya = join(carpeta, hoja)
    await mkdir(suya, { recursive: true })
    for (const { nombre, retratos } of this.#filas)
      for (const { vista, imagen } of retratos) await writeFile(join(suya, `${enArchivo(nombre)}-${vista}.png`), imagen)
    const filas = this.#filas.map(({ nombre, retratos }) => ({
      nombre,
      imagenes: retratos.map(({ imagen }) => imagen),
    }))
    await writeFile(`${suya}.png`, await enFilas(filas))
    console.log(`${suya}.png`)
  }
}

/** Returns a name as part of a file's name. */
const enArchivo = (nombre: string) =>
  nombre
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'raiz'

/** Returns a sheet with rows of images, each row below its name. */
export async function enFilas(filas: readonly { nombre: string; imagenes: readonly Buffer[] }[]): Promise<Buffer> {
  const capas = []
  let [ancho, alto] = [1_300, MARGEN]
  for (const { nombre, imagenes } of filas) {
    const titulo = `<svg width="1200" height="40"><text x="0" y="28" font-family="sans-serif" font-size="26" fill="white">${nombre}</text></svg>`
    capas.push({ input: Buffer.from(titulo), left: MARGEN, top: alto })
    alto += 48
    let [left, fila] = [MARGEN, 0]
    for (const imagen of imagenes) {
      const { data, info } = await sharp(imagen)
        .resize({ width: ANCHO_EN_HOJA, withoutEnlargement: true })
        .png()
        .toBuffer({ resolveWithObject: true })
      capas.push({ input: data, left, top: alto })
      left += info.width + MARGEN
      fila = Math.max(fila, info.height)
    }
    ancho = Math.max(ancho, left)
    alto += fila + MARGEN
  }
  const create = { width: ancho, height: alto, channels: 3 as const, background: '#64748b' }
  return sharp({ create }).composite(capas).png({ palette: true, colours: 128 }).toBuffer()
}

/** Evaluates in a page by the DevTools protocol: the page's Content Security Policy forbids Playwright's scripts. */
async function evaluar(pagina: Page, expression: string): Promise<unknown> {
  const sesion = await pagina.context().newCDPSession(pagina)
  const { result } = await sesion.send('Runtime.evaluate', { expression })
  await sesion.detach()
  return result.value
}

/** Sets the font size of a page. */
const agrandar = (pagina: Page, letra: string) =>
  evaluar(pagina, `document.documentElement.style.fontSize = ${JSON.stringify(letra)}`)

const alturaDe = async (pagina: Page) =>
  Number(await evaluar(pagina, 'Math.max(innerHeight, document.documentElement.scrollHeight)'))
