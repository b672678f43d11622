import { firmarWebhook, type Webhook, type WebhookParaCrear } from '@guias/sdk'
import type { RecordedEvento } from './guias.ts'
import { notFound } from './problema.ts'

/**
 * Seconds before each attempt, counted from the attempt before. The real service uses the same waits, and adds up to a
 * fifth at random.
 */
export const RETRY_DELAYS_SECONDS = [0, 5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

/** Función que recibe la solicitud de un webhook, en lugar del servidor de su dirección. */
export type Recibir = (solicitud: Request) => Response | Promise<Response>

interface Registro {
  webhook: Webhook
  secreto: string
}

/** Envío de un evento a un webhook. */
export interface Envio {
  /** Código del webhook. */
  webhook: string
  /** Identificador del evento. */
  evento: string
  /** Número de intentos hasta ahora. */
  intentos: number
  /** Estado HTTP que contestó cada intento; 0 si no hubo respuesta. */
  estados: number[]
  /** Verdadero si un intento contestó 2xx. */
  entregado: boolean
}

interface PendingDelivery extends Envio {
  registro: Registro
  cuerpo: string
  dueAt: number
}

/** Webhooks of the test double and their deliveries, signed as the service signs them. */
export class Deliveries {
  readonly webhooksByCode = new Map<string, Registro>()
  readonly deliveries: PendingDelivery[] = []
  readonly #now: () => Date
  readonly #receive: Recibir

  constructor(ahora: () => Date, recibir: Recibir) {
    this.#now = ahora
    this.#receive = recibir
  }

  crear({ url, tipos = ['*'], descripcion }: WebhookParaCrear): Webhook & { secreto: string } {
    const creado_en = this.#now().toISOString()
    const codigo = `wh_${crypto.randomUUID().replaceAll('-', '').slice(0, 12).toUpperCase()}`
    const secreto = `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`
    const webhook = {
      webhook: codigo,
      url,
      tipos,
      descripcion: descripcion ?? null,
      estado: 'activo',
      motivo: null,
      estado_en: creado_en,
      comprobado_en: creado_en,
      fallas: null,
      secretos: [{ version: 1, creado_en, vence_en: null }],
      modo: 'test',
      creado_en,
      actualizado_en: creado_en,
    } as unknown as Webhook
    this.webhooksByCode.set(codigo, { webhook, secreto })
    return { ...webhook, secreto }
  }

  buscar(codigo: string): Webhook {
    const registro = this.webhooksByCode.get(codigo)
    if (registro) return registro.webhook
    throw notFound('webhook_desconocido', 'No hay ningún webhook con ese identificador.')
  }

  /** Queues the deliveries of an event. */
  record({ evento, guia }: RecordedEvento) {
    const { url_rastreo: _url, zona_horaria: _zona, ...deAviso } = guia
    const aviso = {
      id: evento.id,
      tipo: evento.tipo,
      creado_en: evento.registrado_en,
      datos: { guia: deAviso, evento },
    }
    for (const registro of this.webhooksByCode.values()) {
      if (!admitsType(registro.webhook.tipos, String(evento.tipo))) continue
      const delivery = {
        webhook: registro.webhook.webhook,
        evento: evento.id,
        intentos: 0,
        estados: [],
        entregado: false,
      }
      this.deliveries.push({ ...delivery, registro, cuerpo: JSON.stringify(aviso), dueAt: this.#now().getTime() })
    }
  }

  /** Tells whether no attempt follows: the delivery arrived, or its webhook was deleted. */
  #isFinished = ({ entregado, webhook }: PendingDelivery) => entregado || !this.webhooksByCode.has(webhook)

  /** Returns the time of the next attempt, in milliseconds; Infinity if none is left. */
  proximo = () =>
    Math.min(
      ...this.deliveries.map((delivery) => (this.#isFinished(delivery) ? Number.POSITIVE_INFINITY : delivery.dueAt)),
    )

  /** Sends the due deliveries, in order. */
  async send() {
    for (const delivery of this.deliveries) {
      const { registro, cuerpo } = delivery
      if (this.#isFinished(delivery) || delivery.dueAt > this.#now().getTime()) continue
      const timestamp = Math.floor(this.#now().getTime() / 1000)
      const firma = await firmarWebhook(cuerpo, { id: delivery.evento, timestamp, secreto: registro.secreto })
      const headers = { 'content-type': 'application/json', ...firma }
      const solicitud = new Request(registro.webhook.url, { method: 'POST', body: cuerpo, headers })
      const status = await Promise.resolve(this.#receive(solicitud)).then(
        (respuesta) => respuesta.status,
        () => 0,
      )
      delivery.intentos++
      delivery.estados.push(status)
      delivery.entregado = status >= 200 && status < 300
      const espera = RETRY_DELAYS_SECONDS[delivery.intentos]
      delivery.dueAt = espera === undefined ? Number.POSITIVE_INFINITY : this.#now().getTime() + espera * 1000
    }
  }
}

/** Reports whether a list of event types, which may contain `*` and `guia.*`, includes a type. */
export const admitsType = (tipos: readonly string[], tipo: string) =>
  tipos.some(
    (pattern) =>
      pattern === '*' || pattern === tipo || (pattern.endsWith('.*') && tipo.startsWith(pattern.slice(0, -1))),
  )
