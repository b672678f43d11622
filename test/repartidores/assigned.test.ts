import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { addDays } from '../../server/platform/time/day.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { createMobile, type Mobile } from './phone.ts'

const entorno = useEnvironment({}, () => ({ COURIER_REACH: 'asignado', TIME_ZONE: 'UTC' }))
let comercio: Comercio
let yo: Mobile
let otro: Mobile
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  yo = await createMobile(entorno)
  otro = await createMobile(entorno)
})

let claves = 0
const clave = () => `asignado-${++claves}`
const DE_LA_PERSONA = {
  destinatario: 'María José Ajú',
  direccion: '5a avenida 1',
  indicaciones: 'Portón verde',
  contenido: 'Zapatos',
  municipio: 'Mixco',
}
const nueva = async (mas: object = {}) => (await comercio.api.guias.crear(buildGuia({ ...DE_LA_PERSONA, ...mas }))).guia
const asignar = (guias: string[], { repartidor }: Mobile, fecha?: string) =>
  entorno.operar('POST', '/asignaciones', { guias, repartidor, fecha })
const hoy = () => entorno.clock().toISOString().slice(0, 10)
const asignadas = async (quien: Mobile) => (await quien.request('GET', '/guias')).cuerpo.asignadas
const SIN_ASIGNAR = [403, 'sin_asignacion', expect.stringContaining('Pida a la central que se la asigne')]
const negado = async (respuesta: ReturnType<Mobile['request']>) => {
  const { status, cuerpo } = await respuesta
  expect([status, cuerpo.codigo, cuerpo.mensaje]).toEqual(SIN_ASIGNAR)
}
/** Members of an answer that are not null, with their paths. */
const dichos = (valor: unknown, ruta = ''): string[] =>
  valor !== null && typeof valor === 'object' && !Array.isArray(valor)
    ? Object.entries(valor).flatMap(([clave, uno]) => dichos(uno, ruta ? `${ruta}.${clave}` : clave))
    : valor === null
      ? []
      : [ruta]

it('the day of a courier begins in the zone of the company', async () => {
  const { hoy: dia } = (await yo.request('GET', '/guias')).cuerpo
  expect(dia.desde).toBe(`${hoy()}T00:00:00.000Z`)
})

