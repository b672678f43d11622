import type { GuiaDeOperacion } from '../../generado/contrato/tipos/index.ts'
import { leerAsignaciones } from '../asignaciones/asignacion.ts'
import type { Deps } from '../deps.ts'
import { esFinal } from '../estados/estados.ts'
import { type FilaGuia, type GuiaLeida, presentar } from '../guias/guia.ts'
import { leerQuienes } from '../repartidores/repartidor.ts'

type FilaDeOperacion = (FilaGuia | GuiaLeida) & Pick<FilaGuia, 'custodio'> & { comercio: string }

/**
 * Converts guides for an operator. Adds to each guide its merchant, the courier who carries it, and its assignment.
 */
export async function presentarGuias(
  { db, ajustes }: Pick<Deps, 'db' | 'ajustes'>,
  filas: readonly FilaDeOperacion[],
): Promise<GuiaDeOperacion[]> {
  const [quienes, asignaciones] = await Promise.all([
    leerQuienes(
      db,
      filas.flatMap(({ custodio }) => custodio ?? []),
    ),
    leerAsignaciones(
      db,
      filas.flatMap(({ guia, estado }) => (esFinal(estado) ? [] : guia)),
    ),
  ])
  return filas.map((fila) => ({
    ...presentar(ajustes, fila),
    comercio: fila.comercio,
    repartidor: quienes.get(fila.custodio ?? '') ?? null,
    asignada_a: asignaciones.get(fila.guia) ?? null,
  }))
}
