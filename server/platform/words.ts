/** Returns a text with a capital first letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Adds a full stop to a text at the end of a sentence, unless the text ends with one, as «S. A.» does, or with «…». */
export const withFullStop = (text: string): string => (/[.…]$/.test(text) ? text : `${text}.`)
