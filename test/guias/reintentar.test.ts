import { beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { useIntentos } from '../decisiones/move.ts'
import { useEnvironment } from '../environment.ts'
import { apiFault } from '../webhooks/webhooks.ts'

const environment = useEnvironment()
const { createGuiaWithIntento } = useIntentos(environment)
// The day does not change while the tests run.
beforeAll(() => environment.freezeClock())
const UTC_DE_GUATEMALA = -6
/** Today in Guatemala, by the service's clock. */
const today = () => new Date(environment.clock().getTime() + UTC_DE_GUATEMALA * 3_600_000).toISOString().slice(0, 10)
const PENDIENTE = { accion: null, fecha: null, franja: null, por: null }

describe('POST …/guias/{guia}/reintentar', () => {
  it('takes a day and a window, corrects the contact, and leaves the state', async () => {
    const { api, guia, read } = await createGuiaWithIntento()
    const fecha = addDays(today(), 3)
    const franja = { desde: '14:00', hasta: '18:00' }
    const decided = await api.guias.reintentar(guia, {
      fecha,
      franja,
      telefono: '5987 1234',
      destinatario: 'Luis Ajú',
      indicaciones: 'Portón azul',
    })
    expect(decided).toMatchObject({
      estado: 'intento_fallido',
      telefono: '+50259871234',
      destinatario: 'Luis Ajú',
      indicaciones: 'Portón azul',
      decision: { estado: 'tomada', accion: 'reintentar', fecha, franja, por: 'comercio' },
      secuencia: 7,
    })
    const eventos = (await read()).eventos.datos.slice(-2)
    expect(eventos.map(({ tipo }) => tipo)).toEqual(['guia.corregida', 'guia.decision_tomada'])
    expect(eventos[1]!.decision).toEqual(decided.decision)
  })

  it('without a day takes the first one; the parcel on its way applies the decision, and a later failure opens another', async () => {
    const { api, guia, read, scan } = await createGuiaWithIntento()
    expect((await api.guias.reintentar(guia)).decision).toMatchObject({ fecha: addDays(today(), 1), franja: null })
    await scan('en_bodega')
    expect((await read()).decision).toMatchObject({ estado: 'tomada' })
    await scan('en_ruta')
    expect((await read()).decision).toMatchObject({ estado: 'aplicada', accion: 'reintentar', por: 'comercio' })
    expect(await apiFault(api.guias.reintentar(guia))).toMatchObject({
      codigo: 'decision_no_admitida',
      opciones: ['devolver'],
    })
    await scan('intento_fallido')
    expect((await read()).decision).toMatchObject({ estado: 'pendiente', ...PENDIENTE })
  })

  it.each([
    ['a day before the first', () => ({ fecha: today() }), '/fecha', 'fuera_de_rango'],
    ['a day too far', () => ({ fecha: addDays(today(), 31) }), '/fecha', 'fuera_de_rango'],
    ['a day that does not exist', () => ({ fecha: '2027-02-30' }), '/fecha', 'formato_invalido'],
    [
      'a window that ends first',
      () => ({ franja: { desde: '18:00', hasta: '14:00' } }),
      '/franja/hasta',
      'fuera_de_rango',
    ],
    [
      'an hour that does not exist',
      () => ({ franja: { desde: '24:00', hasta: '25:00' } }),
      '/franja/desde',
      'formato_invalido',
    ],
    ['a member of another operation', () => ({ recogida: { nombre: 'Bodega' } }), '/recogida', 'desconocido'],
  ])('refuses %s, and writes nothing', async (_description, body, field, codigo) => {
    const { api, guia, read } = await createGuiaWithIntento()
    const { secuencia } = await read()
    const fault = await apiFault(api.guias.reintentar(guia, { destinatario: 'Otra', ...body() } as never))
    expect(fault).toMatchObject({
      codigo: 'validacion',
      errores: expect.arrayContaining([expect.objectContaining({ campo: field, codigo })]),
    })
    expect(await read()).toMatchObject({ secuencia, destinatario: 'Ana Pérez' })
  })

  it('takes the 30th day, and only with the sequence that was read', async () => {
    const { api, guia } = await createGuiaWithIntento()
    expect(await apiFault(api.guias.reintentar(guia, { secuencia: 4 }))).toMatchObject({ codigo: 'carrera_perdida' })
    const fecha = addDays(today(), 30)
    expect((await api.guias.reintentar(guia, { fecha, secuencia: 5 })).decision).toMatchObject({ fecha })
  })

  it('refuses an implausible place of a strict merchant, unless the request is not strict', async () => {
    const comercio = await environment.createComercio()
    await environment.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: true } })
    const { api, guia } = await createGuiaWithIntento(comercio)
    const place = { lat: 14.63, lng: 90.6 }
    expect(await apiFault(api.guias.reintentar(guia, place))).toMatchObject({
      codigo: 'validacion',
      errores: [{ campo: '/lng', codigo: 'lugar_inverosimil' }],
    })
    const { decision, ubicacion } = await api.guias.reintentar(guia, { ...place, estricto: false })
    expect([decision!.estado, ubicacion.lng]).toEqual(['tomada', 90.6])
  })
})
