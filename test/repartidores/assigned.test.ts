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
let yo: Mobile
let other: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  yo = await createMobile(environment)
  other = await createMobile(environment)
})

let keys = 0
const key = () => `asignado-${++keys}`
const DE_LA_PERSONA = {
  destinatario: 'María José Ajú',
  direccion: '5a avenida 1',
  indicaciones: 'Portón verde',
  contenido: 'Zapatos',
  municipio: 'Mixco',
}
const fresh = async (more: object = {}) =>
  (await comercio.api.guias.crear(buildGuia({ ...DE_LA_PERSONA, ...more }))).guia
const asignar = (guias: string[], { repartidor }: Mobile, fecha?: string) =>
  environment.operar('POST', '/asignaciones', { guias, repartidor, fecha })
const today = () => environment.clock().toISOString().slice(0, 10)
const asignadas = async (caller: Mobile) => (await caller.request('GET', '/guias')).cuerpo.asignadas
const SIN_ASIGNAR = [403, 'sin_asignacion', expect.stringContaining('Pida a la central que se la asigne')]
const negado = async (response: ReturnType<Mobile['request']>) => {
  const { status, cuerpo } = await response
  expect([status, cuerpo.codigo, cuerpo.mensaje]).toEqual(SIN_ASIGNAR)
}
/** Members of an answer that are not null, with their paths. */
const dichos = (value: unknown, path = ''): string[] =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, one]) => dichos(one, path ? `${path}.${key}` : key))
    : value === null
      ? []
      : [path]

it('the day of a courier begins in the zone of the company', async () => {
  const { hoy: day } = (await yo.request('GET', '/guias')).cuerpo
  expect(day.desde).toBe(`${today()}T00:00:00.000Z`)
})

