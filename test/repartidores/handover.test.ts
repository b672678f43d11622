import { beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia } from '../factories.ts'
import { createMobile, type Mobile } from './phone.ts'

const environment = useEnvironment({}, () => ({ TIME_ZONE: 'UTC', WORKERS: '0' }))
let comercio: Comercio
let ana: Mobile
let luis: Mobile
let eva: Mobile
const createNamedMobile = async (nombre: string) =>
  createMobile(environment, (await environment.asOperador('POST', '/repartidores', { nombre })).body)
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createNamedMobile('Ana Tum')
  luis = await createNamedMobile('Luis Batz')
  eva = await createNamedMobile('Eva Xol')
})

let keys = 0
const key = () => `traspaso-${++keys}`
const asignar = (guias: string[], { repartidor }: Mobile) =>
  environment.asOperador('POST', '/asignaciones', { guias, repartidor })
const readGuia = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body
const report = (mobile: Mobile, guia: string, estado: string, more: object = {}) =>
  mobile.registrar(guia, { estado, idempotencia: key(), ...more })
const ago = (minutes: number) => new Date(environment.clock().getTime() - minutes * MINUTE_MS).toISOString()
const fail = (mobile: Mobile, guia: string, more: object = {}) =>
  report(mobile, guia, 'intento_fallido', { motivo: 'destinatario_ausente', ...more })
/** A guide that Ana carries on her way, and that the office assigned to Luis. */
async function createHandover(): Promise<string> {
  const guia = await createGuiaOnRoute(environment, comercio, ana.repartidor)
  await asignar([guia], luis)
  return guia
}

