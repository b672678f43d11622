import { type Query, statement } from '../../data/db.ts'
import type { Modo } from '../../generado/contrato/tipos/index.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { deGuia } from '../eventos/evento.ts'
import { VALE } from '../pruebasEntrega/prueba.ts'
import { exportarAnteriores, exportarCorrecciones } from './anteriores.ts'
import { type ClaveDeGuia, type Corregida, leerCorrecciones } from './correcciones.ts'
import {
  CLAVE_DE_UNA_GUIA,
  type DeQuien,
  type DeUnaGuia,
  de,
  FINALES,
  filas,
  hallarGuia,
  PRIMERA,
  PRUEBAS,
  patronDe,
  respuestas,
} from './persona.ts'
import { exportarRecogidas } from './recogidas.ts'

/** Maximum number of guides per statement. */
const LOTE = 50
const DIA = 86_400_000

/**
 * SQL condition: a row `tabla` of the guide `v` is from a time when the guide had its present telephone. A row of
 * `telefono_anterior` names the telephone that the guide had before an event.
 */
const conEsteTelefono = (tabla: string) => conEsteTelefonoEn(`${tabla}.secuencia`)
const conEsteTelefonoEn = (secuencia: string) =>
  `coalesce((select u.telefono from telefono_anterior u where u.comercio_id = v.comercio_id and u.modo = v.modo
     and u.guia_id = v.id and u.secuencia > ${secuencia} order by u.secuencia limit 1), v.telefono) = v.telefono`

/** Rows of a guide, as SQL conditions on the rows `t` of its tables. */
interface Suyas {
  /** Rows of tables whose rows name an event. */
  eventos: string
  mensajes: string
  archivos: string
  /** The metadata, which were set with the creation. */
  metadatos: string
}

const DEL_TELEFONO: Suyas = {
  eventos: conEsteTelefono('t'),
  mensajes: 't.telefono = v.telefono',
  archivos: `not exists (select from (${PRUEBAS}) n where ${de('n')} and t.archivo = any(n.archivos)
     and not ${conEsteTelefono('n')})`,
  metadatos: conEsteTelefonoEn('1'),
}
const DE_LA_GUIA: Suyas = { eventos: 'true', mensajes: 'true', archivos: 'true', metadatos: 'true' }

