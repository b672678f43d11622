import type { Request } from 'express'
import type { LugarPropuesto } from '../../domain/ubicacion/solicitud.ts'
import { DESCRIPCION_CORTA, IMPRECISA_M, MINIMO_DE_DESCRIPCION, pedirPin } from './precision.ts'

const MAXIMO_DE_BYTES = 8_192
/** Time limit for receiving the body, in milliseconds. A phone with bad coverage needs a while for its 300 bytes. */
const PLAZO = 30_000
const MAXIMO_DE_REFERENCIA = 200
/** Largest `precision_m` in the contract, in metres. A less precise position counts as this value. */
const PEOR_PRECISION = 100_000

const CAMPOS = [
  ...(['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia', 'aproximado', 'cambiar'] as const),
  ...(['seguro', 'accion'] as const),
] as const
type Campo = (typeof CAMPOS)[number]
/** Fields of the posted form, cleaned; empty if not filled in. */
export type Formulario = Record<Campo, string>

/** Fields that the recipient filled in. The form shows them again as they came. */
export type FormValues = Omit<Formulario, 'seguro' | 'accion'>

/** Fault of the form, and the part of the form where the recipient can correct it. */
export interface FieldFault {
  campo: 'lugar' | 'enlace' | 'referencia'
  mensaje: string
}

/** Message shown if the recipient chose no location. */
const FALTA_LUGAR = 'Falta el lugar. Elíjalo aquí abajo.'

/** Error for a body that the page's form does not send, with the status of the response. */
export class ErrorDeFormulario extends Error {
  readonly status: 400 | 408 | 413 | 415
  constructor(status: ErrorDeFormulario['status'], mensaje: string) {
    super(mensaje)
    this.name = 'ErrorDeFormulario'
    this.status = status
  }
}

/**
 * Reads the posted form. Accepts only the form's own fields, each at most once, in well-formed UTF-8. The size limit
 * applies while the body arrives.
 * @throws ErrorDeFormulario
 */
export async function leerFormulario(req: Request): Promise<Formulario> {
  const [tipo = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (tipo.trim() !== 'application/x-www-form-urlencoded') throw new ErrorDeFormulario(415, 'wrong content type')
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') throw new ErrorDeFormulario(415, 'encoded body')
  return descifrar(await recibir(req))
}

function recibir(req: Request): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const trozos: Buffer[] = []
    let recibidos = 0
    const terminar = (error?: ErrorDeFormulario) => {
      clearTimeout(plazo)
      req.removeAllListeners('data')
      if (!error) return resolve(Buffer.concat(trozos))
      req.pause()
      reject(error)
    }
    const plazo = setTimeout(() => terminar(new ErrorDeFormulario(408, 'body too slow')), PLAZO)
    if (Number(req.headers['content-length'] ?? 0) > MAXIMO_DE_BYTES) {
      return terminar(new ErrorDeFormulario(413, 'body too long'))
    }
    req.on('data', (trozo: Buffer) => {
      recibidos += trozo.length
      if (recibidos > MAXIMO_DE_BYTES) terminar(new ErrorDeFormulario(413, 'body too long'))
      else trozos.push(trozo)
    })
    req.once('end', () => terminar())
    req.once('error', () => terminar(new ErrorDeFormulario(400, 'body cut off')))
  })
}

function descifrar(bytes: Buffer): Formulario {
  const formulario = Object.fromEntries(CAMPOS.map((campo) => [campo, ''])) as Formulario
  const vistos = new Set<string>()
  for (const par of bytes.toString('latin1').split('&')) {
    if (par === '') continue
    const igual = par.indexOf('=')
    const campo = decodificar(igual < 0 ? par : par.slice(0, igual))
    if (!esCampo(campo) || vistos.has(campo)) throw new ErrorDeFormulario(400, 'unknown or repeated field')
    vistos.add(campo)
    formulario[campo] = limpiar(igual < 0 ? '' : decodificar(par.slice(igual + 1)))
  }
  return formulario
}

const esCampo = (campo: string): campo is Campo => (CAMPOS as readonly string[]).includes(campo)

