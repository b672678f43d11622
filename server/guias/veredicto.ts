import type { Modo } from '../contrato/generado/tipos/index.ts'
import type { Problema } from '../errores.ts'
import type { FilaGuia } from './guia.ts'
import type { DatosDeGuia } from './normalizar.ts'

/** What became of one guide: created, already there with the same content, or refused. */
export type Veredicto = { fila: FilaGuia; repetida: boolean } | { problema: Problema }

/** What creates guides. */
export interface Escritura {
  /** Creates one guide. Concurrent calls of one merchant and mode share a statement. */
  crear(comercioId: string, modo: Modo, datos: DatosDeGuia): Promise<Veredicto>
  /** Creates many in one statement; a faulty one doesn't fail its neighbours. The verdicts stand in the order of `datos`. */
  crearVarias(comercioId: string, modo: Modo, datos: readonly DatosDeGuia[]): Promise<Veredicto[]>
}
