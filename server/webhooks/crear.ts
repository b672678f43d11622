import type { Handler } from '../contrato/tipos.ts'
import { type Db, enTransaccion, sentencia } from '../db.ts'
import { Problema } from '../errores.ts'
import { bytesDe, nuevoSecreto } from './firma.ts'
import { cifrar } from './secreto.ts'
import {
  type Ambito,
  exigirDestino,
  exigirWebhook,
  explicarRepetido,
  MAXIMO_DE_WEBHOOKS,
  nuevoCodigoDeWebhook,
  politicaDe,
  presentarWebhook,
} from './webhook.ts'

/** Whoever else creates for this merchant waits here; what he wrote is then counted. */
const TURNO = sentencia('webhooks.turno', 'select from comercio where id = $1 for no key update')

const CREAR = sentencia(
  'webhooks.crear',
  `with w as (
     insert into webhook (comercio_id, modo, webhook, url, tipos, descripcion, estado, estado_en, creado_en, actualizado_en)
     select $1, $2, $3, $4, $5, $6, 'activo', $7::timestamptz, $7, $7
     where (select count(*) from webhook where comercio_id = $1 and modo = $2 and estado <> 'eliminado') < $9
     returning webhook
   )
   insert into webhook_secreto (comercio_id, modo, webhook, version, cifrado, creado_en)
   select $1, $2, webhook, 1, $8, $7 from w returning webhook`,
)

const POR_URL = sentencia(
  'webhooks.porUrl',
  'select webhook from webhook where comercio_id = $1 and modo = $2 and url = $3',
)

/** Which endpoint has that address. */
export async function nombrarPorUrl(db: Db, { comercioId, modo }: Ambito, url: string): Promise<string> {
  const [fila] = await db.consultar<{ webhook: string }>(POR_URL, [comercioId, modo, url])
  return fila?.webhook ?? 'que acaba de crear'
}

export const crearWebhook: Handler<'crearWebhook'> = async ({ body, identidad }, { db, reloj, secretos, destinos }) => {
  const { comercioId, modo } = identidad
  const url = await exigirDestino(body.url, politicaDe(destinos, modo))
  const webhook = nuevoCodigoDeWebhook()
  const secreto = nuevoSecreto()
  const ahora = reloj()
  const cifrado = cifrar(secretos, { webhook, version: 1 }, bytesDe(secreto))
  const creado = await explicarRepetido(
    () =>
      enTransaccion(db, async (consultar) => {
        await consultar(TURNO, [comercioId])
        const { tipos = ['*'], descripcion = null } = body
        const valores = [comercioId, modo, webhook, url, tipos, descripcion, ahora, cifrado, MAXIMO_DE_WEBHOOKS]
        return consultar(CREAR, valores)
      }),
    () => nombrarPorUrl(db, identidad, url),
  )
  if (creado.length === 0) {
    throw new Problema(
      'limite_de_webhooks',
      `Ya tiene ${MAXIMO_DE_WEBHOOKS} webhooks en este modo. Elimine uno, o sume tipos a uno que ya tiene.`,
    )
  }
  return {
    status: 201,
    headers: { Location: `/api/v1/webhooks/${webhook}` },
    body: { ...presentarWebhook(await exigirWebhook(db, identidad, webhook, ahora)), secreto },
  }
}
