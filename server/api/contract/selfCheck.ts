import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Operation } from './contract.ts'
import type { Validation } from './validation.ts'

/**
 * Creates the check that the validation of an operation is active. express-openapi-validator silently switches itself
 * off if it does not find a path. Before the first real request, the check sends a request that is invalid for every
 * operation. The validators of the parameters and of the body must each refuse that request.
 * @returns function that prepares and checks an operation at the first call; rejects if a validator accepts the request
 */
export function createSelfCheck(validation: Validation): (operation: Operation) => Promise<void> {
  const checks = new Map<Operation, Promise<void>>()
  return (operation) => {
    const operationCheck = checks.get(operation) ?? prepareAndCheck(operation, validation)
    checks.set(operation, operationCheck)
    return operationCheck
  }
}

async function prepareAndCheck(operation: Operation, validation: Validation): Promise<void> {
  await validation.prepare(operation)
  await checkOperation(operation, validation)
}

async function checkOperation(operation: Operation, validation: Validation): Promise<void> {
  const middlewares = validation.validate(operation)
  // Each middleware runs alone, because a refusal by the first would hide that the second accepts everything.
  const estados = await Promise.all(middlewares.map((middleware) => rejectionStatus(badRequest(operation), middleware)))
  if (estados.length === 0 || estados.some((estado) => estado !== 400)) {
    throw new Error(`self-check: a known-bad request to ${operation.id} would pass validation`)
  }
}

/** Returns a request with a parameter and a body member that no operation has. */
function badRequest({ path: template, method }: Operation): Request {
  const path = template.replace(/\{\w+\}/g, 'x')
  const url = `${path}?__autocomprobacion=1`
  return {
    method: method.toUpperCase(),
    path,
    originalUrl: url,
    baseUrl: '',
    url,
    headers: {},
    get: () => undefined,
    header: () => undefined,
    params: {},
    query: { __selfCheck: '1' },
    body: { __selfCheck: 1 },
    app: { enabled: () => false, param: () => {} },
  } as unknown as Request
}

function rejectionStatus(req: Request, middleware: RequestHandler): Promise<number | undefined> {
  return new Promise<unknown>((resolve) => {
    try {
      Promise.resolve(middleware(req, {} as Response, resolve as NextFunction)).catch(resolve)
    } catch (thrown) {
      resolve(thrown)
    }
  }).then((error) => (error as { status?: number } | undefined)?.status)
}
