import { ArrowRight } from '../generated/contract/icons.ts'
import { faultOfCode } from '../platform/codes/codeFault.ts'
import { normalizeGuideCode } from '../platform/codes/guideCode.ts'
import { type Html, html } from '../platform/html.ts'
import type { PageContent } from './frame.ts'
import type { Sheet } from './page.ts'
import { button, field } from './ui/components.ts'

const CHANGED_CHARACTER = 'Tiene una letra o un número cambiado. Compárelo con el de la etiqueta o el del mensaje.'

interface CodeFormOptions {
  /** Path or URL of the service root, such as `../`. */
  root: string
  /** Page below the root that gets the code as `guia`; by default, the tracking page. */
  pagina?: 'r' | 'verificar'
  /** Text of the button. */
  accion?: string
  /** Name of the field. */
  label?: string
  /** Typed text that cannot be a code. */
  typedCode?: string | undefined
}

/** Maximum length of a typed text that the form shows again, in characters. */
const MAX_TYPED = 40

/** Returns the form with one field, for the code of a guide. It works without JavaScript. */
export const codeForm = ({
  root,
  pagina = 'r',
  accion = 'Seguir el envío',
  label = 'Código de la guía',
  typedCode,
}: CodeFormOptions): Html => html`<form class="buscador" method="get" action="${root}${pagina}">
${field({
  id: 'guia',
  label,
  hint: html`12 letras y números, como <b class="entero">7K3M-9QX2-A1B4</b>.`,
  fault: typedCode === undefined ? undefined : (faultOfCode(typedCode) ?? CHANGED_CHARACTER),
  control: (attributes) =>
    html`<input ${attributes} class="codigo" name="guia" type="text" required maxlength="${MAX_TYPED}" autocomplete="off" autocapitalize="characters" spellcheck="false"${typedCode !== undefined && html` value="${typedCode.slice(0, MAX_TYPED)}"`}>`,
})}
${button({ text: accion, icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>`

interface CodeAnswers {
  /** Answer to a form without a code. */
  empty: Sheet
  /** Returns the page for a text that cannot be a code. */
  unknown(typedCode?: string): PageContent
  /** Path or URL below which the page of a code is, such as `../r/`. */
  below: string
}

/**
 * Answers the form of {@link codeForm}: redirects from a typed code to its page.
 * @param typedCode parameter `guia` of the request, which may be any value
 */
export function answerCode(typedCode: unknown, { empty, unknown, below }: CodeAnswers): Sheet {
  if (typedCode === undefined || typedCode === '') return empty
  if (typeof typedCode !== 'string') return { status: 404, ...unknown() }
  const code = normalizeGuideCode(typedCode)
  return code === undefined ? { status: 404, ...unknown(typedCode) } : { status: 303, a: `${below}${code}` }
}
