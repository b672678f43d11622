import { beforeAll, describe, expect, it } from 'vitest'
import { tokenOf } from '../../server/domain/ubicacion/ubicacion.ts'
import type { Comercio } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { createTelefono, RECIPIENT_POSITION, type SentUbicacionRequest, useChannel } from '../mensajeria/channel.ts'
import { SECRETOS } from '../ubicacion/requests.ts'

const canal = useChannel()
const {
  environment,
  createUbicacionRequest: fresh,
  requested: sentRequest,
  esperar,
  mensajes,
  listAcceptedMensajes,
  tipos,
  read,
  waitForQuiet,
  reply: answer,
} = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})

/** Corrects the telephone of a guide, and returns the guide with its new telephone. */
async function corrected({ guia }: SentUbicacionRequest, telefono = createTelefono()): Promise<SentUbicacionRequest> {
  await comercio.api.guias.corregir(guia, { telefono: `+${telefono}` })
  return { guia, telefono }
}
const linkOf = async (sentSolicitud: { guia: string }, number: number) => {
  const { id, kid } = (await mensajes(sentSolicitud)).find((row) => row.numero === number)!
  return `${environment.url}/u/${tokenOf(SECRETOS, id, kid)!.token}`
}
const estados = async (sentSolicitud: { guia: string }) => (await mensajes(sentSolicitud)).map(({ estado }) => estado)

describe('a corrected telephone of a guide that waits for its place', () => {
  it('gets exactly one message, and the links of the former one end', async () => {
    const first = await sentRequest(comercio)
    const old = await linkOf(first, 1)
    expect((await fetch(old)).status).toBe(200)
    const second = await corrected(first)
    expect((await read(comercio, second)).ubicacion.solicitud).toMatchObject({ numero: 2, canal: 'whatsapp' })
    await esperar(second, 'enviado', 2)
    await waitForQuiet()
    expect([listAcceptedMensajes(first).length, listAcceptedMensajes(second).length]).toEqual([1, 1])
    expect(await tipos(comercio, second)).toEqual([
      'guia.aceptado',
      'ubicacion.solicitada',
      'guia.corregida',
      'ubicacion.solicitada',
    ])
    const [closedResponse, newResponse] = [await fetch(old), await fetch(await linkOf(second, 2))]
    expect([closedResponse.status, newResponse.status]).toEqual([404, 200])
    expect(await closedResponse.text()).not.toContain('Sacatepéquez')
  })

  it('gets another link if it comes back, and its old link stays dead', async () => {
    const first = await sentRequest(comercio)
    const old = await linkOf(first, 1)
    await esperar(await corrected(first), 'enviado', 2)
    const third = await corrected(first, first.telefono)
    await esperar(third, 'enviado', 3)
    const [closedResponse, newResponse] = [await fetch(old), await fetch(await linkOf(third, 3))]
    expect([closedResponse.status, newResponse.status]).toEqual([404, 200])
  })

  it('confirms the place by its answer; the former one cannot', async () => {
    const first = await sentRequest(comercio)
    const second = await corrected(first)
    const { proveedor_id } = await esperar(second, 'enviado', 2)
    await answer('location', RECIPIENT_POSITION, { telefono: first.telefono, inReplyTo: first.wamid })
    await answer('location', RECIPIENT_POSITION, { telefono: first.telefono })
    const sent = await fetch(await linkOf(first, 1), {
      method: 'POST',
      body: new URLSearchParams({ lat: '14.7', lng: '-90.6', metodo: 'gps' }),
    })
    expect([sent.status, (await read(comercio, second)).ubicacion.estado]).toEqual([404, 'solicitada'])
    await answer('location', RECIPIENT_POSITION, { telefono: second.telefono, inReplyTo: proveedor_id! })
    expect((await read(comercio, second)).ubicacion).toMatchObject({ estado: 'confirmada', origen: 'destinatario' })
  })

  it('leaves nothing to send to the former one, whose message was put off', async () => {
    const telefono = createTelefono()
    canal.proveedor.byTelefono.set(telefono, { tipo: 'error', status: 429, error: { code: 130429 } })
    const first = await fresh(comercio, { telefono: `+${telefono}` })
    await waitUntil(async () => (await mensajes(first))[0]?.codigo)
    canal.proveedor.byTelefono.delete(telefono)
    const second = await corrected(first)
    await esperar(second, 'enviado', 2)
    canal.advance(3_600_000)
    await waitForQuiet()
    expect([await estados(second), listAcceptedMensajes(first).length]).toEqual([['descartado', 'enviado'], 0])
    expect((await read(comercio, second)).ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'enviado' })
  })

  it('asks again after the first request expired', async () => {
    const first = await sentRequest(comercio)
    canal.advance(73 * 3_600_000)
    await waitUntil(async () => (await read(comercio, first)).ubicacion.estado === 'vencida')
    const second = await corrected(first)
    await esperar(second, 'enviado', 2)
    expect((await read(comercio, second)).ubicacion).toMatchObject({ estado: 'solicitada', solicitud: { numero: 2 } })
  })

  it('has its own number of resends', async () => {
    const first = await sentRequest(comercio)
    for (let number = 2; number <= 4; number++) {
      await comercio.api.guias.reenviarSolicitud(first.guia)
      await esperar(first, 'enviado', number)
    }
    await expect(comercio.api.guias.reenviarSolicitud(first.guia)).rejects.toMatchObject({
      codigo: 'limite_de_solicitudes',
    })
    const second = await corrected(first)
    await esperar(second, 'enviado', 5)
    expect((await comercio.api.guias.reenviarSolicitud(second.guia)).ubicacion.solicitud).toMatchObject({ numero: 6 })
  })

  it('gets no message if the destination is corrected along with it', async () => {
    const first = await sentRequest(comercio)
    const telefono = createTelefono()
    await comercio.api.guias.corregir(first.guia, { telefono: `+${telefono}`, lat: 14.72, lng: -90.64 })
    await waitForQuiet()
    expect([listAcceptedMensajes({ telefono }), await estados(first)]).toEqual([[], ['enviado']])
    expect((await read(comercio, first)).ubicacion).toMatchObject({ estado: 'confirmada', origen: 'comercio' })
  })
})

describe('a corrected telephone of a guide whose place is confirmed', () => {
  it('gets no message, and the former one can no longer change the place', async () => {
    const first = await sentRequest(comercio)
    await answer('location', RECIPIENT_POSITION, { telefono: first.telefono, inReplyTo: first.wamid })
    expect((await fetch(await linkOf(first, 1))).status).toBe(200)
    const rastreo = async () => (await fetch(`${environment.url}/r/${first.guia}`)).text()
    expect(await rastreo()).toContain('Abra otra vez el enlace de aquel mensaje')
    const second = await corrected(first)
    await waitForQuiet()
    expect(await rastreo()).not.toContain('Abra otra vez el enlace de aquel mensaje')
    expect(listAcceptedMensajes(second)).toEqual([])
    expect((await fetch(await linkOf(first, 1))).status).toBe(404)
    expect((await read(comercio, second)).ubicacion.estado).toBe('confirmada')
  })
})
