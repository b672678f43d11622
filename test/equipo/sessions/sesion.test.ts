import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../../factories.ts'
import { useSesiones } from '../../repartidores/sessions.ts'
import { createTestPersona, requestCode } from '../persona.ts'

const { environment, startOtherService } = useSesiones()
const RUTA = '/operaciones/v1/sesion'
const operaciones = (path: string) => `/operaciones/v1${path}`

describe('a session of the courier company', () => {
  it('does what a key with its scopes does, and no more', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { alcances: ['ver'] })
    expect((await ana.request('GET', operaciones(`/guias?comercio=${comercio}`))).status).toBe(200)
    const refusal = await ana.request('POST', operaciones('/operadores'), { nombre: 'x' })
    expect([refusal.status, refusal.body.codigo, refusal.body.mensaje]).toEqual([
      403,
      'alcance_insuficiente',
      expect.stringContaining('su cuenta no lo tiene'),
    ])
  })

  it('is the author of events and of the audit record', async () => {
    const shop = await environment.createComercio()
    const { guia } = await shop.api.guias.crear(buildGuia())
    const ana = await createTestPersona(environment)
    const evento = await ana.request('POST', operaciones(`/guias/${guia}/eventos`), { estado: 'recolectado' })
    expect(evento.status).toBe(201)
    const created = await ana.request('POST', operaciones('/operadores'), { nombre: 'x' })
    const { rows } = await environment.db.pool.query('select quien_tipo, quien, llave from bitacora where sobre = $1', [
      created.body.operador,
    ])
    expect(rows).toEqual([{ quien_tipo: 'persona', quien: ana.persona, llave: null }])
    const lines = environment.log.map((one) => JSON.parse(one)).filter(({ operacion }) => operacion === 'crearOperador')
    expect(lines.at(-1)).toMatchObject({ persona: ana.persona })
    expect(environment.log.join()).not.toContain(ana.correo)
  })

  it('is of no use to merchants’ operations, nor beside a key', async () => {
    const ana = await createTestPersona(environment)
    const refusal = await ana.request('GET', '/api/v1/guias')
    expect([refusal.status, refusal.body.codigo]).toEqual([403, 'alcance_insuficiente'])
    const bothResult = await ana.request('GET', operaciones('/guias'), undefined, { llave: 'guia_oper_x' })
    expect([bothResult.status, bothResult.body.codigo]).toEqual([401, 'no_autenticado'])
  })

  it('lasts 12 hours', async () => {
    const ana = await createTestPersona(environment)
    environment.advance(12 * HOUR_MS - MINUTE_MS)
    expect((await ana.request('GET', RUTA)).status).toBe(200)
    environment.advance(MINUTE_MS + 1)
    const { status, body } = await ana.request('GET', RUTA)
    expect([status, body.codigo]).toEqual([401, 'sesion_invalida'])
  })
})

