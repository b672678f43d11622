import { beforeAll, describe, expect, it } from 'vitest'
import { tokenDe } from '../../server/domain/ubicacion/ubicacion.ts'
import type { Comercio } from '../environment.ts'
import { hasta } from '../factories.ts'
import { createTelefono, RECIPIENT_POSITION, type SentUbicacionRequest, useChannel } from '../mensajeria/channel.ts'
import { SECRETOS } from '../ubicacion/requests.ts'

const canal = useChannel()
const {
  environment,
  createUbicacionRequest: nueva,
  requested: pedida,
  esperar,
  mensajes,
  listAcceptedMensajes,
  tipos,
  leer,
  waitForQuiet,
  reply: contestar,
} = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.nuevoComercio('live')
})

/** Corrects the telephone of a guide, and returns the guide with its new telephone. */
async function corregida({ guia }: SentUbicacionRequest, telefono = createTelefono()): Promise<SentUbicacionRequest> {
  await comercio.api.guias.corregir(guia, { telefono: `+${telefono}` })
  return { guia, telefono }
}
const enlaceDe = async (esta: { guia: string }, numero: number) => {
  const { id, kid } = (await mensajes(esta)).find((fila) => fila.numero === numero)!
  return `${environment.url}/u/${tokenDe(SECRETOS, id, kid)!.token}`
}
const estados = async (esta: { guia: string }) => (await mensajes(esta)).map(({ estado }) => estado)

describe('a corrected telephone of a guide that waits for its place', () => {
  it('gets exactly one message, and the links of the former one end', async () => {
    const primera = await pedida(comercio)
    const viejo = await enlaceDe(primera, 1)
    expect((await fetch(viejo)).status).toBe(200)
    const segunda = await corregida(primera)
    expect((await leer(comercio, segunda)).ubicacion.solicitud).toMatchObject({ numero: 2, canal: 'whatsapp' })
    await esperar(segunda, 'enviado', 2)
    await waitForQuiet()
    expect([listAcceptedMensajes(primera).length, listAcceptedMensajes(segunda).length]).toEqual([1, 1])
    expect(await tipos(comercio, segunda)).toEqual([
      'guia.aceptado',
      'ubicacion.solicitada',
      'guia.corregida',
      'ubicacion.solicitada',
    ])
    const [cerrado, nuevo] = [await fetch(viejo), await fetch(await enlaceDe(segunda, 2))]
    expect([cerrado.status, nuevo.status]).toEqual([404, 200])
    expect(await cerrado.text()).not.toContain('Sacatepéquez')
  })

  it('gets another link if it comes back, and its old link stays dead', async () => {
    const primera = await pedida(comercio)
    const viejo = await enlaceDe(primera, 1)
    await esperar(await corregida(primera), 'enviado', 2)
    const tercera = await corregida(primera, primera.telefono)
    await esperar(tercera, 'enviado', 3)
    const [cerrado, nuevo] = [await fetch(viejo), await fetch(await enlaceDe(tercera, 3))]
    expect([cerrado.status, nuevo.status]).toEqual([404, 200])
  })

  it('confirms the place by its answer; the former one cannot', async () => {
    const primera = await pedida(comercio)
    const segunda = await corregida(primera)
    const { proveedor_id } = await esperar(segunda, 'enviado', 2)
    await contestar('location', RECIPIENT_POSITION, { telefono: primera.telefono, inReplyTo: primera.wamid })
    await contestar('location', RECIPIENT_POSITION, { telefono: primera.telefono })
    const enviado = await fetch(await enlaceDe(primera, 1), {
      method: 'POST',
      body: new URLSearchParams({ lat: '14.7', lng: '-90.6', metodo: 'gps' }),
    })
    expect([enviado.status, (await leer(comercio, segunda)).ubicacion.estado]).toEqual([404, 'solicitada'])
    await contestar('location', RECIPIENT_POSITION, { telefono: segunda.telefono, inReplyTo: proveedor_id! })
    expect((await leer(comercio, segunda)).ubicacion).toMatchObject({ estado: 'confirmada', origen: 'destinatario' })
  })

  it('leaves nothing to send to the former one, whose message was put off', async () => {
    const telefono = createTelefono()
    canal.proveedor.porTelefono.set(telefono, { tipo: 'error', status: 429, error: { code: 130429 } })
    const primera = await nueva(comercio, { telefono: `+${telefono}` })
    await hasta(async () => (await mensajes(primera))[0]?.codigo)
    canal.proveedor.porTelefono.delete(telefono)
    const segunda = await corregida(primera)
    await esperar(segunda, 'enviado', 2)
    canal.advance(3_600_000)
    await waitForQuiet()
    expect([await estados(segunda), listAcceptedMensajes(primera).length]).toEqual([['descartado', 'enviado'], 0])
    expect((await leer(comercio, segunda)).ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'enviado' })
  })

  it('asks again after the first request expired', async () => {
    const primera = await pedida(comercio)
    canal.advance(73 * 3_600_000)
    await hasta(async () => (await leer(comercio, primera)).ubicacion.estado === 'vencida')
    const segunda = await corregida(primera)
    await esperar(segunda, 'enviado', 2)
    expect((await leer(comercio, segunda)).ubicacion).toMatchObject({ estado: 'solicitada', solicitud: { numero: 2 } })
  })

  it('has its own number of resends', async () => {
    const primera = await pedida(comercio)
    for (let numero = 2; numero <= 4; numero++) {
      await comercio.api.guias.reenviarSolicitud(primera.guia)
      await esperar(primera, 'enviado', numero)
    }
    await expect(comercio.api.guias.reenviarSolicitud(primera.guia)).rejects.toMatchObject({
      codigo: 'limite_de_solicitudes',
    })
    const segunda = await corregida(primera)
    await esperar(segunda, 'enviado', 5)
    expect((await comercio.api.guias.reenviarSolicitud(segunda.guia)).ubicacion.solicitud).toMatchObject({ numero: 6 })
  })

  it('gets no message if the destination is corrected along with it', async () => {
    const primera = await pedida(comercio)
    const telefono = createTelefono()
    await comercio.api.guias.corregir(primera.guia, { telefono: `+${telefono}`, lat: 14.72, lng: -90.64 })
    await waitForQuiet()
    expect([listAcceptedMensajes({ telefono }), await estados(primera)]).toEqual([[], ['enviado']])
    expect((await leer(comercio, primera)).ubicacion).toMatchObject({ estado: 'confirmada', origen: 'comercio' })
  })
})

describe('a corrected telephone of a guide whose place is confirmed', () => {
  it('gets no message, and the former one can no longer change the place', async () => {
    const primera = await pedida(comercio)
    await contestar('location', RECIPIENT_POSITION, { telefono: primera.telefono, inReplyTo: primera.wamid })
    expect((await fetch(await enlaceDe(primera, 1))).status).toBe(200)
    const rastreo = async () => (await fetch(`${environment.url}/r/${primera.guia}`)).text()
    expect(await rastreo()).toContain('Abra otra vez el enlace de aquel mensaje')
    const segunda = await corregida(primera)
    await waitForQuiet()
    expect(await rastreo()).not.toContain('Abra otra vez el enlace de aquel mensaje')
    expect(listAcceptedMensajes(segunda)).toEqual([])
    expect((await fetch(await enlaceDe(primera, 1))).status).toBe(404)
    expect((await leer(comercio, segunda)).ubicacion.estado).toBe('confirmada')
  })
})
