import { readFile, stat } from 'node:fs/promises'
import type Sharp from 'sharp'
import { ConfigError } from '../config/config.ts'
import { loadSharp, withSvg } from '../images/sharp.ts'

/** PNG image. The service only serves redrawn PNG images, and never the configured file itself. */
export interface Drawing {
  png: Uint8Array
  ancho: number
  alto: number
}

/** Logo, redrawn at start. */
export interface Logo extends Drawing {
  /** Logo in black, for printers that print only black. */
  black: Drawing
  /** Logo on white, in the proportions of the previews that messaging apps show beside a link. */
  preview: Drawing
}

const KB = 512
/** Maximum size of the redrawn logo in pixels: three times the largest size at which it is shown. */
const LOGO_BOX = { width: 600, height: 144 }
const PREVIEW_BOX = { width: 600, height: 315 }
/** Maximum number of pixels of the configured image. A larger image would only be reduced. */
const MAX_PIXELS = 16_000_000
/** Grey level, from 0 to 255, above which a pixel cannot be seen on white. A logo needs at least one darker pixel. */
const VISIBLE_GREY = 225
/** Grey level, from 0 to 255, below which label printers print black. */
const DARK_GREY = 150
/** Time limit of the download of a logo, in milliseconds. */
const DOWNLOAD_DEADLINE_MS = 5_000

const logoError = (motivo: string) => new ConfigError([`BRAND_LOGO: ${motivo}`])

/**
 * Error for a URL that does not return a logo. It does not prevent the start, because a restart must not depend on
 * another server.
 */
export class LogoUnavailable extends Error {}

/**
 * Reads and redraws a logo.
 * @param origin path of a file, or URL
 * @throws ConfigError if the content is not a usable logo
 * @throws LogoUnavailable if the URL returns no content
 */
export async function prepareLogo(origin: string): Promise<Logo> {
  const bytes = /^https?:/.test(origin) ? await download(origin) : await read(origin)
  const type = typeOf(bytes)
  if (!type) throw logoError('el archivo no es SVG ni PNG')
  const logo = await (type === 'svg' ? withSvg : withSharp)((sharp) => drawLogo(sharp, bytes, type)).catch(
    (cause: Error) => {
      throw cause instanceof ConfigError ? cause : logoError('la imagen está dañada o es demasiado grande; haga otra')
    },
  )
  return { ...logo, black: await blacken(logo), preview: await frame(logo.png) }
}

async function read(path: string): Promise<Buffer> {
  const fileStat = await stat(path).catch(() => undefined)
  if (!fileStat?.isFile()) throw logoError(`no se encuentra el archivo ${path}`)
  if (fileStat.size > KB * 1024) throw logoError(`el archivo pasa de ${KB} KB; redúzcalo`)
  return readFile(path)
}

async function download(url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_DEADLINE_MS) })
    if (!response.ok || !response.body) throw new LogoUnavailable(`logo: HTTP status ${response.status}`)
    for await (const part of response.body) {
      chunks.push(part)
      bytes += part.length
      if (bytes > KB * 1024) throw logoError(`el archivo pasa de ${KB} KB; redúzcalo`)
    }
  } catch (cause) {
    throw cause instanceof ConfigError ? cause : new LogoUnavailable('logo download failed', { cause })
  }
  return Buffer.concat(chunks)
}

const withSharp = async (draw: (sharp: typeof Sharp) => Promise<Drawing>) => draw(await loadSharp())

/** Detects the type of an image by its bytes and not by its name; undefined for all other types. */
function typeOf(bytes: Buffer): 'png' | 'svg' | undefined {
  if (bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  const head = bytes.toString('utf8', 0, 4_096)
  return /^\uFEFF?\s*</.test(head) && head.includes('<svg') ? 'svg' : undefined
}

/**
 * Redraws an image as PNG. A redrawn SVG can neither run scripts nor load resources, because the renderer gets no base
 * address.
 */
async function drawLogo(sharp: typeof Sharp, bytes: Buffer, type: 'png' | 'svg'): Promise<Drawing> {
  const sharpOptions = { limitInputPixels: MAX_PIXELS, failOn: 'error' } as const
  const { width, height } = await sharp(bytes, sharpOptions).metadata()
  // An SVG has no pixels of its own, so it is drawn as large as it will be shown.
  const scale = type === 'svg' ? Math.min(LOGO_BOX.width / width, LOGO_BOX.height / height) : 1
  const density = Math.min(2_400, Math.max(1, 72 * scale))
  const { data, info } = await sharp(bytes, { ...sharpOptions, ...(type === 'svg' ? { density } : {}) })
    .trim({ threshold: 0 })
    .resize({ ...LOGO_BOX, fit: 'inside', withoutEnlargement: type === 'png' })
    .png({ palette: true, quality: 90, effort: 10 })
    .toBuffer({ resolveWithObject: true })
  if (Math.max(info.width, info.height) < 32) throw logoError('la imagen mide menos de 32 píxeles; dé una mayor')
  const greys = await sharp(data).flatten({ background: '#ffffff' }).greyscale().raw().toBuffer()
  if (greys.every((grey) => grey > VISIBLE_GREY))
    throw logoError('la imagen es casi blanca y no se vería sobre fondo blanco; dé una oscura')
  return { png: data, ancho: info.width, alto: info.height }
}

/**
 * Converts a logo to black and white: dark pixels become black, all others white. In a logo without dark pixels, every
 * pixel that is not white becomes black.
 */
async function blacken({ png, ancho, alto }: Drawing): Promise<Drawing> {
  const sharp = await loadSharp()
  const greys = await sharp(png).flatten({ background: '#ffffff' }).greyscale().png().toBuffer()
  const [minimum = 0] = (await sharp(greys).stats()).channels.map(({ min }) => min)
  const monochrome = sharp(greys).threshold(minimum < DARK_GREY ? DARK_GREY : VISIBLE_GREY)
  return { png: await monochrome.toColourspace('b-w').png().toBuffer(), ancho, alto }
}

async function frame(png: Uint8Array): Promise<Drawing> {
  const sharp = await loadSharp()
  const { width, height } = PREVIEW_BOX
  const logo = await sharp(png)
    .resize({ width: width - 120, height: height - 120, fit: 'inside', withoutEnlargement: true })
    .toBuffer()
  const preview = await sharp({ create: { ...PREVIEW_BOX, channels: 3, background: '#ffffff' } })
    .composite([{ input: logo }])
    .png({ palette: true })
    .toBuffer()
  return { png: preview, ancho: width, alto: height }
}
