const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeText = (texto: string) => texto.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

/**
 * HTML that is safe to embed in HTML. Text from outside becomes HTML only through the template tag `html`, which
 * escapes it.
 */
export class Html {
  readonly texto: string
  constructor(texto: string) {
    this.texto = texto
  }
}
type Parte = string | number | Html | readonly Html[] | false | null | undefined

/**
 * Template tag for HTML. Escapes strings and numbers, embeds `Html` unchanged, and leaves out false, null and
 * undefined.
 */
export function html(strings: TemplateStringsArray, ...parts: Parte[]): Html {
  const renderPart = (parte: Parte): string => {
    if (parte === false || parte === null || parte === undefined) return ''
    if (parte instanceof Html) return parte.texto
    return typeof parte === 'object' ? parte.map(renderPart).join('') : escapeText(String(parte))
  }
  return new Html(strings.reduce((texto, chunk, i) => texto + renderPart(parts[i - 1]) + chunk))
}
