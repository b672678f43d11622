import { beforeAll, describe, expect, it } from 'vitest'
import { type Comercio, withKey } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { createTelefono, RECIPIENT_POSITION, useChannel } from '../mensajeria/channel.ts'
import { useReceivers } from '../webhooks/receiver.ts'

const canal = useChannel()
const { environment, createUbicacionRequest: fresh, mensajes, waitForQuiet } = canal
const openReceiver = useReceivers()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})

/** Status of a request, which is repeated while the service is too busy, as a merchant's program does. */
async function done(request: () => Promise<Response>): Promise<number> {
  const { status } = await request()
  return status === 503 ? done(request) : status
}

describe('corrections, scans and answers at the same time, in two processes', () => {
  it('lose no update, leave no gap, and send each telephone one message at most', async () => {
    const other = await canal.startOtherService()
    const urls = [environment.url, other.url]
    const guias = await Promise.all(Array.from({ length: 12 }, () => fresh(comercio)))
    const request = (i: number, method: string, path: string, body: object, key?: string, llave = comercio.llave) =>
      done(() =>
        fetch(urls[i % 2] + path, {
          method,
          headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json', ...withKey(key) },
          body: JSON.stringify(body),
        }),
      )
    const telefonos = guias.map(() => [createTelefono(), createTelefono(), createTelefono()])
    const estados = await Promise.all(
      guias.flatMap(({ guia }, g) => [
        ...telefonos[g]!.map((telefono, i) =>
          request(i, 'PATCH', `/api/v1/guias/${guia}`, { telefono: `+${telefono}` }, `${guia}-telefono-${i}`),
        ),
        ...[1, 2, 3].map((n) =>
          request(n, 'PATCH', `/api/v1/guias/${guia}`, { contenido: `Caja ${n}` }, `${guia}-caja-${n}`),
        ),
        ...(g % 3 === 0
          ? [
              request(g, 'POST', `/api/v1/guias/${guia}/ubicacion`, {
                lat: RECIPIENT_POSITION.latitude,
                lng: RECIPIENT_POSITION.longitude,
              }),
            ]
          : []),
        ...['recolectado', 'en_bodega'].map((estado, i) =>
          request(
            i,
            'POST',
            `/operaciones/v1/guias/${guia}/eventos`,
            { estado },
            `${guia}-${estado}`,
            environment.llaveDeOperacion,
          ),
        ),
      ]),
    )
    expect(new Set(estados.filter((status) => ![200, 201, 409].includes(status)))).toEqual(new Set())
    await waitForQuiet()
    for (const [g, { guia, telefono }] of guias.entries()) {
      const read = await canal.read(comercio, { guia })
      const eventos = read.eventos.datos
      expect(eventos.map(({ secuencia }) => secuencia)).toEqual(eventos.map((_, i) => i + 1))
      const corregidas = eventos.filter(({ tipo }) => tipo === 'guia.corregida')
      const times = (field: string) => corregidas.filter(({ campos: fields }) => fields!.includes(field)).length
      // Each accepted correction is one event: nobody's was overwritten unseen.
      expect([times('/telefono'), times('/contenido')]).toEqual([3, 3])
      expect(telefonos[g]).toContain(read.telefono!.slice(1))
      const storedMensajes = await mensajes({ guia })
      const byTelefono = (one: string) =>
        storedMensajes.filter((m) => m.telefono === `+${one}` && m.tipo === 'solicitud_ubicacion')
      for (const one of [telefono, ...telefonos[g]!]) expect(byTelefono(one).length).toBeLessThanOrEqual(1)
      if (read.ubicacion.estado !== 'confirmada')
        await waitUntil(async () =>
          (await mensajes({ guia })).some((m) => m.telefono === read.telefono && m.estado === 'enviado'),
        )
    }
  })

  it('show in each webhook the guide as it was at its event, when it is sent again after all of them', async () => {
    const prueba = await environment.createComercio()
    const receptor = await openReceiver()
    const { webhook } = await prueba.api.webhooks.crear({ url: receptor.url })
    const { guia } = await prueba.api.guias.crear({
      telefono: '+50231481676',
      departamento: 'Guatemala',
      municipio: 'Mixco',
      lat: 14.63,
      lng: -90.6,
      recogida: { lat: 14.58, lng: -90.54 },
    })
    const corregir = (n: number) =>
      prueba.api.guias.corregir(guia, { contenido: `Caja ${n}`, telefono: `+5025987123${n}` })
    for (let n = 0; n < 5; n++) {
      await Promise.all([
        corregir(n),
        environment.asOperador('POST', `/guias/${guia}/eventos`, { tipo: 'guia.nota', descripcion: `n${n}` }),
      ])
    }
    await waitUntil(async () => receptor.receivedWebhooks.length === 11)
    const firstBodies = new Map(receptor.receivedWebhooks.map(({ id, body }) => [id, body]))
    for (let secuencia = 1; secuencia <= 11; secuencia++)
      await prueba.api.webhooks.reenviar(webhook, `avi_${webhook.slice(3)}_${guia}_${secuencia}`)
    await waitUntil(async () => receptor.receivedWebhooks.length === 22)
    for (const { id, body } of receptor.receivedWebhooks.slice(11)) expect(body).toBe(firstBodies.get(id))
  })
})
