import { beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { registerEntrega } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { buildEstadoReport } from '../factories.ts'
import { apiFault } from '../webhooks/webhooks.ts'
import { useIntentos } from './move.ts'

const environment = useEnvironment()
const { createGuia: fresh, createGuiaWithIntento } = useIntentos(environment)
// The day does not change while the tests run.
beforeAll(() => environment.freezeClock())
const UTC_DE_GUATEMALA = -6
/** Today in Guatemala, by the service's clock. */
const today = () => new Date(environment.clock().getTime() + UTC_DE_GUATEMALA * 3_600_000).toISOString().slice(0, 10)
const PENDIENTE = { accion: null, fecha: null, franja: null, por: null }
const RAZON = { razon: 'El cliente ya no lo quiere' }

describe('a failed attempt', () => {
  it('opens a decision, with the days and attempts that the merchant has', async () => {
    const { read, guia } = await createGuiaWithIntento()
    const { decision, eventos, actualizado_en } = await read()
    const vence_en = new Date(Date.parse(actualizado_en) + 5 * 86_400_000).toISOString()
    const expected = {
      estado: 'pendiente',
      opciones: ['reintentar', 'devolver'],
      fecha_desde: addDays(today(), 1),
      vence_en,
      ...PENDIENTE,
    }
    expect(decision).toEqual(expected)
    const [fallido, pending] = eventos.datos.slice(-2)
    expect([fallido!.tipo, fallido!.decision, fallido!.secuencia]).toEqual(['guia.intento_fallido', null, 4])
    expect(pending).toMatchObject({
      id: `evt_${guia}_5`,
      tipo: 'guia.decision_pendiente',
      estado: 'intento_fallido',
      decision: expected,
      descripcion: 'Se espera una decisión sobre el paquete',
      ocurrido_en: fallido!.ocurrido_en,
    })
  })

  it('counts the days until the next one from its own day, although its report comes later', async () => {
    const { read, registrar } = await fresh(undefined, 'recolectado', 'en_ruta')
    const ocurrido_en = environment.clock().toISOString()
    const day = today()
    environment.advance(24 * HOUR_MS)
    await registrar({ estado: 'intento_fallido', motivo: 'sin_respuesta', ocurrido_en })
    expect((await read()).decision!.fecha_desde).toBe(addDays(day, 1))
  })

  it('opens nothing if its report comes late, and a guide without one has nothing to decide', async () => {
    const { read, registrar } = await fresh(undefined, 'recolectado', 'en_ruta')
    const before = new Date(environment.clock().getTime() - 60_000).toISOString()
    await registrar({ estado: 'intento_fallido', motivo: 'sin_respuesta', ocurrido_en: before })
    expect(await read()).toMatchObject({ estado: 'en_ruta', decision: null })
  })

  it('after the last attempt leaves the return, and nothing else', async () => {
    const comercio = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
      politica_de_intentos: { maximos: 2, al_vencer: 'esperar' },
    })
    const { read, scan, api, guia } = await createGuiaWithIntento(comercio)
    await scan('en_ruta', 'intento_fallido')
    expect((await read()).decision).toMatchObject({ estado: 'pendiente', opciones: ['devolver'], fecha_desde: null })
    expect(await apiFault(api.guias.reintentar(guia))).toMatchObject({
      codigo: 'decision_no_admitida',
      opciones: ['devolver'],
      estado: 'intento_fallido',
      message: expect.stringContaining('Ya se hicieron 2 intentos'),
    })
  })
})

