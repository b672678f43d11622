import { statement } from '../../data/db.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'
import { VALE } from './prueba.ts'

const MAX_PRUEBAS_PER_STATEMENT = 500

/**
 * SQL that takes the oldest rows `p` of a table of proofs, and locks their guides. All statements that erase data of a
 * guide lock the guide first, so no two of them wait for each other. A guide that another one holds is left to the next
 * run.
 * @param since column of the instant from which the retention counts
 */
const oldestSql = (table: string, since: string) =>
  `select p.comercio_id, p.modo, p.guia_id, p.secuencia from ${table} p
       join guia g on g.comercio_id = p.comercio_id and g.modo = p.modo and g.id = p.guia_id
     where p.${since} < :before order by p.${since} limit ${MAX_PRUEBAS_PER_STATEMENT} for update of g skip locked`

/**
 * SQL that deletes what belongs to the proofs `p`: the coordinates of their events, and the rows of their files. The
 * sweeper (`sweepArchivos`) deletes the bytes of the files later.
 */
const deleteBelongingsSql = (archivos: string) => `
   e as (
     update evento e set lat = null, lng = null from p where e.comercio_id = p.comercio_id and e.modo = p.modo
       and e.guia_id = p.guia_id and e.secuencia = p.secuencia and e.lat is not null
   ), a as (
     delete from archivo a using p where a.comercio_id = p.comercio_id and a.modo = p.modo and a.guia_id = p.guia_id
       and a.archivo = any(${archivos})
     returning a.archivo
   ), i as (
     update archivo_indice i set estado = 'borrando' from a where i.archivo = a.archivo
   )
   select count(*)::int as count from p`

/**
 * Deletes complete proofs of deliveries: recipient, position and files. Keeps that a proof existed and when it was
 * deleted.
 */
const DELETE_ENTREGAS = statement<{ before: Date; now: Date }, { count: number }>(
  'pruebas.deleteEntregas',
  'part',
  `with v as (
     ${oldestSql('prueba_entrega', 'entregado_en')}
   ), p as (
     delete from prueba_entrega p using v where p.comercio_id = v.comercio_id and p.modo = v.modo and p.guia_id = v.guia_id
       and p.secuencia = v.secuencia
     returning p.*
   ), b as (
     insert into prueba_borrada (comercio_id, modo, guia_id, borrado_en, motivo)
     select comercio_id, modo, guia_id, :now, 'retencion' from p where ${VALE}
   ), ${deleteBelongingsSql('p.fotos || p.firma || p.pdf')}`,
)
/**
 * Deletes the photos of failed attempts, by the instant of registration. The instant of the attempt is not used,
 * because the courier enters the instant of a late attempt.
 */
const DELETE_INTENTOS = statement<{ before: Date }, { count: number }>(
  'pruebas.deleteIntentos',
  'part',
  `with v as (
     ${oldestSql('prueba_intento', 'registrado_en')}
   ), p as (
     delete from prueba_intento p using v where p.comercio_id = v.comercio_id and p.modo = v.modo
       and p.guia_id = v.guia_id and p.secuencia = v.secuencia
     returning p.*
   ), ${deleteBelongingsSql('p.fotos')}`,
)

type DeletionDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'settings'>

/**
 * Deletes a batch of proofs of deliveries, and of photos of failed attempts, whose retention has ended.
 * @returns true if more may remain
 */
export async function deletePruebas({ db, clock, log, settings }: DeletionDeps): Promise<boolean> {
  const now = clock()
  const before = new Date(now.getTime() - settings.pruebaRetention * DAY_MS)
  const deleted = await runInEachPart(db, async ({ query }) => [
    (await query(DELETE_ENTREGAS, { before, now }))[0]!.count,
    (await query(DELETE_INTENTOS, { before }))[0]!.count,
  ])
  const counts = deleted.flat()
  const pruebas = counts.reduce((left, right) => left + right, 0)
  if (pruebas > 0) log.info({ pruebas }, 'proofs deleted')
  return counts.includes(MAX_PRUEBAS_PER_STATEMENT)
}
