/** Copies a text; false where the browser doesn't let it. */
export const copiarTexto = (texto: string): Promise<boolean> =>
  navigator.clipboard.writeText(texto).then(
    () => true,
    () => false,
  )
