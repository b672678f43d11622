import { type Db, type InJson, type RowOf, statement, withTexts } from '../../data/db.ts'
import type { webhook_aviso } from '../../generated/contract/prisma/client.ts'
import type {
  AvisoDeWebhook,
  CausaDeAvisoDeWebhook,
  ErrorDeIntentoDeWebhook,
  EstadoDeAvisoDeWebhook,
  Modo,
  TipoDeEvento,
  TipoDeEventoPropio,
  Webhook,
} from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { iso } from '../../platform/time/instant.ts'
import type { Deps } from '../deps.ts'
import {
  type EventoRow,
  guiaAfterEvento,
  presentEvento,
  type RecentEvento,
  SHOWN_EVENTO_COLUMNS,
} from '../eventos/evento.ts'
import { removeNewMembers } from '../records/bodyShape.ts'
import { correccionesAfter, type ReadCorreccion, valuesBefore } from '../records/correccionCipher.ts'
import { BODY_COLUMNS, type GuiaRow } from '../records/guiaFields.ts'
import { presentStored } from '../records/guiaPresentation.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import type { ExchangeResult } from './attempt.ts'
import type { WebhookScope } from './webhook.ts'

export type WebhookAvisoRow = RowOf<
  webhook_aviso,
  {
    modo: Modo
    tipo: TipoDeEvento | TipoDeEventoPropio
    estado: EstadoDeAvisoDeWebhook
    causa: CausaDeAvisoDeWebhook
    ultimo_error: ErrorDeIntentoDeWebhook | 'webhook_deshabilitado' | null
    exito: StoredSuccess | null
    datos: { webhook: Webhook } | null
  }
>

/** Successful first attempt of a delivery, as stored in the row of the delivery. */
export interface StoredSuccess extends Omit<ExchangeResult, 'error' | 'detalle' | 'retry_after'> {
  /** Id of the attempt; ids sort by start time. */
  id: string
  causa: CausaDeAvisoDeWebhook
  /** Start time of the attempt, as ISO 8601. */
  iniciado_en: string
  url: string
  /** Versions of the secrets that signed the request. */
  secretos: number[]
}

/** Key of a delivery: an endpoint, and the event that goes to it. */
export type Key = WebhookKey & Pick<WebhookAvisoRow, 'guia_id' | 'secuencia'>

/**
 * Due time of a delivery that is sent on request. It comes before all other due times, and the delivery is sent in any
 * state of the endpoint.
 */
export const AT_ONCE = new Date(0)

const EVENTO_PREFIX = 'evt_'

/**
 * Returns the public id of a delivery: avi_<endpoint>_<guide>_<sequence>. The endpoint and the event identify the
 * delivery, so they form its public id.
 */
export const avisoCodeOf = ({ webhook, evento }: Pick<WebhookAvisoRow, 'webhook' | 'evento'>) =>
  `avi_${webhook.slice('wh_'.length)}_${evento.slice(EVENTO_PREFIX.length)}`

const SHOWN_COLUMNS = [
  ...([
    'webhook',
    'evento',
    'tipo',
    'secuencia',
    'estado',
    'causa',
    'intentos',
    'proximo_en',
    'ultimo_status',
  ] as const),
  ...(['ultimo_error', 'creado_en', 'terminado_en'] as const),
] as const

type ShownAviso = Pick<WebhookAvisoRow, (typeof SHOWN_COLUMNS)[number]>

/** Columns of a delivery that the contract shows in a list, with timestamps as strings. */
export type AvisoInJson = InJson<ShownAviso>

/** SQL select list for {@link AvisoInJson}, of `e`. Excludes the bodies of the endpoints' responses. */
export const AVISO_COLUMNS = withTexts(SHOWN_COLUMNS, 'e.')

