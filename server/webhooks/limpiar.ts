import { type Db, type Sentencia, sentencia } from '../db.ts'
import type { Log } from '../log.ts'
import type { Secretos } from '../secretos.ts'
import { cifrar, descifrar, kidDe } from './secreto.ts'

interface DepsDeLimpieza {
  db: Db
  log: Log
  reloj: () => Date
  secretos: Secretos
  /** How long deliveries that are over are kept, in days (`WEBHOOK_RETENTION_DAYS`). */
  retencionDeWebhooks: number
}

/** Rows per statement: short transactions, whatever there is to do. */
const LOTE = 2_000
const DIA = 86_400_000

/** What waited for an endpoint that was disabled waits no longer; its merchant recovers it. Tests and resends still go. */
const CERRAR = sentencia(
  'limpieza.cerrar',
  `update webhook_entrega e set estado = 'fallida', ultimo_error = 'webhook_deshabilitado', turno = e.turno + 1, terminado_en = $1
   from (
     select p.* from webhook w cross join lateral (
       select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, e.turno from webhook_entrega e
       where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and e.estado = 'pendiente'
         and e.proximo_en > timestamptz '1970-01-01Z' limit ${LOTE}) p
     where w.estado = 'deshabilitado' limit ${LOTE}) p
   where e.comercio_id = p.comercio_id and e.modo = p.modo and e.webhook = p.webhook and e.guia_id = p.guia_id
     and e.secuencia = p.secuencia and e.turno = p.turno and e.estado = 'pendiente'`,
)

/** Some deliveries of those endpoints, as `v`. */
const algunas = (condicion: string) => `v as (
       select p.* from webhook w cross join lateral (
         select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia from webhook_entrega e
         where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and ${condicion} limit ${LOTE}) p
       limit ${LOTE}
     )`
const DE_V = (a: string) =>
  `${a}.comercio_id = v.comercio_id and ${a}.modo = v.modo and ${a}.webhook = v.webhook and ${a}.guia_id = v.guia_id
     and ${a}.secuencia = v.secuencia`

/** First the attempts, so many at a time however many a delivery has; then the deliveries that have none left. */
const borrar = (nombre: string, condicion: string) => [
  sentencia(
    `limpieza.${nombre}Intentos`,
    `with ${algunas(condicion)} delete from webhook_intento where ctid = any(array(
       select i.ctid from v join webhook_intento i on ${DE_V('i')} limit ${LOTE}))`,
  ),
  sentencia(
    `limpieza.${nombre}`,
    `with ${algunas(condicion)} delete from webhook_entrega e using v where ${DE_V('e')}
       and not exists (select from webhook_intento i where ${DE_V('i')})`,
  ),
]
const BORRAR_DE_ELIMINADOS = borrar('eliminados', `w.estado = 'eliminado'`)
const BORRAR_VIEJAS = borrar('viejas', `e.creado_en < $1 and e.estado <> 'pendiente' and e.terminado_en < $1`)

/** Some time after, so that whatever was being written while it was deleted is seen and goes, too. */
const BORRAR_WEBHOOKS = sentencia(
  'limpieza.webhooks',
  `delete from webhook w where estado = 'eliminado' and estado_en < $1 and not exists (
     select from webhook_entrega e where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook)`,
)
const BORRAR_RECUPERACIONES = sentencia(
  'limpieza.recuperaciones',
  `delete from recuperacion r where (estado <> 'en_curso' and terminado_en < $1) or not exists (
     select from webhook w where w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook)`,
)
const BORRAR_SECRETOS = sentencia(
  'limpieza.secretos',
  `delete from webhook_secreto s where vence_en < $1 or not exists (select from webhook w
     where w.comercio_id = s.comercio_id and w.modo = s.modo and w.webhook = s.webhook and w.estado <> 'eliminado')`,
)

const CIFRADOS = sentencia(
  'limpieza.cifrados',
  `select comercio_id, modo, webhook, version, cifrado from webhook_secreto
   where substring(cifrado from 1 for 4) <> $1 order by random() limit ${LOTE}`,
)
const RECIFRAR = sentencia(
  'limpieza.recifrar',
  `update webhook_secreto set cifrado = $5
   where comercio_id = $1 and modo = $2 and webhook = $3 and version = $4 and cifrado = $6`,
)

/** What nobody asks for and must be done all the same, each in short steps. Two processes at it do no harm. */
export async function limpiarWebhooks({
  db,
  log,
  reloj,
  secretos,
  retencionDeWebhooks,
}: DepsDeLimpieza): Promise<void> {
  const ahora = reloj()
  const hace = (ms: number) => new Date(ahora.getTime() - ms)
  const repetir = async (consulta: Sentencia, valores: unknown[] = []) => {
    for (let filas = LOTE; filas === LOTE; )
      filas = (await db.pool.query({ ...consulta, values: valores })).rowCount ?? 0
  }
  const viejo = hace(retencionDeWebhooks * DIA)
  // What fails must not keep the others from being done.
  for (const paso of [
    () => repetir(CERRAR, [ahora]),
    () => repetir(BORRAR_DE_ELIMINADOS[0]!),
    () => repetir(BORRAR_DE_ELIMINADOS[1]!),
    () => repetir(BORRAR_VIEJAS[0]!, [viejo]),
    () => repetir(BORRAR_VIEJAS[1]!, [viejo]),
    () => repetir(BORRAR_WEBHOOKS, [hace(10 * 60_000)]),
    () => repetir(BORRAR_RECUPERACIONES, [viejo]),
    () => repetir(BORRAR_SECRETOS, [hace(DIA)]),
    () => recifrar({ db, log, secretos }),
  ]) {
    await paso().catch((err: unknown) => log.warn({ err }, 'housekeeping'))
  }
}

interface FilaSecreto {
  comercio_id: string
  modo: string
  webhook: string
  version: number
  cifrado: Uint8Array
}

/** Secrets that an older master key protects are encrypted anew with the present one, which makes the old one dispensable. */
async function recifrar({ db, log, secretos }: Pick<DepsDeLimpieza, 'db' | 'log' | 'secretos'>) {
  const presente = Buffer.from(secretos.presente('webhooks').kid, 'hex')
  const viejos = await db.consultar<FilaSecreto>(CIFRADOS, [presente])
  let hechos = 0
  for (const { comercio_id, modo, webhook, version, cifrado } of viejos) {
    if (!secretos.de('webhooks', kidDe(cifrado))) {
      log.error({ webhook, version, kid: kidDe(cifrado) }, 'MASTER_KEYS lacks the key of this signing secret')
      continue
    }
    const claro = descifrar(secretos, { webhook, version }, cifrado)
    const nuevo = cifrar(secretos, { webhook, version }, claro)
    await db.consultar(RECIFRAR, [comercio_id, modo, webhook, version, nuevo, cifrado])
    hechos++
  }
  if (hechos > 0) log.info({ secretos: hechos }, 'signing secrets encrypted with the present master key')
}
