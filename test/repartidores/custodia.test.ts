// Who sees a guide whole and who finishes it: in each state, for its courier, for another, and when nobody carries it.
import { beforeAll, describe, expect, it } from 'vitest'
import { MOTIVOS, STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { createFoto } from '../archivos/images.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'
import { createMobile, type Mobile } from './phone.ts'

const { environment, ago: hace, ver, eventos, foto } = useDispatch()
type Estado = keyof typeof STATE_MACHINE.transiciones

/** What whoever doesn't carry a guide may report of it. */
const TOMAS: Record<Estado, { nadie: Estado[]; other: Estado[] }> = {
  aceptado: { nadie: ['recolectado'], other: ['recolectado'] },
  recolectado: { nadie: ['en_bodega', 'en_ruta'], other: ['en_ruta'] },
  en_bodega: { nadie: ['en_ruta'], other: ['en_ruta'] },
  en_transito: { nadie: ['en_bodega', 'en_ruta'], other: ['en_bodega', 'en_ruta'] },
  en_ruta: { nadie: ['en_bodega'], other: [] },
  intento_fallido: { nadie: ['en_ruta', 'en_bodega'], other: ['en_ruta'] },
  en_devolucion: { nadie: [], other: [] },
  extraviado: { nadie: ['en_bodega'], other: [] },
  entregado: { nadie: [], other: [] },
  devuelto: { nadie: [], other: [] },
  cancelado: { nadie: [], other: [] },
}
const ESTADOS = Object.keys(TOMAS) as Estado[]
const REPORTABLE_ESTADOS = ESTADOS.filter((estado) => !['aceptado', 'entregado', 'cancelado'].includes(estado))
const receivedBy = { nombre: 'María López' }
const PERSONA = {
  destinatario: 'María José Ajú',
  telefono: '+50231481676',
  direccion: '5a avenida 1',
  indicaciones: 'Portón verde',
}

let other: Mobile
beforeAll(async () => {
  other = await createMobile(environment)
})

/** A guide in that state and those hands, however it got there. */
async function createGuiaIn(estado: Estado, custodio: string | null) {
  const { guia } = await comercio.api.guias.crear(buildGuia({ ...PERSONA, contenido: 'Zapatos' }))
  await environment.db.pool.query('update guia set estado = $1, custodio = $2 where guia = $3', [
    estado,
    custodio,
    guia,
  ])
  return guia
}
const report = (caller: Mobile, guia: string, estado: Estado) => {
  const [motivo] = Object.keys((MOTIVOS as Record<string, object>)[estado] ?? {})
  return caller.registrar(guia, { estado, ...(motivo ? { motivo } : {}), idempotencia: key() })
}
const custodioOf = async (guia: string) =>
  (await environment.db.pool.query('select custodio from guia where guia = $1', [guia])).rows[0].custodio
const tomar = (caller: Mobile, guia: string) => report(caller, guia, 'recolectado')

describe.each(ESTADOS)('a guide in %s', (estado) => {
  it.each(['nadie', 'other'] as const)('is seen and moved as its custody lets, carried by: %s', async (origin) => {
    const ownMobile = await createMobile(environment)
    const custodio = origin === 'other' ? other.repartidor : null
    const guia = await createGuiaIn(estado, custodio)
    const { body } = await ownMobile.request('GET', `/guias/${guia}`)
    const text = JSON.stringify(body)
    for (const datum of Object.values(PERSONA)) expect(text).not.toContain(datum)
    const foreign = origin === 'other' && !['en_bodega', 'en_transito'].includes(estado)
    expect(body).toMatchObject({
      estado,
      custodia: foreign ? 'ajena' : 'ninguna',
      municipio: null,
      departamento: null,
      intentos: null,
      contenido: foreign ? null : 'Zapatos',
      nombre_comercio: foreign ? null : expect.any(String),
      recogida: foreign ? null : { nombre: 'Bodega Zona 12', lat: 14.583611 },
      ubicacion: { estado: 'confirmada', lat: null, lng: null, maps_url: null, referencia: null },
    })
    const possibleEstados = TOMAS[estado][origin]
    expect(body.siguientes.map((one: { estado: string }) => one.estado)).toEqual(possibleEstados)

    const denial = async (response: ReturnType<Mobile['request']>) => {
      const { status, body } = await response
      expect([status, body.codigo, body.estado, body.transiciones]).toEqual([
        403,
        'sin_custodia',
        estado,
        possibleEstados,
      ])
      expect(body.mensaje).toMatch(foreign ? /^La lleva otro repartidor: pídale/ : /^No la lleva nadie/)
    }
    await denial(ownMobile.registrar(guia, { tipo: 'guia.nota', descripcion: 'Hola', idempotencia: key() }))
    await denial(ownMobile.upload(guia, 'foto', await createFoto()))
    const fotos = ['arch_0000000000000000']
    await denial(ownMobile.deliver(guia, { recibido_por: receivedBy, fotos, idempotencia: key() }))
    // What would take a guide that nobody carries is the machine's to refuse.
    const machineEstados = foreign ? [] : ['recolectado', 'en_ruta', 'en_bodega']
    for (const nuevo of REPORTABLE_ESTADOS.filter((one) => !possibleEstados.includes(one))) {
      if (!machineEstados.includes(nuevo)) await denial(report(ownMobile, guia, nuevo))
      else expect((await report(ownMobile, guia, nuevo)).body.codigo).toBe('transicion_invalida')
    }
    expect(await custodioOf(guia)).toBe(custodio)
    expect(await eventos(guia)).toHaveLength(1)

    for (const nuevo of possibleEstados) {
      const other = await createGuiaIn(estado, custodio)
      const { status, body } = await report(ownMobile, other, nuevo)
      expect([nuevo, status, body.aplicado]).toEqual([nuevo, 201, true])
      expect(await custodioOf(other)).toBe(nuevo === 'en_bodega' ? custodio : ownMobile.repartidor)
    }
  })

  it('is seen whole, and moved as the state machine allows, by the courier who carries it', async () => {
    const guia = await createGuiaIn(estado, mobile.repartidor)
    const possibleEstados = STATE_MACHINE.transiciones[estado].filter((one) => one !== 'cancelado')
    const view = await ver(guia)
    expect(view).toMatchObject({ custodia: 'propia', contenido: 'Zapatos', recogida: { nombre: 'Bodega Zona 12' } })
    // To whom it went is nobody's to see once it is over.
    if (possibleEstados.length > 0)
      expect(view).toMatchObject({ ...PERSONA, municipio: 'San Juan Sacatepéquez', intentos: 0 })
    else for (const datum of Object.values(PERSONA)) expect(JSON.stringify(view)).not.toContain(datum)
    expect((await ver(guia)).siguientes.map((one: { estado: string }) => one.estado)).toEqual(possibleEstados)
    for (const nuevo of possibleEstados) {
      const other = await createGuiaIn(estado, mobile.repartidor)
      const { status } =
        nuevo === 'entregado'
          ? await mobile.deliver(other, { recibido_por: receivedBy, fotos: [await foto(other)], idempotencia: key() })
          : await report(mobile, other, nuevo)
      expect([nuevo, status]).toEqual([nuevo, 201])
      expect(await custodioOf(other)).toBe(mobile.repartidor)
    }
  })
})

describe('custody', () => {
  it('goes from hand to hand, and each event says into whose', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await tomar(mobile, guia)
    await report(mobile, guia, 'en_bodega')
    await report(other, guia, 'en_ruta')
    expect((await report(mobile, guia, 'intento_fallido')).body.codigo).toBe('sin_custodia')
    await report(other, guia, 'intento_fallido')
    await report(mobile, guia, 'en_ruta')
    expect((await eventos(guia)).map(({ custodio }) => custodio)).toEqual([
      null,
      mobile.repartidor,
      null,
      other.repartidor,
      // The failed attempt, and the decision that it opens.
      null,
      null,
      mobile.repartidor,
    ])
  })

  it('is one courier’s when several take a guide at once', async () => {
    const severalItems = await Promise.all(Array.from({ length: 4 }, () => createMobile(environment)))
    for (const [from, toma] of [
      ['aceptado', 'recolectado'],
      ['en_bodega', 'en_ruta'],
      ['intento_fallido', 'en_ruta'],
    ] as const) {
      for (let time = 0; time < 5; time++) {
        const guia = await createGuiaIn(from, from === 'aceptado' ? null : other.repartidor)
        const seen = await Promise.all(severalItems.map((one) => report(one, guia, toma)))
        const winner = seen.findIndex(({ status }) => status === 201)
        expect(seen.map(({ body }) => body.codigo ?? 'tomada').sort()).toEqual([
          'sin_custodia',
          'sin_custodia',
          'sin_custodia',
          'tomada',
        ])
        expect(await custodioOf(guia)).toBe(severalItems[winner]!.repartidor)
        expect(await eventos(guia)).toHaveLength(2)
      }
    }
  })

  it('is given by the central, which needs none itself', async () => {
    const asOperador = (guia: string, body: object) => environment.asOperador('POST', `/guias/${guia}/eventos`, body)
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
    await tomar(mobile, guia)
    // The courier stays the same where the central names none: it forces a parcel out that he has with him.
    await asOperador(guia, { estado: 'en_ruta', forzar: { razon: 'El cliente llamó' } })
    expect(await custodioOf(guia)).toBe(mobile.repartidor)
    await asOperador(guia, { estado: 'en_bodega' })
    const response = await asOperador(guia, {
      estado: 'en_ruta',
      repartidor: other.repartidor,
      forzar: { razon: 'El cliente llamó' },
    })
    expect([response.status, await custodioOf(guia)]).toEqual([201, other.repartidor])
    // The message to the recipient writes an event too, at any moment.
    const output = (await eventos(guia)).findLast(({ tipo }) => tipo === 'guia.en_ruta')
    expect(output).toMatchObject({ custodio: other.repartidor })
    const { body: detalle } = await environment.asOperador('GET', `/guias/${guia}`)
    const { body: list } = await environment.asOperador('GET', `/guias?comercio=${comercio.comercio}&limite=1`)
    const caller = { repartidor: other.repartidor, nombre: 'Carlos Méndez' }
    expect([detalle.repartidor, list.datos[0].repartidor]).toEqual([caller, caller])
    expect((await ver(guia)).custodia).toBe('ajena')
    const missing = async (body: object) => (await asOperador(guia, body)).body.errores
    expect(await missing({ estado: 'en_bodega', repartidor: other.repartidor })).toMatchObject([
      { campo: '/repartidor', codigo: 'incompatible' },
    ])
    expect(await missing({ estado: 'en_ruta', repartidor: 'rep_NADIE' })).toMatchObject([
      { campo: '/repartidor', codigo: 'valor_no_admitido' },
    ])
    const inactivo = await createMobile(environment)
    await environment.asOperador('POST', `/repartidores/${inactivo.repartidor}/desactivar`)
    expect(await missing({ estado: 'en_ruta', repartidor: inactivo.repartidor })).toMatchObject([
      { campo: '/repartidor' },
    ])
    const ownEvento = { estado: 'en_ruta', repartidor: mobile.repartidor, idempotencia: key() }
    expect((await mobile.registrar(guia, ownEvento)).body.errores).toMatchObject([{ campo: '/repartidor' }])
  })

  it('follows events without coverage in their order, despite scans in the meantime', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await tomar(other, guia)
    await report(other, guia, 'en_bodega')
    environment.advance(60 * 60_000)
    // The depot scans the parcel again by mistake, while it is on its way already.
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_transito' })
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega' })
    const output = { estado: 'en_ruta', ocurrido_en: hace(30), idempotencia: key() }
    expect((await mobile.registrar(guia, output)).body).toMatchObject({ aplicado: false, estado: 'en_bodega' })
    expect(await custodioOf(guia)).toBe(mobile.repartidor)
    const entrega = { recibido_por: receivedBy, fotos: [await foto(guia)], ocurrido_en: hace(20), idempotencia: key() }
    expect((await mobile.deliver(guia, entrega)).body).toMatchObject({ estado: 'entregado', tardio: true })
  })

  it('is the latest taker’s: not had by telling of something before the guide, or before another took it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const earlyReport = { estado: 'en_ruta', ocurrido_en: '2001-01-01T00:00:00Z' }
    environment.advance(20 * 60_000)
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
    expect((await mobile.registrar(guia, { ...earlyReport, idempotencia: key() })).body.aplicado).toBe(false)
    expect(await custodioOf(guia)).toBeNull()
    // Of two who tell late, the later one has it, whoever tells first.
    const takeCustodia = (caller: Mobile, minutes: number) =>
      caller.registrar(guia, { estado: 'en_ruta', ocurrido_en: hace(minutes), idempotencia: key() })
    await takeCustodia(other, 10)
    expect(await custodioOf(guia)).toBe(other.repartidor)
    for (const minutes of [15, 11]) expect((await takeCustodia(mobile, minutes)).body.aplicado).toBe(false)
    expect((await mobile.registrar(guia, { ...earlyReport, idempotencia: key() })).body.aplicado).toBe(false)
    expect(await custodioOf(guia)).toBe(other.repartidor)
    await takeCustodia(mobile, 5)
    expect(await custodioOf(guia)).toBe(mobile.repartidor)
  })

  it('stays with the courier who reported first when two report a taking of the same instant', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    environment.advance(20 * 60_000)
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
    const ocurrido_en = hace(10)
    for (const caller of [other, mobile])
      await caller.registrar(guia, { estado: 'en_ruta', ocurrido_en, idempotencia: key() })
    expect(await custodioOf(guia)).toBe(other.repartidor)
  })

  it('is not had by telling of it once all is over', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    environment.advance(20 * 60_000)
    await comercio.api.guias.cancelar(guia)
    // The scan is after the guide's creation, so only the guide's end keeps custody from the courier.
    const late = { estado: 'en_ruta', ocurrido_en: hace(5), idempotencia: key() }
    expect((await mobile.registrar(guia, late)).body).toMatchObject({ aplicado: false, estado: 'cancelado' })
    expect(await custodioOf(guia)).toBeNull()
  })

  it('is not had by telling late of setting out to a place that is not confirmed', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
    await tomar(other, guia)
    environment.advance(20 * 60_000)
    await report(other, guia, 'en_bodega')
    expect((await report(mobile, guia, 'en_ruta')).body.codigo).toBe('ubicacion_sin_confirmar')
    // The late scan is after the other courier's, so only the unconfirmed place keeps custody from this courier.
    const late = { estado: 'en_ruta', ocurrido_en: hace(5), idempotencia: key() }
    expect((await mobile.registrar(guia, late)).body.aplicado).toBe(false)
    expect(await custodioOf(guia)).toBe(other.repartidor)
  })

  it('answers what comes again as it did, though another carries the guide by then', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await tomar(mobile, guia)
    const leftEvento = { estado: 'en_bodega', idempotencia: key() }
    const first = await mobile.registrar(guia, leftEvento)
    await report(other, guia, 'en_ruta')
    expect(await mobile.registrar(guia, leftEvento)).toMatchObject({ status: 200, body: first.body })
  })
})
