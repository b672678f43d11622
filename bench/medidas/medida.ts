import type { Banco } from '../arnes/entorno.ts'
import type { Resultado } from '../arnes/informe.ts'

/** One measurement: what is asked for with `--solo`. */
export interface Medida {
  clave: string
  descripcion: string
  /** True: only when asked for. */
  aparte?: (banco: Banco['opciones']) => boolean
  medir: (banco: Banco) => Promise<Resultado>
}
