// Neighbour who takes the parcel, as a line of the indications for the courier. Pure functions.

/** Neighbour that the recipient names. */
export interface Neighbour {
  nombre: string
  /** Description of the neighbour's door; empty if the recipient gave none. */
  donde: string
}

/** Maximum lengths of the texts about a neighbour, in characters. */
export const MAX_NEIGHBOUR_LENGTHS = { nombre: 80, donde: 120 } as const

const NEIGHBOUR_PREFIX = 'Dejar con un vecino: '
/** Maximum length of a guide's indications, in characters, as in the contract. */
const MAX_INSTRUCTIONS = 500

/** Returns the neighbour that the indications name, as «Rosa Caal, casa verde»; null if they name none. */
export const neighbourOf = (indicaciones: string | null): string | null =>
  indicaciones?.startsWith(NEIGHBOUR_PREFIX) ? indicaciones.slice(NEIGHBOUR_PREFIX.length).split('\n')[0]! : null

/** Returns the indications without the line about a neighbour; null if nothing else is left. */
export function withoutNeighbour(indicaciones: string | null): string | null {
  if (!indicaciones?.startsWith(NEIGHBOUR_PREFIX)) return indicaciones
  return indicaciones.split('\n').slice(1).join('\n').trim() || null
}

/**
 * Returns the indications with a line about the neighbour at the beginning, which replaces an earlier one. Cuts off the
 * end if the indications become too long.
 */
export function withNeighbour(indicaciones: string | null, { nombre, donde }: Neighbour): string {
  const line = `${NEIGHBOUR_PREFIX}${[nombre, donde].filter(Boolean).join(', ')}`
  const characters = [...[line, withoutNeighbour(indicaciones)].filter(Boolean).join('\n')]
  return characters.length <= MAX_INSTRUCTIONS
    ? characters.join('')
    : `${characters
        .slice(0, MAX_INSTRUCTIONS - 1)
        .join('')
        .trimEnd()}…`
}
