import type { Dia, Franja } from '../../generado/contrato/tipos/index.ts'
import { corregirTomada, type QuienCorrige } from '../correcciones/correccion.ts'
import type { AmbitoDeGuias, FilaGuia } from '../guias/guia.ts'
import { conGuiaTomada, type DepsDeTomada } from '../guias/tomada.ts'
import type { Recordar } from '../idempotencia/idempotencia.ts'
import { type DepsDeDecision, devolverTomada, type QuienDecide, reintentarTomada } from './lockedGuide.ts'

export {
  crearDecisiones,
  type DatosDeDecision,
  type Decisiones,
  type Eleccion,
  type Respuesta,
  responderTomada,
} from './destinatario.ts'
export { exigirSinTomar } from './lockedGuide.ts'
export { MAXIMOS_DE_VECINO } from './vecino.ts'
export { vencerTomada } from './vencer.ts'

/** Another delivery attempt, as the request describes it. */
interface Reintento {
  fecha?: Dia | undefined
  franja?: Franja | undefined
  /** Fields of the guide that the request corrects. */
  campos: Parameters<typeof corregirTomada>[3]
  /** Sequence number that the guide must have; undefined: any. */
  secuencia?: number | undefined
}

/**
 * Decides on another delivery attempt, and corrects fields of the guide, in one transaction. Without a requested day,
 * takes the first possible one.
 * @param recordar stores the request's key in the same transaction
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `decision_tomada`, `decision_no_admitida`, `carrera_perdida`, or one of a correction; 422
 */
export function reintentarGuiaDe(
  deps: DepsDeDecision,
  quien: QuienDecide & QuienCorrige,
  codigo: string,
  { fecha, franja, campos, secuencia }: Reintento,
  recordar: Recordar,
): Promise<FilaGuia & { comercio: string }> {
  return conGuiaTomada(deps, quien.ambito, codigo, secuencia, recordar, (escritor, tomada) =>
    reintentarTomada(deps, escritor, quien, tomada, {
      fecha,
      franja,
      cambiar: async () =>
        Object.keys(campos).length > 0 ? corregirTomada(escritor, quien, tomada, campos) : (tomada as FilaGuia),
    }),
  )
}

/**
 * Decides that a parcel returns to the sender. The return begins at once unless a courier is on the way with the
 * parcel; then it begins with the next scan. A parcel that is already returning stays as it is.
 * @param recordar stores the request's key in the same transaction
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `decision_tomada` or `transicion_invalida`
 */
export const devolverGuiaDe = (
  deps: DepsDeTomada,
  { ambito, ...quien }: QuienDecide & { ambito: AmbitoDeGuias },
  codigo: string,
  recordar: Recordar,
): Promise<FilaGuia & { comercio: string }> =>
  conGuiaTomada(deps, ambito, codigo, undefined, recordar, (escritor, tomada) =>
    devolverTomada(escritor, quien, tomada),
  )
