import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { useIntentos } from '../decisiones/move.ts'
import { useEnvironment } from '../environment.ts'
import { apiFault } from '../webhooks/webhooks.ts'

const environment = useEnvironment()
const { createGuiaWithIntento } = useIntentos(environment)
// The day does not change while the tests run.
beforeAll(() => environment.freezeClock())
const RAZON = { razon: 'El cliente ya no lo quiere' }

describe('POST /operaciones/v1/guias/{guia}/reintentar', () => {
  it('decides with a reason, which the merchant reads', async () => {
    const { guia, read, api } = await createGuiaWithIntento()
    const razon = 'El destinatario llamó'
    const { status, body } = await environment.asOperador('POST', `/guias/${guia}/reintentar`, {
      razon,
      telefono: '+50259871234',
    })
    expect([status, body.decision.por, body.telefono, body.comercio]).toEqual([
      200,
      'operador',
      '+50259871234',
      expect.stringMatching(/^com_/),
    ])
    expect((await read()).eventos.datos.at(-1)).toMatchObject({ tipo: 'guia.decision_tomada', descripcion: razon })
    expect(await apiFault(api.guias.devolver(guia, RAZON))).toMatchObject({
      message: expect.stringContaining('El servicio de mensajería ya decidió'),
    })
    expect((await environment.asOperador('POST', `/guias/${guia}/devolver`, {})).status).toBe(422)
    expect((await environment.asOperador('POST', `/guias/${guia}/devolver`, RAZON)).status).toBe(409)
  })

  it('returns 409 when the merchant decided first, and 404 for an unknown guide', async () => {
    const { guia, read, api } = await createGuiaWithIntento()
    await api.guias.reintentar(guia)
    const before = await read()
    expect(
      await environment.asOperador('POST', `/guias/${guia}/reintentar`, { razon: 'Llamó', indicaciones: 'Portón' }),
    ).toMatchObject({
      status: 409,
      body: { codigo: 'decision_tomada' },
    })
    expect(await read()).toEqual(before)
    const nobody = await environment.asOperador('POST', `/guias/${newGuideCode()}/reintentar`, { razon: 'Llamó' })
    expect([nobody.status, nobody.body.codigo]).toEqual([404, 'guia_desconocida'])
  })
})
