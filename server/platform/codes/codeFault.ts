import { ALPHABET, normalizeBase32 } from './guideCode.ts'

/** Characters of a guide's code. */
const LENGTH = 12

/**
 * Returns the likely mistake in a typed text that cannot be a code; undefined if only its check character is wrong. It
 * looks only at the text, so it reveals nothing about existing guides.
 */
export function faultOfCode(tecleado: string): string | undefined {
  const codigo = normalizeBase32(tecleado)
  const ajeno = [...codigo].find((uno) => !ALPHABET.includes(uno))
  if (ajeno !== undefined) return `Los códigos no llevan «${ajeno}». Revise si es otra letra u otro número.`
  const sobran = codigo.length - LENGTH
  if (sobran > 0) return `Escribió ${letras(codigo.length)}: son ${LENGTH}.`
  if (sobran < 0) return `Escribió ${letras(codigo.length)}: ${sobran === -1 ? 'falta' : 'faltan'} ${-sobran}.`
  return undefined
}

const letras = (cuantas: number) => (cuantas === 1 ? '1 letra o número' : `${cuantas} letras y números`)
