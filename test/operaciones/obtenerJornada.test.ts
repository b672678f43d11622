import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const { mover } = useGuias(environment)
const count = async (query = '?modo=test') => (await environment.asOperador('GET', `/jornada${query}`)).body
const countByEstado = ({ estados }: { estados: { estado: string; guias: number }[] }) =>
  Object.fromEntries(estados.filter(({ guias }) => guias > 0).map(({ estado, guias }) => [estado, guias]))

describe('GET /operaciones/v1/jornada', () => {
  it('counts the guides of all merchants that have not ended, by state, and those without a place', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    await one.api.guias.crear(buildGuiaWithoutDestino())
    const onRoute = (await other.api.guias.crear(buildGuia())).guia
    await mover(onRoute, 'recolectado', 'en_ruta')
    const cancelled = (await one.api.guias.crear(buildGuiaWithoutDestino())).guia
    await one.api.guias.cancelar(cancelled)
    const cuentas = await count()
    expect(countByEstado(cuentas)).toEqual({ aceptado: 1, en_ruta: 1 })
    expect(cuentas).toMatchObject({ modo: 'test', creadas: 3, sin_lugar: 1, por_decidir: 0 })
    expect(cuentas.estados.map(({ estado }: { estado: string }) => estado)).not.toContain('cancelado')
    await mover(onRoute, 'intento_fallido')
    expect(await count()).toMatchObject({ por_decidir: 1 })
  })

  it('counts production alone if no mode is asked for', async () => {
    const { api } = await environment.createComercio('live')
    await api.guias.crear(buildGuia())
    expect(await count('')).toMatchObject({ modo: 'live', creadas: 1, sin_lugar: 0, por_decidir: 0 })
  })

  it('begins the day by the company’s clock', async () => {
    const { desde } = await count()
    expect(desde).toMatch(/T06:00:00\.000Z$/)
    expect(new Date(desde).getTime()).toBeLessThanOrEqual(environment.clock().getTime())
    await environment.advance(24 * 3_600_000)
    expect(await count()).toMatchObject({ creadas: 0 })
  })

  it('returns 400 for an unknown mode', async () => {
    expect((await count('?modo=otro')).errores[0].campo).toBe('modo')
  })
})
