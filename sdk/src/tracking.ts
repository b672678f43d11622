import { ErrorGuias, ErrorTiempo, parseRetryAfter } from './errors.js'
import type { ArchivoDePrueba, GuiaConEventos, PruebaDeEntrega } from './generated/types.gen.js'
import type { OpcionesDeSolicitud } from './options.js'
import type { Respuesta } from './request.js'
import { sleepUnlessAborted } from './retries.js'

/** Opciones de `api.guias.seguir`: cada cuánto se pregunta por la guía, y cuánto historial viene con ella. */
export interface OpcionesDeSeguimiento extends OpcionesDeSolicitud {
  /** Milisegundos entre una pregunta y la siguiente; 5 000 si falta. */
  intervalo?: number | undefined
  /** Número de eventos del historial que vienen con la guía, de 1 a 100; 25 si falta. */
  limite?: number | undefined
}

/** Opciones de `api.guias.esperarPrueba`. */
export interface OpcionesDeEspera extends OpcionesDeSolicitud {
  /** Milisegundos que se espera el PDF, sin contar la última solicitud; 60 000 si falta. */
  espera?: number | undefined
}

/** Prueba de entrega entera: con su PDF, y con el manifiesto firmado. */
export interface PruebaConPdf extends PruebaDeEntrega {
  pdf: ArchivoDePrueba
  manifiesto: string
}

/**
 * Asks for a proof until its PDF is there, as often as `Retry-After` says.
 *
 * @throws ErrorTiempo if it would not be there in time
 */
export async function waitForPruebaPdf(
  request: () => Promise<Respuesta<PruebaDeEntrega>>,
  { espera = 60_000, signal }: OpcionesDeEspera,
): Promise<PruebaConPdf> {
  const deadline = performance.now() + espera
  for (;;) {
    const { datos, cabeceras } = await request()
    if (datos.pdf && datos.manifiesto) return datos as PruebaConPdf
    const segundos = parseRetryAfter(cabeceras) ?? 2
    if (performance.now() + segundos * 1000 > deadline)
      throw new ErrorTiempo(`El PDF de la prueba no estuvo en ${espera} ms: pídala dentro de ${segundos} s.`, espera)
    await sleepUnlessAborted(segundos * 1000, signal)
  }
}

/**
 * Checks the interval.
 * @throws ErrorGuias if `intervalMs` is not above 0 milliseconds
 */
export function checkInterval(intervalMs: number) {
  if (!(intervalMs > 0)) throw new ErrorGuias('intervalo debe ser un número de milisegundos mayor que 0.')
}

/** States that a guide never leaves: `finales` of the contract's `x-transiciones`. */
const FINAL_ESTADOS: readonly string[] = ['entregado', 'devuelto', 'cancelado']

/**
 * Yields a guide at once and after each change, until its final state. Between two requests, only the entity tag stays
 * in memory.
 *
 * @throws ErrorGuias if `intervalMs` is not above 0 milliseconds
 */
export async function* followGuia(
  request: (opciones: OpcionesDeSolicitud) => Promise<Respuesta<GuiaConEventos | undefined>>,
  intervalMs = 5_000,
  opciones: OpcionesDeSolicitud = {},
): AsyncGenerator<GuiaConEventos, void, undefined> {
  checkInterval(intervalMs)
  let etag: string | null = null
  for (;;) {
    const { datos, cabeceras } = await request(
      etag ? { ...opciones, cabeceras: { ...opciones.cabeceras, 'If-None-Match': etag } } : opciones,
    )
    if (datos) {
      etag = cabeceras.get('etag')
      yield datos
      if (FINAL_ESTADOS.includes(datos.estado)) return
    }
    await sleepUnlessAborted(intervalMs, opciones.signal)
  }
}
