const { central, llamar: callNumber } = document.getElementById('app')!.dataset

/** Telephone of the operator's central office, as shown and as dialled; null if none is configured. */
export const CENTRAL = central && callNumber ? { visible: central, e164: callNumber } : null
