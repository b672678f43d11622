import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { addDays } from '../../server/platform/time/day.ts'
import { createDeliveredGuia, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia, EN_POSTGRES } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0', TIME_ZONE: 'UTC' }))
let comercio: Comercio
let ownMobile: Mobile
let other: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  ownMobile = await createMobile(environment)
  other = await createMobile(environment)
})

const asignar = (body: object) => environment.asOperador('POST', '/asignaciones', body)
const fresh = async (owner = comercio) => (await owner.api.guias.crear(buildGuia())).guia
const today = () => environment.clock().toISOString().slice(0, 10)
const asignadaA = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body.asignada_a
const lines = async (guia: string) =>
  (
    await environment.db.pool.query(
      `select accion, quien, antes, despues, modo, comercio_id from bitacora where sobre = $1 and accion = 'asignarGuias'
       order by id`,
      [guia],
    )
  ).rows

describe('POST /operaciones/v1/asignaciones', () => {
  it('assigns guides of several merchants for today, and says who did it', EN_POSTGRES, async () => {
    const foreign = await environment.createComercio()
    const guias = [await fresh(), await fresh(foreign)]
    const { status, body } = await asignar({ guias, repartidor: ownMobile.repartidor })
    expect([status, body.resultados]).toEqual([
      200,
      guias.map((guia, indice) => ({ indice, ok: true, guia, repetida: false })),
    ])
    for (const guia of guias)
      expect(await asignadaA(guia)).toEqual({
        repartidor: ownMobile.repartidor,
        nombre: 'Carlos Méndez',
        fecha: today(),
        autor: { autor: expect.stringMatching(/^op_/), nombre: expect.any(String) },
        asignado_en: expect.stringMatching(/Z$/),
      })
    const despues = { repartidor: ownMobile.repartidor, fecha: today() }
    expect(await lines(guias[0]!)).toMatchObject([{ quien: expect.stringMatching(/^op_/), antes: null, despues }])
    const seenByComercio = await environment.request('GET', '/api/v1/bitacora?accion=asignarGuias', {
      llave: foreign.llave,
    })
    expect(seenByComercio.body.datos).toMatchObject([{ accion: 'asignarGuias', despues }])
  })

  it('writes no event, changes no custody, and leaves the merchant’s guide as it was', async () => {
    const guia = await fresh()
    const before = await comercio.api.guias.obtener(guia)
    await asignar({ guias: [guia], repartidor: ownMobile.repartidor })
    expect(await comercio.api.guias.obtener(guia)).toEqual(before)
    expect((await environment.asOperador('GET', `/guias/${guia}`)).body.repartidor).toBeNull()
  })

  it('does nothing again for an equal request, and reassigns for another courier or day', EN_POSTGRES, async () => {
    const guia = await fresh()
    const fecha = addDays(today(), 1)
    const steps = [
      { repartidor: ownMobile.repartidor },
      { repartidor: ownMobile.repartidor, fecha: today() },
      { repartidor: ownMobile.repartidor, fecha },
      { repartidor: other.repartidor, fecha },
    ]
    const repetidas = []
    for (const step of steps) repetidas.push((await asignar({ guias: [guia], ...step })).body.resultados[0].repetida)
    expect(repetidas).toEqual([false, true, false, false])
    expect(await asignadaA(guia)).toMatchObject({ repartidor: other.repartidor, fecha })
    expect((await lines(guia)).map(({ antes: before, despues }) => [before, despues])).toEqual([
      [null, { repartidor: ownMobile.repartidor, fecha: today() }],
      [
        { repartidor: ownMobile.repartidor, fecha: today() },
        { repartidor: ownMobile.repartidor, fecha },
      ],
      [
        { repartidor: ownMobile.repartidor, fecha },
        { repartidor: other.repartidor, fecha },
      ],
    ])
  })

  it('names the person who assigned it last', async () => {
    const guia = await fresh()
    await asignar({ guias: [guia], repartidor: ownMobile.repartidor })
    const ana = await createTestPersona(environment, { alcances: ['ver', 'operar'] })
    await ana.request('POST', '/operaciones/v1/asignaciones', { guias: [guia], repartidor: other.repartidor })
    expect(await asignadaA(guia)).toMatchObject({
      repartidor: other.repartidor,
      autor: { autor: ana.persona, nombre: 'Ana Pérez' },
    })
  })

  it('gives each guide its own verdict, in any spelling', async () => {
    const guia = await fresh()
    const { guia: end } = await createDeliveredGuia(environment, comercio)
    const ofOther = await createGuiaOnRoute(environment, comercio, other.repartidor)
    const guias = [guia, newGuideCode(), end, ofOther, `${guia.slice(0, 4)}-${guia.slice(4).toLowerCase()}`, 'x']
    const { status, body } = await asignar({ guias, repartidor: ownMobile.repartidor })
    expect(status).toBe(200)
    expect(body.resultados).toMatchObject([
      { indice: 0, ok: true, guia, repetida: false },
      { indice: 1, ok: false, error: { codigo: 'guia_desconocida', estado_http: 404 } },
      {
        indice: 2,
        ok: false,
        error: {
          codigo: 'transicion_invalida',
          estado: 'entregado',
          mensaje: expect.stringMatching(/^La guía está en entregado/),
        },
      },
      { indice: 3, ok: true, guia: ofOther },
      { indice: 4, ok: true, guia },
      { indice: 5, ok: false, error: { codigo: 'guia_desconocida' } },
    ])
    expect(await asignadaA(end)).toBeNull()
    // A parcel stays with the courier who has it until the other one scans it.
    expect((await environment.asOperador('GET', `/guias/${ofOther}`)).body).toMatchObject({
      repartidor: { repartidor: other.repartidor },
      asignada_a: { repartidor: ownMobile.repartidor },
    })
  })

  it('requires an active courier, a day of the next thirty, and 1 to 200 guides', async () => {
    const guia = await fresh()
    const inactivo = await createMobile(environment)
    await environment.asOperador('POST', `/repartidores/${inactivo.repartidor}/desactivar`)
    const missing = async (body: object) => {
      const { status, body: problema } = await asignar({ guias: [guia], repartidor: ownMobile.repartidor, ...body })
      return [status, problema.errores.map(({ campo: field, codigo }: Record<string, string>) => `${field} ${codigo}`)]
    }
    for (const repartidor of [inactivo.repartidor, 'rep_NADIE'])
      expect(await missing({ repartidor })).toEqual([422, ['/repartidor valor_no_admitido']])
    for (const fecha of [addDays(today(), -1), addDays(today(), 31)])
      expect(await missing({ fecha })).toEqual([422, ['/fecha fuera_de_rango']])
    for (const guias of [[], Array.from({ length: 201 }, () => newGuideCode())])
      expect((await missing({ guias }))[0]).toBe(422)
    expect(await asignadaA(guia)).toBeNull()
    expect(
      (await asignar({ guias: [guia], repartidor: ownMobile.repartidor, fecha: addDays(today(), 30) })).status,
    ).toBe(200)
  })

  it('keeps the last of several assignments at once, each with its line', EN_POSTGRES, async () => {
    const guias = await Promise.all(Array.from({ length: 5 }, () => fresh()))
    const all = await Promise.all(
      [ownMobile, other, ownMobile, other].map(({ repartidor }, i) =>
        asignar({ guias: i % 2 ? guias : guias.toReversed(), repartidor, fecha: addDays(today(), i + 1) }),
      ),
    )
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    for (const guia of guias) {
      const bitacoraLines = await lines(guia)
      expect(bitacoraLines).toHaveLength(4)
      const { repartidor, fecha } = await asignadaA(guia)
      // Each line starts from the one before, so they form one chain that ends in the present assignment.
      const from = bitacoraLines.map(({ antes: before }) => JSON.stringify(before))
      const fines = bitacoraLines.map(({ despues }) => despues).filter((one) => !from.includes(JSON.stringify(one)))
      expect(fines).toEqual([{ repartidor, fecha }])
      expect(new Set(from).size).toBe(4)
    }
  })
})