interface Exportada {
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
 * @param cuales SQL condition for the guides
 */
const exportarLas = ({ eventos, mensajes, archivos, metadatos }: Suyas, cuales: string) =>
  `select v.id, v.comercio_id, c.comercio, c.nombre, v.modo, v.guia, v.telefono, v.${FINALES} as terminada, v.estado_en,
     jsonb_build_object('guia', to_jsonb(v) - '{comercio_id,id,huellas}'::text[]
         - case when ${metadatos} then '' else 'metadatos' end, ${filas('evento', eventos, ',huella,cambios')},
       ${filas('mensaje', mensajes)}, ${filas('enlace_ubicacion', 'true', ',huella')}, ${filas('enlace_corto', 'true')},
       ${filas('nota', eventos)}, ${filas('prueba_entrega', eventos)}, ${filas('prueba_intento', eventos)},
       ${filas('archivo', archivos)}, ${respuestas(eventos)}, 'clave_idempotencia',
       (select coalesce(jsonb_agg(c.idempotencia), '[]') from clave_idempotencia c where ${CLAVE_DE_UNA_GUIA})) as tablas,
     (select p.entregado_en from prueba_entrega p where ${de('p')} and ${VALE}) as entregado_en,
     array(select t.archivo from archivo t where ${de('t')} and ${archivos} order by t.archivo) as archivos
   from guia v join comercio c on c.id = v.comercio_id where ${cuales} order by v.id limit ${LOTE}`

/** Reads the next guides of a telephone number. */
const EXPORTAR = statement<DeQuien & { desde: string }, Exportada>(
  'personas.exportar',
  exportarLas(
    DEL_TELEFONO,
    'v.telefono = :telefono and (:comercio_id::uuid is null or v.comercio_id = :comercio_id) and v.id > :desde',
  ),
  { alcance: 'todo' },
)
const EXPORTAR_UNA = statement<ClaveDeGuia, Exportada>(
  'personas.exportarGuia',
  exportarLas(DE_LA_GUIA, 'v.comercio_id = :comercio_id and v.modo = :modo and v.id = :guia_id'),
)

/**
 * Scans the next 2,000 bodies received from providers (table `entrante`), and returns those that contain the telephone
 * number.
 */
const ENTRANTES = statement<{ patron: string; desde: string }, { hasta: string | null; suyos: unknown }>(
  'personas.entrantes',
  `with v as (select * from entrante where id > :desde order by id limit 2000)
   select (select id from v order by id desc limit 1) as hasta,
     coalesce(jsonb_agg(to_jsonb(v) - '{id,huella}'::text[]) filter (where cuerpo ~ :patron), '[]') as suyos from v`,
)
const REPARTIDORES = statement<Pick<DeQuien, 'telefono'>, { repartidor: string; nombre: string; creado_en: Date }>(
  'personas.exportarRepartidores',
  'select repartidor, nombre, creado_en from repartidor where telefono = :telefono order by id',
)

type DepsDeExportacion = Pick<Deps, 'db' | 'reloj' | 'secretos' | 'bitacora' | 'ajustes'>

/**
 * Exports all stored data of a telephone number, by guide and table, with the dates until which the data is kept.
 * `anteriores` contains what guides that now have another telephone still store about this one, and `recogidas` the
 * pickups with it. Excludes secrets and digests.
 */
export async function exportarPersona(deps: DepsDeExportacion, quien: Quien, suya: DeQuien) {
  await deps.bitacora.consultada(quien, { accion: 'exportarPersona', campos: ['telefono'] })
  const { telefono, comercio_id } = suya
  const { consultar } = deps.db
  const guias = []
  for (let desde: string | undefined = PRIMERA; desde !== undefined; ) {
    const leidas: Exportada[] = await consultar(EXPORTAR, { ...suya, desde })
    for (const leida of leidas) {
      const correcciones = await exportarCorrecciones(deps, telefono, deGuia(leida))
      guias.push({ ...presentarExportada(deps, leida), correcciones })
    }
    desde = leidas.at(-1)?.id
  }
  return {
    telefono,
    hecho_en: deps.reloj().toISOString(),
    guias,
    anteriores: await exportarAnteriores(deps, suya),
    recogidas: await exportarRecogidas(deps, suya),
    // The bodies received from providers belong to no merchant, so the export for one merchant omits them.
    entrante: comercio_id === null ? await leerEntrantes(consultar, telefono) : [],
    repartidor: await consultar(REPARTIDORES, { telefono }),
  }
}

/** Exports all stored data of one guide, for a person who stands in it without a telephone. */
export async function exportarGuia(deps: DepsDeExportacion, quien: Quien, { guia }: DeUnaGuia) {
  await deps.bitacora.consultada(quien, { accion: 'exportarPersona', campos: ['guia'], sobre: ['guia', guia] })
  const fila = await hallarGuia(deps.db, { guia })
  const { consultar } = fila ? deps.db.de(fila.comercio_id) : deps.db
  const leidas = fila ? await consultar(EXPORTAR_UNA, deGuia(fila)) : []
  const guias = []
  for (const leida of leidas) {
    const correcciones = await leerCorrecciones(consultar, deps.secretos, deGuia(leida))
    guias.push({ ...presentarExportada(deps, leida), correcciones: correcciones.map(enTexto) })
  }
  return { hecho_en: deps.reloj().toISOString(), guias }
}

const enTexto = ({ secuencia, registrado_en, cambios }: Corregida) => ({
  secuencia,
  registrado_en: registrado_en.toISOString(),
  ...cambios,
})

function presentarExportada({ ajustes }: Pick<Deps, 'ajustes'>, leida: Exportada) {
  const { comercio, nombre, modo, guia, terminada, estado_en, entregado_en, archivos, tablas } = leida
  const tras = (desde: Date | null, dias: number) => desde && new Date(desde.getTime() + dias * DIA).toISOString()
  const fin = terminada ? estado_en : null
  return {
    guia,
    comercio: { comercio, nombre },
    modo,
    // Each date is null while its retention has not begun: the guide has not ended, or it has no proof.
    hasta: {
      personas: tras(fin, ajustes.retencionDePersonas),
      ubicaciones: tras(fin, ajustes.retencionDeUbicaciones),
      prueba: tras(entregado_en, ajustes.retencionDePruebas),
    },
    archivos,
    tablas,
  }
}

async function leerEntrantes(consultar: Query, telefono: string) {
  const patron = patronDe(telefono)
  const suyos: unknown[] = []
  for (let desde: string | null = PRIMERA; desde !== null; ) {
    const [paso]: { hasta: string | null; suyos: unknown }[] = await consultar(ENTRANTES, { patron, desde })
    suyos.push(...(paso!.suyos as unknown[]))
    desde = paso!.hasta
  }
  return suyos
}
