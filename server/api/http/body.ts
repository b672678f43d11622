import { Readable } from 'node:stream'
import { MIMEType } from 'node:util'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { Problema } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'
import { JsonError, readJson } from './strictJson.ts'

const notAccepted = (detail: string) => new Problema('tipo_no_admitido', detail)

/** Properties of an operation that tell how its body is read. */
export type BodyRules = Pick<Operation, 'tipos' | 'limite' | 'raw' | 'streamed'>

/** Time that a body may take to arrive, in milliseconds. A slower client is disconnected. */
const BODY_DEADLINE_MS = 20_000

/**
 * Creates the middleware that reads the body of an operation into `req.body`: as raw bytes for a `raw` operation,
 * else as strict JSON. Answers 413 above the operation's limit, and 400 for invalid JSON; {@link checkContentType} answers
 * 415 before. An empty JSON body leaves `req.body` unset. For a streamed body (`streamed`), only the announced length is
 * checked here.
 *
 * `Content-Type` becomes the bare declared type, because the validator keeps one compiled validator for each header
 * value that it has seen.
 */
export function readBody(operation: BodyRules): RequestHandler {
  const [type] = operation.tipos
  if (!type) {
    return (req, _res, next) => {
      delete req.headers['content-type']
      next()
    }
  }
  if (operation.streamed) {
    return (req, res, next) => {
      delete req.headers['content-type']
      if (announcedLength(req) > operation.limite) throw refuseLarge(req, res, operation)
      next()
    }
  }
  return (req, res, next) => {
    receiveBody(req, res, operation)
      .then((bytes) => {
        // A `raw` operation decides itself what an empty body means.
        if (operation.raw) req.body = bytes
        else if (bytes.length > 0) req.body = parseJson(bytes)
        if (bytes.length === 0) delete req.headers['content-type']
        else req.headers['content-type'] = type
        next()
      }, next)
      .catch(next)
  }
}

/**
 * Creates the middleware that answers 415 to an undeclared media type, before a byte of the body is read. The
 * middleware also refuses charsets other than UTF-8 and compressed bodies. A request that announces no body needs no
 * type.
 */
export const checkContentType =
  (operation: Pick<BodyRules, 'tipos'>) => (req: Request, _res: Response, next: NextFunction) => {
    const announcesBody = req.headers['transfer-encoding'] !== undefined || announcedLength(req) > 0
    if (operation.tipos.length > 0 && announcesBody) requireType(req, operation.tipos)
    next()
  }

const announcedLength = (req: Request) => Number(req.headers['content-length'] ?? 0)

/** Types whose bytes are text. The others have no charset, although some clients send one, such as `binary`. */
const TEXT_TYPE = /^(?:text\/|application\/json$)/

const charsetOf = (type: string) => (type.includes(';') && new MIMEType(type).params.get('charset')) || 'utf-8'

function requireType(req: Request, types: readonly string[]) {
  const writtenType = req.headers['content-type'] ?? ''
  const [mediaType = ''] = writtenType.toLowerCase().split(';', 1)
  if (!types.includes(mediaType.trim())) {
    throw notAccepted(
      `Envíe «Content-Type: ${types.join('», «')}»${mediaType.trim() ? ` en lugar de «${mediaType.trim().slice(0, 100)}»` : ''}.`,
    )
  }
  if (TEXT_TYPE.test(mediaType.trim()) && !/^utf-?8$/i.test(charsetOf(writtenType)))
    throw notAccepted('Envíe el cuerpo en UTF-8.')
  const encoding = req.headers['content-encoding']
  if (encoding && encoding.toLowerCase() !== 'identity')
    throw notAccepted('Envíe el cuerpo sin comprimir, sin Content-Encoding.')
}

