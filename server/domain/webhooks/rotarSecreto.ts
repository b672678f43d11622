import { inTransaction, statement } from '../../data/db.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { encryptSecret, type FilaSecreto, leerConSecreto } from './secret.ts'
import { newSecret, secretBytes } from './signature.ts'
import { type ClaveDeWebhook, desconocido, exigirWebhook, presentarWebhook } from './webhook.ts'

const HORA = 3_600_000
const SOLAPAMIENTO_POR_OMISION = 24

/**
 * Locks the endpoint for a rotation. Rotations run one after another, and each ends the secret of the rotation before
 * it, and no other.
 */
const TURNO = statement<ClaveDeWebhook>(
  'webhooks.turnoDeRotar',
  `select from webhook where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
     and estado <> 'eliminado' for update`,
)

const ULTIMA = statement<ClaveDeWebhook, { version: number | null }>(
  'webhooks.ultimaVersion',
  `select max(version) as version from webhook_secreto
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook`,
)

/**
 * Inserts the new secret and ends the old ones. During the overlap only the previous secret stays valid. Otherwise
 * signatures would accumulate.
 */
const ROTAR = statement<ClaveDeWebhook & Pick<FilaSecreto, 'version' | 'cifrado'> & { ahora: Date; fin: Date }>(
  'webhooks.rotar',
  `with v as (
     update webhook_secreto
     set vence_en = case when version = :version - 1 then least(coalesce(vence_en, :fin), :fin) else :ahora end
     where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and (vence_en is null or vence_en > :ahora)
   ), w as (
     update webhook set actualizado_en = :ahora
     where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
   )
   insert into webhook_secreto (comercio_id, modo, webhook, version, cifrado, creado_en)
   values (:comercio_id, :modo, :webhook, :version, :cifrado, :ahora::timestamptz)`,
)

export const rotarSecreto: Handler<'rotarSecreto'> = async (entrada, deps) => {
  const { path, body, identidad, idSolicitud, red } = entrada
  const { db, reloj, secretos, bitacora } = deps
  const { hecho, headers } = await unaVez(deps, 'rotarSecreto', entrada, {
    async hacer(recordar) {
      const ahora = reloj()
      const fin = new Date(ahora.getTime() + (body?.solapamiento_horas ?? SOLAPAMIENTO_POR_OMISION) * HORA)
      const secreto = newSecret()
      const suyo = { comercio_id: identidad.comercioId, modo: identidad.modo, webhook: path.webhook }
      await inTransaction(db, async (consultar) => {
        if ((await consultar(TURNO, suyo)).length === 0) desconocido()
        const [ultima] = await consultar(ULTIMA, suyo)
        const version = (ultima?.version ?? 0) + 1
        const cifrado = encryptSecret(secretos, { webhook: path.webhook, version }, secretBytes(secreto))
        await consultar(ROTAR, { ...suyo, version, cifrado, ahora, fin })
        await bitacora.anotar(
          consultar,
          { identidad, idSolicitud, red },
          {
            accion: 'rotarSecreto',
            sobre: ['webhook', path.webhook],
            despues: { version, anterior_vence_en: fin },
          },
        )
        await recordar(consultar, String(version))
      })
      return { ...presentarWebhook(await exigirWebhook(db, identidad, path.webhook, ahora)), secreto }
    },
    releer: (version) => leerConSecreto(deps, identidad, path.webhook, Number(version)),
  })
  return { status: 200, headers, body: hecho }
}
