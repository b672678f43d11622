import type { Advertencia } from '@guias/sdk'
import { decirFalla } from './errores.ts'
import { limpio } from './terminal.ts'

const sugerir = (sugerencia: Advertencia['sugerencia']): string => {
  if (sugerencia === null) return ''
  if (typeof sugerencia === 'string') return `¿${sugerencia}?`
  if ('lat' in sugerencia) return `¿${sugerencia.lat}, ${sugerencia.lng}?`
  return `¿${[...sugerencia.municipios, ...sugerencia.departamentos].join(', ')}?`
}

/** One line that says what is worth reviewing in a guide, in which field, and what was perhaps meant. */
export const decirAdvertencia = ({ campo, mensaje, sugerencia }: Advertencia, dadas?: readonly string[]) =>
  [decirFalla({ campo: campo ?? '', mensaje }, dadas), limpio(sugerir(sugerencia))].filter(Boolean).join(' ')