describe('a parcel that one courier carries and the office assigns to another', () => {
  it('stays with its courier until the other one scans it, and names who has it', async () => {
    const guia = await createHandover()
    const { asignadas } = (await luis.request('GET', '/guias')).body
    expect(asignadas).toContainEqual({ guia, municipio: expect.any(String), la_lleva: 'Ana Tum' })
    expect((await luis.request('GET', `/guias/${guia}`)).body).toMatchObject({
      custodia: 'ajena',
      destinatario: null,
      siguientes: [{ estado: 'en_ruta', motivos: [], con_prueba: false, con_ubicacion: false }],
    })
    expect((await ana.request('GET', `/guias/${guia}`)).body.custodia).toBe('propia')
    expect((await report(luis, guia, 'intento_fallido', { motivo: 'sin_pago' })).body.codigo).toBe('sin_custodia')
    expect((await fail(ana, guia)).status).toBe(201)
  })

  it('changes hands with the scan, in the same state, and says from which courier to which', async () => {
    const guia = await createHandover()
    const before = await readGuia(guia)
    const { status, body } = await report(luis, guia, 'en_ruta')
    expect([status, body]).toMatchObject([
      201,
      { tipo: 'guia.traspasada', estado: 'en_ruta', estado_anterior: 'en_ruta', aplicado: true },
    ])
    const after = await readGuia(guia)
    expect(after).toMatchObject({
      estado: 'en_ruta',
      intentos: before.intentos,
      repartidor: { repartidor: luis.repartidor },
    })
    expect(after.eventos.datos.at(-1)).toMatchObject({
      repartidor: { repartidor: luis.repartidor, nombre: 'Luis Batz' },
      traspasado_por: { repartidor: ana.repartidor, nombre: 'Ana Tum' },
      asignado_por: { autor: expect.stringMatching(/^op_/) },
    })
    const [ofAna, ofLuis] = [(await ana.request('GET', '/guias')).body, (await luis.request('GET', '/guias')).body]
    const codesOf = (guias: { guia: string }[]) => guias.map((one) => one.guia)
    expect(codesOf(ofAna.datos)).not.toContain(guia)
    expect(codesOf(ofLuis.datos)).toContain(guia)
    expect(codesOf(ofLuis.asignadas)).not.toContain(guia)
    expect((await ana.request('GET', `/guias/${guia}`)).body).toMatchObject({ custodia: 'ajena', telefono: null })
  })

  it('tells the merchant who carries it, and neither who had it nor who assigned it', async () => {
    const guia = await createHandover()
    await report(luis, guia, 'en_ruta')
    const evento = (await comercio.api.guias.eventos(guia).primeros(100)).at(-1)!
    expect(evento).toMatchObject({ tipo: 'guia.traspasada', repartidor: { nombre: 'Luis Batz' } })
    for (const datum of ['Ana Tum', 'traspasado_por', 'asignado_por'])
      expect(JSON.stringify(evento)).not.toContain(datum)
    const page = await (await fetch(`${environment.url}/r/${guia}`)).text()
    expect(page).not.toContain('otro repartidor')
  })

  it('is received once: a second scan is refused, and a repeated one answers as before', async () => {
    const guia = await createHandover()
    const toma = { estado: 'en_ruta', idempotencia: key() }
    const first = await luis.registrar(guia, toma)
    expect(await luis.registrar(guia, toma)).toMatchObject({ status: 200, body: first.body })
    expect((await report(luis, guia, 'en_ruta')).body.codigo).toBe('transicion_invalida')
    const both = await createHandover()
    const scans = await Promise.all([report(luis, both, 'en_ruta'), report(luis, both, 'en_ruta')])
    expect(scans.map(({ status }) => status).toSorted()).toEqual([201, 409])
    const { datos } = (await readGuia(both)).eventos
    expect(datos.filter(({ tipo }: { tipo: string }) => tipo === 'guia.traspasada')).toHaveLength(1)
  })

  it('has one winner if its courier reports while the other one scans', async () => {
    for (let i = 0; i < 10; i++) {
      const guia = await createHandover()
      const [attempt, scan] = await Promise.all([fail(ana, guia), report(luis, guia, 'en_ruta')])
      const { repartidor, eventos } = await readGuia(guia)
      const tipos = eventos.datos.map(({ tipo }: { tipo: string }) => tipo).slice(-2)
      // After Ana's attempt, Luis's scan takes the parcel out again. After Luis's scan, Ana's attempt is refused.
      expect([scan.status, repartidor.repartidor]).toEqual([201, luis.repartidor])
      if (attempt.status === 201) expect(tipos.at(-1)).toBe('guia.en_ruta')
      else expect([attempt.body.codigo, tipos.at(-1)]).toEqual(['sin_custodia', 'guia.traspasada'])
    }
  })

  it('is delivered by the one, or received by the other, never both', async () => {
    for (let i = 0; i < 5; i++) {
      const guia = await createHandover()
      const { archivo } = (await ana.upload(guia, 'foto', await createFoto())).body
      const recibido_por = { nombre: 'María Ajú', relacion: 'destinatario' }
      const entrega = { recibido_por, fotos: [archivo], lat: 14.7, lng: -90.6, precision_m: 8, idempotencia: key() }
      const [delivery, scan] = await Promise.all([ana.deliver(guia, entrega), report(luis, guia, 'en_ruta')])
      const { estado, repartidor } = await readGuia(guia)
      expect([delivery.status === 201, scan.status === 201].filter(Boolean)).toHaveLength(1)
      if (delivery.status === 201) {
        expect([estado, repartidor.repartidor]).toEqual(['entregado', ana.repartidor])
        expect(['transicion_invalida', 'sin_custodia']).toContain(scan.body.codigo)
      } else {
        expect([estado, repartidor.repartidor]).toEqual(['en_ruta', luis.repartidor])
        expect(delivery.body.codigo).toBe('sin_custodia')
      }
    }
  })

  it('refuses what the first courier did without coverage, if it arrives after the scan', async () => {
    const guia = await createHandover()
    await report(luis, guia, 'en_ruta')
    const late = await fail(ana, guia, { ocurrido_en: ago(30) })
    expect([late.status, late.body.codigo]).toEqual([403, 'sin_custodia'])
    expect((await readGuia(guia)).intentos).toBe(0)
  })

  it('notes a scan from before the last hand-over, which changes nothing', async () => {
    const guia = await createHandover()
    const scanTime = environment.clock().toISOString()
    environment.advance(MINUTE_MS)
    await report(luis, guia, 'en_ruta')
    await asignar([guia], eva)
    const { status, body } = await report(eva, guia, 'en_ruta', { ocurrido_en: scanTime })
    expect([status, body.tipo, body.aplicado]).toEqual([201, 'guia.escaneo_tardio', false])
    expect((await readGuia(guia)).repartidor.repartidor).toBe(luis.repartidor)
    expect((await report(eva, guia, 'en_ruta')).body.tipo).toBe('guia.traspasada')
    expect((await readGuia(guia)).repartidor.repartidor).toBe(eva.repartidor)
  })

  it('is handed over before its way and on its way back, and after an attempt goes out again', async () => {
    const collected = (await comercio.api.guias.crear(buildGuia())).guia
    await report(ana, collected, 'recolectado')
    const returning = await createGuiaOnRoute(environment, comercio, ana.repartidor)
    await report(ana, returning, 'en_devolucion', { motivo: 'danado' })
    const failed = await createGuiaOnRoute(environment, comercio, ana.repartidor)
    await fail(ana, failed)
    await asignar([collected, returning, failed], luis)
    const tipoOf = async (guia: string, estado: string) => (await report(luis, guia, estado)).body.tipo
    expect(await tipoOf(collected, 'recolectado')).toBe('guia.traspasada')
    expect(await tipoOf(returning, 'en_devolucion')).toBe('guia.traspasada')
    expect((await fail(luis, failed)).body.codigo).toBe('sin_custodia')
    expect(await tipoOf(failed, 'en_ruta')).toBe('guia.en_ruta')
    expect((await report(luis, returning, 'devuelto')).status).toBe(201)
  })

  it('is refused to a courier without its assignment', async () => {
    const guia = await createHandover()
    expect((await report(eva, guia, 'en_ruta')).body).toMatchObject({ codigo: 'sin_custodia', transiciones: [] })
    await environment.asOperador('POST', '/asignaciones/retirar', { guias: [guia] })
    expect((await report(luis, guia, 'en_ruta')).body.codigo).toBe('sin_custodia')
    expect((await readGuia(guia)).repartidor.repartidor).toBe(ana.repartidor)
  })

  it('keeps its new courier when the state before is restored', async () => {
    const guia = await createHandover()
    await report(luis, guia, 'en_ruta')
    await fail(luis, guia)
    const { secuencia } = await readGuia(guia)
    const body = { razon: 'Fue otra puerta', secuencia }
    const boss = await createTestPersona(environment, { alcances: ['ver', 'operar', 'administrar'] })
    await boss.request('POST', `/operaciones/v1/guias/${guia}/rectificar`, body)
    expect(await readGuia(guia)).toMatchObject({ estado: 'en_ruta', repartidor: { repartidor: luis.repartidor } })
  })
})
