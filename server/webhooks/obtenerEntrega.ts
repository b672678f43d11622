import type { IntentoDeWebhook } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { type Db, sentencia } from '../db.ts'
import { cabecerasDe } from './cabeceras.ts'
import { type Clave, cargarContenidos, cuerpoDe, exigirEntregaDeWebhook, presentarEntregaDeWebhook } from './entrega.ts'

/** A row of `webhook_intento`. */
interface FilaIntento extends Clave {
  id: string
  numero: number
  tardio: boolean
  causa: IntentoDeWebhook['causa']
  iniciado_en: Date
  url: string
  ip: string | null
  secretos: number[]
  status: number | null
  error: IntentoDeWebhook['error']
  detalle: string | null
  dns_ms: number | null
  conexion_ms: number | null
  tls_ms: number | null
  primer_byte_ms: number | null
  total_ms: number
  cabeceras: Record<string, string> | null
  cuerpo: string | null
  cuerpo_truncado: boolean
}

const INTENTOS = sentencia(
  'webhookEntregas.intentos',
  `select * from webhook_intento where comercio_id = $1 and modo = $2 and webhook = $3 and guia_id = $4 and secuencia = $5
   order by id desc limit 100`,
)

const presentarIntento = (evento: string, fila: FilaIntento): IntentoDeWebhook => ({
  numero: fila.numero,
  causa: fila.causa,
  tardio: fila.tardio,
  iniciado_en: fila.iniciado_en.toISOString(),
  url: fila.url,
  ip: fila.ip,
  firmado_con: fila.secretos,
  cabeceras: {
    ...cabecerasDe({
      'webhook-id': evento,
      'webhook-timestamp': String(Math.floor(fila.iniciado_en.getTime() / 1000)),
      'webhook-signature': '***',
    }),
  },
  status: fila.status,
  error: fila.error,
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
      : { cabeceras: fila.cabeceras ?? {}, cuerpo: fila.cuerpo, cuerpo_truncado: fila.cuerpo_truncado },
})

/** A float4 comes back with digits that it never had. */
const redondear = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)

const leerIntentos = (db: Db, { comercio_id, modo, webhook, guia_id, secuencia }: Clave) =>
  db.consultar<FilaIntento>(INTENTOS, [comercio_id, modo, webhook, guia_id, secuencia])

export const obtenerEntregaDeWebhook: Handler<'obtenerEntregaDeWebhook'> = async ({ path, identidad }, { db }) => {
  const entrega = await exigirEntregaDeWebhook(db, identidad, path.webhook, path.entrega)
  const [intentos, [contenido]] = await Promise.all([leerIntentos(db, entrega), cargarContenidos(db, [entrega])])
  return {
    status: 200,
    body: {
      ...presentarEntregaDeWebhook(entrega),
      cuerpo: contenido ? cuerpoDe(contenido) : '',
      historial: intentos.map((fila) => presentarIntento(entrega.evento, fila)),
    },
  }
}
