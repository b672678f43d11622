/** Returns a text in lower case and without accents. */
export const foldText = (texto: string) => texto.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
