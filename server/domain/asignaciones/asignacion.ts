import { type Db, type RowOf, statement } from '../../data/db.ts'
import { askByKey } from '../../data/owners.ts'
import type { asignacion } from '../../generated/contract/prisma/client.ts'
import type { Asignacion, Dia, Estado, Modo, ResultadosDeAsignar } from '../../generated/contract/types/index.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { Problema } from '../../platform/errors.ts'
import { addDays, dayIn } from '../../platform/time/day.ts'
import { companyTimeZone } from '../catalogo/timeZone.ts'
import type { Deps } from '../deps.ts'
import { HELD_STATES } from '../estados/custodia.ts'
import { ONGOING_STATES } from '../estados/estados.ts'
import { readRepartidorNames } from '../identities/repartidor.ts'
import { readAuthors } from '../operadores/operador.ts'
import { explainGuiaCode } from '../records/guiaLookup.ts'

export type AsignacionRow = RowOf<asignacion, { modo: Modo; fecha: Dia }>

/** Assignment of a guide, read by the guide's code. */
type AsignacionRead = Pick<AsignacionRow, 'repartidor' | 'fecha' | 'autor' | 'asignado_en'> & { guia: string }

const READ = statement<{ guias: readonly string[] }, AsignacionRead>(
  'asignaciones.read',
  'part',
  `select i.guia, a.repartidor, a.fecha::text as fecha, a.autor, a.asignado_en
   from guia_indice i join asignacion a on a.comercio_id = i.comercio_id and a.modo = i.modo and a.guia_id = i.id
   where i.guia = any(:guias::text[])`,
)

/**
 * Returns the assignments of guides, by the guide's code, in the contract's form. Guides without an assignment have no
 * entry.
 */
export async function readAsignaciones(db: Db, guias: readonly string[]): Promise<Map<string, Asignacion>> {
  if (guias.length === 0) return new Map()
  const rows = await askByKey(db, guias, ({ query }, partGuias) => query(READ, { guias: partGuias }))
  const [repartidoresByCode, authorOf] = await Promise.all([
    readRepartidorNames(
      db,
      rows.map(({ repartidor }) => repartidor),
    ),
    readAuthors(
      db,
      rows.map(({ autor }) => autor),
    ),
  ])
  return new Map(
    rows.map(({ guia, repartidor, fecha, autor, asignado_en }) => [
      guia,
      {
        ...repartidoresByCode.get(repartidor)!,
        fecha,
        autor: authorOf(autor),
        asignado_en: asignado_en.toISOString(),
      },
    ]),
  )
}

const OF_GUIA = statement<
  Pick<AsignacionRow, 'comercio_id' | 'modo' | 'guia_id'>,
  Pick<AsignacionRow, 'repartidor' | 'autor'>
>(
  'asignaciones.ofGuia',
  'merchant',
  `select repartidor, autor from asignacion where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id`,
)

/** Returns a guide's assigned courier and the author of the assignment; undefined if the guide is not assigned. */
export async function findAsignacion(
  db: Pick<Db, 'query'>,
  { comercio_id, modo, id }: { comercio_id: string; modo: Modo; id: string },
): Promise<Pick<AsignacionRow, 'repartidor' | 'autor'> | undefined> {
  const [row] = await db.query(OF_GUIA, { comercio_id, modo, guia_id: id })
  return row
}

/** Returns today's date in the company's time zone. */
export const companyDay = ({ clock, settings }: Pick<Deps, 'clock' | 'settings'>): Dia =>
  dayIn(clock(), companyTimeZone(settings.timeZone))

/** Number of days before today whose assignments still count, so that guides of a missed day are not lost. */
const PREVIOUS_DAYS = 7

/** Parameters of {@link TO_TAKE}. */
export interface ToTakeParams {
  dias: readonly Dia[]
  en_curso: readonly Estado[]
  held_states: readonly Estado[]
}

/** Returns the parameters of {@link TO_TAKE} for assignments up to `after` days after today. */
export function toTakeParams(deps: Pick<Deps, 'clock' | 'settings'>, after = 0): ToTakeParams {
  const today = companyDay(deps)
  const dias = Array.from({ length: PREVIOUS_DAYS + 1 + after }, (_, i) => addDays(today, i - PREVIOUS_DAYS))
  return { dias, en_curso: ONGOING_STATES, held_states: HELD_STATES }
}

/**
 * SQL condition that the guide `g` of the assignment `a` has not ended, and that the assigned courier does not carry it
 * yet.
 */
export const TO_TAKE = `a.fecha = any(:dias::text[]::date[]) and g.estado = any(:en_curso::text[])
     and (g.custodio is distinct from a.repartidor or g.estado <> all(:held_states::text[]))`

type AsignacionResult = ResultadosDeAsignar['resultados'][number]

/** Result for one guide: true if its assignment was already so before the request, or a problem. */
export type AsignacionVerdict = { repetida: boolean } | Problema

/**
 * Returns a result for each requested code, in input order. Different spellings of one code get the same result.
 * @param verdicts results by the guide's code; a guide without a result is unknown
 */
export function presentResults(
  { settings }: Pick<Deps, 'settings'>,
  requestId: string,
  sentCodes: readonly string[],
  verdicts: ReadonlyMap<string, AsignacionVerdict>,
): AsignacionResult[] {
  const unknownGuia = new Problema('guia_desconocida', 'No hay ninguna guía con ese identificador.')
  return sentCodes.map((written, indice): AsignacionResult => {
    const guia = normalizeGuideCode(written)
    const verdict =
      guia === undefined
        ? new Problema('guia_desconocida', explainGuiaCode(written))
        : (verdicts.get(guia) ?? unknownGuia)
    return verdict instanceof Problema
      ? { indice, ok: false, error: verdict.present(requestId, settings.publicUrl) }
      : { indice, ok: true, guia: guia!, repetida: verdict.repetida }
  })
}

/** Returns the guide codes among texts that a person typed, each once. */
export const toGuiaCodes = (writtenCodes: readonly string[]): string[] => [
  ...new Set(writtenCodes.flatMap((written) => normalizeGuideCode(written) ?? [])),
]
