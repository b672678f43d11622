import type { Request } from 'express'
import { html } from '../platform/html.ts'
import { messagePage } from './frame.ts'

const MAX_BODY_BYTES = 8_192
/** Time limit for receiving the body, in milliseconds. A phone with bad coverage needs a while for its 300 bytes. */
const READ_DEADLINE_MS = 30_000

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
 * @param fields fields that the form has at most once
 * @param listFields fields that the form may repeat, such as ticked boxes
 * @throws FormError
 */
export async function readForm<Field extends string, ListField extends string = never>(
  req: Request,
  fields: readonly Field[],
  listFields: readonly ListField[] = [],
): Promise<Record<Field, string> & Record<ListField, string[]>> {
  const [type = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (type.trim() !== 'application/x-www-form-urlencoded') throw new FormError(415, 'wrong content type')
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') throw new FormError(415, 'encoded body')
  return parseForm(await receiveBody(req), fields, listFields)
}

function receiveBody(req: Request): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let receivedBytes = 0
    const finish = (error?: FormError) => {
      clearTimeout(deadlineTimer)
      req.removeAllListeners('data')
      if (!error) return resolve(Buffer.concat(chunks))
      req.pause()
      reject(error)
    }
    const deadlineTimer = setTimeout(() => finish(new FormError(408, 'body too slow')), READ_DEADLINE_MS)
    if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
      return finish(new FormError(413, 'body too long'))
    }
    req.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length
      if (receivedBytes > MAX_BODY_BYTES) finish(new FormError(413, 'body too long'))
      else chunks.push(chunk)
    })
    req.once('end', () => finish())
    req.once('error', () => finish(new FormError(400, 'body cut off')))
  })
}

function parseForm<Field extends string, ListField extends string>(
  bytes: Buffer,
  fields: readonly Field[],
  listFields: readonly ListField[],
): Record<Field, string> & Record<ListField, string[]> {
  const values = new Map<string, string[]>()
  for (const par of bytes.toString('latin1').split('&')) {
    if (par === '') continue
    const equalsAt = par.indexOf('=')
    const field = decode(equalsAt < 0 ? par : par.slice(0, equalsAt))
    const isRepeatable = (listFields as readonly string[]).includes(field)
    if (!isRepeatable && (values.has(field) || !(fields as readonly string[]).includes(field)))
      throw new FormError(400, 'unknown or repeated field')
    values.set(field, [...(values.get(field) ?? []), cleanText(equalsAt < 0 ? '' : decode(par.slice(equalsAt + 1)))])
  }
  const singleValues = fields.map((field) => [field, values.get(field)?.[0] ?? ''] as const)
  return Object.fromEntries([
    ...singleValues,
    ...listFields.map((listField) => [listField, values.get(listField) ?? []] as const),
  ]) as never
}

/**
 * Decodes a part of the form. Unlike `URLSearchParams`, it rejects malformed text, because browsers always encode
 * correctly.
 * @throws FormError
 */
function decode(text: string): string {
  try {
    if (/[^\x21-\x7e]/.test(text)) throw new URIError('missing percent-encoding')
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new FormError(400, 'malformed percent-encoding')
  }
}

/**
 * Puts a text on one line in Unicode normalization form C. Removes invisible characters that could hide or reverse
 * text.
 */
const cleanText = (text: string) =>
  text
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .trim()
