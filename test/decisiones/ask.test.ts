// The message that asks a recipient to decide, with a provider.

import { beforeAll, describe, expect, it } from 'vitest'
import { sendMensajes } from '../../server/domain/mensajeria/send.ts'
import { createWhatsappClient } from '../../server/domain/mensajeria/whatsapp.ts'
import { DAY_MS, HOUR_MS } from '../../server/platform/time/units.ts'
import type { Comercio } from '../environment.ts'
import { buildEstadoReport, buildGuia, waitUntil } from '../factories.ts'
import { buildMensajeDeps, createTelefono, useChannel } from '../mensajeria/channel.ts'
import { useQuestions } from './questions.ts'

const canal = useChannel()
const { environment, requests, listAcceptedMensajes, esperar, waitForQuiet } = canal
const { createComercio: shop, mensajes, ver, send } = useQuestions(environment)
let comercio: Comercio
beforeAll(async () => {
  comercio = await shop({}, 'live')
})

const scan = async (guia: string, ...estados: string[]) => {
  for (const estado of estados)
    expect((await environment.asOperador('POST', `/guias/${guia}/eventos`, buildEstadoReport(estado))).status).toBe(201)
}
/** A live guide whose delivery failed. */
async function fallida(telefono = createTelefono(), owner = comercio) {
  const { guia } = await owner.api.guias.crear(buildGuia({ telefono: `+${telefono}`, destinatario: 'Ana Pérez' }))
  await scan(guia, 'recolectado', 'en_ruta', 'intento_fallido')
  return { guia, telefono }
}

describe('the message about an open decision', () => {
  it('is one, of a template of its own, with a link until the deadline', async () => {
    const sentRequest = await fallida()
    const row = await esperar(sentRequest, 'enviado')
    const [requestData, ...more] = requests(sentRequest)
    expect(more).toEqual([])
    const { name, components } = requestData!.json.template
    const [mark, shop, deadline] = components[0].parameters.map(({ text }: { text: string }) => text)
    expect([name, mark, shop]).toEqual([canal.proveedor.config.decisionTemplate, 'Guías', 'Tienda La Ceiba'])
    expect(deadline).toMatch(/^\d+ de [a-z]+ de \d{4}, \d\d:\d\d$/)
    const { decision, ubicacion } = await comercio.api.guias.obtener(sentRequest.guia)
    expect(row).toMatchObject({ tipo: 'solicitud_decision', abierta: false })
    expect(row.vence_en!.toISOString()).toBe(decision!.vence_en)
    expect(ubicacion.solicitud).toBeNull()
    const link = `/d/${components[1].parameters[0].text}`
    expect((await ver(link)).status).toBe(200)
    await canal.estado('read', {
      wamid: listAcceptedMensajes(sentRequest)[0]!.wamid,
      recipient: sentRequest.telefono,
      ownId: row.id,
    })
    expect((await mensajes(sentRequest.guia))[0].estado).toBe('leido')
    expect((await send(link, { eleccion: 'otro_dia' })).status).toBe(303)
    await waitForQuiet()
    expect([requests(sentRequest).length, (await mensajes(sentRequest.guia)).length]).toEqual([1, 1])
  })

  it('is one with more workers, and after a sender that died', async () => {
    const other = await canal.startOtherService()
    const guias = await Promise.all(Array.from({ length: 6 }, () => fallida()))
    for (const guia of guias) await esperar(guia, 'enviado')
    await waitForQuiet()
    expect(guias.map((guia) => requests(guia).length)).toEqual(guias.map(() => 1))
    await other.stop()
    // A worker dies between its claim and the provider's answer: nobody knows, and nobody asks twice.
    const sentRequest = await fallida()
    const { id } = await esperar(sentRequest, 'enviado')
    await canal.query(`update mensaje set estado = 'enviando', proximo_en = now() - interval '1 hour' where id = $1`, [
      id,
    ])
    const whatsapp = createWhatsappClient(canal.proveedor.config)
    const job = { data: { mensaje: id, comercio_id: comercio.id } }
    await sendMensajes({ ...buildMensajeDeps(environment), whatsappClient: whatsapp }, [job, job])
    await whatsapp.close()
    const [row] = await mensajes(sentRequest.guia)
    expect([row.estado, row.vence_en.toISOString()]).toEqual([
      'dudoso',
      (await comercio.api.guias.obtener(sentRequest.guia)).decision!.vence_en,
    ])
    expect(requests(sentRequest)).toHaveLength(1)
  })

  it('shares the limits of its telephone with location requests, and goes out later', async () => {
    const telefono = createTelefono()
    const lugares = await Promise.all(
      Array.from({ length: 3 }, () => canal.createUbicacionRequest(comercio, { telefono })),
    )
    for (const place of lugares) await esperar(place, 'enviado')
    const decisiones = []
    for (let i = 0; i < 4; i++) decisiones.push(await fallida(telefono))
    await waitForQuiet()
    expect(requests({ telefono })).toHaveLength(5)
    for (let hour = 0; hour < 6; hour++) {
      canal.advance(HOUR_MS)
      await waitForQuiet()
    }
    expect(requests({ telefono })).toHaveLength(7)
    for (const { guia } of decisiones) expect((await mensajes(guia)).map(({ estado }) => estado)).toEqual(['enviado'])
  })

  it('is dropped if the decision is taken, superseded, expired or another before it was sent', async () => {
    const telefono = createTelefono()
    canal.proveedor.byTelefono.set(telefono, { tipo: 'error', status: 503, error: { code: 2, details: 'x' } })
    const [tomada, superada, corrected, expired] = await Promise.all(Array.from({ length: 4 }, () => fallida(telefono)))
    for (const { guia } of [tomada!, superada!, corrected!, expired!])
      await waitUntil(async () => (await mensajes(guia))[0].intentos > 0)
    await comercio.api.guias.reintentar(tomada!.guia)
    await scan(superada!.guia, 'en_ruta')
    await comercio.api.guias.corregir(corrected!.guia, { telefono: `+${createTelefono()}` })
    await canal.query(`update mensaje set vence_en = $2 where guia = $1`, [expired!.guia, environment.clock()])
    canal.proveedor.byTelefono.delete(telefono)
    const before = requests({ telefono }).length
    canal.advance(DAY_MS)
    await waitForQuiet()
    for (const { guia } of [tomada!, superada!, corrected!, expired!])
      expect((await mensajes(guia)).map(({ estado }) => estado)).toEqual(['descartado'])
    expect(requests({ telefono })).toHaveLength(before)
  })

  it('leaves a location request of the same guide alone, and its answers', async () => {
    const telefono = createTelefono()
    const { guia } = await canal.requested(comercio, { telefono })
    await scan(guia, 'recolectado')
    const { status } = await environment.asOperador('POST', `/guias/${guia}/eventos`, {
      ...buildEstadoReport('en_ruta'),
      forzar: { razon: 'El repartidor conoce la casa' },
    })
    expect(status).toBe(201)
    await scan(guia, 'intento_fallido')
    const { proveedor_id } = await esperar({ guia }, 'enviado', 2)
    // Words are no decision, and the service asks for nothing in answer to them.
    await canal.reply('text', { body: 'el viernes' }, { telefono, inReplyTo: proveedor_id! })
    expect((await comercio.api.guias.obtener(guia)).decision).toMatchObject({ estado: 'pendiente' })
    canal.advance(4 * DAY_MS)
    await waitForQuiet()
    const read = await comercio.api.guias.obtener(guia, { limite: 100 })
    expect([read.ubicacion.estado, read.ubicacion.solicitud!.numero]).toEqual(['vencida', 1])
    expect(read.eventos.datos.filter(({ tipo }) => tipo === 'ubicacion.solicitada')).toHaveLength(1)
  })
})

