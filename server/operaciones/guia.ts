import type { GuiaDeOperacion } from '../contrato/generado/tipos/index.ts'
import type { Db } from '../db.ts'
import { type FilaGuia, type GuiaLeida, presentar } from '../guias/guia.ts'
import { leerQuienes } from '../repartidores/repartidor.ts'

type FilaDeOperacion = GuiaLeida & Pick<FilaGuia, 'custodio'> & { comercio: string }

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
