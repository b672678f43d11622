// Cells of CSV (RFC 4180). This file imports nothing, because the generator copies it into the SDK.

/** Matches the beginning of a text that a spreadsheet would run as a formula, also one that has its apostrophe. */
export const FORMULA = /^'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/

/** Returns the text of a cell, in quotes if it would be read otherwise without them, wherever the cell is in a file. */
export const quoteCell = (text: string): string =>
  /[",;|\t\r\n\uFEFF]|^sep=/i.test(text) ? `"${text.replaceAll('"', '""')}"` : text
