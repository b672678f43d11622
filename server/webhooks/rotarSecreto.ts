import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { bytesDe, nuevoSecreto } from './firma.ts'
import { cifrar } from './secreto.ts'
import { desconocido, exigirWebhook, presentarWebhook } from './webhook.ts'

const HORA = 3_600_000
const SOLAPAMIENTO_POR_OMISION = 24

const ULTIMA = sentencia(
  'webhooks.ultimaVersion',
  'select max(version) as version from webhook_secreto where comercio_id = $1 and modo = $2 and webhook = $3',
)

/** The old ones end with the overlap; of those in force, only the one before goes on, or signatures would pile up. */
const ROTAR = sentencia(
  'webhooks.rotar',
  `with v as (
     update webhook_secreto set expira_en = case when version = $4 - 1 then least(coalesce(expira_en, $7), $7) else $6 end
     where comercio_id = $1 and modo = $2 and webhook = $3 and (expira_en is null or expira_en > $6)
   ), w as (
     update webhook set actualizado_en = $6 where comercio_id = $1 and modo = $2 and webhook = $3
   )
   insert into webhook_secreto (comercio_id, modo, webhook, version, cifrado, creado_en)
   values ($1, $2, $3, $4, $5, $6::timestamptz) on conflict (comercio_id, modo, webhook, version) do nothing
   returning version`,
)

export const rotarSecreto: Handler<'rotarSecreto'> = async ({ path, body }, { identidad, db, reloj, secretos }) => {
  const { comercioId, modo } = identidad
  const ahora = reloj()
  const { webhook } = await exigirWebhook(db, identidad, path.webhook, ahora)
  const fin = new Date(ahora.getTime() + (body?.solapamiento_horas ?? SOLAPAMIENTO_POR_OMISION) * HORA)
  const secreto = nuevoSecreto()
  // The ciphertext names its version, so whoever loses a race for it takes the next one.
  for (let version = 0, rotados: unknown[] = []; rotados.length === 0; ) {
    const [ultima] = await db.consultar<{ version: number }>(ULTIMA, [comercioId, modo, webhook])
    if (ultima?.version === null || ultima?.version === version) desconocido()
    version = ultima!.version
    const cifrado = cifrar(secretos, { webhook, version: version + 1 }, bytesDe(secreto))
    rotados = await db.consultar(ROTAR, [comercioId, modo, webhook, version + 1, cifrado, ahora, fin])
  }
  return { status: 200, body: { ...presentarWebhook(await exigirWebhook(db, identidad, webhook, ahora)), secreto } }
}
