import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { addDays } from '../../server/platform/time/day.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { createMobile, type Mobile } from './phone.ts'

const environment = useEnvironment({}, () => ({ COURIER_REACH: 'asignado', TIME_ZONE: 'UTC' }))
let comercio: Comercio
let ownMobile: Mobile
let other: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  ownMobile = await createMobile(environment)
  other = await createMobile(environment)
})

let keys = 0
const key = () => `asignado-${++keys}`
const PERSONAL_DATA = {
  destinatario: 'María José Ajú',
  direccion: '5a avenida 1',
  indicaciones: 'Portón verde',
  contenido: 'Zapatos',
  municipio: 'Mixco',
}
const fresh = async (more: object = {}) =>
  (await comercio.api.guias.crear(buildGuia({ ...PERSONAL_DATA, ...more }))).guia
const asignar = (guias: string[], { repartidor }: Mobile, fecha?: string) =>
  environment.asOperador('POST', '/asignaciones', { guias, repartidor, fecha })
const today = () => environment.clock().toISOString().slice(0, 10)
const asignadas = async (caller: Mobile) => (await caller.request('GET', '/guias')).body.asignadas
const UNASSIGNED_REFUSAL = [403, 'sin_asignacion', expect.stringContaining('Pida a la central que se la asigne')]
const denial = async (response: ReturnType<Mobile['request']>) => {
  const { status, body } = await response
  expect([status, body.codigo, body.mensaje]).toEqual(UNASSIGNED_REFUSAL)
}
/** Members of an answer that are not null, with their paths. */
const messages = (value: unknown, path = ''): string[] =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, one]) => messages(one, path ? `${path}.${key}` : key))
    : value === null
      ? []
      : [path]

it('the day of a courier begins in the zone of the company', async () => {
  const { hoy: day } = (await ownMobile.request('GET', '/guias')).body
  expect(day.desde).toBe(`${today()}T00:00:00.000Z`)
})

