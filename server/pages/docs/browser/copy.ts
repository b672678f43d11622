/** Copy buttons for code blocks, addresses and commands of texts. */

import { afterEachChange } from './changes.ts'
import { copyText } from './clipboard.ts'

/** Texts within a sentence that get a copy button: addresses, paths, environment variables, commands. */
const COPYABLE =
  /^(?:(?:GET|POST|PUT|PATCH|DELETE) )?(?:https?:\/\/|\/(?:api|\.well-known|docs|verificar|r)\/|\/\w+\.(?:json|yaml|txt)$)\S*$|^[A-Z]+(?:_[A-Z]+)+$|^(?:npm|npx|curl) \S/

const withoutVerb = (text: string) => text.replace(/^[A-Z]+ (?=\/)/, '')

/** Announces the result of copying to screen readers. */
function announce(text: string) {
  let where = document.querySelector('#copiado')
  if (!where) {
    where = Object.assign(document.createElement('p'), { id: 'copiado', className: 'oculto' })
    where.setAttribute('role', 'status')
    document.body.append(where)
  }
  where.textContent = text
}

function createCopyButton(name: string, read: () => string): HTMLButtonElement {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'copiar',
    title: 'Copiar',
  })
  button.setAttribute('aria-label', name)
  button.addEventListener('click', async () => {
    const bien = await copyText(read())
    announce(bien ? 'Copiado' : 'No se pudo copiar')
    button.dataset.copiado = bien ? 'si' : 'no'
    setTimeout(() => delete button.dataset.copiado, 2000)
  })
  return button
}

/**
 * Adds the missing copy buttons.
 * @param texts selector of the elements whose code has none
 */
export function addCopyButtons(where: HTMLElement, texts: string) {
  for (const code of where.querySelectorAll<HTMLElement>(`${texts} pre`)) {
    if (code.querySelector('.copiar')) continue
    const text = code.textContent ?? ''
    code.append(createCopyButton('Copiar el código', () => text))
  }
  for (const code of where.querySelectorAll<HTMLElement>(`${texts} :not(pre) > code`)) {
    const text = code.textContent ?? ''
    if (!COPYABLE.test(text) || code.closest('a, button') || code.nextElementSibling?.matches('.copiar')) continue
    code.after(createCopyButton(`Copiar ${withoutVerb(text)}`, () => withoutVerb(code.textContent ?? '')))
  }
}

/** Adds the missing copy buttons of the reading view, now and whenever Redoc renders more content. */
export const keepCopyButtons = (where: HTMLElement) =>
  afterEachChange(where, () => addCopyButtons(where, "[data-component-name='Markdown/Markdown']"))
