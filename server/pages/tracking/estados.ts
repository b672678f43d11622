import type { Estado, TipoDeEvento } from '../../generated/contract/types/index.ts'
import { DESCRIPCIONES_DE_MOTIVO } from '../../generated/contract/vocabulary.ts'
import type { Html } from '../../platform/html.ts'
import { progress } from '../ui/components.ts'
import type { ShownShipment } from './shipment.ts'

/** Steps of a parcel on its way, in plain words. A state that belongs to no step has no progress line. */
const OUTWARD_WAY: readonly (readonly [paso: string, estados: readonly Estado[]])[] = [
  ['Registrado', ['aceptado']],
  ['Recolectado', ['recolectado']],
  ['En camino', ['en_bodega', 'en_transito']],
  ['En ruta', ['en_ruta', 'intento_fallido']],
  ['Entregado', ['entregado']],
]
const RETURN_WAY: typeof OUTWARD_WAY = [
  ['Registrado', []],
  ['Recolectado', []],
  ['De regreso', ['en_devolucion']],
  ['Devuelto', ['devuelto']],
]

/** Draws the progress of a parcel as a line of steps; false if its state belongs to no step. */
export function renderProgress(estado: Estado): Html | false {
  for (const way of [OUTWARD_WAY, RETURN_WAY]) {
    const current = way.findIndex(([, estados]) => estados.includes(estado))
    if (current === -1) continue
    return progress(
      'Avance del envío',
      way.map(([step]) => step),
      current,
    )
  }
  return false
}

/** Events whose reason is public. The reason for a lost parcel concerns only the courier company and the merchant. */
const WITH_REASON: readonly TipoDeEvento[] = ['guia.intento_fallido', 'guia.en_devolucion']

/**
 * Returns the reason of an event in plain words; undefined if there is no reason, it is `otro`, or it is not public.
 */
export const reasonOf = ({ tipo, motivo }: ShownShipment['eventos'][number]): string | undefined =>
  motivo !== null && motivo !== 'otro' && WITH_REASON.includes(tipo) ? DESCRIPCIONES_DE_MOTIVO[motivo] : undefined
