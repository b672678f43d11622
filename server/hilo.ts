import type { DatosDeEtiqueta } from './etiquetas/pdf.ts'
import { atender } from './hilos/atender.ts'
import type { DatosDePrueba } from './pruebasEntrega/contenidoDelPdf.ts'

/** What a thread does for the API and its workers: documents. Each loads what it takes when the first of its kind is made. */
const TAREAS = {
  etiquetas: async (etiquetas: DatosDeEtiqueta[], senal: AbortSignal) =>
    (await import('./etiquetas/pdf.ts')).renderizarEtiquetas(etiquetas, senal),
  prueba: async (datos: DatosDePrueba) => (await import('./pruebasEntrega/componerPdf.ts')).componerPdf(datos),
}

export type TareasDeHilo = typeof TAREAS

atender(TAREAS)
