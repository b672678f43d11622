import { describe, expect, it } from 'vitest'
import { leerLlave, nuevaLlave } from '../../server/llaves/llave.ts'
import { usarEntorno } from '../entorno.ts'
import { hasta, unaGuia } from '../fabricas.ts'

const entorno = usarEntorno()
const HORA = 3_600_000

const listar = async (llave: string) => (await entorno.pedir('GET', '/api/v1/guias', { llave })).status
const crearComercio = async () => (await entorno.operar('POST', '/comercios', { nombre: 'Tienda La Ceiba' })).cuerpo
const crearLlave = async (comercio: string, cuerpo: object = { modo: 'test' }) =>
  (await entorno.operar('POST', `/comercios/${comercio}/llaves`, cuerpo)).cuerpo

describe('the format of a key', () => {
  it('carries kind, id, 256-bit secret and a checksum that finds any wrong character', () => {
    const { llave, id } = nuevaLlave('live')
    expect(llave).toMatch(/^guia_live_[0-9A-Z]{70}$/)
    expect(leerLlave(llave)).toMatchObject({ tipo: 'live', id })
    for (let i = 0; i < llave.length; i++) {
      const alterada = llave.slice(0, i) + (llave[i] === '0' ? '1' : '0') + llave.slice(i + 1)
      expect(leerLlave(alterada)).toBeUndefined()
    }
  })
})

describe('merchants and keys', () => {
  it('creates a merchant and a key that works at once, and shows its secret only once', async () => {
    const comercio = await crearComercio()
    expect(comercio).toMatchObject({ comercio: expect.stringMatching(/^com_/), nombre: 'Tienda La Ceiba' })
    const llave = await crearLlave(comercio.comercio, { modo: 'live', alcances: ['guias:leer'] })
    expect(llave).toMatchObject({
      id: expect.stringMatching(/^llave_/),
      llave: expect.stringMatching(/^guia_live_/),
      comercio: comercio.comercio,
      modo: 'live',
      alcances: ['guias:leer'],
      vence_en: null,
    })
    expect(await listar(llave.llave)).toBe(200)
    const { cuerpo } = await entorno.operar('GET', `/comercios/${comercio.comercio}/llaves`)
    const { llave: secreto, ...publica } = llave
    expect(cuerpo.datos).toEqual([publica])
    const { rows } = await entorno.db.pool.query('select * from llave where id = $1', [llave.id.slice(6)])
    expect(JSON.stringify(rows)).not.toContain(secreto.slice(22, 74))
    expect(entorno.log.join()).not.toContain(secreto.slice(22, 40))
  })

  it('lists merchants newest first, in pages', async () => {
    const creados = [await crearComercio(), await crearComercio(), await crearComercio()]
    const primera = (await entorno.operar('GET', '/comercios?limite=2')).cuerpo
    expect(primera.datos).toEqual([creados[2], creados[1]])
    const segunda = (await entorno.operar('GET', `/comercios?limite=1&cursor=${primera.cursor_siguiente}`)).cuerpo
    expect(segunda.datos).toEqual([creados[0]])
  })

  it('lists keys in pages', async () => {
    const { comercio } = await crearComercio()
    const ids = new Set([
      (await crearLlave(comercio)).id,
      (await crearLlave(comercio)).id,
      (await crearLlave(comercio)).id,
    ])
    const primera = (await entorno.operar('GET', `/comercios/${comercio}/llaves?limite=2`)).cuerpo
    const segunda = (await entorno.operar('GET', `/comercios/${comercio}/llaves?cursor=${primera.cursor_siguiente}`))
      .cuerpo
    expect(new Set([...primera.datos, ...segunda.datos].map((l) => l.id))).toEqual(ids)
    expect(segunda.cursor_siguiente).toBeNull()
  })

  it.each<[string, string, object, string]>([
    ['a blank name', '/comercios', { nombre: ' ' }, '/nombre'],
    ['an unknown scope', '/comercios/{c}/llaves', { modo: 'test', alcances: ['todo'] }, '/alcances/0'],
    ['no scope', '/comercios/{c}/llaves', { modo: 'test', alcances: [] }, '/alcances'],
    ['a doubled scope', '/comercios/{c}/llaves', { modo: 'test', alcances: ['guias:leer', 'guias:leer'] }, '/alcances'],
    ['no mode', '/comercios/{c}/llaves', {}, '/modo'],
    ['a past expiry', '/comercios/{c}/llaves', { modo: 'test', vence_en: '2020-01-01T00:00:00Z' }, '/vence_en'],
  ])('refuses %s', async (_que, ruta, cuerpo, campo) => {
    const { comercio } = await crearComercio()
    const respuesta = await entorno.operar('POST', ruta.replace('{c}', comercio), cuerpo)
    expect([respuesta.status, respuesta.cuerpo.errores.map((e: { campo: string }) => e.campo)]).toEqual([422, [campo]])
  })

  it('answers 404 to merchants and keys that don’t exist', async () => {
    expect((await entorno.operar('GET', '/comercios/com_NADIE/llaves')).cuerpo.codigo).toBe('comercio_desconocido')
    expect((await entorno.operar('POST', '/comercios/com_NADIE/llaves', { modo: 'test' })).cuerpo.codigo).toBe(
      'comercio_desconocido',
    )
    expect((await entorno.operar('POST', '/llaves/llave_NADIE/rotar', {})).cuerpo.codigo).toBe('llave_desconocida')
    expect((await entorno.operar('POST', '/llaves/llave_NADIE/revocar')).cuerpo.codigo).toBe('llave_desconocida')
    for (const raro of ['%00', '%F0%9F%92%A9', 'com_%00', 'llave_%00', 'x'.repeat(300), "'--"]) {
      expect([raro, (await entorno.operar('GET', `/comercios/${raro}/llaves`)).status]).toEqual([
        raro,
        expect.toSatisfy((s) => s === 404 || s === 400),
      ])
      expect([raro, (await entorno.operar('POST', `/llaves/${raro}/revocar`)).status]).toEqual([
        raro,
        expect.toSatisfy((s) => s === 404 || s === 400),
      ])
      expect([raro, (await entorno.operar('GET', `/guias?comercio=${raro}`)).status]).toEqual([
        raro,
        expect.toSatisfy((s) => s === 200 || s === 400),
      ])
      expect([raro, (await entorno.operar('GET', `/mensajes?guia=${raro}`)).status]).toEqual([
        raro,
        expect.toSatisfy((s) => s === 404 || s === 400),
      ])
    }
    // An operator's key is none of a merchant's.
    const suya = leerLlave(entorno.llaveDeOperacion)!.id
    expect((await entorno.operar('POST', `/llaves/llave_${suya}/revocar`)).status).toBe(404)
  })
})

