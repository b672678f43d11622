import { type Db, type RowOf, statement } from '../../data/db.ts'
import { askByKey } from '../../data/owners.ts'
import type { asignacion } from '../../generado/contrato/prisma/client.ts'
import type { Asignacion, Dia, Estado, Modo, ResultadosDeAsignar } from '../../generado/contrato/tipos/index.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { Problema } from '../../platform/errors.ts'
import { addDays, dayIn } from '../../platform/time/day.ts'
import { zonaDeLaEmpresa } from '../catalogo/zona.ts'
import type { Deps } from '../deps.ts'
import { EN_MANOS } from '../estados/custodia.ts'
import { EN_CURSO } from '../estados/estados.ts'
import { explicarCodigo } from '../guias/guia.ts'
import { leerAutores } from '../operadores/operador.ts'
import { leerQuienes } from '../repartidores/repartidor.ts'

/** Row of `asignacion`. */
export type FilaAsignacion = RowOf<asignacion, { modo: Modo; fecha: Dia }>

/** Assignment of a guide, read by the guide's code. */
type AsignacionLeida = Pick<FilaAsignacion, 'repartidor' | 'fecha' | 'autor' | 'asignado_en'> & { guia: string }

const LEER = statement<{ guias: readonly string[] }, AsignacionLeida>(
  'asignaciones.leer',
  `select i.guia, a.repartidor, a.fecha::text as fecha, a.autor, a.asignado_en
   from guia_indice i join asignacion a on a.comercio_id = i.comercio_id and a.modo = i.modo and a.guia_id = i.id
   where i.guia = any(:guias::text[])`,
  { alcance: 'parte' },
)

/**
 * Returns the assignments of guides, by the guide's code, in the contract's form. Guides without an assignment have no
 * entry.
 */
export async function leerAsignaciones(db: Db, guias: readonly string[]): Promise<Map<string, Asignacion>> {
  if (guias.length === 0) return new Map()
  const filas = await askByKey(db, guias, ({ consultar }, unas) => consultar(LEER, { guias: unas }))
  const [quienes, autores] = await Promise.all([
    leerQuienes(
      db,
      filas.map(({ repartidor }) => repartidor),
    ),
    leerAutores(
      db,
      filas.map(({ autor }) => autor),
    ),
  ])
  return new Map(
    filas.map(({ guia, repartidor, fecha, autor, asignado_en }) => [
      guia,
      {
        ...quienes.get(repartidor)!,
        fecha,
        autor: autores(autor),
        asignado_en: asignado_en.toISOString(),
      },
    ]),
  )
}

const DE_GUIA = statement<
  Pick<FilaAsignacion, 'comercio_id' | 'modo' | 'guia_id'>,
  Pick<FilaAsignacion, 'repartidor' | 'autor'>
>(
  'asignaciones.deGuia',
  `select repartidor, autor from asignacion where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id`,
)

/** Returns a guide's assigned courier and the author of the assignment; undefined if the guide is not assigned. */
export async function buscarAsignacion(
  db: Pick<Db, 'consultar'>,
  { comercio_id, modo, id }: { comercio_id: string; modo: Modo; id: string },
): Promise<Pick<FilaAsignacion, 'repartidor' | 'autor'> | undefined> {
  const [fila] = await db.consultar(DE_GUIA, { comercio_id, modo, guia_id: id })
  return fila
}

/** Returns today's date in the company's time zone. */
export const diaDeLaEmpresa = ({ reloj, ajustes }: Pick<Deps, 'reloj' | 'ajustes'>): Dia =>
  dayIn(reloj(), zonaDeLaEmpresa(ajustes.zonaHoraria))

/** Number of days before today whose assignments still count, so that guides of a missed day are not lost. */
const DIAS_ANTERIORES = 7

/** Parameters of {@link POR_TOMAR}. */
export interface ParametrosPorTomar {
  dias: readonly Dia[]
  en_curso: readonly Estado[]
  en_manos: readonly Estado[]
}

/** Returns the parameters of {@link POR_TOMAR} for assignments up to `despues` days after today. */
export function paramsPorTomar(deps: Pick<Deps, 'reloj' | 'ajustes'>, despues = 0): ParametrosPorTomar {
  const hoy = diaDeLaEmpresa(deps)
  const dias = Array.from({ length: DIAS_ANTERIORES + 1 + despues }, (_, i) => addDays(hoy, i - DIAS_ANTERIORES))
  return { dias, en_curso: EN_CURSO, en_manos: EN_MANOS }
}

/**
 * SQL condition that the guide `g` of the assignment `a` has not ended, and that the assigned courier does not carry it
 * yet.
 */
export const POR_TOMAR = `a.fecha = any(:dias::text[]::date[]) and g.estado = any(:en_curso::text[])
     and (g.custodio is distinct from a.repartidor or g.estado <> all(:en_manos::text[]))`

type Resultado = ResultadosDeAsignar['resultados'][number]

/** Result for one guide: true if its assignment was already so before the request, or a problem. */
export type Veredicto = { repetida: boolean } | Problema

/**
 * Returns a result for each requested code, in input order. Different spellings of one code get the same result.
 * @param veredictos results by the guide's code; a guide without a result is unknown
 */
export function presentarResultados(
  { ajustes }: Pick<Deps, 'ajustes'>,
  idSolicitud: string,
  enviadas: readonly string[],
  veredictos: ReadonlyMap<string, Veredicto>,
): Resultado[] {
  const desconocida = new Problema('guia_desconocida', 'No hay ninguna guía con ese identificador.')
  return enviadas.map((escrita, indice): Resultado => {
    const guia = normalizeGuideCode(escrita)
    const veredicto =
      guia === undefined
        ? new Problema('guia_desconocida', explicarCodigo(escrita))
        : (veredictos.get(guia) ?? desconocida)
    return veredicto instanceof Problema
      ? { indice, ok: false, error: veredicto.presentar(idSolicitud, ajustes.urlPublica) }
      : { indice, ok: true, guia: guia!, repetida: veredicto.repetida }
  })
}

/** Returns the guide codes among texts that a person typed, each once. */
export const codigosDe = (escritas: readonly string[]): string[] => [
  ...new Set(escritas.flatMap((escrita) => normalizeGuideCode(escrita) ?? [])),
]
