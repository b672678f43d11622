import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { etagMatches, etagOf } from '../../server/api/http/conditional.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()
let comercio: Comercio
let path: string
beforeAll(async () => {
  comercio = await environment.createComercio()
  const { guia } = await comercio.api.guias.crear(buildGuia())
  path = `/api/v1/guias/${guia}`
})
const request = async (condition?: string, method = 'GET') => {
  const response = await fetch(environment.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${comercio.llave}`,
      ...(condition === undefined ? {} : { 'If-None-Match': condition }),
    },
  })
  return { status: response.status, headers: response.headers, texto: await response.text() }
}

describe('If-None-Match', () => {
  const etag = etagOf('cuerpo')

  it.each([
    [etag, true],
    [`W/${etag}`, true],
    ['*', true],
    [' * ', true],
    [`"otra", ${etag}`, true],
    [`"otra",W/${etag} , "más"`, true],
    ['"con, coma"', false],
    [`"otra", W/"otra"`, false],
    ['', false],
    [etag.slice(1, -1), false],
    [etag.toLowerCase(), false],
    ['"otra", *', false],
    [undefined, false],
  ])('%s names it: %s', (header, isMatch) => {
    expect(etagMatches(header, etag)).toBe(isMatch)
  })

  it('is told from one header or several', async () => {
    const etag = (await request()).headers.get('etag')!
    const severalResults = new Headers([
      ['Authorization', `Bearer ${comercio.llave}`],
      ['If-None-Match', '"otra"'],
      ['If-None-Match', etag],
    ])
    expect((await fetch(environment.url + path, { headers: severalResults })).status).toBe(304)
  })
})

describe('an answer that did not change', () => {
  it('is the tag and how it may be kept, without a body or what describes one', async () => {
    const whole = await request()
    const etag = etagOf(whole.texto)
    expect(Object.fromEntries(whole.headers)).toMatchObject({ etag, 'cache-control': 'private, no-cache' })
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, texto: text } = await request(etag, method)
      expect([method, status, text]).toEqual([method, 304, ''])
      expect(Object.fromEntries(headers)).toMatchObject({
        etag,
        'cache-control': 'private, no-cache',
        date: expect.any(String),
        'x-request-id': expect.any(String),
      })
      expect([headers.get('content-type'), headers.get('content-length')]).toEqual([null, null])
    }
    const head = await request('"otra"', 'HEAD')
    expect([head.status, head.headers.get('etag'), head.texto]).toEqual([200, etag, ''])
  })

  it('leaves the connection fit for the next request', async () => {
    const { headers, texto: text } = await request()
    for (let time = 0; time < 3; time++) expect((await request(headers.get('etag')!)).status).toBe(304)
    expect((await request()).texto).toBe(text)
  })
})

describe('the contract', () => {
  const operaciones = readOperations(readDocument()).filter(
    ({ method, path }) => method === 'get' && path.startsWith('/api/v1/'),
  )
  /** Their links are signed anew each time. */
  const WITH_LINKS = ['listarIntentosDeGuia', 'obtenerPruebaDeEntrega']
  /** Its files have entity tags, its links have none. */
  const CON_ARCHIVOS = ['obtenerEtiqueta']

  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))(
    'says of %s whether it can be asked for so',
    (id, { conditional: isConditional, parameters }) => {
      expect([isConditional, parameters.some(({ name }) => name === 'if-none-match')]).toEqual(
        WITH_LINKS.includes(id) ? [false, false] : [!CON_ARCHIVOS.includes(id), true],
      )
    },
  )
})
