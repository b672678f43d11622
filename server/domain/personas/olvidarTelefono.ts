import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { entrante, guia } from '../../generado/contrato/prisma/client.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import { olvidarClaves } from '../busqueda/busqueda.ts'
import type { Deps } from '../deps.ts'
import { deGuia } from '../eventos/evento.ts'
import { olvidarNotas } from '../notas/nota.ts'
import { VALE } from '../pruebasEntrega/prueba.ts'
import { olvidarAnteriores } from './anteriores.ts'
import type { ClaveDeGuia } from './correcciones.ts'
import {
  BORRAR,
  BORRAR_CLAVES,
  borrarRespuestas,
  type DeQuien,
  type DeUnaGuia,
  de,
  type ErasedGuide,
  enCada,
  FINALES,
  hallarGuia,
  PRIMERA,
  patronDe,
} from './persona.ts'
import { olvidarRecogidas } from './recogidas.ts'

/** Maximum number of guides per transaction. */
const LOTE = 100
/** Maximum number of bodies received from providers that one statement scans. */
const LOTE_DE_ENTRANTES = 2_000

/**
 * SQL that erases the data of ended guides. Also deletes their proofs and files, the idempotency keys, and the content of
 * the responses of merchants' servers to webhooks.
 * @param cuales SQL condition for the guides
 */
const olvidarLas = (cuales: string) => `with v as (
     select comercio_id, modo, id, guia from guia where ${cuales} and ${FINALES}
     order by comercio_id, modo, id limit ${LOTE} for update
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
   ), ${BORRAR_CLAVES}, ${borrarRespuestas()}, ${BORRAR}`

const OLVIDAR = statement<DeQuien & { ahora: Date }, ErasedGuide>(
  'personas.olvidarTelefono',
  olvidarLas('telefono = :telefono and (:comercio_id::uuid is null or comercio_id = :comercio_id)'),
  { alcance: 'parte' },
)

const OLVIDAR_UNA = statement<ClaveDeGuia & { ahora: Date }, ErasedGuide>(
  'personas.olvidarGuia',
  olvidarLas('comercio_id = :comercio_id and modo = :modo and id = :guia_id'),
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
  /** Codes of those guides that lost their metadata, because they were created with this telephone. */
  sin_metadatos: string[]
  /** Number of guides of other recipients in whose pickup, present or former, the telephone stood. */
  recogidas: number
  /** Number of deleted bodies that were received from the messaging provider. */
  entrantes: number
  /**
   * Number of bodies with the telephone number that are not processed yet. The next erasure deletes them, or the
   * retention job within a week.
   */
  entrantes_pendientes: number
  /** Codes of the guides that have not ended, and have the telephone of the recipient or of the pickup. */
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
  const { anteriores, sin_metadatos } = await olvidarAnteriores(deps, quien, suya)
  const deGuias = await enCada(deps.db, suya, (db) => olvidarSusGuias({ ...deps, db }, quien, suya))
  const guias = deGuias.reduce((unas, otras) => unas + otras, 0)
  const { recogidas, detenidas } = await olvidarRecogidas(deps, quien, suya)
  // The audit record gets a line even if there was nothing to erase.
  if (anteriores + guias + recogidas === 0) await deps.bitacora.anotar(deps.db.consultar, quien, lineaDe(0))
  const { telefono, comercio_id } = suya
  // The bodies received from providers belong to no merchant, so the erasure for one merchant keeps them.
  const deEntrantes = comercio_id === null ? await olvidarEntrantes(deps, telefono) : { borrados: 0, pendientes: 0 }
  const enCurso = await deps.db.consultar(EN_CURSO, suya)
  const repartidores = await deps.db.consultar(REPARTIDORES, { telefono })
  return {
    guias,
    anteriores,
    sin_metadatos,
    recogidas,
    entrantes: deEntrantes.borrados,
    entrantes_pendientes: deEntrantes.pendientes,
    en_curso: [...new Set([...enCurso.map(({ guia }) => guia), ...detenidas])],
    repartidores: repartidores.map(({ repartidor }) => repartidor),
  }
}

/**
 * Erases all personal data of one ended guide, for a person who stands in it without a telephone. A guide that this
 * database does not have is no error: the database may have been restored to an instant before its creation.
 */
export async function olvidarGuia(deps: DepsDeOlvido, quien: Quien, { guia }: DeUnaGuia): Promise<Olvidada> {
  const fila = await hallarGuia(deps.db, { guia })
  const borradas = fila ? await olvidarUna({ ...deps, db: deps.db.de(fila.comercio_id) }, quien, deGuia(fila)) : []
  if (borradas.length === 0) await deps.bitacora.anotar(deps.db.consultar, quien, lineaDeUna(guia, 0))
  return {
    guias: borradas.length,
    anteriores: 0,
    sin_metadatos: [],
    recogidas: 0,
    entrantes: 0,
    entrantes_pendientes: 0,
    repartidores: [],
    en_curso: fila && borradas.length === 0 ? [guia] : [],
  }
}

const olvidarUna = ({ db, reloj, bitacora }: DepsDeOlvido, quien: Quien, clave: ClaveDeGuia): Promise<ErasedGuide[]> =>
  inTransaction(db, async (consultar) => {
    const borradas = await consultar(OLVIDAR_UNA, { ...clave, ahora: reloj() })
    if (borradas.length > 0) {
      await olvidarLoDemas(consultar, borradas)
      await bitacora.anotar(consultar, quien, lineaDeUna(borradas[0]!.guia, borradas.length))
    }
    return borradas
  })

/** Deletes search keys and notes of guides that this transaction has erased. */
async function olvidarLoDemas(consultar: Query, borradas: readonly ErasedGuide[]): Promise<void> {
  await olvidarClaves(consultar, borradas)
  await olvidarNotas(consultar, borradas)
}

const lineaDe = (guias: number) => ({ accion: 'olvidarPersona', campos: ['telefono'], despues: { guias } })
const lineaDeUna = (guia: string, guias: number) => ({
  accion: 'olvidarPersona',
  sobre: ['guia', guia] as const,
  campos: ['guia'],
  despues: { guias },
})

async function olvidarSusGuias({ db, reloj, bitacora }: DepsDeOlvido, quien: Quien, suya: DeQuien): Promise<number> {
  let guias = 0
  for (let cuantas = LOTE; cuantas === LOTE; guias += cuantas) {
    cuantas = await inTransaction(db, async (consultar) => {
      const borradas = await consultar(OLVIDAR, { ...suya, ahora: reloj() })
      if (borradas.length === 0) return 0
      await olvidarLoDemas(consultar, borradas)
      await bitacora.anotar(consultar, quien, lineaDe(borradas.length))
      return borradas.length
    })
  }
  return guias
}

async function olvidarEntrantes({ db }: DepsDeOlvido, telefono: string) {
  const patron = patronDe(telefono)
  const total = { borrados: 0, pendientes: 0 }
  for (let desde: string | null = PRIMERA; desde !== null; ) {
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
