import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Operacion } from './contrato.ts'
import type { Validacion } from './validacion.ts'

/**
 * Refuses an operation whose validation is off: express-openapi-validator switches itself off silently when it doesn't find
 * a path. A request that is wrong for every operation must be refused by each, before the first real one is let through:
 * its parameters by what validates parameters, and its body by what validates the body.
 * @returns for each operation, what checks it the first time that it is called
 */
export function crearAutocomprobacion(validacion: Validacion): (operacion: Operacion) => Promise<void> {
  const comprobadas = new Map<Operacion, Promise<void>>()
  return (operacion) => {
    const comprobada = comprobadas.get(operacion) ?? prepararYComprobar(operacion, validacion)
    comprobadas.set(operacion, comprobada)
    return comprobada
  }
}

async function prepararYComprobar(operacion: Operacion, validacion: Validacion): Promise<void> {
  await validacion.preparar(operacion)
  await comprobar(operacion, validacion)
}

async function comprobar(operacion: Operacion, validacion: Validacion): Promise<void> {
  const middlewares = validacion.validar(operacion)
  // Each by itself: the refusal of one would hide that another lets everything through.
  const estados = await Promise.all(
    middlewares.map((middleware) => estadoDelRechazo(solicitudMala(operacion), middleware)),
  )
  if (estados.length === 0 || estados.some((estado) => estado !== 400)) {
    throw new Error(`self-check: a known-bad request to ${operacion.id} would pass validation`)
  }
}

/** A request with a parameter and a body that no operation has. */
function solicitudMala({ ruta, metodo }: Operacion): Request {
  const path = ruta.replace(/\{\w+\}/g, 'x')
  const url = `${path}?__autocomprobacion=1`
  return {
    ...{ method: metodo.toUpperCase(), path, originalUrl: url, baseUrl: '', url },
    headers: {},
    get: () => undefined,
    header: () => undefined,
    params: {},
    query: { __autocomprobacion: '1' },
    body: { __autocomprobacion: 1 },
    app: { enabled: () => false, param: () => {} },
  } as unknown as Request
}

function estadoDelRechazo(req: Request, middleware: RequestHandler): Promise<number | undefined> {
  return new Promise<unknown>((resolve) => {
    try {
      Promise.resolve(middleware(req, {} as Response, resolve as NextFunction)).catch(resolve)
    } catch (thrown) {
      resolve(thrown)
    }
  }).then((error) => (error as { status?: number } | undefined)?.status)
}
