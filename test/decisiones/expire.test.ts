import { describe, expect, it } from 'vitest'
import { decideExpired } from '../../server/domain/decisiones/expire.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { buildMensajeDeps } from '../mensajeria/channel.ts'
import { useIntentos } from './move.ts'

const entorno = useEnvironment()
const { conIntento } = useIntentos(entorno)
const politica = async (intentos: object) => {
  const comercio = await entorno.nuevoComercio()
  const { status } = await entorno.operar('PATCH', `/comercios/${comercio.comercio}`, {
    politica_de_intentos: intentos,
  })
  expect(status).toBe(200)
  return comercio
}

describe('the policy of a merchant', () => {
  it('returns a parcel about which nobody decided, once, and not before the deadline', async () => {
    const { leer, tipos } = await conIntento()
    entorno.advance(5 * DAY_MS - 60_000)
    await entorno.waitForQuiet()
    expect((await leer()).estado).toBe('intento_fallido')
    entorno.advance(60_000)
    await entorno.waitForQuiet()
    expect(await leer()).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada', accion: 'devolver', por: 'politica' },
    })
    const [tomada, vuelve] = (await leer()).eventos.datos.slice(-2)
    expect([tomada!.descripcion, vuelve!.motivo, vuelve!.tipo]).toEqual([
      'Nadie decidió a tiempo qué hacer con el paquete',
      'sin_decision',
      'guia.en_devolucion',
    ])
    entorno.advance(30 * DAY_MS)
    await entorno.waitForQuiet()
    expect((await tipos()).filter((tipo) => tipo === 'decision_tomada')).toHaveLength(1)
  })

  it('returns it after an outage that hid the deadline', async () => {
    const { comercio, guia } = await conIntento()
    entorno.advance(40 * DAY_MS)
    await entorno.reset()
    await entorno.waitForQuiet()
    const { cuerpo } = await entorno.request('GET', `/api/v1/guias/${guia}`, { llave: comercio.llave })
    expect(cuerpo).toMatchObject({ estado: 'en_devolucion', decision: { por: 'politica' } })
  })

  it('returns a parcel at once after its last attempt', async () => {
    const { leer, scan: escanear } = await conIntento(await politica({ maximos: 2 }))
    await escanear('en_ruta', 'intento_fallido')
    await entorno.waitForQuiet()
    expect(await leer()).toMatchObject({ estado: 'en_devolucion', intentos: 2, decision: { por: 'politica' } })
    const [tomada, vuelve] = (await leer()).eventos.datos.slice(-2)
    expect([tomada!.descripcion, vuelve!.motivo]).toEqual(['Se hicieron todos los intentos', 'intentos_agotados'])
  })

  it('leaves a decision that somebody took, and one that waits for ever', async () => {
    const tomada = await conIntento()
    await tomada.api.guias.reintentar(tomada.guia)
    const espera = await conIntento(await politica({ al_vencer: 'esperar', dias_para_decidir: 1 }))
    entorno.advance(90 * DAY_MS)
    await entorno.waitForQuiet()
    expect(await tomada.leer()).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'tomada' } })
    expect(await espera.leer()).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'pendiente' } })
    // It is late, and still possible.
    expect((await espera.api.guias.reintentar(espera.guia)).decision).toMatchObject({ estado: 'tomada' })
  })

  it('leaves a parcel whose deadline is still to come, although a job for an earlier one runs late', async () => {
    const { comercio, guia, leer } = await conIntento()
    const deps = {
      ...buildMensajeDeps(entorno),
      newId: createIdGenerator(entorno.clock),
      canalDe: () => 'buzon' as const,
    }
    await decideExpired(deps, [{ guia, comercio_id: comercio.id }])
    expect(await leer()).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'pendiente' } })
  })

  it('is that of the time of the attempt, and waits as many days as it says', async () => {
    const comercio = await politica({ dias_para_decidir: 2, dias_entre: 3 })
    const { leer } = await conIntento(comercio)
    await entorno.operar('PATCH', `/comercios/${comercio.comercio}`, { politica_de_intentos: { al_vencer: 'esperar' } })
    const { decision } = await leer()
    expect(Date.parse(decision!.fecha_desde!) - Date.parse(decision!.vence_en!)).toBeGreaterThan(-DAY_MS * 2)
    entorno.advance(2 * DAY_MS)
    await entorno.waitForQuiet()
    expect((await leer()).estado).toBe('en_devolucion')
  })

  it('keeps its decision about a lost parcel until the parcel is found', async () => {
    const { leer, scan: escanear } = await conIntento()
    await escanear('extraviado')
    entorno.advance(6 * DAY_MS)
    await entorno.waitForQuiet()
    expect(await leer()).toMatchObject({ estado: 'extraviado', decision: { estado: 'tomada', por: 'politica' } })
    await escanear('en_bodega')
    expect(await leer()).toMatchObject({ estado: 'en_devolucion', decision: { estado: 'aplicada' } })
  })
})