/** Returns a row of `webhook_aviso` in the contract's form. */
export const presentWebhookAviso = (row: ShownAviso | AvisoInJson): AvisoDeWebhook => ({
  aviso: avisoCodeOf(row),
  webhook: row.webhook,
  evento: row.evento,
  tipo: row.tipo,
  guia: row.secuencia === 0 ? null : (row.evento.split('_')[1] ?? null),
  estado: row.estado,
  causa: row.causa,
  intentos: row.intentos,
  proximo_intento_en:
    row.estado !== 'pendiente'
      ? null
      : // `AT_ONCE` is not a real time, so a delivery sent on request shows the time of its creation.
        iso(new Date(row.proximo_en) > AT_ONCE ? row.proximo_en : row.creado_en),
  ultimo_estado_http: row.ultimo_status,
  ultimo_error: row.ultimo_error,
  creado_en: iso(row.creado_en),
  terminado_en: row.terminado_en && iso(row.terminado_en),
})

const SHAPE = /^avi_([0-9A-Z]{12})_([0-9A-Z]{12})_(0|[1-9]\d{0,8})$/

/**
 * Finds the row of a public id. For an event of the endpoint itself (sequence 0), `guia_id` is the MD5 of the event's
 * id.
 */
const FIND_AVISO = statement<WebhookKey & { guia: string; secuencia: number }, WebhookAvisoRow>(
  'avisos.findAviso',
  'merchant',
  `select e.* from webhook_aviso e join webhook w on w.comercio_id = e.comercio_id and w.modo = e.modo and w.webhook = e.webhook
   where e.comercio_id = :comercio_id and e.modo = :modo and e.webhook = :webhook and w.estado <> 'eliminado'
     and e.secuencia = :secuencia and e.guia_id = case when :secuencia = 0 then md5('evt_' || :guia || '_0')::uuid
       else (select id from guia_indice where guia = :guia and comercio_id = :comercio_id and modo = :modo) end`,
)

/** Returns the delivery with this public id. @throws Problema 404 */
export async function requireWebhookAviso(...args: Parameters<typeof readAvisoDeWebhook>) {
  const row = await readAvisoDeWebhook(...args)
  if (!row) throw new Problema('aviso_desconocido', 'Ese webhook no tiene ningún aviso con ese identificador.')
  return row
}

/** Returns the delivery with this public id; undefined if it does not exist. */
export async function readAvisoDeWebhook(db: Db, { comercioId, modo }: WebhookScope, webhook: string, id: string) {
  const [, code, guia, secuencia] = SHAPE.exec(id) ?? []
  const [row] =
    guia === undefined || webhook !== `wh_${code}`
      ? []
      : await db.query(FIND_AVISO, { comercio_id: comercioId, modo, webhook, guia, secuencia: Number(secuencia) })
  return row
}

/**
 * Data of a body: the event of a guide, with the guide as it was before later corrections, or the data stored with an
 * event of the endpoint itself.
 */
export type AvisoContent =
  | { aviso: WebhookAvisoRow; guia: GuiaRow; evento: EventoRow }
  | { aviso: WebhookAvisoRow & { datos: { webhook: Webhook } } }

/** Returns the deliveries of an event that was just committed, with the data of their bodies. */
export const avisosOf = ({ guia, evento, webhooks }: RecentEvento): AvisoContent[] =>
  webhooks.map((webhook) => ({
    aviso: {
      comercio_id: evento.comercio_id,
      modo: evento.modo,
      webhook,
      guia_id: evento.guia_id,
      secuencia: evento.secuencia,
      evento: `${EVENTO_PREFIX}${evento.guia}_${evento.secuencia}`,
      tipo: evento.tipo,
      estado: 'pendiente',
      causa: 'automatica',
      turno: 0,
      intento: 0,
      intentos: 0,
      proximo_en: evento.registrado_en,
      ultimo_status: null,
      ultimo_error: null,
      exito: null,
      datos: null,
      creado_en: evento.registrado_en,
      terminado_en: null,
    },
    guia,
    evento,
  }))

/**
 * Returns the body exactly as it is signed. The body is the same at every attempt: it has the values that the guide had
 * right after the event, and the members of the event's version (records/bodyShape.ts).
 */
