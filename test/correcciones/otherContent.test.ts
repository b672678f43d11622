import { beforeAll, describe, expect, it } from 'vitest'
import type { Comercio } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { RECIPIENT_POSITION, type SentUbicacionRequest, useChannel } from '../mensajeria/channel.ts'

const canal = useChannel()
const { environment, requested: pedida, tipos, leer, reply: answer } = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})

const corrected = async (esta: SentUbicacionRequest) => {
  await comercio.api.guias.corregir(esta.guia, { contenido: 'Una caja' })
  return esta
}

describe('a guide that waits for its place, corrected in something else than its telephone', () => {
  it('takes an answer of its recipient that quotes no message', async () => {
    const { telefono, ...esta } = await corrected(await pedida(comercio))
    await answer('location', RECIPIENT_POSITION, { telefono })
    expect((await leer(comercio, esta)).ubicacion).toMatchObject({ estado: 'confirmada', origen: 'destinatario' })
  })

  it('reports that nobody answered in time', async () => {
    const esta = await corrected(await pedida(comercio))
    canal.advance(73 * 3_600_000)
    await waitUntil(async () => (await leer(comercio, esta)).ubicacion.estado === 'vencida')
    expect(await tipos(comercio, esta)).toEqual([
      'guia.aceptado',
      'ubicacion.solicitada',
      'guia.corregida',
      'ubicacion.vencida',
    ])
  })
})
