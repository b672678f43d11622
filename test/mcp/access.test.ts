import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { readTexts, useAssistants } from './assistant.ts'

const environment = shareEnvironment()
const createAssistant = useAssistants(environment)

const LISTA = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const ACCEPT_HEADER = { Accept: 'application/json, text/event-stream' }

interface Peticion {
  llave?: string | undefined
  query?: string
  body?: string
  headers?: Record<string, string>
}

/** A raw request. The library answers clients of older protocols with an event stream of one event. */
async function request({ llave, query = '', body = JSON.stringify(LISTA), headers = {} }: Peticion) {
  const credencial: Record<string, string> = llave === undefined ? {} : { Authorization: `Bearer ${llave}` }
  const response = await fetch(`${environment.url}/mcp${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...ACCEPT_HEADER, ...credencial, ...headers },
    body,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, texto: text, codigo: /"codigo":"(\w+)"/.exec(text)?.[1] }
}

const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)

describe('POST /mcp', () => {
  it('answers a valid key, and a page of the service itself', async () => {
    const { llave } = await environment.createComercio()
    expect((await request({ llave })).status).toBe(200)
    expect((await request({ llave, headers: { Origin: environment.url } })).status).toBe(200)
  })

  it('asks for a merchant’s key, and takes no session in its place', async () => {
    const { llave } = await environment.createComercio()
    for (const bad of [undefined, `${llave.slice(0, -1)}x`, environment.llaveDeOperacion]) {
      const { status, headers, codigo } = await request({ llave: bad })
      expect([status, codigo]).toEqual([401, 'no_autenticado'])
      expect(headers.get('www-authenticate')).toBe('Bearer realm="guias"')
    }
    const cookie = { Cookie: `guias_sesion=${'a'.repeat(43)}` }
    expect((await request({ headers: cookie })).codigo).toBe('no_autenticado')
  })

  it.each(['https://otro.example', 'null', 'http://localhost:1'])('refuses a page of %s', async (origen) => {
    const { llave } = await environment.createComercio()
    const { status, codigo } = await request({ llave, headers: { Origin: origen } })
    expect([status, codigo]).toEqual([403, 'origen_no_permitido'])
  })

  it('bounds the body and its form', async () => {
    const { llave } = await environment.createComercio()
    const estadoOf = async (body: string, tipo = 'application/json') =>
      (await request({ llave, body, headers: { 'Content-Type': tipo } })).status
    expect(await estadoOf(JSON.stringify({ ...LISTA, params: { _meta: { relleno: 'x'.repeat(256 * 1024) } } }))).toBe(
      413,
    )
    expect(await estadoOf(JSON.stringify(Array.from({ length: 1_000 }, () => LISTA)))).toBe(400)
    expect(await estadoOf('{"jsonrpc":"2.0","id":1,"id":2}')).toBe(400)
    expect(await estadoOf('{}')).toBe(400)
    expect(await estadoOf('')).toBe(400)
    expect(await estadoOf(JSON.stringify(LISTA), 'text/plain')).toBe(415)
  })

  it.each(['GET', 'DELETE', 'PUT', 'OPTIONS'])('has no %s, as it keeps no session', async (method) => {
    const { llave } = await environment.createComercio()
    const { status, headers } = await environment.request(method, '/mcp', { llave })
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('opens no stream of changes, which would stay open', async () => {
    const { llave } = await environment.createComercio()
    const { client } = await createAssistant(llave)
    await expect(client.listen({ toolsListChanged: true })).rejects.toThrow(/limit/i)
  })

  it('spends the key’s rate, and answers 429 when it is used up', async () => {
    const ritmos = { solicitudes: 1, guias: 1 } as never
    const { llave } = await environment.createComercio('test', ritmos)
    const estados: number[] = []
    for (let i = 0; i < 40; i++) estados.push((await request({ llave })).status)
    expect(estados[0]).toBe(200)
    expect(estados).toContain(429)
    const { headers, codigo } = await request({ llave })
    expect(codigo).toBe('demasiadas_solicitudes')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('a key', () => {
  it('offers only the tools of its scopes and its mode', async () => {
    const comercio = await environment.createComercio()
    const llave = await environment.createLlave(comercio, { alcances: ['guias:leer'] })
    const { client, callUrl } = await createAssistant(llave, { write: true })
    const names = namesOf((await client.listTools()).tools)
    expect(names).toEqual(expect.arrayContaining(['listarGuias', 'obtenerEtiqueta', 'obtenerCuenta']))
    for (const foreign of ['crearGuia', 'listarWebhooks', 'obtenerPruebaDeEntrega'])
      expect(names).not.toContain(foreign)
    expect(await callUrl('crearGuia', buildGuia() as never)).toMatchObject({
      estado: 403,
      datos: { codigo: 'alcance_insuficiente' },
    })
    const real = await environment.createComercio('live')
    const { client: realClient } = await createAssistant(real.llave, { write: true })
    const realOne = namesOf((await realClient.listTools()).tools)
    expect(realOne).toContain('crearGuia')
    expect(realOne.filter((name) => name.startsWith('simular'))).toEqual([])
  })

  it('reaches no guide of another merchant, also when both ask at once', async () => {
    const [one, other] = await Promise.all([environment.createComercio(), environment.createComercio()])
    const [own, foreign] = await Promise.all([one.api.guias.crear(buildGuia()), other.api.guias.crear(buildGuia())])
    const [ofOne, ofOther] = await Promise.all([createAssistant(one.llave), createAssistant(other.llave)])
    const seen = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        i % 2
          ? ofOne.callUrl('obtenerGuia', { guia: own.guia })
          : ofOther.callUrl('obtenerGuia', { guia: foreign.guia }),
      ),
    )
    expect(seen.map(({ datos }) => datos.guia)).toEqual(seen.map(({ args: calledWith }) => calledWith.guia))
    expect(await ofOne.callUrl('obtenerGuia', { guia: foreign.guia })).toMatchObject({
      estado: 404,
      datos: { codigo: 'guia_desconocida' },
    })
  })
})

describe('a connection for reading', () => {
  it('has no tool that writes, and refuses one that is called all the same', async () => {
    const { llave, api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const { client } = await createAssistant(llave)
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(15)
    expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([])
    const refusal = await client.callTool({ name: 'cancelarGuia', arguments: { guia, confirmar: guia } })
    expect(refusal.isError).toBe(true)
    expect(readTexts(refusal)).toEqual([expect.stringMatching(/^Esta conexión es de solo lectura/)])
    expect(await api.guias.obtener(guia)).toMatchObject({ estado: 'aceptado', secuencia: 1 })
  })

  it.each(['0', 'true', ''])('is also what escribir=%s opens', async (value) => {
    const { llave } = await environment.createComercio()
    const { texto: text } = await request({ llave, query: `?escribir=${value}` })
    expect(text).toContain('listarGuias')
    expect(text).not.toContain('"cancelarGuia"')
  })
})