describe('the life of a key', () => {
  it('ends with its revocation, also in a server that used it a moment ago', async () => {
    const { comercio } = await crearComercio()
    const llave = await crearLlave(comercio)
    expect(await listar(llave.llave)).toBe(200)
    expect((await entorno.operar('POST', `/llaves/${llave.id}/revocar`)).cuerpo.revocado_en).toEqual(expect.any(String))
    await hasta(async () => (await listar(llave.llave)) === 401)
    const otraVez = await entorno.operar('POST', `/llaves/${llave.id}/revocar`)
    expect(otraVez.status).toBe(200)
    expect((await entorno.operar('POST', `/llaves/${llave.id}/rotar`, {})).cuerpo.codigo).toBe('llave_inactiva')
  })

  it('goes on in two keys while a rotation overlaps, and then in one', async () => {
    const { comercio } = await crearComercio()
    const vieja = await crearLlave(comercio, { modo: 'live', alcances: ['guias:leer'] })
    const { status, cuerpo: nueva } = await entorno.operar('POST', `/llaves/${vieja.id}/rotar`, {
      solapamiento_horas: 2,
    })
    expect([status, nueva.modo, nueva.alcances, nueva.vence_en]).toEqual([201, 'live', ['guias:leer'], null])
    expect([await listar(vieja.llave), await listar(nueva.llave)]).toEqual([200, 200])
    entorno.adelantar(2 * HORA + 1_000)
    try {
      await hasta(async () => (await listar(vieja.llave)) === 401)
      expect(await listar(nueva.llave)).toBe(200)
    } finally {
      entorno.adelantar(-2 * HORA - 1_000)
    }
  })

  it('rotates with a day of overlap unless told, and at once with 0', async () => {
    const { comercio } = await crearComercio()
    const llave = await crearLlave(comercio)
    await entorno.operar('POST', `/llaves/${llave.id}/rotar`)
    const { cuerpo } = await entorno.operar('GET', `/comercios/${comercio}/llaves`)
    const vieja = cuerpo.datos.find((l: { id: string }) => l.id === llave.id)
    expect(new Date(vieja.vence_en).getTime() - Date.now()).toBeGreaterThan(23 * HORA)
    expect(await listar(llave.llave)).toBe(200)
    await entorno.operar('POST', `/llaves/${llave.id}/rotar`, { solapamiento_horas: 0 })
    await hasta(async () => (await listar(llave.llave)) === 401)
    expect((await entorno.operar('POST', `/llaves/${llave.id}/rotar`, { solapamiento_horas: 169 })).status).toBe(422)
  })

  it('ends at its expiry', async () => {
    const comercio = await entorno.nuevoComercio()
    const llave = await entorno.nuevaLlave(comercio, { vence_en: new Date(Date.now() + HORA) })
    expect(await listar(llave)).toBe(200)
    entorno.adelantar(HORA + 1_000)
    try {
      expect(await listar(llave)).toBe(401)
    } finally {
      entorno.adelantar(-HORA - 1_000)
    }
  })

  it('never sees the other mode', async () => {
    const comercio = await entorno.nuevoComercio('test')
    const enVivo = await entorno.nuevaLlave(comercio, { modo: 'live' })
    const { guia } = await comercio.api.guias.crear(unaGuia())
    expect((await entorno.pedir('GET', `/api/v1/guias/${guia}`, { llave: enVivo })).status).toBe(404)
    expect((await entorno.pedir('GET', '/api/v1/guias', { llave: enVivo })).cuerpo.datos).toEqual([])
  })
})
