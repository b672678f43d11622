import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { buildGuia } from '../factories.ts'
import { createMobile, type Mobile, signInByMobile } from './phone.ts'
import { fetchSesion, useSesiones } from './sessions.ts'

const { environment } = useSesiones()

describe('a request from a page of another site', () => {
  const operaciones = readOperations(readDocument()).filter(({ path }) => path.startsWith('/repartidor/'))
  const mutatingOperations = operaciones.filter(({ method }) => method !== 'get')
  let phone: Mobile
  let guia: string
  beforeAll(async () => {
    await environment.reset()
    phone = await createMobile(environment)
    guia = (await (await environment.createComercio()).api.guias.crear(buildGuia())).guia
  })

  /** Also the machinery's own rule is looked at: an operation that forgets it would be found here. */
  it('is tested for all 6 operations that change something, and each of them checks the origin', () => {
    expect(mutatingOperations.length).toBe(6)
    expect(operaciones.filter(({ needsSameOrigin }) => needsSameOrigin)).toEqual(mutatingOperations)
  })

  const badCases = (url: string): Record<string, string>[] => [
    {},
    { Origin: 'https://malo.ejemplo' },
    { Origin: 'null' },
    { Origin: url.replace('http:', 'https:') },
    { Origin: `${url}.malo.ejemplo` },
    { Origin: url.replace(/\d+$/, '1') },
    { Origin: `${url}, ${url}` },
    { Origin: '' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: url, 'Sec-Fetch-Site': 'cross-site' },
    { Origin: url, 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://malo.ejemplo', 'Sec-Fetch-Site': 'same-origin' },
    { Referer: `${url}/repartidor` },
  ]

  it.each(mutatingOperations.map((operacion) => [operacion.id, operacion] as const))(
    '%s: 403',
    async (_id, operacion) => {
      const path = operacion.path.replace('{guia}', guia) + (operacion.streamed ? '?tipo=foto' : '')
      for (const headers of badCases(environment.url)) {
        const [tipo] = operacion.tipos
        const { status, body } = await environment.request(operacion.method.toUpperCase(), path, {
          headers: { Cookie: phone.cookie, ...(tipo ? { 'Content-Type': tipo } : {}), ...headers },
          ...(tipo ? { raw: JSON.stringify({ codigo: phone.codigo }) } : {}),
        })
        expect([headers, status, body.codigo]).toEqual([headers, 403, 'origen_no_permitido'])
      }
      expect((await fetchSesion(phone)).status).toBe(200)
    },
  )

  it('opens no session in somebody else’s name, and changes nothing', async () => {
    const before = (await environment.db.pool.query('select from sesion_repartidor')).rowCount
    const { status, headers } = await signInByMobile(environment, phone.codigo, {
      headers: { Origin: 'https://malo.ejemplo' },
    })
    expect([status, headers.getSetCookie()]).toEqual([403, []])
    expect((await environment.db.pool.query('select from sesion_repartidor')).rowCount).toBe(before)
    expect((await environment.asOperador('GET', `/guias/${guia}`)).body.secuencia).toBe(1)
  })

  it('cannot be the type that a form sends, nor be read where it may only read', async () => {
    for (const tipo of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const raw = JSON.stringify({ tipo: 'guia.nota', descripcion: 'x', idempotencia: 'x' })
      const headers = { 'Content-Type': tipo }
      expect((await phone.request('POST', `/guias/${guia}/eventos`, undefined, { raw, headers })).status).toBe(415)
    }
    const { headers } = await phone.request('GET', `/guias/${guia}`, undefined, {
      headers: { Origin: 'https://malo.ejemplo' },
    })
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  })

  it('is told from our own pages, however these are reached', async () => {
    const port = new URL(environment.url).port
    const nota = (n: number) => ({ tipo: 'guia.nota', descripcion: 'x', idempotencia: `propia-${n}` })
    await phone.registrar(guia, { estado: 'recolectado', idempotencia: 'propia' })
    const sameOriginHeaders: Record<string, string>[] = [
      { Origin: environment.url },
      { Origin: environment.url, 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'same-origin' },
    ]
    for (const [n, headers] of sameOriginHeaders.entries()) {
      const { status } = await environment.request('POST', `/repartidor/v1/guias/${guia}/eventos`, {
        body: nota(n),
        headers: { Cookie: phone.cookie, ...headers },
      })
      expect([headers, status]).toEqual([headers, 201])
    }
    // By another of its names, as a phone in the same network does.
    const local = await fetch(`http://localhost:${port}/repartidor/v1/guias/${guia}/eventos`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Cookie: phone.cookie,
        Origin: `http://localhost:${port}`,
      },
      body: JSON.stringify(nota(9)),
    })
    expect(local.status).toBe(201)
  })
})
