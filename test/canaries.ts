/**
 * Patterns of what no log, trace or metric may have. The values of the tests' own guides, persons and places count as
 * personal wherever they appear.
 */
const CANARY_PATTERNS: Readonly<Record<string, RegExp>> = {
  'a key': /guia_(?:live|test|oper)_[0-9A-Z]{13}/,
  'a signing secret': /whsec_[A-Za-z0-9+/=_-]{8}/,
  'a telephone': /\+\d{8,15}\b|\b502\d{8}\b/,
  'a mail address': /[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/i,
  'a place': /-?\b\d{1,3}\.\d{5,}\b/,
  'the place of the sample guide': /San Juan Sacatep/,
  'the person who received the sample delivery': /María López/,
  'a signature of a link': /[?&]firma=/,
}

/** Returns the kinds of personal or secret values in a text. */
export const findCanaries = (text: string): string[] =>
  Object.entries(CANARY_PATTERNS).flatMap(([kind, pattern]) => {
    const match = pattern.exec(text)
    return match ? [`${kind}: ${text.slice(Math.max(0, match.index - 120), match.index + 80)}`] : []
  })
