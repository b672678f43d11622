/** Copy buttons where Redoc has none: the guide's code blocks, addresses and commands. */

import { afterEachChange } from './changes.ts'
import { copyText } from './clipboard.ts'

/** Texts within a sentence that get a copy button: addresses, paths, environment variables, commands. */
const COPYABLE =
  /^(?:(?:GET|POST|PUT|PATCH|DELETE) )?(?:https?:\/\/|\/(?:api|\.well-known|docs|verificar|r)\/|\/\w+\.(?:json|yaml|txt)$)\S*$|^[A-Z]+(?:_[A-Z]+)+$|^(?:npm|npx|curl) \S/

const withoutVerb = (texto: string) => texto.replace(/^[A-Z]+ (?=\/)/, '')

/** Announces the result of copying to screen readers. */
function announce(texto: string) {
  let donde = document.querySelector('#copiado')
  if (!donde) {
    donde = Object.assign(document.createElement('p'), { id: 'copiado', className: 'oculto' })
    donde.setAttribute('role', 'status')
    document.body.append(donde)
  }
  donde.textContent = texto
}

function createCopyButton(nombre: string, leer: () => string): HTMLButtonElement {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'copiar',
    title: 'Copiar',
  })
  button.setAttribute('aria-label', nombre)
  button.addEventListener('click', async () => {
    const bien = await copyText(leer())
    announce(bien ? 'Copiado' : 'No se pudo copiar')
    button.dataset.copiado = bien ? 'si' : 'no'
    setTimeout(() => delete button.dataset.copiado, 2000)
  })
  return button
}

function addCopyButtons(donde: HTMLElement) {
  for (const codigo of donde.querySelectorAll<HTMLElement>("[data-component-name='Markdown/Markdown'] pre")) {
    if (codigo.querySelector('.copiar')) continue
    const texto = codigo.textContent ?? ''
    codigo.append(createCopyButton('Copiar el código', () => texto))
  }
  for (const codigo of donde.querySelectorAll<HTMLElement>(
    "[data-component-name='Markdown/Markdown'] :not(pre) > code",
  )) {
    const texto = codigo.textContent ?? ''
    if (!COPYABLE.test(texto) || codigo.closest('a, button') || codigo.nextElementSibling?.matches('.copiar')) continue
    codigo.after(createCopyButton(`Copiar ${withoutVerb(texto)}`, () => withoutVerb(codigo.textContent ?? '')))
  }
}

/** Adds the missing copy buttons, now and whenever Redoc renders more content. */
export const keepCopyButtons = (donde: HTMLElement) => afterEachChange(donde, () => addCopyButtons(donde))
