import * as icons from '../../generated/contract/icons.ts'
import type { Estado } from '../../generated/contract/types/index.ts'

/**
 * Tone of a state, which stands for a meaning such as success or warning. `tone.css` defines the colours of each tone.
 */
export type Tone = 'espera' | 'viaje' | 'bien' | 'aviso' | 'mal' | 'vuelta'

/** Colour and icon of a state of a guide. */
interface StateLook {
  tone: Tone
  icon: string
}

/** Look of each state on every page. The type requires an entry for every state of the contract. */
export const STATE_LOOKS: Readonly<Record<Estado, StateLook>> = {
  aceptado: { tone: 'espera', icon: icons.CircleDashed },
  recolectado: { tone: 'viaje', icon: icons.Package },
  en_bodega: { tone: 'viaje', icon: icons.Warehouse },
  en_transito: { tone: 'viaje', icon: icons.Route },
  en_ruta: { tone: 'viaje', icon: icons.Truck },
  intento_fallido: { tone: 'aviso', icon: icons.TriangleAlert },
  entregado: { tone: 'bien', icon: icons.CircleCheck },
  en_devolucion: { tone: 'vuelta', icon: icons.Undo2 },
  devuelto: { tone: 'vuelta', icon: icons.Store },
  extraviado: { tone: 'mal', icon: icons.CircleQuestionMark },
  cancelado: { tone: 'espera', icon: icons.Ban },
}
