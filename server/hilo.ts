import type { DatosDeEtiqueta } from './etiquetas/pdf.ts'
import { atender } from './hilos/atender.ts'
import type { MarcaDeDocumento } from './marca/marca.ts'
import type { DatosDePrueba } from './pruebasEntrega/contenidoDelPdf.ts'

interface PedidoDeEtiquetas {
  marca: MarcaDeDocumento
  etiquetas: DatosDeEtiqueta[]
}

/**
 * Tasks that a thread does for the API and its workers: documents. A task loads its modules when the first document of
 * its kind is made.
 */
const TAREAS = {
  etiquetas: async ({ marca, etiquetas }: PedidoDeEtiquetas, senal: AbortSignal) =>
    (await import('./etiquetas/pdf.ts')).renderizarEtiquetas(marca, etiquetas, senal),
  prueba: async (datos: DatosDePrueba) => (await import('./pruebasEntrega/componerPdf.ts')).componerPdf(datos),
}

/** Tasks of {@link TAREAS}, as `Hilos` calls them. */
export type TareasDeHilo = typeof TAREAS

atender(TAREAS)
