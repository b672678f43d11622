import { changedColumns, pickColumns } from '../../data/columns.ts'
import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { webhook } from '../../generated/contract/prisma/client.ts'
import type {
  EstadoDeWebhook,
  FiltroDeTipos,
  Modo,
  MotivoDeDeshabilitado,
  Webhook,
} from '../../generated/contract/types/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { constraintOf, Problema } from '../../platform/errors.ts'
import {
  ForbiddenDestination,
  type OutboundPolicy,
  readDestination,
  resolveDestination,
} from '../../platform/outbound/destination.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import { DECIDED_WEBHOOK_COLUMNS, LOGGABLE_WEBHOOK_COLUMNS, type ShownWebhookColumn, WEBHOOK_FIELDS } from './fields.ts'
import { FAILURE_WINDOW } from './schedule.ts'

/** Maximum number of endpoints of a merchant in one mode. */
export const MAX_WEBHOOKS = 20

/** Row of `webhook` that is not deleted (so it has a `url`), with the secrets that sign its requests. */
export type WebhookRow = RowOf<
  webhook,
  {
    modo: Modo
    tipos: FiltroDeTipos
    estado: Exclude<EstadoDeWebhook, 'por_comprobar'>
    motivo: MotivoDeDeshabilitado | null
  }
> & {
  /** Valid secrets as JSON returns them, with timestamps as strings; newest first. */
  secretos: { version: number; creado_en: string; vence_en: string | null }[]
}

/** Returns a new code of an endpoint: `wh_` and 12 random base-32 characters. */
export const newWebhookCode = () => `wh_${randomBase32(12)}`

const iso = (instant: string | null) => (instant === null ? null : new Date(instant).toISOString())

/** Returns a row of `webhook` in the contract's form, without the values of its secrets. */
export const presentWebhook = (row: Pick<WebhookRow, ShownWebhookColumn | 'secretos'>): Webhook => ({
  webhook: row.webhook,
  url: row.url!,
  tipos: row.tipos,
  descripcion: row.descripcion,
  estado: row.estado === 'activo' && row.comprobado_en === null ? 'por_comprobar' : row.estado,
  motivo: row.motivo,
  estado_en: row.estado_en.toISOString(),
  comprobado_en: row.comprobado_en?.toISOString() ?? null,
  fallas:
    row.primera_falla_en === null
      ? null
      : {
          primera_falla_en: row.primera_falla_en.toISOString(),
          intentos: row.fallas,
          ventana: row.aviso,
          se_deshabilita_en: new Date(row.primera_falla_en.getTime() + FAILURE_WINDOW).toISOString(),
        },
  secretos: row.secretos.map(({ version, creado_en, vence_en }) => ({
    version,
    creado_en: iso(creado_en)!,
    vence_en: iso(vence_en),
  })),
  modo: row.modo,
  creado_en: row.creado_en.toISOString(),
  actualizado_en: row.actualizado_en.toISOString(),
})

/**
 * Returns the columns of an endpoint that the merchant decides. The audit record shows the host and not the address,
 * whose path may contain a secret.
 */
const decidedValues = (row: WebhookRow | undefined) =>
  row ? { host: row.url && new URL(row.url).host, ...pickColumns(row, DECIDED_WEBHOOK_COLUMNS) } : {}

/** Returns the part of an audit record that describes the change of an endpoint. */
export const webhookChanges = (before: WebhookRow | undefined, after: WebhookRow) =>
  changedColumns(decidedValues(before), decidedValues(after), ['host', ...LOGGABLE_WEBHOOK_COLUMNS])

/** SQL select list for {@link WebhookRow}, of `w`, with the secrets valid at `:now`. */
export const WEBHOOK_COLUMNS = `${Object.keys(WEBHOOK_FIELDS)
  .map((name) => `w.${name}`)
  .join(', ')}, (
  select coalesce(json_agg(json_build_object('version', s.version, 'creado_en', s.creado_en, 'vence_en', s.vence_en)
    order by s.version desc), '[]') from webhook_secreto s
  where s.comercio_id = w.comercio_id and s.modo = w.modo and s.webhook = w.webhook
    and (s.vence_en is null or s.vence_en > :now)) as secretos`

const FIND_WEBHOOK = statement<WebhookKey & { now: Date }, WebhookRow>(
  'webhooks.findWebhook',
  'merchant',
  `select ${WEBHOOK_COLUMNS} from webhook w
   where w.comercio_id = :comercio_id and w.modo = :modo and w.webhook = :webhook and w.estado <> 'eliminado'`,
)

/** Scope of endpoints: a merchant and a mode. */
export interface WebhookScope {
  comercioId: string
  modo: Modo
}

/**
 * Returns the merchant's endpoint with this code. A code that is unknown, deleted, malformed or of another merchant has
 * the same response.
 * @throws Problema 404
 */
export async function requireWebhook({ query }: Pick<Db, 'query'>, scope: WebhookScope, webhook: string, now: Date) {
  return (await readWebhook(query, scope, webhook, now)) ?? throwUnknownWebhook()
}

/** Returns the merchant's endpoint with this code; undefined if it does not exist or is deleted. */
export async function readWebhook(query: Query, { comercioId, modo }: WebhookScope, webhook: string, now: Date) {
  const [row] = await query(FIND_WEBHOOK, { comercio_id: comercioId, modo, webhook, now })
  return row
}

/** Reports that the endpoint does not exist. @throws Problema 404 */
export function throwUnknownWebhook(): never {
  throw new Problema('webhook_desconocido', 'No hay ningún webhook con ese identificador en el modo de esta llave.')
}

/**
 * Returns true if an endpoint of the mode gets events only after its address has answered a test. Without the test, a
 * merchant could flood another company's server with events.
 */
export const needsVerification = (modo: Modo) => modo === 'live'

/**
 * Returns the rules for the addresses of endpoints of a mode, for their registration and for sending. Loopback is only
 * for test mode.
 */
export const policyOf = (policy: OutboundPolicy, modo: Modo): OutboundPolicy => ({
  ...policy,
  loopback: policy.loopback && modo === 'test',
})

/**
 * Returns the rules for an address that a request names. A client behind a proxy is not on this machine, so loopback is
 * not allowed.
 */
export const policyOnRequest = (policy: OutboundPolicy, modo: Modo, isForwarded: boolean): OutboundPolicy =>
  policyOf({ ...policy, loopback: policy.loopback && !isForwarded }, modo)

/**
 * Returns an endpoint's address in the form in which it is stored.
 * @throws Problema 422 `url_no_permitida`, `url_no_resuelve`
 */
export async function requireWebhookDestination(text: string, policy: OutboundPolicy): Promise<string> {
  try {
    const url = readDestination(text, policy)
    await resolveDestination(url, policy)
    return url.href
  } catch (cause) {
    if (!(cause instanceof ForbiddenDestination)) throw cause
    throw new Problema(cause.motivo, `url: ${cause.message}`.slice(0, 1000), {
      errores: [{ campo: '/url', codigo: 'valor_no_admitido', mensaje: cause.message.slice(0, 500) }],
      cause,
    })
  }
}

/**
 * Runs `run`. If two requests race for one address, converts the error of the unique index.
 * @throws Problema 409 `webhook_repetido`
 */
export async function explainRepeated<T>(run: () => Promise<T>, nameExisting: () => Promise<string>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (constraintOf(error) !== 'webhook_comercio_id_modo_url_key') throw error
    throw new Problema(
      'webhook_repetido',
      `El webhook ${await nameExisting()} ya envía a esa dirección. Cámbielo a él, o rote su secreto si lo perdió.`,
    )
  }
}
