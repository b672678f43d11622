import type { Banco } from '../arnes/entorno.ts'
import type { ResultadoDeMedida } from '../arnes/informe.ts'

/** Measurement that `--solo` selects by its `clave`. */
export interface Medida {
  clave: string
  descripcion: string
  /** Returns true if the measurement runs only when `--solo` names it. */
  aparte?: (banco: Banco['opciones']) => boolean
  medir: (banco: Banco) => Promise<ResultadoDeMedida>
}
