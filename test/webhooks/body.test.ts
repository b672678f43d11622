import { beforeAll, describe, expect, it } from 'vitest'
import { markSent } from '../../server/domain/mensajeria/markSent.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { readSchema } from '../contract/schema.ts'
import { buildGuiaWithoutDestino, RECOGIDA_VIEW } from '../factories.ts'
import { buildMensajeDeps } from '../mensajeria/channel.ts'
import { buildAvisoCode, useWebhooks } from './webhooks.ts'

const { environment } = useWebhooks()
beforeAll(() => environment.freezeClock())

/** A live merchant's endpoint for everything, paused, so that its deliveries stay where they are. */
async function withEndpoint() {
  const { id, comercio, api } = await environment.createComercio('live')
  const webhook = `wh_${comercio.slice(4)}`
  await environment.db.pool.query(
    `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, comprobado_en, creado_en, actualizado_en)
     values ($1, 'live', $2, 'https://tienda.ejemplo.com/', '{*}', 'pausado', now(), now(), now(), now())`,
    [id, webhook],
  )
  return { api, webhook }
}

/** Puts a guide's message into the mailbox, as sent: versions without `sin_mensajeria` did so with live guides, too. */
async function markMensajesSent(guia: string) {
  const { rows } = await environment.db.pool.query('select id, comercio_id from mensaje where guia = $1', [guia])
  await markSent(buildMensajeDeps(environment), 'buzon', ['pendiente'], rows)
}

/** Returns the guide of a body: its members in the contract's order, with null where no value is given. */
const inContractOrder = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.keys(readSchema('GuiaDeAviso').properties).map((name) => [name, members[name] ?? null] as const),
  )

describe('the body of an event of a version without `sin_mensajeria`', () => {
  it.each(['pendiente', 'enviado'] as const)('is the same today, byte for byte (%s)', async (estado) => {
    const { api, webhook } = await withEndpoint()
    const { guia, external_ref, telefono, creado_en: createdAt } = await api.guias.crear(buildGuiaWithoutDestino())
    if (estado === 'enviado') await markMensajesSent(guia)
    await api.guias.cancelar(guia)
    const vence_en = new Date(environment.clock().getTime() + 72 * HOUR_MS).toISOString()

    const { datos: eventos } = await api.guias.eventos(guia)
    expect(eventos).toHaveLength(estado === 'enviado' ? 3 : 2)
    for (const evento of eventos) {
      const { secuencia } = evento
      const wasSent = estado === 'enviado' && secuencia > 1
      const body = JSON.stringify({
        id: evento.id,
        tipo: evento.tipo,
        creado_en: createdAt,
        datos: {
          guia: inContractOrder({
            guia,
            estado: evento.estado,
            modo: 'live',
            external_ref,
            telefono,
            departamento: 'Guatemala',
            municipio: 'San Juan Sacatepéquez',
            recogida: RECOGIDA_VIEW,
            metadatos: {},
            ubicacion: {
              estado: 'solicitada',
              origen: null,
              lat: null,
              lng: null,
              maps_url: null,
              precision_m: null,
              referencia: null,
              distancia_km: null,
              confirmado_en: null,
              solicitud: {
                canal: 'buzon',
                estado: wasSent ? 'enviado' : 'pendiente',
                numero: 1,
                creado_en: createdAt,
                enviado_en: wasSent ? createdAt : null,
                entregado_en: null,
                leido_en: null,
                vence_en: wasSent ? vence_en : null,
                motivo: null,
              },
            },
            intentos: 0,
            advertencias: [],
            secuencia,
            creado_en: createdAt,
            actualizado_en: createdAt,
          }),
          evento,
        },
      })
      const entrega = await api.webhooks.obtenerAviso(webhook, buildAvisoCode(webhook, guia, secuencia))
      expect(entrega.cuerpo).toBe(body)
    }
  })
})
