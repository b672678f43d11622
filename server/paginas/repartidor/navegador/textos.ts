/** A text without accents and case. */
export const llano = (texto: string) => texto.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
