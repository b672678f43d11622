/**
 * Copies a text to the clipboard.
 * @returns false if the browser refuses
 */
export const copyText = (texto: string): Promise<boolean> =>
  navigator.clipboard.writeText(texto).then(
    () => true,
    () => false,
  )