describe('a session of a merchant', () => {
  it('sees that merchant’s guides alone, in the mode that it chose', async () => {
    const [ownComercio, foreign] = [await environment.createComercio('test'), await environment.createComercio('test')]
    const propia = (await ownComercio.api.guias.crear(buildGuia())).guia
    const other = (await foreign.api.guias.crear(buildGuia())).guia
    const ana = await createTestPersona(environment, { comercio: ownComercio.comercio, alcances: ['despacho'] })
    const list = async () =>
      (await ana.request('GET', '/api/v1/guias')).body.datos.map(({ guia }: { guia: string }) => guia)
    expect(await list()).toEqual([])
    const choice = await ana.request('PATCH', RUTA, { membresia: ana.membresia, modo: 'test' })
    expect([choice.status, choice.body.modo]).toEqual([200, 'test'])
    await waitUntil(async () => (await list()).length === 1)
    expect(await list()).toEqual([propia])
    expect((await ana.request('GET', `/api/v1/guias/${other}`)).status).toBe(404)
    const created = await ana.request('POST', '/api/v1/guias', buildGuiaWithoutDestino())
    expect(created.status).toBe(201)
    expect((await ownComercio.api.guias.obtener(created.body.guia)).modo).toBe('test')
    expect((await ana.request('GET', operaciones('/guias'))).status).toBe(403)
  })

  it.each([
    ['propietario', { guias: 201, webhooks: 201, bitacora: 200 }],
    ['despacho', { guias: 201, webhooks: 403, bitacora: 403 }],
    ['cobros', { guias: 403, webhooks: 403, bitacora: 403 }],
    ['lectura', { guias: 403, webhooks: 403, bitacora: 403 }],
  ])('with «%s» does what its scopes allow', async (alcance, { guias, webhooks, bitacora }) => {
    const { comercio, id } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: [alcance] })
    expect((await ana.request('GET', '/api/v1/guias')).status).toBe(200)
    expect((await ana.request('POST', '/api/v1/guias', buildGuia())).status).toBe(guias)
    const webhook = await ana.request('POST', '/api/v1/webhooks', { url: 'https://ejemplo.com/x' })
    // The address is looked up, and a test has no names.
    if (webhooks === 403) expect(webhook.status).toBe(403)
    else expect([201, 422]).toContain(webhook.status)
    expect((await ana.request('GET', '/api/v1/bitacora')).status).toBe(bitacora)
    await waitUntil(async () => {
      const { rows } = await environment.db.pool.query(
        `select quien from bitacora where comercio_id = $1 and accion = 'aceptarInvitacion'`,
        [id],
      )
      return rows[0]?.quien === ana.persona
    })
  })
})

describe('another process', () => {
  it('refuses within a second what was ended here', async () => {
    const { url } = await startOtherService()
    await createTestPersona(environment)
    const [ana, bea, eva, luz] = await Promise.all(Array.from({ length: 4 }, () => createTestPersona(environment)))
    const elsewhere = (cookie: string, path = RUTA) => fetch(url + path, { headers: { Cookie: cookie } })
    const all = [ana!, bea!, eva!]
    for (const { cookie } of [...all, luz!]) expect((await elsewhere(cookie)).status).toBe(200)
    await ana!.request('DELETE', RUTA)
    await environment.asOperador('DELETE', `/membresias/${bea!.membresia}`)
    await environment.asOperador('DELETE', `/personas/${eva!.persona}`)
    await environment.asOperador('PATCH', `/membresias/${luz!.membresia}`, { alcances: ['operar'] })
    const end = performance.now()
    await waitUntil(async () => {
      const estados = await Promise.all(all.map(async ({ cookie }) => (await elsewhere(cookie)).status))
      const afterChange = (await elsewhere(luz!.cookie, operaciones('/guias'))).status
      return [...estados, afterChange].join() === '401,401,401,403'
    })
    expect(performance.now() - end).toBeLessThan(1_000)
  })

  it('names its cookies for https alone', async () => {
    const { url } = await startOtherService({ PUBLIC_URL: 'https://guias.ejemplo.com', WEBHOOKS_LOOPBACK: '0' })
    const ana = await createTestPersona(environment)
    const response = await fetch(`${url}${RUTA}/codigo`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: 'https://guias.ejemplo.com' },
      body: JSON.stringify({ correo: ana.correo }),
    })
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-guias_entrada=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    const requestWithCookie = (name: string) =>
      fetch(url + RUTA, { headers: { Cookie: `${name}=${ana.cookie.split('=')[1]}` } })
    expect((await requestWithCookie('guias_sesion')).status).toBe(401)
    expect((await requestWithCookie('__Host-guias_sesion')).status).toBe(200)
  })
})

it('keeps no token, code or link in the database', async () => {
  const ana = await createTestPersona(environment)
  const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
  const { rows } = await environment.db.pool.query(
    `select (select json_agg(s) from sesion_persona s) s, (select json_agg(c) from codigo_de_entrada c) c,
       (select json_agg(i) from invitacion i) i, (select json_agg(m) from correo m) m, (select json_agg(b) from bitacora b) b`,
  )
  const all = JSON.stringify(rows)
  for (const secret of [ana.cookie.split('=')[1]!, input.split('=')[1]!]) {
    expect(all).not.toContain(secret)
    expect(all).not.toContain(Buffer.from(secret).toString('hex'))
  }
  expect(all).not.toContain(`"${codigo}"`)
})
