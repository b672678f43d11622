// Neighbour who takes the parcel, as a line of the indications for the courier. Pure functions.

/** Neighbour that the recipient names. */
export interface Vecino {
  nombre: string
  /** Description of the neighbour's door; empty if the recipient gave none. */
  donde: string
}

/** Maximum lengths of the texts about a neighbour, in characters. */
export const MAXIMOS_DE_VECINO = { nombre: 80, donde: 120 } as const

const INICIO = 'Dejar con un vecino: '
/** Maximum length of a guide's indications, in characters, as in the contract. */
const MAXIMO = 500

/** Returns the indications without the line about a neighbour; null if nothing else is left. */
export function sinVecino(indicaciones: string | null): string | null {
  if (!indicaciones?.startsWith(INICIO)) return indicaciones
  return indicaciones.split('\n').slice(1).join('\n').trim() || null
}

/**
 * Returns the indications with a line about the neighbour at the beginning, which replaces an earlier one. Cuts off the
 * end if the indications become too long.
 */
export function conVecino(indicaciones: string | null, { nombre, donde }: Vecino): string {
  const linea = `${INICIO}${[nombre, donde].filter(Boolean).join(', ')}`
  const todo = [...[linea, sinVecino(indicaciones)].filter(Boolean).join('\n')]
  return todo.length <= MAXIMO
    ? todo.join('')
    : `${todo
        .slice(0, MAXIMO - 1)
        .join('')
        .trimEnd()}…`
}
