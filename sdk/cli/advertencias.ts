import type { Advertencia } from '@guias/sdk'
import { formatFailure } from './errors.ts'
import { notify, paintNotice, sanitize } from './terminal.ts'

const formatSuggestion = (sugerencia: Advertencia['sugerencia']): string => {
  if (sugerencia === null) return ''
  if (typeof sugerencia === 'string') return `¿${sugerencia}?`
  if ('lat' in sugerencia) return `¿${sugerencia.lat}, ${sugerencia.lng}?`
  return `¿${[...sugerencia.municipios, ...sugerencia.departamentos].join(', ')}?`
}

/**
 * Formats a warning of the service as one line: the field, the message and the suggested value, if any.
 *
 * @param givenOptions names of the options that the user gave; a field given as an option is shown as that option (`--lat`)
 */
export const formatAdvertencia = ({ campo, mensaje, sugerencia }: Advertencia, givenOptions?: readonly string[]) =>
  [formatFailure({ campo: campo ?? '', mensaje }, givenOptions), sanitize(formatSuggestion(sugerencia))]
    .filter(Boolean)
    .join(' ')

/** Prints the warnings of a guide, a line each. @param givenOptions names of the options that the user gave */
export function notifyAdvertencias(advertencias: readonly Advertencia[], givenOptions?: readonly string[]): void {
  for (const advertencia of advertencias)
    notify(`${paintNotice('yellow', 'Revise')} ${formatAdvertencia(advertencia, givenOptions)}`)
}
