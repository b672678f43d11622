import { beforeAll, describe, expect, it } from 'vitest'
import { useIntentos } from '../decisiones/move.ts'
import { useEnvironment } from '../environment.ts'
import { apiFault } from '../webhooks/webhooks.ts'

const environment = useEnvironment()
const { createGuia: fresh, createGuiaWithIntento } = useIntentos(environment)
// The day does not change while the tests run.
beforeAll(() => environment.freezeClock())
const RAZON = { razon: 'El cliente ya no lo quiere' }

describe('POST …/guias/{guia}/devolver', () => {
  it.each(['en_bodega', 'intento_fallido'])('begins at once in %s', async (estado) => {
    const { api, guia, tipos, read } =
      estado === 'en_bodega' ? await fresh(undefined, 'recolectado', estado) : await createGuiaWithIntento()
    const devuelta = await api.guias.devolver(guia, RAZON)
    expect(devuelta).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada', accion: 'devolver', por: 'comercio', fecha: null },
    })
    expect((await tipos()).slice(-2)).toEqual(['decision_tomada', 'en_devolucion'])
    const [tomada, returningGuia] = (await read()).eventos.datos.slice(-2)
    expect([tomada!.descripcion, tomada!.decision!.estado, returningGuia!.motivo]).toEqual([
      RAZON.razon,
      'tomada',
      'a_pedido_del_comercio',
    ])
    // Again: nothing to do.
    expect(await api.guias.devolver(guia, RAZON)).toEqual(devuelta)
  })

  it.each([
    ['recolectado', 'en_bodega'],
    ['recolectado', 'en_ruta'],
    ['en_transito', 'en_bodega'],
    ['en_ruta', 'intento_fallido'],
    ['en_ruta', 'en_bodega'],
    ['en_ruta', 'en_devolucion'],
  ])('in %s is applied by the scan %s, in its transaction', async (estado, next) => {
    const before = estado === 'recolectado' ? [] : ['recolectado']
    const { api, guia, tipos, read, registrar } = await fresh(undefined, ...before, estado)
    expect(await api.guias.devolver(guia, RAZON)).toMatchObject({
      estado,
      decision: { estado: 'tomada', accion: 'devolver', opciones: ['devolver'], vence_en: null },
    })
    await registrar({ tipo: 'guia.nota', descripcion: 'Llamó' })
    expect((await read()).decision).toMatchObject({ estado: 'tomada' })
    const motivo = next === 'intento_fallido' ? { motivo: 'sin_respuesta' } : {}
    const evento = await registrar({ estado: next, ...motivo })
    expect([evento.tipo, evento.aplicado]).toEqual([`guia.${next}`, true])
    expect(await read()).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada', accion: 'devolver' },
    })
    expect((await tipos()).slice(-2)).toEqual(
      next === 'en_devolucion' ? ['nota', 'en_devolucion'] : [next, 'en_devolucion'],
    )
  })

  it('waits for a lost parcel until the parcel is found', async () => {
    const { api, guia, scan, read } = await fresh(undefined, 'recolectado', 'en_transito', 'extraviado')
    expect(await api.guias.devolver(guia, RAZON)).toMatchObject({
      estado: 'extraviado',
      decision: { estado: 'tomada' },
    })
    await scan('en_bodega')
    expect(await read()).toMatchObject({ estado: 'en_devolucion', decision: { estado: 'aplicada' } })
  })

  it('outlives a parcel that gets lost', async () => {
    const { api, guia, scan, read } = await fresh(undefined, 'recolectado')
    await api.guias.devolver(guia, RAZON)
    await scan('extraviado')
    expect(await read()).toMatchObject({ estado: 'extraviado', decision: { estado: 'tomada' } })
  })

  it('names the cancellation before anybody has the parcel, and refuses a final state', async () => {
    const { api, guia } = await fresh()
    expect(await apiFault(api.guias.devolver(guia, RAZON))).toMatchObject({
      codigo: 'transicion_invalida',
      estado: 'aceptado',
      transiciones: [],
      message: expect.stringContaining('con cancelar'),
    })
    await api.guias.cancelar(guia)
    expect(await apiFault(api.guias.devolver(guia, RAZON))).toMatchObject({
      codigo: 'transicion_invalida',
      estado: 'cancelado',
      message: expect.stringContaining('estado final'),
    })
  })

  it('needs a reason', async () => {
    const { api, guia } = await createGuiaWithIntento()
    expect(await apiFault(api.guias.devolver(guia, {} as never))).toMatchObject({
      codigo: 'validacion',
      errores: [{ campo: '/razon', codigo: 'requerido' }],
    })
  })
})