function receiveBody(req: Request, res: Response, operation: BodyRules): Promise<Buffer> {
  const { limite } = operation
  return new Promise((resolve, reject) => {
    const refuse = () => reject(refuseLarge(req, res, operation))
    if (announcedLength(req) > limite) return refuse()
    const chunks: Buffer[] = []
    let receivedBytes = 0
    const deadlineTimer = setTimeout(() => req.destroy(), BODY_DEADLINE_MS)
    const cleanUp = () => clearTimeout(deadlineTimer)
    req.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length
      if (receivedBytes > limite) {
        req.removeAllListeners('data')
        cleanUp()
        return refuse()
      }
      chunks.push(chunk)
    })
    req.once('end', () => {
      cleanUp()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    req.once('error', (cause) => {
      cleanUp()
      reject(new Problema('json_invalido', 'La conexión se cortó antes de recibir todo el cuerpo.', { cause }))
    })
  })
}

/**
 * Returns the 413 for a body over the limit. The rest of the body is not read: the connection closes after the answer.
 */
function refuseLarge(req: Request, res: Response, { limite, streamed }: BodyRules): Problema {
  req.pause()
  res.setHeader('Connection', 'close')
  const remedy = streamed ? 'Reduzca el archivo y vuelva a enviarlo.' : 'Reparta los datos en varias solicitudes.'
  return new Problema('cuerpo_demasiado_grande', `El límite de esta operación es de ${limite} bytes. ${remedy}`)
}

/**
 * Time that a streamed body (`streamed`) may take to arrive, in milliseconds. It is shorter than the server's
 * `requestTimeout`.
 */
const STREAM_DEADLINE_MS = 28_000

/**
 * Creates the middleware that sets `req.body` to a stream, for operations that read the body themselves. The stream
 * fails with a 413 when the body exceeds the limit.
 */
export const passStream =
  (operation: Operation): RequestHandler =>
  (req, res, next) => {
    if (operation.streamed) req.body = Readable.from(limitStream(req, res, operation), { objectMode: false })
    next()
  }

async function* limitStream(req: Request, res: Response, operation: Operation): AsyncGenerator<Buffer> {
  let receivedBytes = 0
  const deadlineTimer = setTimeout(() => req.destroy(), STREAM_DEADLINE_MS)
  try {
    // Destroying the request would also close the connection, and the answer could not be sent.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      receivedBytes += chunk.length
      if (receivedBytes > operation.limite) throw refuseLarge(req, res, operation)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof Problema) throw cause
    throw new Problema('parametro_invalido', 'La conexión se cortó antes de recibir todo el cuerpo.', { cause })
  } finally {
    clearTimeout(deadlineTimer)
    // The operation stopped reading before the end of the body. The connection cannot carry another request.
    if (!req.complete && !res.headersSent) res.setHeader('Connection', 'close')
  }
}

/**
 * Matches bytes, read as Latin-1, that can stand for a character that NFC changes. These are the UTF-8 lead bytes of
 * U+0300 and up, and the start of a `\u` escape.
 */
const MAYBE_NOT_NFC = /[\xcc-\xff]|\\u/

function parseJson(bytes: Buffer): unknown {
  try {
    const value = readJson(bytes)
    return MAYBE_NOT_NFC.test(bytes.toString('latin1')) ? aNfc(value) : value
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    // Line and column are not separate fields of the problem, because the message contains them.
    const { mensaje, campo } = error.fault
    throw new Problema('json_invalido', mensaje.slice(0, 1000), {
      errores: [{ campo: campo.slice(0, 300), codigo: 'formato_invalido', mensaje: mensaje.slice(0, 500) }],
    })
  }
}

/**
 * Converts all strings of a value to Unicode form NFC, before any code measures or compares the strings. Keys stay as
 * they are, because the contract's keys are ASCII.
 * @returns the same object or array, changed in place, or the converted string
 */
function aNfc(value: unknown): unknown {
  if (typeof value === 'string') return value.normalize('NFC')
  if (value === null || typeof value !== 'object') return value
  for (const [key, innerValue] of Object.entries(value)) {
    const normal = aNfc(innerValue)
    if (normal !== innerValue) (value as Record<string, unknown>)[key] = normal
  }
  return value
}
