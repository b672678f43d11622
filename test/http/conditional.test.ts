import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { etagMatches, etagOf } from '../../server/api/http/conditional.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const entorno = shareEnvironment()
let comercio: Comercio
let ruta: string
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  const { guia } = await comercio.api.guias.crear(buildGuia())
  ruta = `/api/v1/guias/${guia}`
})
const pedir = async (condicion?: string, metodo = 'GET') => {
  const respuesta = await fetch(entorno.url + ruta, {
    method: metodo,
    headers: {
      Authorization: `Bearer ${comercio.llave}`,
      ...(condicion === undefined ? {} : { 'If-None-Match': condicion }),
    },
  })
  return { status: respuesta.status, cabeceras: respuesta.headers, texto: await respuesta.text() }
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
  ])('%s names it: %s', (cabecera, nombra) => {
    expect(etagMatches(cabecera, etag)).toBe(nombra)
  })

  it('is told from one header or several', async () => {
    const suyo = (await pedir()).cabeceras.get('etag')!
    const varias = new Headers([
      ['Authorization', `Bearer ${comercio.llave}`],
      ['If-None-Match', '"otra"'],
      ['If-None-Match', suyo],
    ])
    expect((await fetch(entorno.url + ruta, { headers: varias })).status).toBe(304)
  })
})

describe('an answer that did not change', () => {
  it('is the tag and how it may be kept, without a body or what describes one', async () => {
    const entera = await pedir()
    const etag = etagOf(entera.texto)
    expect(Object.fromEntries(entera.cabeceras)).toMatchObject({ etag, 'cache-control': 'private, no-cache' })
    for (const metodo of ['GET', 'HEAD']) {
      const { status, cabeceras, texto } = await pedir(etag, metodo)
      expect([metodo, status, texto]).toEqual([metodo, 304, ''])
      expect(Object.fromEntries(cabeceras)).toMatchObject({
        etag,
        'cache-control': 'private, no-cache',
        date: expect.any(String),
        'x-request-id': expect.any(String),
      })
      expect([cabeceras.get('content-type'), cabeceras.get('content-length')]).toEqual([null, null])
    }
    const cabeza = await pedir('"otra"', 'HEAD')
    expect([cabeza.status, cabeza.cabeceras.get('etag'), cabeza.texto]).toEqual([200, etag, ''])
  })

  it('leaves the connection fit for the next request', async () => {
    const { cabeceras, texto } = await pedir()
    for (let vez = 0; vez < 3; vez++) expect((await pedir(cabeceras.get('etag')!)).status).toBe(304)
    expect((await pedir()).texto).toBe(texto)
  })
})

describe('the contract', () => {
  const operaciones = readOperations(readDocument()).filter(
    ({ method: metodo, path: ruta }) => metodo === 'get' && ruta.startsWith('/api/v1/'),
  )
  /** Their links are signed anew each time. */
  const CON_ENLACES = ['listarIntentosDeGuia', 'obtenerPruebaDeEntrega']
  /** Its files have entity tags, its links have none. */
  const CON_ARCHIVOS = ['obtenerEtiqueta']

  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))(
    'says of %s whether it can be asked for so',
    (id, { conditional: condicional, parameters: parametros }) => {
      expect([condicional, parametros.some(({ name }) => name === 'if-none-match')]).toEqual(
        CON_ENLACES.includes(id) ? [false, false] : [!CON_ARCHIVOS.includes(id), true],
      )
    },
  )
})
