import type { FormatoDeEtiquetas } from '../generated/contract/types/index.ts'
import type { DocumentBrand } from '../platform/brand/brand.ts'
import type { Resolution } from '../platform/zpl/zpl.ts'
import type { EtiquetaData } from './etiquetas/label.ts'
import type { PruebaData } from './pruebasEntrega/pdfContent.ts'

interface Labels {
  brand: DocumentBrand
  etiquetas: EtiquetaData[]
}
interface EtiquetasTask extends Labels {
  formato: FormatoDeEtiquetas
}

/** Tasks that threads run for the API and the workers. Each task loads its libraries at its first use. */
export const THREAD_TASKS = {
  etiquetas: async ({ brand, etiquetas, formato }: EtiquetasTask, signal: AbortSignal) =>
    (await import('./etiquetas/pdf.ts')).renderEtiquetas(brand, etiquetas, formato, signal),
  zpl: async ({ brand, etiquetas, ppp }: Labels & { ppp: Resolution }, signal: AbortSignal) =>
    (await import('./etiquetas/zpl.ts')).renderZpl(brand, etiquetas, ppp, signal),
  prueba: async (datos: PruebaData) => (await import('./pruebasEntrega/composePdf.ts')).composePdf(datos),
}

/** Type of the tasks, with the data and the result of each, for callers of `ThreadPool`. */
export type ServiceThreadTasks = typeof THREAD_TASKS
