import { ErrorGuias } from './errores.js'
import type { GuiaConEventos } from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import { dormir } from './reintentos.js'
import type { Respuesta } from './solicitud.js'

/** Opciones de `api.guias.seguir`: cada cuánto se pregunta por la guía, y cuánto historial viene con ella. */
export interface OpcionesDeSeguimiento {
  /** Milisegundos entre una pregunta y la siguiente; 5 000 si falta. */
  intervalo?: number | undefined
  /** Número de eventos del historial que vienen con la guía, de 1 a 100; 25 si falta. */
  limite?: number | undefined
}

/**
 * Checks the interval. ¶
 * @throws ErrorGuias if `intervalo` is not above 0 milliseconds
 */
export function revisarIntervalo(intervalo: number) {
  if (!(intervalo > 0)) throw new ErrorGuias('intervalo debe ser un número de milisegundos mayor que 0.')
}

/** States that a guide never leaves: `finales` of the contract's `x-transiciones`. */
const FINALES: readonly string[] = ['entregado', 'devuelto', 'cancelado']

/**
 * Yields a guide at once and after each change, until its final state. Between two requests, only the entity tag stays
 * in memory.
 *
 * @throws ErrorGuias if `intervalo` is not above 0 milliseconds
 */
export async function* seguir(
  pedir: (opciones: OpcionesDeSolicitud) => Promise<Respuesta<GuiaConEventos | undefined>>,
  intervalo = 5_000,
  opciones: OpcionesDeSolicitud = {},
): AsyncGenerator<GuiaConEventos, void, undefined> {
  revisarIntervalo(intervalo)
  let etag: string | null = null
  for (;;) {
    const { datos, cabeceras } = await pedir(
      etag ? { ...opciones, cabeceras: { ...opciones.cabeceras, 'If-None-Match': etag } } : opciones,
    )
    if (datos) {
      etag = cabeceras.get('etag')
      yield datos
      if (FINALES.includes(datos.estado)) return
    }
    await dormir(intervalo, opciones.signal)
  }
}
