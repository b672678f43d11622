import type { Request } from 'express'
import { messagePage } from './frame.ts'
import { html } from './html.ts'

const MAXIMO_DE_BYTES = 8_192
/** Time limit for receiving the body, in milliseconds. A phone with bad coverage needs a while for its 300 bytes. */
const PLAZO = 30_000

/**
 * Headers of pages whose forms only the page itself may send. With `no-referrer`, browsers would send `Origin: null`,
 * and the form would look as if it came from another site.
 */
export const FORM_REFERRER = { 'Referrer-Policy': 'same-origin' } as const

/** Page shown if another site sent the form. */
export const FOREIGN_FORM = messagePage(
  'Abra la página otra vez',
  html`Por seguridad, esto solo se hace desde la página misma. Ábrala en su navegador y repita.`,
)

/** Error for a body that the page's form cannot have sent, with the HTTP status of the response. */
export class FormError extends Error {
  readonly status: 400 | 408 | 413 | 415
  constructor(status: FormError['status'], mensaje: string) {
    super(mensaje)
    this.name = 'FormError'
    this.status = status
  }
}

/**
 * Reads a posted form; fields that it lacks are empty. Accepts only the form's own fields, in well-formed UTF-8. The size
 * limit applies while the body arrives.
 * @param campos fields that the form has at most once
 * @param listas fields that the form may repeat, such as ticked boxes
 * @throws FormError
 */
export async function readForm<Campo extends string, Lista extends string = never>(
  req: Request,
  campos: readonly Campo[],
  listas: readonly Lista[] = [],
): Promise<Record<Campo, string> & Record<Lista, string[]>> {
  const [tipo = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (tipo.trim() !== 'application/x-www-form-urlencoded') throw new FormError(415, 'wrong content type')
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') throw new FormError(415, 'encoded body')
  return descifrar(await recibir(req), campos, listas)
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

function descifrar<Campo extends string, Lista extends string>(
  bytes: Buffer,
  campos: readonly Campo[],
  listas: readonly Lista[],
): Record<Campo, string> & Record<Lista, string[]> {
  const valores = new Map<string, string[]>()
  for (const par of bytes.toString('latin1').split('&')) {
    if (par === '') continue
    const igual = par.indexOf('=')
    const campo = decodificar(igual < 0 ? par : par.slice(0, igual))
    const repetible = (listas as readonly string[]).includes(campo)
    if (!repetible && (valores.has(campo) || !(campos as readonly string[]).includes(campo)))
      throw new FormError(400, 'unknown or repeated field')
    valores.set(campo, [...(valores.get(campo) ?? []), limpiar(igual < 0 ? '' : decodificar(par.slice(igual + 1)))])
  }
  const unicos = campos.map((campo) => [campo, valores.get(campo)?.[0] ?? ''] as const)
  return Object.fromEntries([...unicos, ...listas.map((lista) => [lista, valores.get(lista) ?? []] as const)]) as never
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
