// A neighbour who takes the parcel, as a line of the indications for the courier. Pure functions.

/** Neighbour that the recipient names. */
export interface Vecino {
  nombre: string
  /** Words about the neighbour's door; empty if the recipient gave none. */
  donde: string
}

/** Longest texts about a neighbour, in characters. */
export const MAXIMOS_DE_VECINO = { nombre: 80, donde: 120 } as const

const INICIO = 'Dejar con un vecino: '
/** Longest indications of a guide, in characters, as the contract says. */
const MAXIMO = 500

/** Returns indications without the line about a neighbour; null if nothing is left. */
export function sinVecino(indicaciones: string | null): string | null {
  if (!indicaciones?.startsWith(INICIO)) return indicaciones
  return indicaciones.split('\n').slice(1).join('\n').trim() || null
}

/**
 * Returns indications that begin with a line about a neighbour, in place of an earlier one. The end of indications that
 * become too long is cut.
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
