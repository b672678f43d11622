import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES, waitUntil } from '../factories.ts'
import { createMobile } from '../repartidores/phone.ts'

const environment = useEnvironment()
const search = async (filters = '') => (await environment.asOperador('GET', `/bitacora${filters}`)).body
const acciones = async (filters: string) =>
  (await search(filters)).datos.map(({ accion }: { accion: string }) => accion) as string[]

describe('GET /operaciones/v1/bitacora', () => {
  it('finds the lines of everybody by who, what, on what, whose and when', async () => {
    const comercio = await environment.createComercio()
    const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/1' })
    const phone = await createMobile(environment)
    const { id } = (await environment.asOperador('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'live' }))
      .body
    await environment.asOperador('POST', `/llaves/${id}/rotar`, { solapamiento_horas: 0 })
    await environment.asOperador('POST', `/llaves/${id}/revocar`)
    expect(await acciones('')).toEqual([
      'revocarLlave',
      'rotarLlave',
      'crearLlave',
      'abrirSesion',
      'crearRepartidor',
      'crearWebhook',
    ])
    expect(await acciones(`?sobre=${id}`)).toEqual(['revocarLlave', 'rotarLlave', 'crearLlave'])
    expect(await acciones(`?quien=${phone.repartidor}`)).toEqual(['abrirSesion'])
    expect(await acciones(`?comercio=${comercio.comercio}&accion=crearWebhook`)).toEqual(['crearWebhook'])
    expect(await acciones('?comercio=com_000000000000')).toEqual([])
    const { datos, cursor_siguiente } = await search('?limite=4')
    expect(datos[1]).toMatchObject({
      comercio: comercio.comercio,
      modo: 'live',
      quien: { tipo: 'operador', llave: expect.stringMatching(/^llave_/) },
      red: '127.0.0.0/24',
    })
    expect(datos[3].comercio).toBeNull()
    const rest = await search(`?limite=4&cursor=${cursor_siguiente}`)
    expect(rest.datos.map(({ sobre }: { sobre: object }) => sobre)).toEqual([
      { tipo: 'repartidor', identificador: phone.repartidor },
      { tipo: 'webhook', identificador: webhook },
    ])
    const { creado_en: createdAt } = datos[3]
    expect(await acciones(`?creado_desde=${createdAt}&creado_hasta=${datos[2].creado_en}`)).toEqual(['abrirSesion'])
  })

  it('tells which courier looked at a guide that he doesn’t carry, and nothing of those that he does', async () => {
    const comercio = await environment.createComercio()
    const phone = await createMobile(environment)
    const guias = await Promise.all([1, 2].map(async () => (await comercio.api.guias.crear(buildGuia())).guia))
    await environment.asOperador('POST', `/guias/${guias[0]}/eventos`, {
      estado: 'recolectado',
      repartidor: phone.repartidor,
    })
    await phone.request('GET', `/guias?guia=${guias[0]}&guia=${guias[1]}`)
    await phone.request('GET', `/guias/${guias[0]}`)
    await phone.request('GET', `/guias/${guias[1]}`)
    const lines = await waitUntil(async () => {
      const { datos } = await search(`?quien=${phone.repartidor}`)
      return datos.length === 3 && datos
    })
    expect(lines.map(({ accion, sobre }: { accion: string; sobre: object }) => [accion, sobre])).toEqual([
      ['obtenerGuiaDeReparto', { tipo: 'guia', identificador: guias[1] }],
      ['listarGuiasDeReparto', { tipo: 'guia', identificador: guias[1] }],
      ['abrirSesion', null],
    ])
  })

  it('has one line for many sign-ins that are refused at once', async () => {
    const before = (await acciones('?accion=abrirSesion')).length
    const entrar = () =>
      environment.request('POST', '/repartidor/v1/sesion', {
        body: { codigo: 'AAAAA-AAAAA' },
        headers: { Origin: environment.url },
      })
    const responses = await Promise.all(Array.from({ length: 60 }, entrar))
    expect(responses.filter(({ status }) => status === 429).length).toBeGreaterThan(1)
    const lines = await waitUntil(async () => {
      const { datos } = await search('?accion=abrirSesion')
      return datos.length > before && datos
    })
    expect(lines.length).toBe(before + 1)
    expect(lines[0]).toMatchObject({ quien: { tipo: 'desconocido' }, sobre: null, despues: { rechazada: true } })
  })

  it('needs administrar', async () => {
    const llave = await environment.createOperacionLlave(['ver', 'operar'])
    expect((await environment.request('GET', '/operaciones/v1/bitacora', { llave })).body.codigo).toBe(
      'alcance_insuficiente',
    )
  })
})

describe('the record', () => {
  it('refuses every change, deletion and truncation', async () => {
    for (const table of ['bitacora', 'eslabon', 'sello'])
      for (const sql of [`update ${table} set creado_en = now()`, `delete from ${table}`, `truncate ${table}`])
        await expect(environment.db.pool.query(sql)).rejects.toThrow(`${table} is append-only`)
  })

  it(
    'has the line of every change that is made: where it can’t be written, nothing is changed',
    EN_POSTGRES,
    async () => {
      const comercio = await environment.createComercio()
      const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/2' })
      await environment.db.pool.query(`create function negar() returns trigger language plpgsql as $$
      begin raise exception 'no' using errcode = 'lock_not_available'; end $$`)
      await environment.db.pool.query('create trigger negar before insert on bitacora execute function negar()')
      const { body: cambio } = await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
        estricto: true,
      })
      const { status } = await environment.request('DELETE', `/api/v1/webhooks/${webhook}`, { llave: comercio.llave })
      expect([cambio.codigo, status]).toEqual(['no_disponible', 503])
      // Looks wait, and are written when they can be.
      const { guia } = await comercio.api.guias.crear(buildGuia())
      await environment.asOperador('GET', `/guias/${guia}`)
      await waitUntil(async () => environment.log.some((line) => line.includes('audit lines not written; retrying')))
      await environment.db.pool.query('drop trigger negar on bitacora')
      await waitUntil(async () => (await acciones(`?sobre=${guia}`)).length === 1)
      expect((await comercio.api.cuenta.obtener()).estricto).toBe(false)
      expect((await comercio.api.webhooks.obtener(webhook)).estado).toBe('activo')
    },
  )
})
