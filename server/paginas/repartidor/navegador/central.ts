const { central, llamar } = document.getElementById('app')!.dataset

/** The operator's central, as its number is read and as it is called; null where none is configured. */
export const CENTRAL = central && llamar ? { visible: central, e164: llamar } : null
