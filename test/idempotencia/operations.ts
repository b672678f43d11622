import { randomUUID } from 'node:crypto'
import { createFailedGuia, createGuiaOnRoute } from '../archivos/images.ts'
import type { Comercio, TestEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

/** A request that takes a key, of a merchant who has what it needs. */
export interface IdempotencyCase {
  /** POST if absent. */
  method?: 'PATCH'
  path: string
  body: Record<string, unknown>
  /** The path and body of another request of the same operation. */
  other: Pick<IdempotencyCase, 'method' | 'path' | 'body'>
  /** Table into which the operation writes. */
  table: string
  /** Counts what the operation has done. */
  countEffects(): Promise<number>
  /** Status of the same request again, without a key; 200 or 201 if absent. */
  returningName?: 409
  /** Changes what the first request left, so that the same request without a key would do something again. */
  changeBetween?(): Promise<unknown>
  /** The part of the answer that a repetition has in common with the first one. */
  commonPart(body: Record<string, unknown>): unknown
}

let serial = 0
/** An address where nobody listens. */
export const url = () => `http://127.0.0.1:9/idempotencia/${process.pid}/${++serial}`

/**
 * Every operation of merchants that takes a key; the service must have no workers. One function, because the cases share
 * the service and the helpers above them.
 */
export function createIdempotencyCases(environment: TestEnvironment) {
  const countRows = async (sql: string, ...values: unknown[]) =>
    (await environment.db.pool.query(`select (${sql})::int as n`, values)).rows[0].n as number
  const crearWebhook = async ({ llave }: Comercio): Promise<string> =>
    (await environment.request('POST', '/api/v1/webhooks', { llave, body: { url: url() } })).body.webhook
  const markAvisosDelivered = (webhook: string) =>
    environment.db.pool.query(
      `update webhook_aviso set estado = 'entregado', terminado_en = now(), turno = turno + 1 where webhook = $1`,
      [webhook],
    )
  const wholeBody = (body: Record<string, unknown>) => body
  /** A guide with the path of its tracking page, because the port is another one after a restart of the service. */
  const toGuiaPart = ({ url_rastreo, ...body }: Record<string, unknown>) => ({
    ...body,
    rastreo: new URL(String(url_rastreo)).pathname,
  })
  /** The members of a case that answers with a guide and writes events of it. */
  const buildEventoMembers = (guia: string) => ({
    table: 'evento',
    countEffects: () => countRows('select count(*) from evento where guia = $1', guia),
    commonPart: toGuiaPart,
  })
  const createGuia = async ({ api }: Comercio, datos = buildGuia()) => (await api.guias.crear(datos)).guia
  /** A guide whose recipient is asked at a telephone of its own. */
  const createAskedGuia = (comercio: Comercio) =>
    createGuia(
      comercio,
      buildGuiaWithoutDestino({ telefono: `+5023${String(4_000_000 + ++serial)}` }) as ReturnType<typeof buildGuia>,
    )

  const { external_ref: _, ...guiaWithoutReference } = buildGuia()
  return {
    async crearGuia({ id }): Promise<IdempotencyCase> {
      const path = '/api/v1/guias'
      return {
        path,
        body: guiaWithoutReference,
        other: { path, body: { ...guiaWithoutReference, contenido: 'Otra cosa' } },
        table: 'guia',
        countEffects: () => countRows('select count(*) from guia where comercio_id = $1', id),
        commonPart: toGuiaPart,
      }
    },
    async crearLote({ id }): Promise<IdempotencyCase> {
      const path = '/api/v1/guias/bulk'
      const guias = [guiaWithoutReference, { ...guiaWithoutReference, telefono: '1' }, guiaWithoutReference]
      return {
        path,
        body: { guias },
        other: { path, body: { guias: guias.toReversed().slice(1) } },
        table: 'guia',
        // Two of the three guides are valid.
        countEffects: () => countRows('select (count(*) + 1) / 2 from guia where comercio_id = $1', id),
        commonPart: ({ resultados }) =>
          (resultados as Record<string, unknown>[]).map(({ guia, ok, error }) => [
            guia,
            ok,
            (error as { codigo?: string } | undefined)?.codigo,
          ]),
      }
    },
    async crearWebhook({ id }): Promise<IdempotencyCase> {
      const path = '/api/v1/webhooks'
      return {
        path,
        body: { url: url(), tipos: ['guia.*'] },
        other: { path, body: { url: url() } },
        table: 'webhook',
        countEffects: () => countRows('select count(*) from webhook where comercio_id = $1', id),
        commonPart: wholeBody,
      }
    },
    async rotarSecreto(comercio): Promise<IdempotencyCase> {
      const webhook = await crearWebhook(comercio)
      const path = `/api/v1/webhooks/${webhook}/rotar-secreto`
      return {
        path,
        body: { solapamiento_horas: 3 },
        other: { path, body: { solapamiento_horas: 4 } },
        table: 'webhook_secreto',
        countEffects: () => countRows('select max(version) from webhook_secreto where webhook = $1', webhook),
        commonPart: wholeBody,
      }
    },
    async probarWebhook(comercio): Promise<IdempotencyCase> {
      const webhook = await crearWebhook(comercio)
      return {
        path: `/api/v1/webhooks/${webhook}/probar`,
        body: {},
        other: { path: `/api/v1/webhooks/${await crearWebhook(comercio)}/probar`, body: {} },
        table: 'webhook_aviso',
        countEffects: () => countRows('select count(*) from webhook_aviso where webhook = $1', webhook),
        changeBetween: () => markAvisosDelivered(webhook),
        commonPart: ({ aviso }) => aviso,
      }
    },
    async reenviarAvisoDeWebhook(comercio): Promise<IdempotencyCase> {
      const webhook = await crearWebhook(comercio)
      const [resentGuia, otherGuia] = [await createGuia(comercio), await createGuia(comercio)]
      const pathOf = (guia: string) => `/api/v1/webhooks/${webhook}/avisos/avi_${webhook.slice(3)}_${guia}_1/reenviar`
      await markAvisosDelivered(webhook)
      return {
        path: pathOf(resentGuia),
        body: {},
        other: { path: pathOf(otherGuia), body: {} },
        table: 'webhook_aviso',
        countEffects: () =>
          countRows(`select count(*) from webhook_aviso where webhook = $1 and estado = 'pendiente'`, webhook),
        commonPart: ({ aviso }) => aviso,
      }
    },
    async recuperarAvisosDeWebhook(comercio): Promise<IdempotencyCase> {
      const webhook = await crearWebhook(comercio)
      const path = `/api/v1/webhooks/${webhook}/recuperar`
      const desde = new Date(environment.clock().getTime() - 3_600_000).toISOString()
      const finishStatement = `update recuperacion set estado = 'terminada', terminado_en = now() where webhook = $1`
      return {
        path,
        body: { desde },
        other: { path, body: { desde, todas: true } },
        table: 'recuperacion',
        countEffects: () => countRows('select count(*) from recuperacion where webhook = $1', webhook),
        changeBetween: () => environment.db.pool.query(finishStatement, [webhook]),
        commonPart: ({ recuperacion }) => recuperacion,
      }
    },
    async reenviarSolicitud(comercio): Promise<IdempotencyCase> {
      const guia = await createAskedGuia(comercio)
      return {
        path: `/api/v1/guias/${guia}/reenviar-solicitud`,
        body: {},
        other: { path: `/api/v1/guias/${await createAskedGuia(comercio)}/reenviar-solicitud`, body: {} },
        table: 'mensaje',
        countEffects: () => countRows('select count(*) from mensaje where guia = $1', guia),
        commonPart: ({ guia, secuencia }) => [guia, secuencia],
      }
    },
    async simularAvance(comercio): Promise<IdempotencyCase> {
      const guia = await createGuia(comercio)
      const path = `/api/v1/simulador/guias/${guia}/avanzar`
      return {
        path,
        body: { tipo: 'guia.nota', descripcion: 'Llamar antes' },
        other: { path, body: { tipo: 'guia.nota', descripcion: 'No llamar' } },
        ...buildEventoMembers(guia),
      }
    },
    async simularDecision(comercio): Promise<IdempotencyCase> {
      const guia = await createFailedGuia(environment, comercio)
      const path = `/api/v1/simulador/guias/${guia}/decidir`
      return {
        path,
        body: { eleccion: 'otro_dia' },
        returningName: 409,
        other: { path, body: { eleccion: 'rechazo' } },
        ...buildEventoMembers(guia),
      }
    },
    async corregirGuia(comercio): Promise<IdempotencyCase> {
      const guia = await createGuia(comercio)
      const peticion = { method: 'PATCH', path: `/api/v1/guias/${guia}` } as const
      return {
        ...peticion,
        body: { contenido: 'Un libro' },
        other: { ...peticion, body: { contenido: 'Dos libros' } },
        ...buildEventoMembers(guia),
      }
    },
    async reintentarGuia(comercio): Promise<IdempotencyCase> {
      const guia = await createFailedGuia(environment, comercio)
      const path = `/api/v1/guias/${guia}/reintentar`
      return {
        path,
        body: { franja: { desde: '08:00', hasta: '12:00' } },
        returningName: 409,
        other: { path, body: {} },
        ...buildEventoMembers(guia),
      }
    },
    async devolverGuia(comercio): Promise<IdempotencyCase> {
      // On its way, it returns later: the decision is all that is written.
      const guia = await createGuiaOnRoute(environment, comercio)
      const path = `/api/v1/guias/${guia}/devolver`
      return {
        path,
        body: { razon: 'No lo quiere' },
        returningName: 409,
        other: { path, body: { razon: 'Se arrepintió' } },
        ...buildEventoMembers(guia),
      }
    },
  } satisfies Record<string, (comercio: Comercio) => Promise<IdempotencyCase>>
}

export const createIdempotencyKey = () => randomUUID()
