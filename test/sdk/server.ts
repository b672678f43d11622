import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turno } from 'node:timers/promises'
import { inspect } from 'node:util'
import { ErrorGuias, type Guia, type GuiaIndividual, Guias, type OpcionesDeGuias } from '@guias/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'

/** A request as it arrived. */
export interface CapturedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}
export type Responder = (res: ServerResponse, capturedRequest: CapturedRequest) => unknown

type SdkParts = Pick<typeof import('@guias/sdk'), 'Guias' | 'ErrorGuias'>

export const LLAVE = 'guia_test_abc_secreto'
export const GUIA = { guia: '7K3M9QX2A1B4', estado: 'aceptado', secuencia: 1 } as Guia
export const NEW_GUIA: GuiaIndividual = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  external_ref: 'PEDIDO-1',
  recogida: { nombre: 'Bodega', lat: 14.5, lng: -90.5 },
}

/**
 * A server in front of nothing, which answers what it is told: what the SDK sends is looked at here. Called once at the top
 * of a test file; it fails a test that leaves a rejection unhandled.
 *
 * @param givenOptions options of each client, which otherwise sends nothing again (`retries.test.ts` is about that)
 */
export function useFakeServer(givenOptions: OpcionesDeGuias = {}, sdk: SdkParts = { Guias, ErrorGuias }) {
  const capturedRequests: CapturedRequest[] = []
  let responderQueue: Responder[] = []
  const httpServer = createServer((req, res) => {
    let body = ''
    req.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    req.on('end', () => {
      const capturedRequest = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body }
      capturedRequests.push(capturedRequest)
      const responder = responderQueue.length > 1 ? responderQueue.shift() : responderQueue[0]
      responder?.(res, capturedRequest)
    })
  })
  const server = {
    baseUrl: '',
    capturedRequests,
    /** How it answers from now on: one for each request, the last one for all that follow. */
    respondWith(...responders: Responder[]) {
      responderQueue = responders
    },
    client: (options: OpcionesDeGuias = {}) =>
      new sdk.Guias({ llave: LLAVE, baseUrl: server.baseUrl, reintentos: 0, ...givenOptions, ...options }),
    /** What the SDK makes of that answer: an error, of that class. */
    async faultWith<T extends ErrorGuias>(
      errorClass: new (...args: never[]) => T,
      response: Responder,
      options?: OpcionesDeGuias,
    ): Promise<T> {
      responderQueue = [response]
      const error = await fault(server.client(options).guias.obtener('7K3M9QX2A1B4'))
      expect(error).toBeInstanceOf(errorClass)
      expect(error).toBeInstanceOf(sdk.ErrorGuias)
      return error as T
    },
  }
  const rejections: unknown[] = []
  const noteRejection = (causa: unknown) => rejections.push(causa)
  beforeAll(async () => {
    await new Promise<void>((listo) => httpServer.listen(0, '127.0.0.1', listo))
    server.baseUrl = `http://127.0.0.1:${(httpServer.address() as AddressInfo).port}`
    process.on('unhandledRejection', noteRejection)
  })
  beforeEach(() => {
    capturedRequests.length = 0
    responderQueue = []
  })
  afterEach(async () => {
    await turno()
    expect(rejections.splice(0), 'unhandled rejections').toEqual([])
  })
  afterAll(() => {
    process.off('unhandledRejection', noteRejection)
    httpServer.closeAllConnections()
    httpServer.close()
  })
  return server
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (res: ServerResponse) =>
    res
      .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'sol-1', ...headers })
      .end(JSON.stringify(body))

export const text =
  (status: number, body: string, headers: Record<string, string> = { 'Content-Type': 'text/html' }): Responder =>
  (res) =>
    res.writeHead(status, headers).end(body)

export const respondHtml = text(502, '<html>\n<h1>502 Bad Gateway</h1>')
export const cutConnection: Responder = (res) => res.destroy()

/** The connection cut in the middle of a body. */
export const partialSignIn =
  (status = 200): Responder =>
  (res) =>
    res
      .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': '500' })
      .write('{"guia":', () => res.destroy())

export const problema = (status: number, codigo: string, moreFields: object = {}) => ({
  codigo,
  titulo: 'Título',
  mensaje: 'Haga esto.',
  estado_http: status,
  errores: [],
  id_solicitud: 'sol-1',
  documentacion: `https://guias.ejemplo.com/docs/errores#error-${codigo}`,
  ...moreFields,
})
export const respondProblema = (
  status: number,
  codigo: string,
  headers?: Record<string, string>,
  moreFields?: object,
) => json(status, problema(status, codigo, moreFields), headers)

/** What a call fails with; it must fail. */
export const fault = <T = ErrorGuias>(promise: PromiseLike<unknown>): Promise<T> =>
  Promise.resolve(promise).then(
    (value) => {
      throw new Error(`It did not fail: ${inspect(value)}`)
    },
    (error) => error,
  )
