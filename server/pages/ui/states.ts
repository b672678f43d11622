import * as icons from '../../generado/contrato/iconos.ts'
import type { Estado } from '../../generado/contrato/tipos/index.ts'

/**
 * Tone of a state, which stands for a meaning such as success or warning. `tone.css` defines the colours of each tone.
 */
export type Tone = 'espera' | 'viaje' | 'bien' | 'aviso' | 'mal' | 'vuelta'

/** Colour and icon of a state of a guide. */
interface StateLook {
  tono: Tone
  icono: string
}

/** Look of each state on every page. The type requires an entry for every state of the contract. */
export const STATE_LOOKS: Readonly<Record<Estado, StateLook>> = {
  aceptado: { tono: 'espera', icono: icons.CircleDashed },
  recolectado: { tono: 'viaje', icono: icons.Package },
  en_bodega: { tono: 'viaje', icono: icons.Warehouse },
  en_transito: { tono: 'viaje', icono: icons.Route },
  en_ruta: { tono: 'viaje', icono: icons.Truck },
  intento_fallido: { tono: 'aviso', icono: icons.TriangleAlert },
  entregado: { tono: 'bien', icono: icons.CircleCheck },
  en_devolucion: { tono: 'vuelta', icono: icons.Undo2 },
  devuelto: { tono: 'vuelta', icono: icons.Store },
  extraviado: { tono: 'mal', icono: icons.CircleQuestionMark },
  cancelado: { tono: 'espera', icono: icons.Ban },
}
