import { type Db, inTransaction, statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import type { entrante, guia } from '../../generado/contrato/prisma/client.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import { olvidarClaves } from '../busqueda/busqueda.ts'
import type { Deps } from '../deps.ts'
import { olvidarNotas } from '../notas/nota.ts'
import { VALE } from '../pruebasEntrega/prueba.ts'
import { olvidarAnteriores } from './anteriores.ts'
import { BORRAR, type DeQuien, de, type ErasedGuide, FINALES, patronDe } from './persona.ts'

/** Maximum number of guides per transaction. */
const LOTE = 100
/** Maximum number of bodies received from providers that one statement scans. */
const LOTE_DE_ENTRANTES = 2_000

/**
 * Erases the data of the next ended guides of a telephone number. Also deletes their proofs and files, and the content
 * of the responses of merchants' servers to webhooks.
 */
const OLVIDAR = statement<DeQuien & { ahora: Date }, ErasedGuide>(
  'personas.olvidarTelefono',
  `with v as (
     select comercio_id, modo, id from guia
     where telefono = :telefono and (:comercio_id::uuid is null or comercio_id = :comercio_id) and ${FINALES}
     order by id limit ${LOTE} for update
   ), p as (
     delete from prueba_entrega p using v where ${de('p')} returning p.comercio_id, p.modo, p.guia_id, p.rectificada_en
   ), b as (
     insert into prueba_borrada (comercio_id, modo, guia_id, borrado_en, motivo)
     select comercio_id, modo, guia_id, :ahora, 'peticion' from p where ${VALE}
   ), n as (
     delete from prueba_intento n using v where ${de('n')}
   ), a as (
     delete from archivo a using v where ${de('a')} returning a.archivo
   ), i as (
     update archivo_indice i set estado = 'borrando' from a where i.archivo = a.archivo
   ), s as (
     select w.comercio_id, w.modo, w.webhook, v.id from v join webhook w using (comercio_id, modo)
   ), x as (
     update webhook_entrega x set exito = (x.exito::jsonb || '{"cabeceras": null, "cuerpo": null}')::json from s v
     where ${de('x')} and x.webhook = v.webhook and x.exito is not null
   ), y as (
     update webhook_intento y set cabeceras = null, cuerpo = null, detalle = null from s v
     where ${de('y')} and y.webhook = v.webhook
   ), ${BORRAR}`,
  { alcance: 'parte' },
)

/**
 * Scans the next bodies received from providers. Deletes those that contain the telephone number, if they have already
 * been processed.
 */
const OLVIDAR_ENTRANTES = statement<
  { patron: string; desde: string },
  { borrados: number; pendientes: number; hasta: entrante['id'] | null }
>(
  'personas.olvidarEntrantes',
  `with v as (
     select id, hecho_en, cuerpo ~ :patron as suyo from entrante where id > :desde order by id limit ${LOTE_DE_ENTRANTES}
   ), d as (
     delete from entrante e using v where e.id = v.id and v.suyo and v.hecho_en is not null returning 1
   )
   select (select count(*)::int from d) as borrados, count(*) filter (where suyo and hecho_en is null)::int as pendientes,
     (select id from v order by id desc limit 1) as hasta from v`,
)

const EN_CURSO = statement<DeQuien, Pick<guia, 'guia'>>(
  'personas.enCurso',
  `select guia from guia where telefono = :telefono and (:comercio_id::uuid is null or comercio_id = :comercio_id)
   order by id`,
  { alcance: 'todo' },
)
const REPARTIDORES = statement<Pick<DeQuien, 'telefono'>, { repartidor: string }>(
  'personas.repartidores',
  'select repartidor from repartidor where telefono = :telefono order by id',
)

/** Result of an erasure: the erased data, and the data that remains. */
export interface Olvidada {
  guias: number
  /** Number of guides that now have another telephone. Only this person's values were erased in them. */
  anteriores: number
  /** Number of deleted bodies that were received from the messaging provider. */
  entrantes: number
  /**
   * Number of bodies with the telephone number that are not processed yet. The next erasure deletes them, or the
   * retention job within a week.
   */
  entrantes_pendientes: number
  /** Codes of the guides that have not ended. */
  en_curso: string[]
  /** Identifiers of the couriers with this telephone number. */
  repartidores: string[]
}

type DepsDeOlvido = Pick<Deps, 'db' | 'reloj' | 'secretos' | 'bitacora'>

/**
 * Erases the data of ended guides with a telephone number, and what guides with another telephone still store about it.
 * Each transaction erases one batch and writes its audit line. After an interruption, the next call continues with the
 * remaining guides. The sweeper later deletes the files that no row names any more.
 */
export async function olvidarTelefono(deps: DepsDeOlvido, quien: Quien, suya: DeQuien): Promise<Olvidada> {
  const anteriores = await olvidarAnteriores(deps, quien, suya)
  const guias = await olvidarGuias(deps, quien, suya, anteriores === 0)
  const { telefono, comercio_id } = suya
  // The bodies received from providers belong to no merchant, so the erasure for one merchant keeps them.
  const deEntrantes = comercio_id === null ? await olvidarEntrantes(deps, telefono) : { borrados: 0, pendientes: 0 }
  const enCurso = await deps.db.consultar(EN_CURSO, suya)
  const repartidores = await deps.db.consultar(REPARTIDORES, { telefono })
  return {
    guias,
    anteriores,
    entrantes: deEntrantes.borrados,
    entrantes_pendientes: deEntrantes.pendientes,
    en_curso: enCurso.map(({ guia }) => guia),
    repartidores: repartidores.map(({ repartidor }) => repartidor),
  }
}

/** @param siempre true if the audit record gets a line even if there was nothing to erase */
async function olvidarGuias(
  { db, ...deps }: DepsDeOlvido,
  quien: Quien,
  suya: DeQuien,
  siempre: boolean,
): Promise<number> {
  const en = (parte: Db) => olvidarSusGuias({ db: parte, ...deps }, quien, suya)
  const guias = suya.comercio_id === null ? await inEach(db, en) : [await en(db.de(suya.comercio_id))]
  const borradas = guias.reduce((unas, otras) => unas + otras, 0)
  if (borradas === 0 && siempre) await deps.bitacora.anotar(db.consultar, quien, lineaDe(0))
  return borradas
}

const lineaDe = (guias: number) => ({ accion: 'olvidarPersona', campos: ['telefono'], despues: { guias } })

async function olvidarSusGuias({ db, reloj, bitacora }: DepsDeOlvido, quien: Quien, suya: DeQuien): Promise<number> {
  let guias = 0
  for (let cuantas = LOTE; cuantas === LOTE; guias += cuantas) {
    cuantas = await inTransaction(db, async (consultar) => {
      const borradas = await consultar(OLVIDAR, { ...suya, ahora: reloj() })
      if (borradas.length === 0) return 0
      await olvidarClaves(consultar, borradas)
      await olvidarNotas(consultar, borradas)
      await bitacora.anotar(consultar, quien, lineaDe(borradas.length))
      return borradas.length
    })
  }
  return guias
}

async function olvidarEntrantes({ db }: DepsDeOlvido, telefono: string) {
  const patron = patronDe(telefono)
  const total = { borrados: 0, pendientes: 0 }
  for (let desde: string | null = '00000000-0000-0000-0000-000000000000'; desde !== null; ) {
    const [paso]: { borrados: number; pendientes: number; hasta: string | null }[] = await db.consultar(
      OLVIDAR_ENTRANTES,
      { patron, desde },
    )
    total.borrados += paso!.borrados
    total.pendientes += paso!.pendientes
    desde = paso!.hasta
  }
  return total
}
