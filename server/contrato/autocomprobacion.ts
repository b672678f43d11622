import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Operacion } from './contrato.ts'
import type { Validacion } from './validacion.ts'

/**
 * Refuses an operation whose validation is off: express-openapi-validator switches itself off silently when it doesn't find
 * a path. A request that is wrong for every operation must be refused by each, before the first real one is let through.
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
  // Bytes that nobody has parsed aren't the validator's business; of such an operation an odd parameter must be refused.
  const [tipo] = operacion.enFlujo ? [] : operacion.tipos
  const conCuerpo = tipo !== undefined && !operacion.crudo
  const ruta = operacion.ruta.replace(/\{\w+\}/g, 'x')
  const req = {
    method: operacion.metodo.toUpperCase(),
    path: ruta,
    originalUrl: ruta,
    baseUrl: '',
    url: ruta,
    headers: tipo ? { 'content-type': tipo } : {},
    get: () => tipo,
    header: () => tipo,
    params: {},
    // A wrong parameter would hide whether the body is looked at.
    query: conCuerpo ? {} : { __autocomprobacion: '1' },
    body: tipo ? { __autocomprobacion: 1 } : undefined,
    app: { enabled: () => false, param: () => {} },
  } as unknown as Request
  if ((await estadoDelRechazo(req, validacion.validar(operacion))) !== 400) {
    throw new Error(`self-check: a known-bad request to ${operacion.id} would pass validation`)
  }
}

async function estadoDelRechazo(req: Request, middlewares: readonly RequestHandler[]): Promise<number | undefined> {
  for (const middleware of middlewares) {
    const error = await new Promise<unknown>((resolve) => {
      try {
        Promise.resolve(middleware(req, {} as Response, resolve as NextFunction)).catch(resolve)
      } catch (thrown) {
        resolve(thrown)
      }
    })
    if (error) return (error as { status?: number }).status
  }
  return undefined
}
