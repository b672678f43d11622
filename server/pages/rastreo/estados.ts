import type { Estado, TipoDeEvento } from '../../generado/contrato/tipos/index.ts'
import { DESCRIPCIONES_DE_MOTIVO } from '../../generado/contrato/vocabulario.ts'
import type { Html } from '../html.ts'
import { progress } from '../ui/components.ts'
import type { EnvioMostrado } from './envio.ts'

/** Steps of a parcel on its way, in plain words. A state that belongs to no step has no progress line. */
const IDA: readonly (readonly [paso: string, estados: readonly Estado[]])[] = [
  ['Registrado', ['aceptado']],
  ['Recolectado', ['recolectado']],
  ['En camino', ['en_bodega', 'en_transito']],
  ['En ruta', ['en_ruta', 'intento_fallido']],
  ['Entregado', ['entregado']],
]
const VUELTA: typeof IDA = [
  ['Registrado', []],
  ['Recolectado', []],
  ['De regreso', ['en_devolucion']],
  ['Devuelto', ['devuelto']],
]

/** Draws the progress of a parcel as a line of steps; false if its state belongs to no step. */
export function avance(estado: Estado): Html | false {
  for (const camino of [IDA, VUELTA]) {
    const actual = camino.findIndex(([, estados]) => estados.includes(estado))
    if (actual === -1) continue
    return progress(
      'Avance del envío',
      camino.map(([paso]) => paso),
      actual,
    )
  }
  return false
}

/** Events whose reason is public. The reason for a lost parcel concerns only the courier company and the merchant. */
const CON_MOTIVO: readonly TipoDeEvento[] = ['guia.intento_fallido', 'guia.en_devolucion']

/**
 * Returns the reason of an event in plain words; undefined if there is no reason, it is `otro`, or it is not public.
 */
export const porQue = ({ tipo, motivo }: EnvioMostrado['eventos'][number]): string | undefined =>
  motivo !== null && motivo !== 'otro' && CON_MOTIVO.includes(tipo) ? DESCRIPCIONES_DE_MOTIVO[motivo] : undefined
