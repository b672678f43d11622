import { Readable } from 'node:stream'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import { Problema } from '../errores.ts'
import { ErrorJson, leerJson } from './jsonEstricto.ts'

const noAdmitido = (detail: string) => new Problema('tipo_no_admitido', detail)

/** How long a body may take to arrive, in milliseconds: a client that drips is let go. */
const PLAZO_DEL_CUERPO = 20_000

/**
 * Reads the body of an operation that declares one: its declared type or 415, its limit while reading or 413, strict JSON
 * or 400. No bytes is no body. The Content-Type is then rewritten to the bare declared type, because the validator keeps
 * one compiled validator per header string it has ever seen.
 */
export function leerCuerpo(operacion: Operacion): RequestHandler {
  const [tipo] = operacion.tipos
  if (!tipo) {
    return (req, _res, next) => {
      delete req.headers['content-type']
      next()
    }
  }
  if (operacion.enFlujo) {
    return (req, res, next) => {
      delete req.headers['content-type']
      if (anunciado(req) > operacion.limite) throw rechazarGrande(req, res, operacion)
      next()
    }
  }
  return (req, res, next) => {
    recibir(req, res, operacion)
      .then((bytes) => {
        // Who takes them raw judges for himself what no bytes are.
        if (operacion.crudo) req.body = bytes
        else if (bytes.length > 0) req.body = interpretar(bytes)
        if (bytes.length === 0) delete req.headers['content-type']
        else req.headers['content-type'] = tipo
        next()
      }, next)
      .catch(next)
  }
}

/**
 * Answers 415 to an undeclared type before a byte of the body is read; a request that announces no body has nothing to
 * declare.
 */
export const admitirTipo = (operacion: Operacion) => (req: Request, _res: Response, next: NextFunction) => {
  const anuncia = req.headers['transfer-encoding'] !== undefined || anunciado(req) > 0
  if (operacion.tipos.length > 0 && anuncia) exigirTipo(req, operacion.tipos)
  next()
}

const anunciado = (req: Request) => Number(req.headers['content-length'] ?? 0)

function exigirTipo(req: Request, tipos: readonly string[]) {
  const [dado = '', ...parametros] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (!tipos.includes(dado.trim())) {
    throw noAdmitido(
      `Envíe «Content-Type: ${tipos.join('», «')}»${dado.trim() ? ` en lugar de «${dado.trim().slice(0, 100)}»` : ''}.`,
    )
  }
  const charset = parametros.map((p) => p.trim()).find((p) => p.startsWith('charset='))
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) throw noAdmitido('Envíe el cuerpo en UTF-8.')
  const codificacion = req.headers['content-encoding']
  if (codificacion && codificacion.toLowerCase() !== 'identity')
    throw noAdmitido('Envíe el cuerpo sin comprimir, sin Content-Encoding.')
}

function recibir(req: Request, res: Response, operacion: Operacion): Promise<Buffer> {
  const { limite } = operacion
  return new Promise((resolve, reject) => {
    const rechazar = () => reject(rechazarGrande(req, res, operacion))
    if (anunciado(req) > limite) return rechazar()
    const trozos: Buffer[] = []
    let recibidos = 0
    const plazo = setTimeout(() => req.destroy(), PLAZO_DEL_CUERPO)
    const limpiar = () => clearTimeout(plazo)
    req.on('data', (trozo: Buffer) => {
      recibidos += trozo.length
      if (recibidos > limite) {
        req.removeAllListeners('data')
        limpiar()
        return rechazar()
      }
      trozos.push(trozo)
    })
    req.once('end', () => {
      limpiar()
      resolve(trozos.length === 1 ? trozos[0]! : Buffer.concat(trozos))
    })
    req.once('error', (cause) => {
      limpiar()
      reject(new Problema('json_invalido', 'La conexión se cortó antes de recibir todo el cuerpo.', { cause }))
    })
  })
}

/** The 413 of a body over the limit, whose rest is not read: the connection closes once the answer is out. */
function rechazarGrande(req: Request, res: Response, { limite, enFlujo }: Operacion): Problema {
  req.pause()
  res.setHeader('Connection', 'close')
  const remedio = enFlujo ? 'Reduzca el archivo y vuelva a enviarlo.' : 'Reparta los datos en varias solicitudes.'
  return new Problema('cuerpo_demasiado_grande', `El límite de esta operación es de ${limite} bytes. ${remedio}`)
}

/**
 * How long a body that its operation reads itself may take, in milliseconds; less than the server lets any request
 * take.
 */
const PLAZO_DEL_FLUJO = 28_000

/**
 * Hands the body on as a stream to the operation that reads it itself; the stream ends with a 413 where the limit is
 * passed.
 */
export const pasarFlujo =
  (operacion: Operacion): RequestHandler =>
  (req, res, next) => {
    if (operacion.enFlujo) req.body = Readable.from(limitar(req, res, operacion), { objectMode: false })
    next()
  }

async function* limitar(req: Request, res: Response, operacion: Operacion): AsyncGenerator<Buffer> {
  let recibidos = 0
  const plazo = setTimeout(() => req.destroy(), PLAZO_DEL_FLUJO)
  try {
    // Destroyed it would take the connection along, and the answer.
    for await (const trozo of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      recibidos += trozo.length
      if (recibidos > operacion.limite) throw rechazarGrande(req, res, operacion)
      yield trozo
    }
  } catch (cause) {
    if (cause instanceof Problema) throw cause
    throw new Problema('parametro_invalido', 'La conexión se cortó antes de recibir todo el cuerpo.', { cause })
  } finally {
    clearTimeout(plazo)
    // Whoever stopped reading before the end answers now; no other request can come through this connection.
    if (!req.complete && !res.headersSent) res.setHeader('Connection', 'close')
  }
}

/** A byte from which on UTF-8 may hold what NFC changes (U+0300 and up), or an escape that may. */
const PUEDE_NO_SER_NFC = /[\xcc-\xff]|\\u/

function interpretar(bytes: Buffer): unknown {
  try {
    const valor = leerJson(bytes)
    return PUEDE_NO_SER_NFC.test(bytes.toString('latin1')) ? aNfc(valor) : valor
  } catch (error) {
    if (!(error instanceof ErrorJson)) throw error
    // The message names line, column and place.
    const { mensaje, campo } = error.falla
    throw new Problema('json_invalido', mensaje.slice(0, 1000), {
      errores: [{ campo: campo.slice(0, 300), codigo: 'formato_invalido', mensaje: mensaje.slice(0, 500) }],
    })
  }
}

/**
 * A value with its texts in one Unicode form (NFC), before anybody measures or compares them; keys are the contract's,
 * in ASCII.
 */
function aNfc(valor: unknown): unknown {
  if (typeof valor === 'string') return valor.normalize('NFC')
  if (valor === null || typeof valor !== 'object') return valor
  for (const [clave, dentro] of Object.entries(valor)) {
    const normal = aNfc(dentro)
    if (normal !== dentro) (valor as Record<string, unknown>)[clave] = normal
  }
  return valor
}
