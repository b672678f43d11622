import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { useIntentos } from '../decisiones/move.ts'
import { useEnvironment } from '../environment.ts'

const environment = useEnvironment()
const { createGuiaWithIntento } = useIntentos(environment)

describe('POST /operaciones/v1/guias/{guia}/devolver', () => {
  it('returns a parcel, for a reason of their own', async () => {
    const { guia, read } = await createGuiaWithIntento()
    const { status, body } = await environment.asOperador('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    expect([status, body.estado, body.decision.por]).toEqual([200, 'en_devolucion', 'operador'])
    expect((await read()).eventos.datos.at(-1)).toMatchObject({ tipo: 'guia.en_devolucion', motivo: 'otro' })
  })

  it('returns 404 for an unknown guide', async () => {
    const { status, body } = await environment.asOperador('POST', `/guias/${newGuideCode()}/devolver`, {
      razon: 'Se mojó',
    })
    expect([status, body.codigo]).toEqual([404, 'guia_desconocida'])
  })
})
