/**
 * Copies a text to the clipboard.
 * @returns false if the browser refuses
 */
export const copyText = (text: string): Promise<boolean> =>
  navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
