import type { GuiaDeOperacion } from '../../generado/contrato/tipos/index.ts'
import type { Deps } from '../deps.ts'
import { type FilaGuia, type GuiaLeida, presentar } from '../guias/guia.ts'
import { leerQuienes } from '../repartidores/repartidor.ts'

type FilaDeOperacion = (FilaGuia | GuiaLeida) & Pick<FilaGuia, 'custodio'> & { comercio: string }

/** Converts guides for an operator. Adds to each guide its merchant and the courier who carries it. */
export async function presentarGuias(
  { db, ajustes }: Pick<Deps, 'db' | 'ajustes'>,
  filas: readonly FilaDeOperacion[],
): Promise<GuiaDeOperacion[]> {
  const quienes = await leerQuienes(
    db,
    filas.flatMap(({ custodio }) => custodio ?? []),
  )
  return filas.map((fila) => ({
    ...presentar(ajustes, fila),
    comercio: fila.comercio,
    repartidor: quienes.get(fila.custodio ?? '') ?? null,
  }))
}
