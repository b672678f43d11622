import type { Request } from 'express'

const MAXIMO_DE_BYTES = 8_192
/** How long the body may take to arrive, in milliseconds. A phone with bad coverage needs a while for its 300 bytes. */
const PLAZO = 30_000
const MAXIMO_DE_REFERENCIA = 200

const CAMPOS = ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia', 'seguro', 'accion'] as const
type Campo = (typeof CAMPOS)[number]
export type Envio = Record<Campo, string>

/** What the person filled in, as text: it goes back into the form as it came. */
export type Valores = Omit<Envio, 'seguro' | 'accion'>

/** A body that our form doesn't send, and the status to answer with. */
export class ErrorDeEnvio extends Error {
  readonly status: 400 | 408 | 413 | 415
  constructor(status: ErrorDeEnvio['status'], mensaje: string) {
    super(mensaje)
    this.name = 'ErrorDeEnvio'
    this.status = status
  }
}

/** The posted form: only its own fields, each at most once, well-formed UTF-8, within its limit while it is read. */
export async function leerEnvio(req: Request): Promise<Envio> {
  const [tipo = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (tipo.trim() !== 'application/x-www-form-urlencoded') throw new ErrorDeEnvio(415, 'not a form')
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') throw new ErrorDeEnvio(415, 'compressed')
  return interpretar(await recibir(req))
}

function recibir(req: Request): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const trozos: Buffer[] = []
    let recibidos = 0
    const terminar = (error?: ErrorDeEnvio) => {
      clearTimeout(plazo)
      req.removeAllListeners('data')
      if (!error) return resolve(Buffer.concat(trozos))
      req.pause()
      reject(error)
    }
    const plazo = setTimeout(() => terminar(new ErrorDeEnvio(408, 'too slow')), PLAZO)
    if (Number(req.headers['content-length'] ?? 0) > MAXIMO_DE_BYTES) {
      return terminar(new ErrorDeEnvio(413, 'too long'))
    }
    req.on('data', (trozo: Buffer) => {
      recibidos += trozo.length
      if (recibidos > MAXIMO_DE_BYTES) terminar(new ErrorDeEnvio(413, 'too long'))
      else trozos.push(trozo)
    })
    req.once('end', () => terminar())
    req.once('error', () => terminar(new ErrorDeEnvio(400, 'cut off')))
  })
}

function interpretar(bytes: Buffer): Envio {
  const envio = Object.fromEntries(CAMPOS.map((campo) => [campo, ''])) as Envio
  const vistos = new Set<string>()
  for (const par of bytes.toString('latin1').split('&')) {
    if (par === '') continue
    const igual = par.indexOf('=')
    const campo = decodificar(igual < 0 ? par : par.slice(0, igual))
    if (!esCampo(campo) || vistos.has(campo)) throw new ErrorDeEnvio(400, 'a field that the form does not have')
    vistos.add(campo)
    envio[campo] = limpiar(igual < 0 ? '' : decodificar(par.slice(igual + 1)))
  }
  return envio
}

const esCampo = (campo: string): campo is Campo => (CAMPOS as readonly string[]).includes(campo)

/** Unlike URLSearchParams it forgives nothing: browsers write this right. */
function decodificar(texto: string): string {
  try {
    if (/[^\x21-\x7e]/.test(texto)) throw new URIError('not encoded')
    return decodeURIComponent(texto.replaceAll('+', ' '))
  } catch {
    throw new ErrorDeEnvio(400, 'malformed encoding')
  }
}

/** One line, one Unicode form, nothing invisible that could hide or turn text around. */
const limpiar = (texto: string) =>
  texto
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .trim()

/** Apps share a link with the place's name before it: the link is what counts. */
export const soloEnlace = (texto: string) => /(?:https:\/\/|geo:)\S+/i.exec(texto)?.[0] ?? texto

export const valoresDe = ({ seguro: _seguro, accion: _accion, ...valores }: Envio): Valores => valores

export const referenciaLarga = (referencia: string) => [...referencia].length > MAXIMO_DE_REFERENCIA

/** A decimal number in plain notation, between `minimo` and `maximo`. */
export function numero(texto: string, minimo: number, maximo: number): number | undefined {
  if (!/^-?\d{1,9}(?:\.\d{1,20})?$/.test(texto)) return undefined
  const valor = Number(texto)
  return valor >= minimo && valor <= maximo ? valor : undefined
}