describe('without messaging', () => {
  const OF_GUIA = (guia: string) => `/operaciones/v1/mensajes?guia=${guia}`
  const request = async (method: string, path: string, body?: unknown) =>
    (await environment.request(method, path, { llave: comercio.llave, body })).body
  const readSeenEstado = async (guia: string) =>
    (await environment.request('GET', OF_GUIA(guia), { llave: environment.llaveDeOperacion })).body.datos.map(
      ({ tipo, canal, estado }: { tipo: string; canal: string; estado: string }) => `${tipo} ${canal} ${estado}`,
    )

  it('waits, is dropped when the decision is taken, and goes out once when messaging is there', async () => {
    await environment.reset({ MESSAGING: 'buzon' })
    const fresh = async () => {
      const telefono = createTelefono()
      const { guia } = await request('POST', '/api/v1/guias', buildGuia({ telefono: `+${telefono}` }))
      await scan(guia, 'recolectado', 'en_ruta', 'intento_fallido')
      return { guia, telefono }
    }
    const [wait, decidedGuia] = [await fresh(), await fresh()]
    await waitForQuiet()
    expect(await readSeenEstado(wait.guia)).toEqual(['solicitud_decision buzon pendiente'])
    await request('POST', `/api/v1/guias/${decidedGuia.guia}/reintentar`, {})
    expect(await readSeenEstado(decidedGuia.guia)).toEqual(['solicitud_decision buzon descartado'])
    await environment.reset({ MESSAGING: 'whatsapp' })
    await waitUntil(async () => (await mensajes(wait.guia))[0].estado === 'enviado')
    await waitForQuiet()
    expect([requests(wait).length, requests(decidedGuia).length]).toEqual([1, 0])
    expect((await mensajes(decidedGuia.guia))[0].estado).toBe('descartado')
    const { ubicacion } = await request('GET', `/api/v1/guias/${wait.guia}`)
    expect(ubicacion.solicitud).toBeNull()
  })
})