/**
 * Decodes a part of the form. Unlike `URLSearchParams`, it rejects malformed text, because browsers always encode
 * correctly.
 * @throws ErrorDeFormulario
 */
function decodificar(texto: string): string {
  try {
    if (/[^\x21-\x7e]/.test(texto)) throw new URIError('missing percent-encoding')
    return decodeURIComponent(texto.replaceAll('+', ' '))
  } catch {
    throw new ErrorDeFormulario(400, 'malformed percent-encoding')
  }
}

/**
 * Puts a text on one line in Unicode normalization form C. Removes invisible characters that could hide or reverse
 * text.
 */
const limpiar = (texto: string) =>
  texto
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .trim()

/**
 * Returns the link within the text that an app shares, which may put the name of the place before the link. A text
 * without a link is returned unchanged.
 */
const soloEnlace = (texto: string) => /(?:https:\/\/|geo:)\S+/i.exec(texto)?.[0] ?? texto

/** Returns the fields that the recipient filled in. */
export const valoresDe = ({ seguro: _seguro, accion: _accion, ...valores }: Formulario): FormValues => valores

const referenciaLarga = (referencia: string) => [...referencia].length > MAXIMO_DE_REFERENCIA

/** Reads a decimal number in plain notation; undefined unless it is between `minimo` and `maximo`. */
function numero(texto: string, minimo: number, maximo: number): number | undefined {
  if (!/^-?\d{1,9}(?:\.\d{1,20})?$/.test(texto)) return undefined
  const valor = Number(texto)
  return valor >= minimo && valor <= maximo ? valor : undefined
}

/**
 * Returns the location that the form gives, or the form's faults. If the form has both a point and a link, `metodo`
 * says which of them the recipient chose last.
 */
export function interpretarFormulario(formulario: Formulario): { lugar?: LugarPropuesto; fallas: FieldFault[] } {
  const { metodo, enlace, referencia } = formulario
  const fallas: FieldFault[] = []
  if (referenciaLarga(referencia)) {
    fallas.push({ campo: 'referencia', mensaje: 'La descripción es muy larga: use 200 letras o menos.' })
  }
  const comun = {
    seguro: formulario.seguro === '1',
    cambiar: formulario.cambiar === '1',
    ...(referencia && { referencia }),
  }
  const dado = (lugar: LugarPropuesto) => (fallas.length > 0 ? { fallas } : { lugar, fallas })
  if (metodo === 'descripcion' || formulario.accion === 'describir') {
    if (referencia.length < MINIMO_DE_DESCRIPCION) fallas.push({ campo: 'referencia', mensaje: DESCRIPCION_CORTA })
    return dado({ ...comun, metodo: 'descripcion' })
  }
  if ((metodo === 'gps' || metodo === 'mapa') && (formulario.lat !== '' || formulario.lng !== '')) {
    const punto = leerPunto(formulario, metodo)
    if ('mensaje' in punto) return { fallas: [{ campo: 'lugar', mensaje: punto.mensaje }] }
    return dado({ ...comun, metodo, ...punto })
  }
  if (enlace === '') fallas.push({ campo: 'lugar', mensaje: FALTA_LUGAR })
  return dado({ ...comun, metodo: 'enlace', enlace: soloEnlace(enlace) })
}

/**
 * Returns the point in the form, or the message about its fault. A phone's position less precise than `IMPRECISA_M`
 * counts only if the recipient says that it is right.
 */
function leerPunto(
  formulario: Formulario,
  metodo: 'gps' | 'mapa',
): { lat: number; lng: number; precision_m?: number } | { mensaje: string } {
  const lat = numero(formulario.lat, -90, 90)
  const lng = numero(formulario.lng, -180, 180)
  if (lat === undefined || lng === undefined) return { mensaje: 'No pudimos leer el lugar. Elíjalo otra vez.' }
  const precision = metodo === 'gps' ? numero(formulario.precision_m, 0, Number.POSITIVE_INFINITY) : undefined
  if (precision === undefined) return { lat, lng }
  const precision_m = Math.min(precision, PEOR_PRECISION)
  if (precision_m > IMPRECISA_M && formulario.aproximado !== '1') return { mensaje: pedirPin(precision_m) }
  return { lat, lng, precision_m }
}