describe('the event with which the courier takes an assigned guide', () => {
  it('says to operators alone who assigned it', async () => {
    const guia = await fresh()
    const ana = await createTestPersona(environment, { alcances: ['ver', 'operar'] })
    await ana.request('POST', '/operaciones/v1/asignaciones', { guias: [guia], repartidor: ownMobile.repartidor })
    await ownMobile.registrar(guia, { estado: 'recolectado', idempotencia: 'toma' })
    await ownMobile.registrar(guia, { estado: 'en_bodega', idempotencia: 'deja' })
    await other.registrar(guia, { estado: 'en_ruta', idempotencia: 'sale' })
    const { datos } = (await environment.asOperador('GET', `/guias/${guia}`)).body.eventos
    expect(datos.map(({ asignado_por }: { asignado_por: object | null }) => asignado_por)).toEqual([
      null,
      { autor: ana.persona, nombre: expect.any(String) },
      null,
      null,
    ])
    const seenByComercio = JSON.stringify([await comercio.api.guias.obtener(guia), await comercio.api.eventos.listar()])
    expect(seenByComercio).toContain('guia.recolectado')
    for (const datum of ['asignad', ana.persona]) expect(seenByComercio).not.toContain(datum)
    const { rows } = await environment.db.pool.query(
      `select datos ->> 'asignado_por' as por, secuencia from evento where guia = $1 and datos ? 'asignado_por'`,
      [guia],
    )
    expect(rows).toEqual([{ por: ana.persona, secuencia: 2 }])
  })
})
