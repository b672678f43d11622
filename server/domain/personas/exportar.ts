import { type Query, statement } from '../../data/db.ts'
import type { Modo } from '../../generated/contract/types/index.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { VALE } from '../pruebasEntrega/prueba.ts'
import { guiaKeyOf } from '../records/guiaFields.ts'
import { type DatedCorreccion, type GuiaKey, readCorrecciones } from './correccionesOfPersona.ts'
import { exportCorrecciones, exportPrevious } from './formerRecipients.ts'
import {
  answersSql,
  de,
  FIRST_ID,
  findGuiaIfAny,
  type GuiaQuery,
  HAS_ENDED,
  KEY_OF_GUIA,
  type PersonQuery,
  PRUEBAS,
  patternOf,
  rowsSql,
} from './persona.ts'
import { exportRecogidas } from './pickupContacts.ts'

const MAX_GUIAS_PER_STATEMENT = 50

/**
 * SQL condition: a row `table` of the guide `v` is from a time when the guide had its present telephone. A row of
 * `telefono_anterior` names the telephone that the guide had before an event.
 */
const withThisTelefono = (table: string) => withThisTelefonoAt(`${table}.secuencia`)
const withThisTelefonoAt = (secuencia: string) =>
  `coalesce((select u.telefono from telefono_anterior u where u.comercio_id = v.comercio_id and u.modo = v.modo
     and u.guia_id = v.id and u.secuencia > ${secuencia} order by u.secuencia limit 1), v.telefono) = v.telefono`

/** Rows of a guide, as SQL conditions on the rows `t` of its tables. */
interface OwnRowConditions {
  /** Rows of tables whose rows name an event. */
  eventos: string
  mensajes: string
  archivos: string
  /** The metadata, which were set with the creation. */
  metadatos: string
}

const OF_TELEFONO: OwnRowConditions = {
  eventos: withThisTelefono('t'),
  mensajes: 't.telefono = v.telefono',
  archivos: `not exists (select from (${PRUEBAS}) n where ${de('n')} and t.archivo = any(n.archivos)
     and not ${withThisTelefono('n')})`,
  metadatos: withThisTelefonoAt('1'),
}
const OF_GUIA: OwnRowConditions = { eventos: 'true', mensajes: 'true', archivos: 'true', metadatos: 'true' }

interface ExportedGuia {
  id: string
  comercio_id: string
  comercio: string
  nombre: string
  modo: Modo
  guia: string
  telefono: string | null
  terminada: boolean
  estado_en: Date
  tablas: unknown
  entregado_en: Date | null
  archivos: string[]
}

/**
 * SQL that reads guides `v`, each with its rows in all tables.
 * @param condition SQL condition for the guides
 */
const exportSql = ({ eventos, mensajes, archivos, metadatos }: OwnRowConditions, condition: string) =>
  `select v.id, v.comercio_id, c.comercio, c.nombre, v.modo, v.guia, v.telefono, v.${HAS_ENDED} as terminada, v.estado_en,
     jsonb_build_object('guia', to_jsonb(v) - '{comercio_id,id,huellas}'::text[]
         - case when ${metadatos} then '' else 'metadatos' end, ${rowsSql('evento', eventos, ',huella,cambios')},
       ${rowsSql('mensaje', mensajes)}, ${rowsSql('enlace_ubicacion', 'true', ',huella')}, ${rowsSql('enlace_corto', 'true')},
       ${rowsSql('nota', eventos)}, ${rowsSql('prueba_entrega', eventos)}, ${rowsSql('prueba_intento', eventos)},
       ${rowsSql('archivo', archivos)}, ${answersSql(eventos)}, 'clave_idempotencia',
       (select coalesce(jsonb_agg(c.idempotencia), '[]') from clave_idempotencia c where ${KEY_OF_GUIA})) as tablas,
     (select p.entregado_en from prueba_entrega p where ${de('p')} and ${VALE}) as entregado_en,
     array(select t.archivo from archivo t where ${de('t')} and ${archivos} order by t.archivo) as archivos
   from guia v join comercio c on c.id = v.comercio_id where ${condition} order by v.id limit ${MAX_GUIAS_PER_STATEMENT}`

/** Reads the next guides of a telephone number. */
const EXPORT = statement<PersonQuery & { desde: string }, ExportedGuia>(
  'personas.export',
  'central',
  exportSql(
    OF_TELEFONO,
    'v.telefono = :telefono and (:comercio_id::uuid is null or v.comercio_id = :comercio_id) and v.id > :desde',
  ),
)
const EXPORT_ONE = statement<GuiaKey, ExportedGuia>(
  'personas.exportOne',
  'merchant',
  exportSql(OF_GUIA, 'v.comercio_id = :comercio_id and v.modo = :modo and v.id = :guia_id'),
)