describe('COURIER_REACH=asignado', () => {
  it('shows of an assigned guide its code and municipality alone, until the courier takes it', async () => {
    const guia = await fresh()
    await asignar([guia], ownMobile)
    const { body, status } = await ownMobile.request('GET', `/guias/${guia}`)
    expect(status).toBe(200)
    // Every member is named here: a new one must be decided.
    expect(messages(body).sort()).toEqual(
      [
        'guia',
        'municipio',
        'estado',
        'modo',
        'custodia',
        'secuencia',
        'zona_horaria',
        'etiqueta_desactualizada',
        'ubicacion.estado',
        'siguientes',
        'evidencia.fotos_minimas',
        'evidencia.firma',
        'evidencia.documento',
      ].sort(),
    )
    expect(body).toMatchObject({ guia, municipio: 'Mixco', custodia: 'ninguna', estado: 'aceptado' })
    const list = (await ownMobile.request('GET', '/guias')).body
    expect(list.asignadas).toEqual([{ guia, municipio: 'Mixco', la_lleva: null }])
    const severalResults = (await ownMobile.request('GET', `/guias?guia=${guia}`)).body
    expect(severalResults).toMatchObject({ datos: [body], desconocidas: [], sin_asignar: [], asignadas: null })
    const { municipio: _municipio, ...secrets } = PERSONAL_DATA
    for (const datum of [...Object.values(secrets), '31481676', 'Bodega Zona 12', comercio.comercio])
      expect(JSON.stringify([body, list, severalResults])).not.toContain(datum)

    const { siguientes } = body
    expect(siguientes).toMatchObject([{ estado: 'recolectado' }])
    expect((await ownMobile.registrar(guia, { estado: 'recolectado', idempotencia: key() })).status).toBe(201)
    expect((await ownMobile.request('GET', `/guias/${guia}`)).body).toMatchObject({
      ...PERSONAL_DATA,
      telefono: '+50231481676',
      custodia: 'propia',
      recogida: { nombre: 'Bodega Zona 12' },
    })
    expect(await asignadas(ownMobile)).toEqual([])
  })

  it('refuses everything about a guide that is not assigned, and says what to do', async () => {
    for (const guia of [await fresh(), await createGuiaOnRoute(environment, comercio, other.repartidor)]) {
      await denial(ownMobile.request('GET', `/guias/${guia}`))
      for (const estado of ['recolectado', 'en_ruta', 'en_bodega'])
        await denial(ownMobile.registrar(guia, { estado, idempotencia: key() }))
      await denial(ownMobile.registrar(guia, { tipo: 'guia.nota', descripcion: 'Hola', idempotencia: key() }))
      await denial(ownMobile.upload(guia, 'foto', await createFoto()))
      const entrega = { recibido_por: { nombre: 'María' }, fotos: ['arch_0000000000000000'], idempotencia: key() }
      await denial(ownMobile.deliver(guia, entrega))
      const evento = { estado: 'recolectado', idempotencia: key() }
      const { resultados } = (await ownMobile.request('POST', '/eventos', { eventos: [{ guia, evento }] })).body
      expect(resultados).toMatchObject([{ ok: false, error: { codigo: 'sin_asignacion' } }])
      const unknownGuia = newGuideCode()
      expect((await ownMobile.request('GET', `/guias?guia=${guia}&guia=${unknownGuia}`)).body).toEqual({
        datos: [],
        desconocidas: [unknownGuia],
        sin_asignar: [guia],
        asignadas: null,
        hoy: null,
      })
    }
  })

  it('lets the assigned courier receive a parcel from another one, who then sees it no more', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, other.repartidor)
    await asignar([guia], ownMobile)
    expect(await asignadas(ownMobile)).toEqual([{ guia, municipio: expect.any(String), la_lleva: 'Carlos Méndez' }])
    expect((await ownMobile.request('GET', `/guias/${guia}`)).body).toMatchObject({
      custodia: 'ajena',
      siguientes: [{ estado: 'en_ruta' }],
    })
    // The courier who carries it goes on, though it is assigned to another one.
    const nota = { tipo: 'guia.nota', descripcion: 'Voy a la bodega', idempotencia: key() }
    expect((await other.registrar(guia, nota)).status).toBe(201)
    const toma = { estado: 'en_ruta', idempotencia: key() }
    expect((await ownMobile.registrar(guia, toma)).body.tipo).toBe('guia.traspasada')
    await denial(other.request('GET', `/guias/${guia}`))
  })

  it('takes a guide away with its assignment, unless the courier carries it', async () => {
    const [free, tomada] = [await fresh(), await fresh()]
    await asignar([free, tomada], ownMobile)
    await ownMobile.registrar(tomada, { estado: 'recolectado', idempotencia: key() })
    await asignar([free, tomada], other)
    expect(await asignadas(ownMobile)).toEqual([])
    await denial(ownMobile.request('GET', `/guias/${free}`))
    expect((await ownMobile.request('GET', '/guias')).body.datos[0]).toMatchObject({ guia: tomada, ...PERSONAL_DATA })
    expect(new Set((await asignadas(other)).map(({ guia }: { guia: string }) => guia))).toEqual(new Set([free, tomada]))
    await environment.asOperador('POST', '/asignaciones/retirar', { guias: [free, tomada] })
    await denial(other.registrar(free, { estado: 'recolectado', idempotencia: key() }))
    await ownMobile.registrar(tomada, { estado: 'en_bodega', idempotencia: key() })
  })

  it('answers a repeated scan as it did, though the guide is assigned to another by then', async () => {
    const guia = await fresh()
    await asignar([guia], ownMobile)
    const toma = { estado: 'recolectado', idempotencia: key() }
    const first = await ownMobile.registrar(guia, toma)
    await ownMobile.registrar(guia, { estado: 'en_bodega', idempotencia: key() })
    await asignar([guia], other)
    await other.registrar(guia, { estado: 'en_ruta', idempotencia: key() })
    expect(await ownMobile.registrar(guia, toma)).toMatchObject({ status: 200, body: first.body })
    await denial(ownMobile.registrar(guia, { estado: 'en_bodega', idempotencia: key() }))
  })

  it('lists the guides of today and of seven days before, by municipality', async () => {
    const thirdMobile = await createMobile(environment)
    const [mixco, oldCapital, chinautla, manana] = [
      await fresh(),
      await fresh(),
      await fresh({ municipio: 'Chinautla' }),
      await fresh(),
    ]
    await asignar([mixco, oldCapital, chinautla], thirdMobile)
    await asignar([manana], thirdMobile, addDays(today(), 1))
    const listAsignadas = async () =>
      (await asignadas(await createMobile(environment, thirdMobile))).map(({ guia }: { guia: string }) => guia)
    expect(await listAsignadas()).toEqual([chinautla, ...[mixco, oldCapital].sort()])
    await comercio.api.guias.cancelar(oldCapital)
    environment.advance(7 * 24 * HOUR_MS)
    expect(await listAsignadas()).toEqual([chinautla, ...[mixco, manana].sort()])
    environment.advance(24 * HOUR_MS)
    expect(await listAsignadas()).toEqual([manana])
  })
})
