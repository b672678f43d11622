const ENTIDADES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapar = (texto: string) => texto.replace(/[&<>"']/g, (letra) => ENTIDADES[letra] ?? letra)

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
export function html(trozos: TemplateStringsArray, ...partes: Parte[]): Html {
  const poner = (parte: Parte): string => {
    if (parte === false || parte === null || parte === undefined) return ''
    if (parte instanceof Html) return parte.texto
    return typeof parte === 'object' ? parte.map(poner).join('') : escapar(String(parte))
  }
  return new Html(trozos.reduce((texto, trozo, i) => texto + poner(partes[i - 1]) + trozo))
}
