import { describe, expect, it } from 'vitest'
import { decideExpired } from '../../server/domain/decisiones/expire.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { buildMensajeDeps } from '../mensajeria/channel.ts'
import { useIntentos } from './move.ts'

const environment = useEnvironment()
const { createGuiaWithIntento } = useIntentos(environment)
const politica = async (intentos: object) => {
  const comercio = await environment.createComercio()
  const { status } = await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
    politica_de_intentos: intentos,
  })
  expect(status).toBe(200)
  return comercio
}

describe('the policy of a merchant', () => {
  it('returns a parcel about which nobody decided, once, and not before the deadline', async () => {
    const { read, tipos } = await createGuiaWithIntento()
    environment.advance(5 * DAY_MS - 60_000)
    await environment.waitForQuiet()
    expect((await read()).estado).toBe('intento_fallido')
    environment.advance(60_000)
    await environment.waitForQuiet()
    expect(await read()).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada', accion: 'devolver', por: 'politica' },
    })
    const [tomada, returningGuia] = (await read()).eventos.datos.slice(-2)
    expect([tomada!.descripcion, returningGuia!.motivo, returningGuia!.tipo]).toEqual([
      'Nadie decidió a tiempo qué hacer con el paquete',
      'sin_decision',
      'guia.en_devolucion',
    ])
    environment.advance(30 * DAY_MS)
    await environment.waitForQuiet()
    expect((await tipos()).filter((tipo) => tipo === 'decision_tomada')).toHaveLength(1)
  })

  it('returns it after an outage that hid the deadline', async () => {
    const { comercio, guia } = await createGuiaWithIntento()
    environment.advance(40 * DAY_MS)
    await environment.reset()
    await environment.waitForQuiet()
    const { body } = await environment.request('GET', `/api/v1/guias/${guia}`, { llave: comercio.llave })
    expect(body).toMatchObject({ estado: 'en_devolucion', decision: { por: 'politica' } })
  })

  it('returns a parcel at once after its last attempt', async () => {
    const { read, scan } = await createGuiaWithIntento(await politica({ maximos: 2 }))
    await scan('en_ruta', 'intento_fallido')
    await environment.waitForQuiet()
    expect(await read()).toMatchObject({ estado: 'en_devolucion', intentos: 2, decision: { por: 'politica' } })
    const [tomada, returningGuia] = (await read()).eventos.datos.slice(-2)
    expect([tomada!.descripcion, returningGuia!.motivo]).toEqual([
      'Se hicieron todos los intentos',
      'intentos_agotados',
    ])
  })

  it('leaves a decision that somebody took, and one that waits for ever', async () => {
    const tomada = await createGuiaWithIntento()
    await tomada.api.guias.reintentar(tomada.guia)
    const wait = await createGuiaWithIntento(await politica({ al_vencer: 'esperar', dias_para_decidir: 1 }))
    environment.advance(90 * DAY_MS)
    await environment.waitForQuiet()
    expect(await tomada.read()).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'tomada' } })
    expect(await wait.read()).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'pendiente' } })
    // It is late, and still possible.
    expect((await wait.api.guias.reintentar(wait.guia)).decision).toMatchObject({ estado: 'tomada' })
  })

  it('leaves a parcel whose deadline is still to come, although a job for an earlier one runs late', async () => {
    const { comercio, guia, read } = await createGuiaWithIntento()
    const deps = {
      ...buildMensajeDeps(environment),
      newId: createIdGenerator(environment.clock),
      channelOf: () => 'buzon' as const,
    }
    await decideExpired(deps, [{ guia, comercio_id: comercio.id }])
    expect(await read()).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'pendiente' } })
  })

  it('is that of the time of the attempt, and waits as many days as it says', async () => {
    const comercio = await politica({ dias_para_decidir: 2, dias_entre: 3 })
    const { read } = await createGuiaWithIntento(comercio)
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
      politica_de_intentos: { al_vencer: 'esperar' },
    })
    const { decision } = await read()
    expect(Date.parse(decision!.fecha_desde!) - Date.parse(decision!.vence_en!)).toBeGreaterThan(-DAY_MS * 2)
    environment.advance(2 * DAY_MS)
    await environment.waitForQuiet()
    expect((await read()).estado).toBe('en_devolucion')
  })

  it('keeps its decision about a lost parcel until the parcel is found', async () => {
    const { read, scan } = await createGuiaWithIntento()
    await scan('extraviado')
    environment.advance(6 * DAY_MS)
    await environment.waitForQuiet()
    expect(await read()).toMatchObject({ estado: 'extraviado', decision: { estado: 'tomada', por: 'politica' } })
    await scan('en_bodega')
    expect(await read()).toMatchObject({ estado: 'en_devolucion', decision: { estado: 'aplicada' } })
  })
})
