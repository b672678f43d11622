import { type Db, sentencia } from '../db.ts'
import type { Log } from '../log.ts'
import type { Secretos } from '../secretos.ts'
import { cifrar, descifrar, kidDe } from './secreto.ts'

interface DepsDeLimpieza {
  db: Db
  log: Log
  reloj: () => Date
  secretos: Secretos
  /** How long deliveries that are over are kept, in days (`RETENCION_ENTREGAS_DIAS`). */
  retencionDeEntregas: number
}

/** Rows per statement: short transactions, whatever there is to do. */
const LOTE = 2_000
const DIA = 86_400_000

/** What waited for an endpoint that was disabled waits no longer; its merchant recovers it. Tests and resends still go. */
const CERRAR = sentencia(
  'limpieza.cerrar',
  `update entrega e set estado = 'fallida', ultimo_error = 'webhook_deshabilitado', turno = e.turno + 1, terminada_en = $1
   from (
     select p.* from webhook w cross join lateral (
       select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, e.turno from entrega e
       where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and e.estado = 'pendiente'
         and e.proximo_en > timestamptz '1970-01-01Z' limit ${LOTE}) p
     where w.estado = 'deshabilitado' limit ${LOTE}) p
   where e.comercio_id = p.comercio_id and e.modo = p.modo and e.webhook = p.webhook and e.guia_id = p.guia_id
     and e.secuencia = p.secuencia and e.turno = p.turno and e.estado = 'pendiente'`,
)

/** Deliveries of deleted endpoints, and those that are over and old, with their attempts. */
const borrar = (nombre: string, condicion: string) =>
  sentencia(
    nombre,
    `with v as (
       select p.* from webhook w cross join lateral (
         select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia from entrega e
         where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and ${condicion} limit ${LOTE}) p
       limit ${LOTE}
     ), i as (
       delete from entrega_intento i using v where i.comercio_id = v.comercio_id and i.modo = v.modo
         and i.webhook = v.webhook and i.guia_id = v.guia_id and i.secuencia = v.secuencia
     )
     delete from entrega e using v where e.comercio_id = v.comercio_id and e.modo = v.modo and e.webhook = v.webhook
       and e.guia_id = v.guia_id and e.secuencia = v.secuencia`,
  )
const BORRAR_DE_ELIMINADOS = borrar('limpieza.eliminados', `w.estado = 'eliminado'`)
const BORRAR_VIEJAS = borrar('limpieza.viejas', `e.creado_en < $1 and e.estado <> 'pendiente' and e.terminada_en < $1`)

/** Some time after, so that whatever was being written while it was deleted is seen and goes, too. */
const BORRAR_WEBHOOKS = sentencia(
  'limpieza.webhooks',
  `delete from webhook w where estado = 'eliminado' and desde < $1 and not exists (
     select from entrega e where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook)`,
)
const BORRAR_RECUPERACIONES = sentencia(
  'limpieza.recuperaciones',
  `delete from recuperacion r where (estado <> 'en_curso' and terminada_en < $1) or not exists (
     select from webhook w where w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook)`,
)
const BORRAR_SECRETOS = sentencia('limpieza.secretos', 'delete from webhook_secreto where expira_en < $1')

const CIFRADOS = sentencia(
  'limpieza.cifrados',
  `select comercio_id, modo, webhook, version, cifrado from webhook_secreto
   where substring(cifrado from 1 for 4) <> $1 limit ${LOTE}`,
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
  retencionDeEntregas,
}: DepsDeLimpieza): Promise<void> {
  const ahora = reloj()
  const hace = (ms: number) => new Date(ahora.getTime() - ms)
  const repetir = async (...[consulta, valores]: [Parameters<Db['consultar']>[0], unknown[]]) => {
    for (let filas = LOTE; filas === LOTE; )
      filas = (await db.pool.query({ ...consulta, values: valores })).rowCount ?? 0
  }
  await repetir(CERRAR, [ahora])
  await repetir(BORRAR_DE_ELIMINADOS, [])
  await repetir(BORRAR_VIEJAS, [hace(retencionDeEntregas * DIA)])
  await db.consultar(BORRAR_WEBHOOKS, [hace(10 * 60_000)])
  await db.consultar(BORRAR_RECUPERACIONES, [hace(retencionDeEntregas * DIA)])
  await db.consultar(BORRAR_SECRETOS, [hace(DIA)])
  await recifrar({ db, log, secretos })
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
