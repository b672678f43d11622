import type { Advertencia } from '@guias/sdk'
import { decirFalla } from './errores.ts'
import { avisar, limpio, pintarAviso } from './terminal.ts'

const sugerir = (sugerencia: Advertencia['sugerencia']): string => {
  if (sugerencia === null) return ''
  if (typeof sugerencia === 'string') return `¿${sugerencia}?`
  if ('lat' in sugerencia) return `¿${sugerencia.lat}, ${sugerencia.lng}?`
  return `¿${[...sugerencia.municipios, ...sugerencia.departamentos].join(', ')}?`
}

/**
 * Formats a warning of the service as one line: the field, the message and the suggested value, if any.
 *
 * @param dadas names of the options that the user gave; a field given as an option is shown as that option (`--lat`)
 */
export const decirAdvertencia = ({ campo, mensaje, sugerencia }: Advertencia, dadas?: readonly string[]) =>
  [decirFalla({ campo: campo ?? '', mensaje }, dadas), limpio(sugerir(sugerencia))].filter(Boolean).join(' ')

/** Prints the warnings of a guide, a line each. @param dadas names of the options that the user gave */
export function avisarAdvertencias(advertencias: readonly Advertencia[], dadas?: readonly string[]): void {
  for (const una of advertencias) avisar(`${pintarAviso('amarillo', 'Revise')} ${decirAdvertencia(una, dadas)}`)
}
