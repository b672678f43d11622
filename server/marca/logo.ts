import { readFile, stat } from 'node:fs/promises'
import type Sharp from 'sharp'
import { ErrorConfig } from '../config/config.ts'
import { cargarSharp, conSvg } from '../imagenes/sharp.ts'

/** A picture as PNG, which is all that is ever served of what was configured. */
export interface Dibujo {
  png: Uint8Array
  ancho: number
  alto: number
}

/** The logo, drawn anew at start. */
export interface Logo extends Dibujo {
  /** The logo in black, for printers that know nothing else. */
  negro: Dibujo
  /** The logo on white, in the shape that messaging apps show beside a link. */
  vistaPrevia: Dibujo
}

const KB = 512
/** Pixels of the drawn logo: three for each that the largest place for it has. */
const CAJA = { width: 600, height: 144 }
const VISTA_PREVIA = { width: 600, height: 315 }
/** Pixels of what is read: more would only be made smaller. */
const PIXELES = 16_000_000
/** What a logo must have of darkness, from 0 to 255, to be seen on white. */
const BLANQUISIMO = 225
/** What printers of labels take for black, from 0 to 255. */
const OSCURO = 150
/** Milliseconds in which an address must answer. */
const PLAZO = 5_000

const rechazar = (motivo: string) => new ErrorConfig([`BRAND_LOGO: ${motivo}`])

/** An address didn't answer: a restart must not hang on somebody else's server. */
export class SinRespuesta extends Error {}

/**
 * Reads and draws a logo.
 * @param origen a path or an address
 * @throws ErrorConfig for what is no logo, SinRespuesta when the address gives nothing
 */
export async function prepararLogo(origen: string): Promise<Logo> {
  const bytes = /^https?:/.test(origen) ? await bajar(origen) : await leer(origen)
  const tipo = tipoDe(bytes)
  if (!tipo) throw rechazar('el archivo no es SVG ni PNG')
  const logo = await (tipo === 'svg' ? conSvg : conSharp)((sharp) => dibujar(sharp, bytes, tipo)).catch(
    (cause: Error) => {
      throw cause instanceof ErrorConfig ? cause : rechazar('la imagen está dañada o es demasiado grande; haga otra')
    },
  )
  return { ...logo, negro: await ennegrecer(logo), vistaPrevia: await enmarcar(logo.png) }
}

async function leer(ruta: string): Promise<Buffer> {
  const medida = await stat(ruta).catch(() => undefined)
  if (!medida?.isFile()) throw rechazar(`no se encuentra el archivo ${ruta}`)
  if (medida.size > KB * 1024) throw rechazar(`el archivo pasa de ${KB} KB; redúzcalo`)
  return readFile(ruta)
}

async function bajar(url: string): Promise<Buffer> {
  const partes: Uint8Array[] = []
  let bytes = 0
  try {
    const respuesta = await fetch(url, { signal: AbortSignal.timeout(PLAZO) })
    if (!respuesta.ok || !respuesta.body) throw new SinRespuesta(`status ${respuesta.status}`)
    for await (const parte of respuesta.body) {
      partes.push(parte)
      bytes += parte.length
      if (bytes > KB * 1024) throw rechazar(`el archivo pasa de ${KB} KB; redúzcalo`)
    }
  } catch (cause) {
    throw cause instanceof ErrorConfig ? cause : new SinRespuesta('logo', { cause })
  }
  return Buffer.concat(partes)
}

const conSharp = async (hacer: (sharp: typeof Sharp) => Promise<Dibujo>) => hacer(await cargarSharp())

/** By its bytes, whatever it is called. */
function tipoDe(bytes: Buffer): 'png' | 'svg' | undefined {
  if (bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  const inicio = bytes.toString('utf8', 0, 4_096)
  return /^\uFEFF?\s*</.test(inicio) && inicio.includes('<svg') ? 'svg' : undefined
}

/** Drawn anew, an SVG can neither run nor load anything: its drawer is given no address to load from. */
async function dibujar(sharp: typeof Sharp, bytes: Buffer, tipo: 'png' | 'svg'): Promise<Dibujo> {
  const medir = { limitInputPixels: PIXELES, failOn: 'error' } as const
  const { width, height } = await sharp(bytes, medir).metadata()
  // A drawing has no pixels of its own: it is drawn as large as it will be shown.
  const escala = tipo === 'svg' ? Math.min(CAJA.width / width, CAJA.height / height) : 1
  const densidad = Math.min(2_400, Math.max(1, 72 * escala))
  const { data, info } = await sharp(bytes, { ...medir, ...(tipo === 'svg' ? { density: densidad } : {}) })
    .trim({ threshold: 0 })
    .resize({ ...CAJA, fit: 'inside', withoutEnlargement: tipo === 'png' })
    .png({ palette: true, quality: 90, effort: 10 })
    .toBuffer({ resolveWithObject: true })
  if (Math.max(info.width, info.height) < 32) throw rechazar('la imagen mide menos de 32 píxeles; dé una mayor')
  const grises = await sharp(data).flatten({ background: '#ffffff' }).greyscale().raw().toBuffer()
  if (grises.every((gris) => gris > BLANQUISIMO))
    throw rechazar('la imagen es casi blanca y no se vería sobre fondo blanco; dé una oscura')
  return { png: data, ancho: info.width, alto: info.height }
}

/** What is dark becomes black and the rest white; of a logo that is all light, whatever isn't white becomes black. */
async function ennegrecer({ png, ancho, alto }: Dibujo): Promise<Dibujo> {
  const sharp = await cargarSharp()
  const grises = await sharp(png).flatten({ background: '#ffffff' }).greyscale().png().toBuffer()
  const [minimo = 0] = (await sharp(grises).stats()).channels.map(({ min }) => min)
  const negro = sharp(grises).threshold(minimo < OSCURO ? OSCURO : BLANQUISIMO)
  return { png: await negro.toColourspace('b-w').png().toBuffer(), ancho, alto }
}

async function enmarcar(png: Uint8Array): Promise<Dibujo> {
  const sharp = await cargarSharp()
  const { width, height } = VISTA_PREVIA
  const logo = await sharp(png)
    .resize({ width: width - 120, height: height - 120, fit: 'inside', withoutEnlargement: true })
    .toBuffer()
  const vista = await sharp({ create: { ...VISTA_PREVIA, channels: 3, background: '#ffffff' } })
    .composite([{ input: logo }])
    .png({ palette: true })
    .toBuffer()
  return { png: vista, ancho: width, alto: height }
}