describe('COURIER_REACH=asignado', () => {
  it('shows of an assigned guide its code and municipality alone, until the courier takes it', async () => {
    const guia = await fresh()
    await asignar([guia], yo)
    const { cuerpo, status } = await yo.request('GET', `/guias/${guia}`)
    expect(status).toBe(200)
    // Every member is named here: a new one must be decided.
    expect(dichos(cuerpo).sort()).toEqual(
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
    expect(cuerpo).toMatchObject({ guia, municipio: 'Mixco', custodia: 'ninguna', estado: 'aceptado' })
    const list = (await yo.request('GET', '/guias')).cuerpo
    expect(list.asignadas).toEqual([{ guia, municipio: 'Mixco' }])
    const varias = (await yo.request('GET', `/guias?guia=${guia}`)).cuerpo
    expect(varias).toMatchObject({ datos: [cuerpo], desconocidas: [], sin_asignar: [], asignadas: null })
    const { municipio: _municipio, ...secrets } = DE_LA_PERSONA
    for (const dato of [...Object.values(secrets), '31481676', 'Bodega Zona 12', comercio.comercio])
      expect(JSON.stringify([cuerpo, list, varias])).not.toContain(dato)

    const { siguientes } = cuerpo
    expect(siguientes).toMatchObject([{ estado: 'recolectado' }])
    expect((await yo.registrar(guia, { estado: 'recolectado', idempotencia: key() })).status).toBe(201)
    expect((await yo.request('GET', `/guias/${guia}`)).cuerpo).toMatchObject({
      ...DE_LA_PERSONA,
      telefono: '+50231481676',
      custodia: 'propia',
      recogida: { nombre: 'Bodega Zona 12' },
    })
    expect(await asignadas(yo)).toEqual([])
  })

  it('refuses everything about a guide that is not assigned, and says what to do', async () => {
    for (const guia of [await fresh(), await createGuiaOnRoute(environment, comercio, other.repartidor)]) {
      await negado(yo.request('GET', `/guias/${guia}`))
      for (const estado of ['recolectado', 'en_ruta', 'en_bodega'])
        await negado(yo.registrar(guia, { estado, idempotencia: key() }))
      await negado(yo.registrar(guia, { tipo: 'guia.nota', descripcion: 'Hola', idempotencia: key() }))
      await negado(yo.upload(guia, 'foto', await createFoto()))
      const entrega = { recibido_por: { nombre: 'María' }, fotos: ['arch_0000000000000000'], idempotencia: key() }
      await negado(yo.deliver(guia, entrega))
      const evento = { estado: 'recolectado', idempotencia: key() }
      const { resultados } = (await yo.request('POST', '/eventos', { eventos: [{ guia, evento }] })).cuerpo
      expect(resultados).toMatchObject([{ ok: false, error: { codigo: 'sin_asignacion' } }])
      const desconocida = newGuideCode()
      expect((await yo.request('GET', `/guias?guia=${guia}&guia=${desconocida}`)).cuerpo).toEqual({
        datos: [],
        desconocidas: [desconocida],
        sin_asignar: [guia],
        asignadas: null,
        hoy: null,
      })
    }
  })

  it('lets the assigned courier take a parcel from another one, as custody permits', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, other.repartidor)
    await asignar([guia], yo)
    expect(await asignadas(yo)).toEqual([{ guia, municipio: expect.any(String) }])
    expect((await yo.request('GET', `/guias/${guia}`)).cuerpo).toMatchObject({ custodia: 'ajena', siguientes: [] })
    const toma = { estado: 'en_ruta', idempotencia: key() }
    expect((await yo.registrar(guia, toma)).cuerpo.codigo).toBe('sin_custodia')
    // The courier who carries it goes on, though it is assigned to another one.
    const intento = { estado: 'intento_fallido', motivo: 'destinatario_ausente', idempotencia: key() }
    expect((await other.registrar(guia, intento)).status).toBe(201)
    expect((await yo.registrar(guia, toma)).status).toBe(201)
    await negado(other.request('GET', `/guias/${guia}`))
  })

  it('takes a guide away with its assignment, unless the courier carries it', async () => {
    const [free, tomada] = [await fresh(), await fresh()]
    await asignar([free, tomada], yo)
    await yo.registrar(tomada, { estado: 'recolectado', idempotencia: key() })
    await asignar([free, tomada], other)
    expect(await asignadas(yo)).toEqual([])
    await negado(yo.request('GET', `/guias/${free}`))
    expect((await yo.request('GET', '/guias')).cuerpo.datos[0]).toMatchObject({ guia: tomada, ...DE_LA_PERSONA })
    expect(new Set((await asignadas(other)).map(({ guia }: { guia: string }) => guia))).toEqual(new Set([free, tomada]))
    await environment.operar('POST', '/asignaciones/retirar', { guias: [free, tomada] })
    await negado(other.registrar(free, { estado: 'recolectado', idempotencia: key() }))
    await yo.registrar(tomada, { estado: 'en_bodega', idempotencia: key() })
  })

  it('answers a repeated scan as it did, though the guide is assigned to another by then', async () => {
    const guia = await fresh()
    await asignar([guia], yo)
    const toma = { estado: 'recolectado', idempotencia: key() }
    const first = await yo.registrar(guia, toma)
    await yo.registrar(guia, { estado: 'en_bodega', idempotencia: key() })
    await asignar([guia], other)
    await other.registrar(guia, { estado: 'en_ruta', idempotencia: key() })
    expect(await yo.registrar(guia, toma)).toMatchObject({ status: 200, cuerpo: first.cuerpo })
    await negado(yo.registrar(guia, { estado: 'en_bodega', idempotencia: key() }))
  })

  it('lists the guides of today and of seven days before, by municipality', async () => {
    const tercero = await createMobile(environment)
    const [mixco, antigua, chinautla, manana] = [
      await fresh(),
      await fresh(),
      await fresh({ municipio: 'Chinautla' }),
      await fresh(),
    ]
    await asignar([mixco, antigua, chinautla], tercero)
    await asignar([manana], tercero, addDays(today(), 1))
    const suyas = async () =>
      (await asignadas(await createMobile(environment, tercero))).map(({ guia }: { guia: string }) => guia)
    expect(await suyas()).toEqual([chinautla, ...[mixco, antigua].sort()])
    await comercio.api.guias.cancelar(antigua)
    environment.advance(7 * 24 * HOUR_MS)
    expect(await suyas()).toEqual([chinautla, ...[mixco, manana].sort()])
    environment.advance(24 * HOUR_MS)
    expect(await suyas()).toEqual([manana])
  })
})
