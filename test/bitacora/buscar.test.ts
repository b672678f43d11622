import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES, hasta } from '../factories.ts'
import { createMobile } from '../repartidores/phone.ts'

const entorno = useEnvironment()
const buscar = async (filtros = '') => (await entorno.operar('GET', `/bitacora${filtros}`)).cuerpo
const acciones = async (filtros: string) =>
  (await buscar(filtros)).datos.map(({ accion }: { accion: string }) => accion) as string[]

describe('GET /operaciones/v1/bitacora', () => {
  it('finds the lines of everybody by who, what, on what, whose and when', async () => {
    const comercio = await entorno.nuevoComercio()
    const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/1' })
    const movil = await createMobile(entorno)
    const { id } = (await entorno.operar('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'live' })).cuerpo
    await entorno.operar('POST', `/llaves/${id}/rotar`, { solapamiento_horas: 0 })
    await entorno.operar('POST', `/llaves/${id}/revocar`)
    expect(await acciones('')).toEqual([
      'revocarLlave',
      'rotarLlave',
      'crearLlave',
      'abrirSesion',
      'crearRepartidor',
      'crearWebhook',
    ])
    expect(await acciones(`?sobre=${id}`)).toEqual(['revocarLlave', 'rotarLlave', 'crearLlave'])
    expect(await acciones(`?quien=${movil.repartidor}`)).toEqual(['abrirSesion'])
    expect(await acciones(`?comercio=${comercio.comercio}&accion=crearWebhook`)).toEqual(['crearWebhook'])
    expect(await acciones('?comercio=com_000000000000')).toEqual([])
    const { datos, cursor_siguiente } = await buscar('?limite=4')
    expect(datos[1]).toMatchObject({
      comercio: comercio.comercio,
      modo: 'live',
      quien: { tipo: 'operador', llave: expect.stringMatching(/^llave_/) },
      red: '127.0.0.0/24',
    })
    expect(datos[3].comercio).toBeNull()
    const resto = await buscar(`?limite=4&cursor=${cursor_siguiente}`)
    expect(resto.datos.map(({ sobre }: { sobre: object }) => sobre)).toEqual([
      { tipo: 'repartidor', identificador: movil.repartidor },
      { tipo: 'webhook', identificador: webhook },
    ])
    const { creado_en } = datos[3]
    expect(await acciones(`?creado_desde=${creado_en}&creado_hasta=${datos[2].creado_en}`)).toEqual(['abrirSesion'])
  })

  it('tells which courier looked at a guide that he doesn’t carry, and nothing of those that he does', async () => {
    const comercio = await entorno.nuevoComercio()
    const movil = await createMobile(entorno)
    const guias = await Promise.all([1, 2].map(async () => (await comercio.api.guias.crear(buildGuia())).guia))
    await entorno.operar('POST', `/guias/${guias[0]}/eventos`, {
      estado: 'recolectado',
      repartidor: movil.repartidor,
    })
    await movil.request('GET', `/guias?guia=${guias[0]}&guia=${guias[1]}`)
    await movil.request('GET', `/guias/${guias[0]}`)
    await movil.request('GET', `/guias/${guias[1]}`)
    const lineas = await hasta(async () => {
      const { datos } = await buscar(`?quien=${movil.repartidor}`)
      return datos.length === 3 && datos
    })
    expect(lineas.map(({ accion, sobre }: { accion: string; sobre: object }) => [accion, sobre])).toEqual([
      ['obtenerGuiaDeReparto', { tipo: 'guia', identificador: guias[1] }],
      ['listarGuiasDeReparto', { tipo: 'guia', identificador: guias[1] }],
      ['abrirSesion', null],
    ])
  })

  it('has one line for many sign-ins that are refused at once', async () => {
    const antes = (await acciones('?accion=abrirSesion')).length
    const entrar = () =>
      entorno.request('POST', '/repartidor/v1/sesion', {
        cuerpo: { codigo: 'AAAAA-AAAAA' },
        cabeceras: { Origin: entorno.url },
      })
    const respuestas = await Promise.all(Array.from({ length: 60 }, entrar))
    expect(respuestas.filter(({ status }) => status === 429).length).toBeGreaterThan(1)
    const lineas = await hasta(async () => {
      const { datos } = await buscar('?accion=abrirSesion')
      return datos.length > antes && datos
    })
    expect(lineas.length).toBe(antes + 1)
    expect(lineas[0]).toMatchObject({ quien: { tipo: 'desconocido' }, sobre: null, despues: { rechazada: true } })
  })

  it('needs administrar', async () => {
    const llave = await entorno.createOperacionLlave(['ver', 'operar'])
    expect((await entorno.request('GET', '/operaciones/v1/bitacora', { llave })).cuerpo.codigo).toBe(
      'alcance_insuficiente',
    )
  })
})

describe('the record', () => {
  it('refuses every change, deletion and truncation', async () => {
    for (const tabla of ['bitacora', 'eslabon', 'sello'])
      for (const sql of [`update ${tabla} set creado_en = now()`, `delete from ${tabla}`, `truncate ${tabla}`])
        await expect(entorno.db.pool.query(sql)).rejects.toThrow(`${tabla} is append-only`)
  })

  it(
    'has the line of every change that is made: where it can’t be written, nothing is changed',
    EN_POSTGRES,
    async () => {
      const comercio = await entorno.nuevoComercio()
      const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/2' })
      await entorno.db.pool.query(`create function negar() returns trigger language plpgsql as $$
      begin raise exception 'no' using errcode = 'lock_not_available'; end $$`)
      await entorno.db.pool.query('create trigger negar before insert on bitacora execute function negar()')
      const { cuerpo: cambio } = await entorno.operar('PATCH', `/comercios/${comercio.comercio}`, { estricto: true })
      const { status } = await entorno.request('DELETE', `/api/v1/webhooks/${webhook}`, { llave: comercio.llave })
      expect([cambio.codigo, status]).toEqual(['no_disponible', 503])
      // Looks wait, and are written when they can be.
      const { guia } = await comercio.api.guias.crear(buildGuia())
      await entorno.operar('GET', `/guias/${guia}`)
      await hasta(async () => entorno.log.some((linea) => linea.includes('audit lines not written; retrying')))
      await entorno.db.pool.query('drop trigger negar on bitacora')
      await hasta(async () => (await acciones(`?sobre=${guia}`)).length === 1)
      expect((await comercio.api.cuenta.obtener()).estricto).toBe(false)
      expect((await comercio.api.webhooks.obtener(webhook)).estado).toBe('activo')
    },
  )
})
