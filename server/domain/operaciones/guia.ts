import type { Db } from '../../data/db.ts'
import type { GuiaDeOperacion } from '../../generado/contrato/tipos/index.ts'
import { type FilaGuia, type GuiaLeida, presentar } from '../guias/guia.ts'
import { leerQuienes } from '../repartidores/repartidor.ts'

type FilaDeOperacion = (FilaGuia | GuiaLeida) & Pick<FilaGuia, 'custodio'> & { comercio: string }

/** Converts guides for an operator. Adds to each guide its merchant and the courier who carries it. */
export async function presentarGuias(db: Db, filas: readonly FilaDeOperacion[]): Promise<GuiaDeOperacion[]> {
  const quienes = await leerQuienes(
    db,
    filas.flatMap(({ custodio }) => custodio ?? []),
  )
  return filas.map((fila) => ({
    ...presentar(fila),
    comercio: fila.comercio,
    repartidor: quienes.get(fila.custodio ?? '') ?? null,
  }))
}
