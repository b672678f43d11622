import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
import { useSesiones } from '../repartidores/sessions.ts'
import { createTestPersona, requestCode } from './persona.ts'

const { environment, otroServicio } = useSesiones()
const RUTA = '/operaciones/v1/sesion'
const operaciones = (ruta: string) => `/operaciones/v1${ruta}`

describe('a session of the courier company', () => {
  it('does what a key with its scopes does, and no more', async () => {
    const { comercio } = await environment.nuevoComercio()
    const ana = await createTestPersona(environment, { alcances: ['ver'] })
    expect((await ana.request('GET', operaciones(`/guias?comercio=${comercio}`))).status).toBe(200)
    const negada = await ana.request('POST', operaciones('/operadores'), { nombre: 'x' })
    expect([negada.status, negada.cuerpo.codigo, negada.cuerpo.mensaje]).toEqual([
      403,
      'alcance_insuficiente',
      expect.stringContaining('su cuenta no lo tiene'),
    ])
  })

  it('is the author of events and of the audit record', async () => {
    const tienda = await environment.nuevoComercio()
    const { guia } = await tienda.api.guias.crear(buildGuia())
    const ana = await createTestPersona(environment)
    const evento = await ana.request('POST', operaciones(`/guias/${guia}/eventos`), { estado: 'recolectado' })
    expect(evento.status).toBe(201)
    const creado = await ana.request('POST', operaciones('/operadores'), { nombre: 'x' })
    const { rows } = await environment.db.pool.query('select quien_tipo, quien, llave from bitacora where sobre = $1', [
      creado.cuerpo.operador,
    ])
    expect(rows).toEqual([{ quien_tipo: 'persona', quien: ana.persona, llave: null }])
    const lineas = environment.log
      .map((una) => JSON.parse(una))
      .filter(({ operacion }) => operacion === 'crearOperador')
    expect(lineas.at(-1)).toMatchObject({ persona: ana.persona })
    expect(environment.log.join()).not.toContain(ana.correo)
  })

  it('is of no use to merchants’ operations, nor beside a key', async () => {
    const ana = await createTestPersona(environment)
    const negada = await ana.request('GET', '/api/v1/guias')
    expect([negada.status, negada.cuerpo.codigo]).toEqual([403, 'alcance_insuficiente'])
    const ambas = await ana.request('GET', operaciones('/guias'), undefined, { llave: 'guia_oper_x' })
    expect([ambas.status, ambas.cuerpo.codigo]).toEqual([401, 'no_autenticado'])
  })

  it('lasts 12 hours', async () => {
    const ana = await createTestPersona(environment)
    environment.advance(12 * HOUR_MS - MINUTE_MS)
    expect((await ana.request('GET', RUTA)).status).toBe(200)
    environment.advance(MINUTE_MS + 1)
    const { status, cuerpo } = await ana.request('GET', RUTA)
    expect([status, cuerpo.codigo]).toEqual([401, 'sesion_invalida'])
  })
})

