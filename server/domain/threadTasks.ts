import type { FormatoDeEtiquetas } from '../generado/contrato/tipos/index.ts'
import type { DocumentBrand } from '../platform/brand/brand.ts'
import type { Resolution } from '../platform/zpl/zpl.ts'
import type { DatosDeEtiqueta } from './etiquetas/label.ts'
import type { DatosDePrueba } from './pruebasEntrega/contenidoDelPdf.ts'

interface Labels {
  marca: DocumentBrand
  etiquetas: DatosDeEtiqueta[]
}
interface PedidoDeEtiquetas extends Labels {
  formato: FormatoDeEtiquetas
}

/** Tasks that threads run for the API and the workers. Each task loads its libraries at its first use. */
export const THREAD_TASKS = {
  etiquetas: async ({ marca, etiquetas, formato }: PedidoDeEtiquetas, senal: AbortSignal) =>
    (await import('./etiquetas/pdf.ts')).renderizarEtiquetas(marca, etiquetas, formato, senal),
  zpl: async ({ marca, etiquetas, ppp }: Labels & { ppp: Resolution }, senal: AbortSignal) =>
    (await import('./etiquetas/zpl.ts')).renderZpl(marca, etiquetas, ppp, senal),
  prueba: async (datos: DatosDePrueba) => (await import('./pruebasEntrega/componerPdf.ts')).componerPdf(datos),
}

/** Type of the tasks, with the data and the result of each, for callers of `ThreadPool`. */
export type ServiceThreadTasks = typeof THREAD_TASKS
