import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { identifyRequest } from '../../server/api/http/request.ts'
import { readLlave } from '../../server/domain/identities/llave.ts'
import { createLog } from '../../server/platform/log.ts'
import { findCanaries } from '../canaries.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'

const environment = useEnvironment()
/** The line of the request with this id. */
const lineOf = (id: string) =>
  waitUntil(async () => {
    const line = environment.log.find(
      (one) => one.includes(`"id_solicitud":"${id}"`) && one.includes('"msg":"request"'),
    )
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>)
  })
let seriesId = 0
const request = async (method: string, path: string, options: { llave?: string; body?: unknown } = {}) => {
  const id = `registro-${++seriesId}`
  const response = await environment.request(method, path, { ...options, headers: { 'X-Request-Id': id } })
  return { ...response, linea: await lineOf(id) }
}
const nameOf = (llave: string) => `llave_${readLlave(llave)!.id}`

describe('the line of a request', () => {
  it('names operation, merchant, key, guide, network, status and duration', async () => {
    const { llave, comercio } = await environment.createComercio()
    const created = await request('POST', '/api/v1/guias', { llave, body: buildGuia() })
    const commonFields = { comercio, modo: 'test', llave: nameOf(llave), red: '127.0.0.0/24', ms: expect.any(Number) }
    const { guia } = created.body
    expect(created.linea).toMatchObject({ ...commonFields, operacion: 'crearGuia', metodo: 'POST', status: 201, guia })
    const read = await request('GET', `/api/v1/guias/${guia}`, { llave })
    expect(read.linea).toMatchObject({ ...commonFields, operacion: 'obtenerGuia', metodo: 'GET', status: 200, guia })
    const cancelled = await request('POST', `/api/v1/guias/${guia}/cancelar`, { llave, body: {} })
    const repetition = await request('POST', `/api/v1/guias/${guia}/cancelar`, { llave, body: {} })
    expect([cancelled.linea.guia, repetition.linea.guia]).toEqual([guia, guia])
  })

  it('names the key of a refused request', async () => {
    const { llave } = await environment.createComercio()
    const foreign = `${llave.slice(0, 30)}${llave[30] === 'A' ? 'B' : 'A'}${llave.slice(31)}`
    const { linea: malformedLine } = await request('GET', '/api/v1/guias', { llave: foreign })
    expect(malformedLine).toMatchObject({ status: 401 })
    // A text that is not a whole key may be anything, and is not logged.
    expect(malformedLine).not.toHaveProperty('llave')
    const { linea: lineOfOtherRoute } = await request('GET', '/operaciones/v1/comercios', { llave })
    expect(lineOfOtherRoute).toMatchObject({ status: 401, llave: nameOf(llave) })
    await environment.db.pool.query('update llave set revocado_en = now() where id = $1', [readLlave(llave)!.id])
    await waitUntil(async () => (await environment.request('GET', '/api/v1/cuenta', { llave })).status === 401)
    const { linea: revokedLlave } = await request('GET', '/api/v1/cuenta', { llave })
    expect(revokedLlave).toMatchObject({ status: 401, llave: nameOf(llave) })
  })

  it('names the operator, and has no text that stands in the place of a guide', async () => {
    const { linea: line } = await request('GET', '/operaciones/v1/guias/Juana-Perez', {
      llave: environment.llaveDeOperacion,
    })
    expect(line).toMatchObject({
      operador: expect.stringMatching(/^op_/),
      llave: nameOf(environment.llaveDeOperacion),
    })
    expect(JSON.stringify(line)).not.toContain('Juana')
  })
})

describe('the level of a line', () => {
  const LEVELS = { 30: 'info', 40: 'warn', 50: 'error' } as Record<number, string>

  /** Ends a request without a service, and returns its line; undefined if it has none. */
  function endRequest(status: number, writableFinished = true) {
    const lines: string[] = []
    const refusals: object[] = []
    const identify = identifyRequest(
      {
        log: createLog('info', { write: (line) => void lines.push(line) }),
        refusals: { note: (refused: object) => refusals.push(refused) } as never,
        metrics: { solicitud() {} } as never,
      },
      () => 'x',
    )
    const res = Object.assign(new EventEmitter(), {
      statusCode: status,
      writableFinished,
      setHeader() {},
      getHeader: () => undefined,
    })
    identify({ method: 'GET', url: '/', headers: {}, ip: '127.0.0.1' } as never, res as never, () => {})
    res.emit('close')
    const line = lines.map((one) => JSON.parse(one))[0]
    return { level: line && LEVELS[line.level], cut: line?.cortada, refused: refusals.length }
  }

  it.each([
    [200, 'info'],
    [404, 'info'],
    [500, 'error'],
    [502, 'error'],
    [503, 'warn'],
  ])('for a request that ended with %i is %s', (status, level) => {
    expect(endRequest(status)).toEqual({ level, cut: undefined, refused: 0 })
  })

  it('says that the client went away, and a 429 is counted instead', () => {
    expect(endRequest(200, false)).toEqual({ level: 'info', cut: true, refused: 0 })
    expect(endRequest(429)).toEqual({ level: undefined, cut: undefined, refused: 1 })
  })
})

describe('an error in the log', () => {
  const write = (err: unknown) => {
    const lines: string[] = []
    createLog('info', { write: (line) => void lines.push(line) }).error({ err }, 'failed')
    return lines.join('')
  }

  it('has its causes, and nothing that PostgreSQL quotes of a row', () => {
    const detail = 'Key (telefono)=(+50231481676) already exists.'
    const cause = Object.assign(new Error('third'), { code: '23505', constraint: 'unica', detail, where: detail })
    const line = write(new Error('first', { cause: new TypeError('second', { cause }) }))
    expect(JSON.parse(line).err).toMatchObject({
      mensaje: 'first',
      causa: { tipo: 'TypeError', mensaje: 'second', causa: { codigo: '23505', constraint: 'unica' } },
    })
    expect(findCanaries(line)).toEqual([])
  })

  it('that is its own cause has an end', () => {
    const error = new Error('around')
    error.cause = error
    expect(write(error).match(/"mensaje":"around"/g)!.length).toBeLessThan(10)
  })
})

describe('the canaries', () => {
  it.each([
    ['a key', 'guia_test_0123456789ABCDEF'],
    ['a signing secret', 'whsec_MfKQ9r8GKYqrTwjU'],
    ['a telephone', 'sent to +50231481676'],
    ['a mail address', 'to ana.lopez@ejemplo.com.gt'],
    ['a place', '{"lat":14.71889}'],
    ['a signature of a link', '/archivos/arch_1?firma=abc'],
  ])('find %s', (kind, text) => {
    expect(findCanaries(text)).toEqual([expect.stringContaining(kind)])
  })

  it('find nothing in the line of a request', async () => {
    const { linea: line } = await request('GET', '/healthz')
    expect(findCanaries(JSON.stringify(line))).toEqual([])
  })
})