describe('a session of a merchant', () => {
  it('sees that merchant’s guides alone, in the mode that it chose', async () => {
    const [suya, ajena] = [await environment.nuevoComercio('test'), await environment.nuevoComercio('test')]
    const propia = (await suya.api.guias.crear(buildGuia())).guia
    const otra = (await ajena.api.guias.crear(buildGuia())).guia
    const ana = await createTestPersona(environment, { comercio: suya.comercio, alcances: ['despacho'] })
    const lista = async () =>
      (await ana.request('GET', '/api/v1/guias')).cuerpo.datos.map(({ guia }: { guia: string }) => guia)
    expect(await lista()).toEqual([])
    const elegida = await ana.request('PATCH', RUTA, { membresia: ana.membresia, modo: 'test' })
    expect([elegida.status, elegida.cuerpo.modo]).toEqual([200, 'test'])
    await hasta(async () => (await lista()).length === 1)
    expect(await lista()).toEqual([propia])
    expect((await ana.request('GET', `/api/v1/guias/${otra}`)).status).toBe(404)
    const creada = await ana.request('POST', '/api/v1/guias', buildGuiaWithoutDestino())
    expect(creada.status).toBe(201)
    expect((await suya.api.guias.obtener(creada.cuerpo.guia)).modo).toBe('test')
    expect((await ana.request('GET', operaciones('/guias'))).status).toBe(403)
  })

  it.each([
    ['propietario', { guias: 201, webhooks: 201, bitacora: 200 }],
    ['despacho', { guias: 201, webhooks: 403, bitacora: 403 }],
    ['cobros', { guias: 403, webhooks: 403, bitacora: 403 }],
    ['lectura', { guias: 403, webhooks: 403, bitacora: 403 }],
  ])('with «%s» does what its scopes allow', async (alcance, { guias, webhooks, bitacora }) => {
    const { comercio, id } = await environment.nuevoComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: [alcance] })
    expect((await ana.request('GET', '/api/v1/guias')).status).toBe(200)
    expect((await ana.request('POST', '/api/v1/guias', buildGuia())).status).toBe(guias)
    const webhook = await ana.request('POST', '/api/v1/webhooks', { url: 'https://ejemplo.com/x' })
    // The address is looked up, and a test has no names.
    if (webhooks === 403) expect(webhook.status).toBe(403)
    else expect([201, 422]).toContain(webhook.status)
    expect((await ana.request('GET', '/api/v1/bitacora')).status).toBe(bitacora)
    await hasta(async () => {
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
    const { url } = await otroServicio()
    await createTestPersona(environment)
    const [ana, bea, eva, luz] = await Promise.all(Array.from({ length: 4 }, () => createTestPersona(environment)))
    const alla = (cookie: string, ruta = RUTA) => fetch(url + ruta, { headers: { Cookie: cookie } })
    const todas = [ana!, bea!, eva!]
    for (const { cookie } of [...todas, luz!]) expect((await alla(cookie)).status).toBe(200)
    await ana!.request('DELETE', RUTA)
    await environment.operar('DELETE', `/membresias/${bea!.membresia}`)
    await environment.operar('DELETE', `/personas/${eva!.persona}`)
    await environment.operar('PATCH', `/membresias/${luz!.membresia}`, { alcances: ['operar'] })
    const fin = performance.now()
    await hasta(async () => {
      const estados = await Promise.all(todas.map(async ({ cookie }) => (await alla(cookie)).status))
      const cambiada = (await alla(luz!.cookie, operaciones('/guias'))).status
      return [...estados, cambiada].join() === '401,401,401,403'
    })
    expect(performance.now() - fin).toBeLessThan(1_000)
  })

  it('names its cookies for https alone', async () => {
    const { url } = await otroServicio({ PUBLIC_URL: 'https://guias.ejemplo.com', WEBHOOKS_LOOPBACK: '0' })
    const ana = await createTestPersona(environment)
    const respuesta = await fetch(`${url}${RUTA}/codigo`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: 'https://guias.ejemplo.com' },
      body: JSON.stringify({ correo: ana.correo }),
    })
    expect(respuesta.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-guias_entrada=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    const conCookie = (nombre: string) =>
      fetch(url + RUTA, { headers: { Cookie: `${nombre}=${ana.cookie.split('=')[1]}` } })
    expect((await conCookie('guias_sesion')).status).toBe(401)
    expect((await conCookie('__Host-guias_sesion')).status).toBe(200)
  })
})

it('keeps no token, code or link in the database', async () => {
  const ana = await createTestPersona(environment)
  const { codigo, signInCookie: entrada } = await requestCode(environment, ana.correo)
  const { rows } = await environment.db.pool.query(
    `select (select json_agg(s) from sesion_persona s) s, (select json_agg(c) from codigo_de_entrada c) c,
       (select json_agg(i) from invitacion i) i, (select json_agg(m) from correo m) m, (select json_agg(b) from bitacora b) b`,
  )
  const todo = JSON.stringify(rows)
  for (const secreto of [ana.cookie.split('=')[1]!, entrada.split('=')[1]!]) {
    expect(todo).not.toContain(secreto)
    expect(todo).not.toContain(Buffer.from(secreto).toString('hex'))
  }
  expect(todo).not.toContain(`"${codigo}"`)
})
