import type { GuiaDeOperacion } from '../../generated/contract/types/index.ts'
import { readAsignaciones } from '../asignaciones/asignacion.ts'
import type { Deps } from '../deps.ts'
import { isFinalState } from '../estados/estados.ts'
import { readRepartidorNames } from '../identities/repartidor.ts'
import type { GuiaInJson, GuiaRow } from '../records/guiaFields.ts'
import { present } from '../records/guiaPresentation.ts'

type OperacionGuiaRow = (GuiaRow | GuiaInJson) & Pick<GuiaRow, 'custodio'> & { comercio: string }

/**
 * Converts guides for an operator. Adds to each guide its merchant, the courier who carries it, and its assignment.
 */
export async function presentOperacionGuias(
  { db, settings }: Pick<Deps, 'db' | 'settings'>,
  rows: readonly OperacionGuiaRow[],
): Promise<GuiaDeOperacion[]> {
  const [repartidoresByCode, asignaciones] = await Promise.all([
    readRepartidorNames(
      db,
      rows.flatMap(({ custodio }) => custodio ?? []),
    ),
    readAsignaciones(
      db,
      rows.flatMap(({ guia, estado }) => (isFinalState(estado) ? [] : guia)),
    ),
  ])
  return rows.map((row) => ({
    ...present(settings, row),
    comercio: row.comercio,
    repartidor: repartidoresByCode.get(row.custodio ?? '') ?? null,
    asignada_a: asignaciones.get(row.guia) ?? null,
  }))
}
