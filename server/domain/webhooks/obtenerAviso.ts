import type { Db } from '../../data/db.ts'
import type { webhook_intento } from '../../generated/contract/prisma/client.ts'
import type { AvisoDeWebhookConIntentos, IntentoDeWebhook } from '../../generated/contract/types/index.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import {
  buildWebhookBody,
  type Key,
  loadContent,
  presentWebhookAviso,
  requireWebhookAviso,
  type StoredSuccess,
  type WebhookAvisoRow,
} from './delivery.ts'
import { webhookHeaders } from './headers.ts'
import type { WebhookScope } from './webhook.ts'

/** Maximum number of attempts that are shown of a delivery. */
const MAX_INTENTOS = 100

type IntentoRow = Omit<webhook_intento, keyof Key>

const presentWebhookIntento = (evento: string, row: IntentoRow): IntentoDeWebhook => ({
  numero: row.numero,
  causa: row.causa as IntentoDeWebhook['causa'],
  tardio: row.tardio,
  iniciado_en: row.iniciado_en.toISOString(),
  url: row.url,
  ip: row.ip,
  firmado_con: row.secretos,
  cabeceras: {
    ...webhookHeaders({
      'webhook-id': evento,
      'webhook-timestamp': String(Math.floor(row.iniciado_en.getTime() / 1000)),
      'webhook-signature': '***',
    }),
  },
  estado_http: row.status,
  error: row.error as IntentoDeWebhook['error'],
  detalle: row.detalle,
  latencia: {
    dns_ms: roundMs(row.dns_ms),
    conexion_ms: roundMs(row.conexion_ms),
    tls_ms: roundMs(row.tls_ms),
    primer_byte_ms: roundMs(row.primer_byte_ms),
    total_ms: roundMs(row.total_ms)!,
  },
  respuesta:
    row.cuerpo === null
      ? null
      : {
          cabeceras: (row.cabeceras ?? {}) as Record<string, string>,
          cuerpo: row.cuerpo,
          cuerpo_truncado: row.cuerpo_truncado,
        },
})

/** Rounds a duration to a tenth of a millisecond, because a `float4` column returns digits that were never measured. */
const roundMs = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)

/**
 * Returns the attempts of a delivery, newest first. A first attempt that succeeded is stored in the row of the
 * delivery.
 */
async function readIntentos(db: Db, aviso: WebhookAvisoRow): Promise<IntentoRow[]> {
  const { comercio_id, modo, webhook, guia_id, secuencia, exito } = aviso
  const rows = await db.prisma.webhook_intento.findMany({
    where: { comercio_id, modo, webhook, guia_id, secuencia },
    orderBy: { id: 'desc' },
    take: MAX_INTENTOS,
  })
  if (!exito || rows.length === MAX_INTENTOS) return rows
  return [...rows, toIntentoRow(exito)].sort((a, b) => (a.id < b.id ? 1 : -1))
}

const toIntentoRow = ({ iniciado_en, ...exito }: StoredSuccess): IntentoRow => ({
  ...exito,
  iniciado_en: new Date(iniciado_en),
  numero: 1,
  tardio: false,
  error: null,
  detalle: null,
})

export const obtenerAvisoDeWebhook: Handler<'obtenerAvisoDeWebhook'> = async ({ path, identity }, deps) => ({
  status: 200,
  body: await readWithIntentos(deps, identity, path.webhook, path.aviso),
})

/**
 * Returns a delivery with its body and its attempts, for its merchant or for operators.
 * @throws Problema 404
 */
export async function readWithIntentos(
  { db, secretos, log }: Pick<Deps, 'db' | 'secretos' | 'log'>,
  scope: WebhookScope,
  webhook: string,
  code: string,
): Promise<AvisoDeWebhookConIntentos> {
  const aviso = await requireWebhookAviso(db, scope, webhook, code)
  const [intentos, content] = await Promise.all([
    readIntentos(db.forComercio(scope.comercioId), aviso),
    loadContent({ db: db.forComercio(scope.comercioId), secretos, log }, aviso),
  ])
  return {
    ...presentWebhookAviso(aviso),
    cuerpo: content ? buildWebhookBody(content) : '',
    historial: intentos.map((row) => presentWebhookIntento(aviso.evento, row)),
  }
}
