import { ALPHABET, normalizeBase32 } from './guideCode.ts'

/** Characters of a guide's code. */
const LENGTH = 12

/** Texts that are telephones: digits with separators, and with or without the code of a country. */
const TELEPHONE = /^\s*(?:\+|00)?\d(?:[\s().-]*\d){7,13}\s*$/

/**
 * Returns the likely mistake in a typed text that cannot be a code; undefined if only its check character is wrong. It
 * looks only at the text, so it reveals nothing about existing guides.
 */
export function faultOfCode(typed: string): string | undefined {
  const code = normalizeBase32(typed)
  if (TELEPHONE.test(typed) && typed.replace(/\D/g, '').length !== LENGTH)
    return 'Parece un teléfono. El código de la guía está en la etiqueta y en los mensajes al destinatario.'
  const foreignCharacter = [...code].find((character) => !ALPHABET.includes(character))
  if (foreignCharacter !== undefined)
    return `Los códigos no llevan «${foreignCharacter}». Revise si es otra letra u otro número.`
  const excess = code.length - LENGTH
  if (excess > 0) return `Escribió ${describeLength(code.length)}: son ${LENGTH}.`
  if (excess < 0) return `Escribió ${describeLength(code.length)}: ${excess === -1 ? 'falta' : 'faltan'} ${-excess}.`
  return undefined
}

const describeLength = (count: number) => (count === 1 ? '1 letra o número' : `${count} letras y números`)
