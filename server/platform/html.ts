const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeText = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

/**
 * HTML that is safe to embed in HTML. Text from outside becomes HTML only through the template tag `html`, which
 * escapes it.
 */
export class Html {
  readonly texto: string
  constructor(text: string) {
    this.texto = text
  }
}
type TemplateValue = string | number | Html | readonly Html[] | false | null | undefined

/**
 * Template tag for HTML. Escapes strings and numbers, embeds `Html` unchanged, and leaves out false, null and
 * undefined.
 */
export function html(strings: TemplateStringsArray, ...parts: TemplateValue[]): Html {
  const renderPart = (part: TemplateValue): string => {
    if (part === false || part === null || part === undefined) return ''
    if (part instanceof Html) return part.texto
    return typeof part === 'object' ? part.map(renderPart).join('') : escapeText(String(part))
  }
  return new Html(strings.reduce((text, chunk, i) => text + renderPart(parts[i - 1]) + chunk))
}
