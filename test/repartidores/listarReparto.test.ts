import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createGuiaOnRoute } from '../archivos/images.ts'
import { buildGuia } from '../factories.ts'
import { comercio, key, useDispatch } from './dispatch.ts'
import { createMobile } from './phone.ts'

const { environment } = useDispatch()

const repartoOf = async (repartidor: string) => {
  const { datos } = (await environment.asOperador('GET', '/reparto?limite=100')).body
  return datos.find((one: { repartidor: string }) => one.repartidor === repartidor)
}
describe('GET /operaciones/v1/reparto', () => {
  it('counts what each courier carries, and what was finished today', async () => {
    const ownMobile = await createMobile(environment)
    expect(await repartoOf(ownMobile.repartidor)).toMatchObject({ activo: true, lleva: 0, estados: [], terminadas: 0 })
    const one = await createGuiaOnRoute(environment, comercio, ownMobile.repartidor)
    await createGuiaOnRoute(environment, comercio, ownMobile.repartidor)
    const returningGuia = await createGuiaOnRoute(environment, comercio, ownMobile.repartidor)
    await ownMobile.registrar(one, { estado: 'intento_fallido', motivo: 'destinatario_ausente', idempotencia: key() })
    for (const estado of ['en_devolucion', 'devuelto'])
      await environment.asOperador('POST', `/guias/${returningGuia}/eventos`, { estado })
    expect(await repartoOf(ownMobile.repartidor)).toMatchObject({
      lleva: 2,
      estados: [
        { estado: 'en_ruta', guias: 1 },
        { estado: 'intento_fallido', guias: 1 },
      ],
      terminadas: 1,
    })
    await environment.asOperador('POST', `/repartidores/${ownMobile.repartidor}/desactivar`)
    expect(await repartoOf(ownMobile.repartidor)).toMatchObject({ activo: false, lleva: 2 })
  })

  it('counts what is assigned to a courier and not carried yet', async () => {
    const ownMobile = await createMobile(environment)
    const fresh = async () => (await comercio.api.guias.crear(buildGuia())).guia
    const [one, tomada, cancelled, later] = [await fresh(), await fresh(), await fresh(), await fresh()]
    const asignar = (guias: string[], fecha?: string) =>
      environment.asOperador('POST', '/asignaciones', { guias, repartidor: ownMobile.repartidor, fecha })
    await asignar([one, tomada, cancelled])
    await asignar([later], new Date(environment.clock().getTime() + 72 * HOUR_MS).toISOString().slice(0, 10))
    expect(await repartoOf(ownMobile.repartidor)).toMatchObject({ lleva: 0, por_tomar: 3 })
    await ownMobile.registrar(tomada, { estado: 'recolectado', idempotencia: key() })
    await comercio.api.guias.cancelar(cancelled)
    expect(await repartoOf(ownMobile.repartidor)).toMatchObject({ lleva: 1, por_tomar: 1 })
    // A parcel that the courier brought back waits for the courier again.
    await ownMobile.registrar(tomada, { estado: 'en_bodega', idempotencia: key() })
    expect(await repartoOf(ownMobile.repartidor)).toMatchObject({ lleva: 0, por_tomar: 2 })
    const { datos, asignadas } = (await environment.asOperador('GET', `/repartidores/${ownMobile.repartidor}/guias`))
      .body
    expect(datos).toEqual([])
    const codigos = asignadas.map(({ guia }: { guia: string }) => guia)
    expect([codigos.slice(0, 2).sort(), codigos[2]]).toEqual([[one, tomada].sort(), later])
    expect(asignadas[0]).toMatchObject({
      asignada_a: { repartidor: ownMobile.repartidor },
      comercio: comercio.comercio,
    })
  })

  it('is read in pages, the newest courier first', async () => {
    const [old, newMobile] = [await createMobile(environment), await createMobile(environment)]
    const first = (await environment.asOperador('GET', '/reparto?limite=1')).body
    expect(first.datos[0].repartidor).toBe(newMobile.repartidor)
    const second = await environment.asOperador('GET', `/reparto?limite=1&cursor=${first.cursor_siguiente}`)
    expect(second.body.datos[0].repartidor).toBe(old.repartidor)
  })
})
