import type { Request } from 'express'

const MAXIMO_DE_BYTES = 8_192
/** Time limit for receiving the body, in milliseconds. A phone with bad coverage needs a while for its 300 bytes. */
const PLAZO = 30_000

/** Error for a body that the page's form does not send, with the status of the response. */
export class FormError extends Error {
  readonly status: 400 | 408 | 413 | 415
  constructor(status: FormError['status'], mensaje: string) {
    super(mensaje)
    this.name = 'FormError'
    this.status = status
  }
}

/**
 * Reads a posted form; fields that it lacks are empty. Accepts only the form's own fields, each at most once, in
 * well-formed UTF-8. The size limit applies while the body arrives.
 * @throws FormError
 */
export async function readForm<Campo extends string>(
  req: Request,
  campos: readonly Campo[],
): Promise<Record<Campo, string>> {
  const [tipo = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (tipo.trim() !== 'application/x-www-form-urlencoded') throw new FormError(415, 'wrong content type')
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') throw new FormError(415, 'encoded body')
  return descifrar(await recibir(req), campos)
}

function recibir(req: Request): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const trozos: Buffer[] = []
    let recibidos = 0
    const terminar = (error?: FormError) => {
      clearTimeout(plazo)
      req.removeAllListeners('data')
      if (!error) return resolve(Buffer.concat(trozos))
      req.pause()
      reject(error)
    }
    const plazo = setTimeout(() => terminar(new FormError(408, 'body too slow')), PLAZO)
    if (Number(req.headers['content-length'] ?? 0) > MAXIMO_DE_BYTES) {
      return terminar(new FormError(413, 'body too long'))
    }
    req.on('data', (trozo: Buffer) => {
      recibidos += trozo.length
      if (recibidos > MAXIMO_DE_BYTES) terminar(new FormError(413, 'body too long'))
      else trozos.push(trozo)
    })
    req.once('end', () => terminar())
    req.once('error', () => terminar(new FormError(400, 'body cut off')))
  })
}

function descifrar<Campo extends string>(bytes: Buffer, campos: readonly Campo[]): Record<Campo, string> {
  const formulario = Object.fromEntries(campos.map((campo) => [campo, ''])) as Record<Campo, string>
  const esCampo = (campo: string): campo is Campo => (campos as readonly string[]).includes(campo)
  const vistos = new Set<string>()
  for (const par of bytes.toString('latin1').split('&')) {
    if (par === '') continue
    const igual = par.indexOf('=')
    const campo = decodificar(igual < 0 ? par : par.slice(0, igual))
    if (!esCampo(campo) || vistos.has(campo)) throw new FormError(400, 'unknown or repeated field')
    vistos.add(campo)
    formulario[campo] = limpiar(igual < 0 ? '' : decodificar(par.slice(igual + 1)))
  }
  return formulario
}

/**
 * Decodes a part of the form. Unlike `URLSearchParams`, it rejects malformed text, because browsers always encode
 * correctly.
 * @throws FormError
 */
function decodificar(texto: string): string {
  try {
    if (/[^\x21-\x7e]/.test(texto)) throw new URIError('missing percent-encoding')
    return decodeURIComponent(texto.replaceAll('+', ' '))
  } catch {
    throw new FormError(400, 'malformed percent-encoding')
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