export function buildWebhookBody(content: AvisoContent): string {
  const { aviso } = content
  const datos = 'guia' in content ? buildBodyData(content) : content.aviso.datos
  return JSON.stringify({
    id: aviso.evento,
    tipo: aviso.tipo,
    creado_en: ('guia' in content ? content.evento.registrado_en : aviso.creado_en).toISOString(),
    datos,
  })
}

function buildBodyData({ guia, evento }: { guia: GuiaRow; evento: EventoRow }) {
  const datos = { guia: presentStored(guiaAfterEvento(guia, evento)), evento: presentEvento(evento) }
  removeNewMembers(datos, evento.forma)
  return datos
}

const EVENTO_BODY_COLUMNS = [...SHOWN_EVENTO_COLUMNS, 'foto', 'forma', 'traza'] as const

/**
 * Row that {@link CONTENT_COLUMNS} selects: the columns of the guide and of the event from which the body of a webhook is
 * built. All are null if guide and event no longer exist, or if the event is about the endpoint itself, such as a test
 * event.
 */
export type ContentRow = {
  [C in (typeof BODY_COLUMNS)[number]]: GuiaRow[C] | null
} & { [C in (typeof EVENTO_BODY_COLUMNS)[number] as `e_${C}`]: EventoRow[C] | null } & {
  correcciones: ReadCorreccion[] | null
}

/** SQL select list for the data of a body, of a guide `g` and its event `v`. */
export const CONTENT_COLUMNS = [
  ...BODY_COLUMNS.map((c) => `g.${c}`),
  ...EVENTO_BODY_COLUMNS.map((c) => `v.${c} as e_${c}`),
  `${correccionesAfter('g', 'v')} as correcciones`,
].join(', ')

type ContentDeps = Pick<Deps, 'secretos' | 'log'>

/** Returns the data of a delivery's body; undefined if its guide or its event no longer exists. */
export function avisoContentOf(deps: ContentDeps, aviso: WebhookAvisoRow, row: ContentRow): AvisoContent | undefined {
  if (aviso.datos !== null) return { aviso: { ...aviso, datos: aviso.datos } }
  if (row.e_registrado_en === null) return undefined
  const evento: Record<string, unknown> = {}
  for (const column of EVENTO_BODY_COLUMNS) evento[column] = row[`e_${column}`]
  return { aviso, guia: guiaBeforeCorrecciones(deps, aviso, row), evento: evento as EventoRow }
}

/** Returns the guide as it was before later corrections. */
function guiaBeforeCorrecciones({ secretos, log }: ContentDeps, { guia_id, evento }: WebhookAvisoRow, row: ContentRow) {
  const guia = row as unknown as GuiaRow
  if (!row.correcciones) return guia
  try {
    return valuesBefore(secretos, guia, guia_id, row.correcciones)
  } catch (err) {
    // The body then differs from the one that was sent first. A body with the present values still tells the merchant
    // more than no body.
    log.error({ err, evento }, 'a correction could not be decrypted; the body has the present values')
    return guia
  }
}

const LOAD_CONTENT = statement<Omit<Key, 'webhook'>, ContentRow>(
  'avisos.loadContent',
  'merchant',
  `select ${CONTENT_COLUMNS} from evento v
   join guia g on g.comercio_id = v.comercio_id and g.modo = v.modo and g.id = v.guia_id
   where v.comercio_id = :comercio_id and v.modo = :modo and v.guia_id = :guia_id and v.secuencia = :secuencia`,
)

/** Reads the data of a delivery's body; undefined if its guide or its event no longer exists. */
export async function loadContent(
  { db, ...deps }: Pick<Deps, 'db'> & ContentDeps,
  aviso: WebhookAvisoRow,
): Promise<AvisoContent | undefined> {
  if (aviso.datos !== null) return { aviso: { ...aviso, datos: aviso.datos } }
  const { comercio_id, modo, guia_id, secuencia } = aviso
  const [row] = await db.query(LOAD_CONTENT, { comercio_id, modo, guia_id, secuencia })
  return row && avisoContentOf(deps, aviso, row)
}
