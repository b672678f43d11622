import type { DatosDeEtiqueta } from '../domain/etiquetas/pdf.ts'
import type { DatosDePrueba } from '../domain/pruebasEntrega/contenidoDelPdf.ts'
import type { MarcaDeDocumento } from '../platform/brand/brand.ts'
import { atender } from '../platform/threads/serve.ts'

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
    (await import('../domain/etiquetas/pdf.ts')).renderizarEtiquetas(marca, etiquetas, senal),
  prueba: async (datos: DatosDePrueba) => (await import('../domain/pruebasEntrega/componerPdf.ts')).componerPdf(datos),
}

/** Tasks of {@link TAREAS}, as `Hilos` calls them. */
export type TareasDeHilo = typeof TAREAS

atender(TAREAS)
