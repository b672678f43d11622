import type { Handler } from '../contrato/tipos.ts'
import { enTransaccion, sentencia } from '../db.ts'
import { bytesDe, nuevoSecreto } from './firma.ts'
import { cifrar } from './secreto.ts'
import { desconocido, exigirWebhook, presentarWebhook } from './webhook.ts'

const HORA = 3_600_000
const SOLAPAMIENTO_POR_OMISION = 24

/** Rotations of one endpoint go one after another: each ends the one before it, and no other. */
const TURNO = sentencia(
  'webhooks.turnoDeRotar',
  `select from webhook where comercio_id = $1 and modo = $2 and webhook = $3 and estado <> 'eliminado' for update`,
)

const ULTIMA = sentencia(
  'webhooks.ultimaVersion',
  'select max(version) as version from webhook_secreto where comercio_id = $1 and modo = $2 and webhook = $3',
)

/** The old ones end with the overlap; of those in force, only the one before goes on, or signatures would pile up. */
const ROTAR = sentencia(
  'webhooks.rotar',
  `with v as (
     update webhook_secreto set vence_en = case when version = $4 - 1 then least(coalesce(vence_en, $7), $7) else $6 end
     where comercio_id = $1 and modo = $2 and webhook = $3 and (vence_en is null or vence_en > $6)
   ), w as (
     update webhook set actualizado_en = $6 where comercio_id = $1 and modo = $2 and webhook = $3
   )
   insert into webhook_secreto (comercio_id, modo, webhook, version, cifrado, creado_en)
   values ($1, $2, $3, $4, $5, $6::timestamptz)`,
)

export const rotarSecreto: Handler<'rotarSecreto'> = async ({ path, body, identidad }, { db, reloj, secretos }) => {
  const { comercioId, modo } = identidad
  const ahora = reloj()
  const fin = new Date(ahora.getTime() + (body?.solapamiento_horas ?? SOLAPAMIENTO_POR_OMISION) * HORA)
  const secreto = nuevoSecreto()
  await enTransaccion(db, async (consultar) => {
    const suyo = [comercioId, modo, path.webhook]
    if ((await consultar(TURNO, suyo)).length === 0) desconocido()
    const [ultima] = await consultar<{ version: number | null }>(ULTIMA, suyo)
    const version = (ultima?.version ?? 0) + 1
    const cifrado = cifrar(secretos, { webhook: path.webhook, version }, bytesDe(secreto))
    await consultar(ROTAR, [...suyo, version, cifrado, ahora, fin])
  })
  return {
    status: 200,
    body: { ...presentarWebhook(await exigirWebhook(db, identidad, path.webhook, ahora)), secreto },
  }
}
