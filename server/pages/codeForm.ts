import { ArrowRight } from '../generado/contrato/iconos.ts'
import { faultOfCode } from './codeFault.ts'
import { type Html, html } from './html.ts'
import { button, field } from './ui/components.ts'

interface CodeFormOptions {
  /** Path or URL of the service root, such as `../`. */
  raiz: string
  /** Page below the root that gets the code as `guia`; by default, the tracking page. */
  pagina?: 'r' | 'verificar'
  /** Text of the button. */
  accion?: string
  /** Name of the field. */
  rotulo?: string
  /** Typed text that cannot be a code. */
  tecleado?: string | undefined
}

/** Maximum length of a typed text that the form shows again, in characters. */
const MAX_TYPED = 40

/** Returns the form with one field, for the code of a guide. It works without a program. */
export const codeForm = ({
  raiz,
  pagina = 'r',
  accion = 'Seguir el envío',
  rotulo = 'Código de la guía',
  tecleado,
}: CodeFormOptions): Html => html`<form class="buscador" method="get" action="${raiz}${pagina}">
${field({
  id: 'guia',
  label: rotulo,
  hint: html`12 letras y números, como <b class="entero">7K3M-9QX2-A1B4</b>.`,
  fault: tecleado === undefined ? undefined : faultOfCode(tecleado),
  control: (atributos) =>
    html`<input ${atributos} class="codigo" name="guia" type="text" required maxlength="${MAX_TYPED}" autocomplete="off" autocapitalize="characters" spellcheck="false"${tecleado !== undefined && html` value="${tecleado.slice(0, MAX_TYPED)}"`}>`,
})}
${button({ text: accion, icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>`
