import { type Db, inTransaction, statement } from '../../data/db.ts'
import type { WebhookConSecreto } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'
import { type Recordar, unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { enviarPrueba } from './probar.ts'
import { encryptSecret, type FilaSecreto, leerConSecreto } from './secret.ts'
import { newSecret, secretBytes } from './signature.ts'
import {
  type AmbitoDeWebhooks,
  cambiosDeWebhook,
  exigirDestinoDeWebhook,
  explicarRepetido,
  type FilaWebhook,
  leerWebhook,
  MAXIMO_DE_WEBHOOKS,
  nuevoCodigoDeWebhook,
  politicaAlPedir,
  presentarWebhook,
  seComprueba,
} from './webhook.ts'

/**
 * Takes the merchant's lock for creating endpoints. The count afterwards then includes endpoints of concurrent
 * requests.
 */
const TURNO = statement<{ comercio_id: string }>(
  'webhooks.turno',
  `select pg_advisory_xact_lock(hashtextextended('webhooks ' || :comercio_id::uuid::text, 0))`,
)

const CREAR = statement<
  Pick<FilaWebhook, 'comercio_id' | 'modo' | 'webhook' | 'url' | 'tipos' | 'descripcion'> &
    Pick<FilaSecreto, 'cifrado'> & { ahora: Date; comprobado_en: Date | null }
>(
  'webhooks.crear',
  `with w as (
     insert into webhook as n (comercio_id, modo, webhook, url, tipos, descripcion, estado, estado_en, comprobado_en,
       creado_en, actualizado_en)
     select :comercio_id, :modo, :webhook, :url, :tipos, :descripcion, 'activo', :ahora::timestamptz,
       :comprobado_en::timestamptz, :ahora, :ahora
     where (select count(*) from webhook where comercio_id = :comercio_id and modo = :modo and estado <> 'eliminado')
       < ${MAXIMO_DE_WEBHOOKS}
     returning n.comercio_id, n.modo, n.webhook
   ), s as (
     insert into webhook_secreto as n (comercio_id, modo, webhook, version, cifrado, creado_en)
     select comercio_id, modo, webhook, 1, :cifrado, :ahora from w returning n.webhook
   )
   select webhook from s`,
)

/** Returns the code of the merchant's endpoint that already has this address, for the error message. */
export async function nombrarPorUrl(db: Db, { comercioId, modo }: AmbitoDeWebhooks, url: string): Promise<string> {
  const fila = await db.prisma.webhook.findUnique({
    where: { comercio_id_modo_url: { comercio_id: comercioId, modo, url } },
    select: { webhook: true },
  })
  return fila?.webhook ?? 'que acaba de crear'
}

export const crearWebhook: Handler<'crearWebhook'> = async (entrada, deps) => {
  const { hecho, headers } = await unaVez(deps, 'crearWebhook', entrada, {
    hacer: (recordar) => crear(entrada, deps, recordar),
    releer: (webhook) => leerConSecreto(deps, entrada.identidad, webhook, 1),
  })
  const Location = `/api/v1/webhooks/${hecho.webhook}`
  return { status: 201, headers: { ...headers, Location }, body: hecho }
}

async function crear(
  { body, identidad, idSolicitud, red, reenviada }: Parameters<typeof crearWebhook>[0],
  { db, reloj, secretos, destinos, avisarTrabajo, bitacora }: Deps,
  recordar: Recordar,
): Promise<WebhookConSecreto> {
  const { comercioId: comercio_id, modo } = identidad
  const url = await exigirDestinoDeWebhook(body.url, politicaAlPedir(destinos, modo, reenviada()))
  const webhook = nuevoCodigoDeWebhook()
  const secreto = newSecret()
  const ahora = reloj()
  const cifrado = encryptSecret(secretos, { webhook, version: 1 }, secretBytes(secreto))
  const fila = await explicarRepetido(
    () =>
      inTransaction(db, async (consultar) => {
        await consultar(TURNO, { comercio_id })
        const { tipos = ['*'], descripcion = null } = body
        const comprobado_en = seComprueba(modo) ? null : ahora
        const datos = { comercio_id, modo, webhook, url, tipos, descripcion, cifrado, ahora, comprobado_en }
        const creado = await consultar(CREAR, datos)
        const nuevo = creado.length > 0 ? await leerWebhook(consultar, identidad, webhook, ahora) : undefined
        if (!nuevo) return undefined
        if (seComprueba(modo)) await enviarPrueba(consultar, nuevo, ahora)
        const sobre = ['webhook', webhook] as const
        const linea = { accion: 'crearWebhook', sobre, ...cambiosDeWebhook(undefined, nuevo) }
        await bitacora.anotar(consultar, { identidad, idSolicitud, red }, linea)
        await recordar(consultar, webhook)
        return nuevo
      }),
    () => nombrarPorUrl(db, identidad, url),
  )
  if (!fila) {
    throw new Problema(
      'limite_de_webhooks',
      `Ya tiene ${MAXIMO_DE_WEBHOOKS} webhooks en este modo. Elimine uno, o sume tipos a uno que ya tiene.`,
    )
  }
  if (seComprueba(modo)) avisarTrabajo()
  return { ...presentarWebhook(fila), secreto }
}
