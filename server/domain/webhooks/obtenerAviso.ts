import type { Db } from '../../data/db.ts'
import type { webhook_intento } from '../../generado/contrato/prisma/client.ts'
import type { AvisoDeWebhookConIntentos, IntentoDeWebhook } from '../../generado/contrato/tipos/index.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import {
  type Clave,
  cargarContenido,
  cuerpoDeWebhook,
  type Exito,
  exigirAvisoDeWebhook,
  type FilaAvisoDeWebhook,
  presentarAvisoDeWebhook,
} from './entrega.ts'
import { webhookHeaders } from './headers.ts'
import type { AmbitoDeWebhooks } from './webhook.ts'

/** Maximum number of attempts that are shown of a delivery. */
const INTENTOS = 100

type FilaIntento = Omit<webhook_intento, keyof Clave>

const presentarIntento = (evento: string, fila: FilaIntento): IntentoDeWebhook => ({
  numero: fila.numero,
  causa: fila.causa as IntentoDeWebhook['causa'],
  tardio: fila.tardio,
  iniciado_en: fila.iniciado_en.toISOString(),
  url: fila.url,
  ip: fila.ip,
  firmado_con: fila.secretos,
  cabeceras: {
    ...webhookHeaders({
      'webhook-id': evento,
      'webhook-timestamp': String(Math.floor(fila.iniciado_en.getTime() / 1000)),
      'webhook-signature': '***',
    }),
  },
  estado_http: fila.status,
  error: fila.error as IntentoDeWebhook['error'],
  detalle: fila.detalle,
  latencia: {
    dns_ms: redondear(fila.dns_ms),
    conexion_ms: redondear(fila.conexion_ms),
    tls_ms: redondear(fila.tls_ms),
    primer_byte_ms: redondear(fila.primer_byte_ms),
    total_ms: redondear(fila.total_ms)!,
  },
  respuesta:
    fila.cuerpo === null
      ? null
      : {
          cabeceras: (fila.cabeceras ?? {}) as Record<string, string>,
          cuerpo: fila.cuerpo,
          cuerpo_truncado: fila.cuerpo_truncado,
        },
})

/** Rounds a duration to a tenth of a millisecond, because a `float4` column returns digits that were never measured. */
const redondear = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)

/**
 * Returns the attempts of a delivery, newest first. A first attempt that succeeded is stored in the row of the
 * delivery.
 */
async function leerIntentos(db: Db, entrega: FilaAvisoDeWebhook): Promise<FilaIntento[]> {
  const { comercio_id, modo, webhook, guia_id, secuencia, exito } = entrega
  const filas = await db.prisma.webhook_intento.findMany({
    where: { comercio_id, modo, webhook, guia_id, secuencia },
    orderBy: { id: 'desc' },
    take: INTENTOS,
  })
  if (!exito || filas.length === INTENTOS) return filas
  return [...filas, deExito(exito)].sort((a, b) => (a.id < b.id ? 1 : -1))
}

const deExito = ({ iniciado_en, ...exito }: Exito): FilaIntento => ({
  ...exito,
  iniciado_en: new Date(iniciado_en),
  numero: 1,
  tardio: false,
  error: null,
  detalle: null,
})

export const obtenerAvisoDeWebhook: Handler<'obtenerAvisoDeWebhook'> = async ({ path, identidad }, deps) => ({
  status: 200,
  body: await leerConIntentos(deps, identidad, path.webhook, path.aviso),
})

/**
 * Returns a delivery with its body and its attempts, for its merchant or for operators.
 * @throws Problema 404
 */
export async function leerConIntentos(
  { db, secretos, log }: Pick<Deps, 'db' | 'secretos' | 'log'>,
  ambito: AmbitoDeWebhooks,
  webhook: string,
  codigo: string,
): Promise<AvisoDeWebhookConIntentos> {
  const entrega = await exigirAvisoDeWebhook(db, ambito, webhook, codigo)
  const [intentos, contenido] = await Promise.all([
    leerIntentos(db.de(ambito.comercioId), entrega),
    cargarContenido({ db: db.de(ambito.comercioId), secretos, log }, entrega),
  ])
  return {
    ...presentarAvisoDeWebhook(entrega),
    cuerpo: contenido ? cuerpoDeWebhook(contenido) : '',
    historial: intentos.map((fila) => presentarIntento(entrega.evento, fila)),
  }
}