/**
 * Scans the next 2,000 bodies received from providers (table `entrante`), and returns those that contain the telephone
 * number.
 */
const INCOMING = statement<{ pattern: string; desde: string }, { hasta: string | null; own: unknown }>(
  'personas.incoming',
  'central',
  `with v as (select * from entrante where id > :desde order by id limit 2000)
   select (select id from v order by id desc limit 1) as hasta,
     coalesce(jsonb_agg(to_jsonb(v) - '{id,huella}'::text[]) filter (where cuerpo ~ :pattern), '[]') as own from v`,
)
const REPARTIDORES = statement<Pick<PersonQuery, 'telefono'>, { repartidor: string; nombre: string; creado_en: Date }>(
  'personas.exportRepartidores',
  'central',
  'select repartidor, nombre, creado_en from repartidor where telefono = :telefono order by id',
)

type ExportDeps = Pick<Deps, 'db' | 'clock' | 'secretos' | 'bitacora' | 'settings'>

/**
 * Exports all stored data of a telephone number, by guide and table, with the dates until which the data is kept.
 * `anteriores` contains what guides that now have another telephone still store about this one, and `recogidas` the
 * pickups with it. Excludes secrets and digests.
 */
export async function exportPersona(deps: ExportDeps, actor: Actor, person: PersonQuery) {
  await deps.bitacora.recordRead(actor, { accion: 'exportarPersona', campos: ['telefono'] })
  const { telefono, comercio_id } = person
  const { query } = deps.db
  const guias = []
  for (let desde: string | undefined = FIRST_ID; desde !== undefined; ) {
    const exportedRows: ExportedGuia[] = await query(EXPORT, { ...person, desde })
    for (const exportedRow of exportedRows) {
      const correcciones = await exportCorrecciones(deps, telefono, guiaKeyOf(exportedRow))
      guias.push({ ...presentExportedGuia(deps, exportedRow), correcciones })
    }
    desde = exportedRows.at(-1)?.id
  }
  return {
    telefono,
    hecho_en: deps.clock().toISOString(),
    guias,
    anteriores: await exportPrevious(deps, person),
    recogidas: await exportRecogidas(deps, person),
    // The bodies received from providers belong to no merchant, so the export for one merchant omits them.
    entrante: comercio_id === null ? await readIncoming(query, telefono) : [],
    repartidor: await query(REPARTIDORES, { telefono }),
  }
}

/** Exports all stored data of one guide, for a person who stands in it without a telephone. */
export async function exportGuia(deps: ExportDeps, actor: Actor, { guia }: GuiaQuery) {
  await deps.bitacora.recordRead(actor, { accion: 'exportarPersona', campos: ['guia'], sobre: ['guia', guia] })
  const row = await findGuiaIfAny(deps.db, { guia })
  const { query } = row ? deps.db.forComercio(row.comercio_id) : deps.db
  const exportedRows = row ? await query(EXPORT_ONE, guiaKeyOf(row)) : []
  const guias = []
  for (const exportedRow of exportedRows) {
    const correcciones = await readCorrecciones(query, deps.secretos, guiaKeyOf(exportedRow))
    guias.push({ ...presentExportedGuia(deps, exportedRow), correcciones: correcciones.map(presentCorreccion) })
  }
  return { hecho_en: deps.clock().toISOString(), guias }
}

const presentCorreccion = ({ secuencia, registrado_en, cambios }: DatedCorreccion) => ({
  secuencia,
  registrado_en: registrado_en.toISOString(),
  ...cambios,
})

function presentExportedGuia({ settings }: Pick<Deps, 'settings'>, exportedRow: ExportedGuia) {
  const { comercio, nombre, modo, guia, terminada, estado_en, entregado_en, archivos, tablas } = exportedRow
  const daysAfter = (from: Date | null, days: number) => from && new Date(from.getTime() + days * DAY_MS).toISOString()
  const endedAt = terminada ? estado_en : null
  return {
    guia,
    comercio: { comercio, nombre },
    modo,
    // Each date is null while its retention has not begun: the guide has not ended, or it has no proof.
    hasta: {
      personas: daysAfter(endedAt, settings.personaRetention),
      ubicaciones: daysAfter(endedAt, settings.ubicacionRetention),
      prueba: daysAfter(entregado_en, settings.pruebaRetention),
    },
    archivos,
    tablas,
  }
}

async function readIncoming(query: Query, telefono: string) {
  const pattern = patternOf(telefono)
  const own: unknown[] = []
  for (let desde: string | null = FIRST_ID; desde !== null; ) {
    const [step]: { hasta: string | null; own: unknown }[] = await query(INCOMING, { pattern, desde })
    own.push(...(step!.own as unknown[]))
    desde = step!.hasta
  }
  return own
}
