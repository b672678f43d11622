import { beforeAll, describe, expect, it } from 'vitest'
import type { Comercio } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { RECIPIENT_POSITION, type SentUbicacionRequest, useChannel } from '../mensajeria/channel.ts'

const canal = useChannel()
const { environment, requested: sentRequest, tipos, read, reply: answer } = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})

const corrected = async (sentSolicitud: SentUbicacionRequest) => {
  await comercio.api.guias.corregir(sentSolicitud.guia, { contenido: 'Una caja' })
  return sentSolicitud
}

describe('a guide that waits for its place, corrected in something else than its telephone', () => {
  it('takes an answer of its recipient that quotes no message', async () => {
    const { telefono, ...sentSolicitud } = await corrected(await sentRequest(comercio))
    await answer('location', RECIPIENT_POSITION, { telefono })
    expect((await read(comercio, sentSolicitud)).ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
    })
  })

  it('reports that nobody answered in time', async () => {
    const sentSolicitud = await corrected(await sentRequest(comercio))
    canal.advance(73 * 3_600_000)
    await waitUntil(async () => (await read(comercio, sentSolicitud)).ubicacion.estado === 'vencida')
    expect(await tipos(comercio, sentSolicitud)).toEqual([
      'guia.aceptado',
      'ubicacion.solicitada',
      'guia.corregida',
      'ubicacion.vencida',
    ])
  })
})