describe('the first decision', () => {
  it('wins, and a later one gets a 409 that shows it', async () => {
    const { api, guia, read } = await createGuiaWithIntento()
    const { decision } = await api.guias.reintentar(guia)
    for (const other of [() => api.guias.reintentar(guia), () => api.guias.devolver(guia, RAZON)]) {
      const fault = await apiFault(other())
      expect(fault).toMatchObject({ codigo: 'decision_tomada', estado: 'intento_fallido' })
      expect(JSON.stringify(fault.decision)).toBe(JSON.stringify(decision))
      expect(fault.problema.mensaje).toBe(
        `El comercio ya decidió: reintentar el ${decision!.fecha}. Vale la primera decisión. Los datos de la entrega se corrigen con PATCH; la decisión solo la cambia el servicio de mensajería.`,
      )
    }
    expect((await read()).secuencia).toBe(6)
  })

  it('loses to facts: a delivery, another attempt and a return without it supersede it', async () => {
    const deliveredGuia = await createGuiaWithIntento()
    await deliveredGuia.api.guias.reintentar(deliveredGuia.guia)
    await deliveredGuia.scan('en_bodega')
    await registerEntrega(environment, deliveredGuia.guia)
    expect(await deliveredGuia.read()).toMatchObject({
      estado: 'entregado',
      decision: { estado: 'superada', accion: 'reintentar' },
    })
    const repetition = await createGuiaWithIntento()
    await repetition.scan('en_ruta')
    expect(await repetition.read()).toMatchObject({ decision: { estado: 'superada', ...PENDIENTE } })
    const devuelta = await createGuiaWithIntento()
    await devuelta.api.guias.reintentar(devuelta.guia)
    await devuelta.scan('en_devolucion')
    expect(await devuelta.read()).toMatchObject({ decision: { estado: 'superada', accion: 'reintentar' } })
  })

  it('is refused with what can be done in the guide’s state', async () => {
    const { api, guia, scan } = await fresh()
    const denial = async () => (await apiFault(api.guias.reintentar(guia))).problema.mensaje
    const messages = [await denial()]
    for (const estado of ['recolectado', 'en_devolucion', 'devuelto']) {
      await scan(estado)
      messages.push(await denial())
    }
    expect(messages).toEqual([
      'La guía está en aceptado y no hay un intento fallido que repetir. Se puede reintentar después de uno.',
      'La guía está en recolectado y no hay un intento fallido que repetir. Se puede reintentar después de uno; ahora puede pedir la devolución.',
      'La guía está en en_devolucion: el paquete ya vuelve, y no se lleva otra vez.',
      'La guía está en devuelto, que es un estado final: no hay nada que decidir.',
    ])
  })

  it('loses to a delivery that was on its way', async () => {
    const { api, guia, read } = await fresh(undefined, 'recolectado', 'en_ruta')
    await api.guias.devolver(guia, RAZON)
    await registerEntrega(environment, guia)
    expect(await read()).toMatchObject({ estado: 'entregado', decision: { estado: 'superada', accion: 'devolver' } })
  })

  it('loses to a delivery that the courier made before he could hear of it', async () => {
    const { api, guia, registrar, read, tipos } = await fresh(undefined, 'recolectado')
    const minutes = (count: number) => new Date(environment.clock().getTime() + count * 60_000).toISOString()
    await api.guias.devolver(guia, RAZON)
    const [output, entrega] = [minutes(1), minutes(5)]
    environment.advance(30 * 60_000)
    await registrar({ ...buildEstadoReport('en_ruta'), ocurrido_en: output })
    expect(await read()).toMatchObject({ estado: 'en_devolucion', decision: { estado: 'aplicada' } })
    await registerEntrega(environment, guia, { ocurrido_en: entrega })
    expect(await read()).toMatchObject({ estado: 'entregado' })
    expect((await tipos()).slice(-3)).toEqual(['en_ruta', 'en_devolucion', 'entregado'])
  })

  it('is one of two that come at once', async () => {
    const { api, guia, tipos } = await createGuiaWithIntento()
    const responses = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => api.guias.reintentar(guia)),
      ...Array.from({ length: 4 }, () => api.guias.devolver(guia, RAZON)),
    ])
    const tomadas = (await tipos()).filter((tipo) => tipo === 'decision_tomada')
    expect(tomadas).toHaveLength(1)
    expect(responses.some(({ status }) => status === 'fulfilled')).toBe(true)
  })
})
