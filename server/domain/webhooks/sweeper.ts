import { statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import { keyIdOf } from '../../platform/sealing.ts'
import type { Deps } from '../deps.ts'
import { type FilaSecreto, reencryptSecret } from './secret.ts'

type DepsDeLimpieza = Pick<Deps, 'db' | 'log' | 'reloj' | 'secretos' | 'ajustes'>

/** Maximum number of rows per statement, which keeps all transactions short. */
const LOTE = 2_000
const DIA = 86_400_000

/**
 * Ends the waiting deliveries of disabled endpoints; the merchant can recover them later. Tests and resends are still
 * sent.
 */
const CERRAR = statement<{ ahora: Date }>(
  'limpieza.cerrar',
  `update webhook_aviso e set estado = 'fallido', ultimo_error = 'webhook_deshabilitado', turno = e.turno + 1,
     terminado_en = :ahora
   from (
     select p.* from webhook w cross join lateral (
       select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, e.turno from webhook_aviso e
       where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and e.estado = 'pendiente'
         and e.proximo_en > timestamptz '1970-01-01Z' order by e.proximo_en, e.guia_id, e.secuencia limit ${LOTE}) p
     where w.estado = 'deshabilitado' limit ${LOTE}) p
   where e.comercio_id = p.comercio_id and e.modo = p.modo and e.webhook = p.webhook and e.guia_id = p.guia_id
     and e.secuencia = p.secuencia and e.turno = p.turno and e.estado = 'pendiente' returning 1`,
  { alcance: 'parte' },
)

/** Condition for deliveries of some endpoints, with the order of an index that keeps these deliveries together. */
interface Cuales {
  condicion: string
  orden: string
}

/**
 * SQL of a CTE `v` with a batch of the deliveries that fulfil a condition. Without the order, PostgreSQL would read the
 * table from its beginning, with the dead rows of earlier batches each time. That costs ten times as much for each row.
 */
const algunas = ({ condicion, orden }: Cuales) => `v as (
       select p.* from webhook w cross join lateral (
         select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia from webhook_aviso e
         where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and ${condicion}
         order by ${orden} limit ${LOTE}) p
       limit ${LOTE}
     )`
const DE_V = (a: string) =>
  `${a}.comercio_id = v.comercio_id and ${a}.modo = v.modo and ${a}.webhook = v.webhook and ${a}.guia_id = v.guia_id
     and ${a}.secuencia = v.secuencia`

/** SQL that deletes a batch of attempts of the deliveries in `v`, however many attempts a delivery has. */
const borrarIntentos = (cuales: Cuales) => `with ${algunas(cuales)}, i as (
     select i.* from v join webhook_intento i on ${DE_V('i')} limit ${LOTE}
   ) delete from webhook_intento n using i where n.comercio_id = i.comercio_id and n.modo = i.modo and n.webhook = i.webhook
     and n.guia_id = i.guia_id and n.secuencia = i.secuencia and n.id = i.id returning 1`

/** SQL that deletes the deliveries of the batch that have no attempts left. */
const borrarEntregas = (
  cuales: Cuales,
) => `with ${algunas(cuales)} delete from webhook_aviso e using v where ${DE_V('e')}
     and not exists (select from webhook_intento i where ${DE_V('i')}) returning 1`

const DE_ELIMINADOS = { condicion: `w.estado = 'eliminado'`, orden: 'e.guia_id, e.secuencia' }
const BORRAR_INTENTOS_DE_ELIMINADOS = statement('limpieza.eliminadosIntentos', borrarIntentos(DE_ELIMINADOS), {
  alcance: 'parte',
})
const BORRAR_ENTREGAS_DE_ELIMINADOS = statement('limpieza.eliminados', borrarEntregas(DE_ELIMINADOS), {
  alcance: 'parte',
})

const VIEJAS = {
  condicion: `e.creado_en < :antes_de and e.estado <> 'pendiente' and e.terminado_en < :antes_de`,
  orden: 'e.creado_en, e.guia_id, e.secuencia',
}
const BORRAR_INTENTOS_DE_VIEJAS = statement<{ antes_de: Date }>('limpieza.viejasIntentos', borrarIntentos(VIEJAS), {
  alcance: 'parte',
})
const BORRAR_VIEJAS = statement<{ antes_de: Date }>('limpieza.viejas', borrarEntregas(VIEJAS), { alcance: 'parte' })

/**
 * Deletes the rows of endpoints some time after the endpoints were deleted. By then, deliveries that were written at
 * the same time are visible and are deleted, too.
 */
const BORRAR_WEBHOOKS = statement<{ antes_de: Date }>(
  'limpieza.webhooks',
  `delete from webhook w where estado = 'eliminado' and estado_en < :antes_de and not exists (
     select from webhook_aviso e where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook)`,
  { alcance: 'parte' },
)
const BORRAR_RECUPERACIONES = statement<{ antes_de: Date }>(
  'limpieza.recuperaciones',
  `delete from recuperacion r where (estado <> 'en_curso' and terminado_en < :antes_de) or not exists (
     select from webhook w where w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook)`,
  { alcance: 'parte' },
)
const BORRAR_SECRETOS = statement<{ antes_de: Date }>(
  'limpieza.secretos',
  `delete from webhook_secreto s where vence_en < :antes_de or not exists (select from webhook w
     where w.comercio_id = s.comercio_id and w.modo = s.modo and w.webhook = s.webhook and w.estado <> 'eliminado')`,
  { alcance: 'parte' },
)

const CIFRADOS = statement<
  { kid: Buffer },
  Pick<FilaSecreto, 'comercio_id' | 'modo' | 'webhook' | 'version' | 'cifrado'>
>(
  'limpieza.cifrados',
  `select comercio_id, modo, webhook, version, cifrado from webhook_secreto
   where substring(cifrado from 1 for 4) <> :kid order by random() limit ${LOTE}`,
  { alcance: 'parte' },
)

/**
 * Deletes data of webhooks that is no longer kept, one batch of each kind. Two processes may run it at the same time.
 * @returns true if there is more to delete
 */
export async function limpiarWebhooks({ db, ...deps }: DepsDeLimpieza): Promise<boolean> {
  return (await inEach(db, (suya) => limpiarParte({ db: suya, ...deps }))).includes(true)
}

async function limpiarParte({ db, log, reloj, secretos, ajustes }: DepsDeLimpieza): Promise<boolean> {
  const ahora = reloj()
  const hace = (ms: number) => new Date(ahora.getTime() - ms)
  const viejo = { antes_de: hace(ajustes.retencionDeWebhooks * DIA) }
  const pasos: (() => Promise<readonly unknown[]>)[] = [
    () => db.consultar(CERRAR, { ahora }),
    () => db.consultar(BORRAR_INTENTOS_DE_ELIMINADOS),
    () => db.consultar(BORRAR_ENTREGAS_DE_ELIMINADOS),
    () => db.consultar(BORRAR_INTENTOS_DE_VIEJAS, viejo),
    () => db.consultar(BORRAR_VIEJAS, viejo),
    () => db.consultar(BORRAR_WEBHOOKS, { antes_de: hace(10 * 60_000) }),
    () => db.consultar(BORRAR_RECUPERACIONES, viejo),
    () => db.consultar(BORRAR_SECRETOS, { antes_de: hace(DIA) }),
  ]
  let hayMas = false
  const alFallar = (err: unknown) => log.warn({ err }, 'webhook housekeeping step failed')
  // A step that fails must not stop the others.
  for (const paso of pasos) {
    const hechas = await paso().catch(alFallar)
    if (hechas && hechas.length >= LOTE) hayMas = true
  }
  await recifrar({ db, log, secretos }).catch(alFallar)
  return hayMas
}

/** Encrypts secrets of an older master key with the current master key, so that the older key is no longer needed. */
async function recifrar({ db, log, secretos }: Pick<DepsDeLimpieza, 'db' | 'log' | 'secretos'>) {
  const presente = Buffer.from(secretos.presente('webhooks').kid, 'hex')
  const viejos = await db.consultar(CIFRADOS, { kid: presente })
  let hechos = 0
  for (const { comercio_id, modo, webhook, version, cifrado } of viejos) {
    const nuevo = reencryptSecret(secretos, { webhook, version }, cifrado)
    if (!nuevo) {
      log.error({ webhook, version, kid: keyIdOf(cifrado) }, 'MASTER_KEYS lacks the key of this signing secret')
      continue
    }
    await db.prisma.webhook_secreto.updateMany({
      where: { comercio_id, modo, webhook, version, cifrado },
      data: { cifrado: nuevo },
    })
    hechos++
  }
  if (hechos > 0) log.info({ secretos: hechos }, 'signing secrets encrypted with the present master key')
}