describe('COURIER_REACH=asignado', () => {
  it('shows of an assigned guide its code and municipality alone, until the courier takes it', async () => {
    const guia = await nueva()
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
    const lista = (await yo.request('GET', '/guias')).cuerpo
    expect(lista.asignadas).toEqual([{ guia, municipio: 'Mixco' }])
    const varias = (await yo.request('GET', `/guias?guia=${guia}`)).cuerpo
    expect(varias).toMatchObject({ datos: [cuerpo], desconocidas: [], sin_asignar: [], asignadas: null })
    const { municipio: _municipio, ...secretos } = DE_LA_PERSONA
    for (const dato of [...Object.values(secretos), '31481676', 'Bodega Zona 12', comercio.comercio])
      expect(JSON.stringify([cuerpo, lista, varias])).not.toContain(dato)

    const { siguientes } = cuerpo
    expect(siguientes).toMatchObject([{ estado: 'recolectado' }])
    expect((await yo.registrar(guia, { estado: 'recolectado', idempotencia: clave() })).status).toBe(201)
    expect((await yo.request('GET', `/guias/${guia}`)).cuerpo).toMatchObject({
      ...DE_LA_PERSONA,
      telefono: '+50231481676',
      custodia: 'propia',
      recogida: { nombre: 'Bodega Zona 12' },
    })
    expect(await asignadas(yo)).toEqual([])
  })

  it('refuses everything about a guide that is not assigned, and says what to do', async () => {
    for (const guia of [await nueva(), await createGuiaOnRoute(entorno, comercio, otro.repartidor)]) {
      await negado(yo.request('GET', `/guias/${guia}`))
      for (const estado of ['recolectado', 'en_ruta', 'en_bodega'])
        await negado(yo.registrar(guia, { estado, idempotencia: clave() }))
      await negado(yo.registrar(guia, { tipo: 'guia.nota', descripcion: 'Hola', idempotencia: clave() }))
      await negado(yo.upload(guia, 'foto', await createFoto()))
      const entrega = { recibido_por: { nombre: 'María' }, fotos: ['arch_0000000000000000'], idempotencia: clave() }
      await negado(yo.deliver(guia, entrega))
      const evento = { estado: 'recolectado', idempotencia: clave() }
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
    const guia = await createGuiaOnRoute(entorno, comercio, otro.repartidor)
    await asignar([guia], yo)
    expect(await asignadas(yo)).toEqual([{ guia, municipio: expect.any(String) }])
    expect((await yo.request('GET', `/guias/${guia}`)).cuerpo).toMatchObject({ custodia: 'ajena', siguientes: [] })
    const toma = { estado: 'en_ruta', idempotencia: clave() }
    expect((await yo.registrar(guia, toma)).cuerpo.codigo).toBe('sin_custodia')
    // The courier who carries it goes on, though it is assigned to another one.
    const intento = { estado: 'intento_fallido', motivo: 'destinatario_ausente', idempotencia: clave() }
    expect((await otro.registrar(guia, intento)).status).toBe(201)
    expect((await yo.registrar(guia, toma)).status).toBe(201)
    await negado(otro.request('GET', `/guias/${guia}`))
  })

  it('takes a guide away with its assignment, unless the courier carries it', async () => {
    const [libre, tomada] = [await nueva(), await nueva()]
    await asignar([libre, tomada], yo)
    await yo.registrar(tomada, { estado: 'recolectado', idempotencia: clave() })
    await asignar([libre, tomada], otro)
    expect(await asignadas(yo)).toEqual([])
    await negado(yo.request('GET', `/guias/${libre}`))
    expect((await yo.request('GET', '/guias')).cuerpo.datos[0]).toMatchObject({ guia: tomada, ...DE_LA_PERSONA })
    expect(new Set((await asignadas(otro)).map(({ guia }: { guia: string }) => guia))).toEqual(new Set([libre, tomada]))
    await entorno.operar('POST', '/asignaciones/retirar', { guias: [libre, tomada] })
    await negado(otro.registrar(libre, { estado: 'recolectado', idempotencia: clave() }))
    await yo.registrar(tomada, { estado: 'en_bodega', idempotencia: clave() })
  })

  it('answers a repeated scan as it did, though the guide is assigned to another by then', async () => {
    const guia = await nueva()
    await asignar([guia], yo)
    const toma = { estado: 'recolectado', idempotencia: clave() }
    const primera = await yo.registrar(guia, toma)
    await yo.registrar(guia, { estado: 'en_bodega', idempotencia: clave() })
    await asignar([guia], otro)
    await otro.registrar(guia, { estado: 'en_ruta', idempotencia: clave() })
    expect(await yo.registrar(guia, toma)).toMatchObject({ status: 200, cuerpo: primera.cuerpo })
    await negado(yo.registrar(guia, { estado: 'en_bodega', idempotencia: clave() }))
  })

  it('lists the guides of today and of seven days before, by municipality', async () => {
    const tercero = await createMobile(entorno)
    const [mixco, antigua, chinautla, manana] = [
      await nueva(),
      await nueva(),
      await nueva({ municipio: 'Chinautla' }),
      await nueva(),
    ]
    await asignar([mixco, antigua, chinautla], tercero)
    await asignar([manana], tercero, addDays(hoy(), 1))
    const suyas = async () =>
      (await asignadas(await createMobile(entorno, tercero))).map(({ guia }: { guia: string }) => guia)
    expect(await suyas()).toEqual([chinautla, ...[mixco, antigua].sort()])
    await comercio.api.guias.cancelar(antigua)
    entorno.advance(7 * 24 * HOUR_MS)
    expect(await suyas()).toEqual([chinautla, ...[mixco, manana].sort()])
    entorno.advance(24 * HOUR_MS)
    expect(await suyas()).toEqual([manana])
  })
})
