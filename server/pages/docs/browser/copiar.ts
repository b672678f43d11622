/** Copy buttons where Redoc has none: the guide's code blocks, addresses and commands. */

import { trasCadaCambio } from './cambios.ts'
import { copiarTexto } from './portapapeles.ts'

/** Texts within a sentence that get a copy button: addresses, paths, environment variables, commands. */
const SE_COPIA =
  /^(?:(?:GET|POST|PUT|PATCH|DELETE) )?(?:https?:\/\/|\/(?:api|\.well-known|docs|verificar|r)\/|\/\w+\.(?:json|yaml|txt)$)\S*$|^[A-Z]+(?:_[A-Z]+)+$|^(?:npm|npx|curl) \S/

const sinVerbo = (texto: string) => texto.replace(/^[A-Z]+ (?=\/)/, '')

/** Announces the result of copying to screen readers. */
function avisar(texto: string) {
  let donde = document.querySelector('#copiado')
  if (!donde) {
    donde = Object.assign(document.createElement('p'), { id: 'copiado', className: 'oculto' })
    donde.setAttribute('role', 'status')
    document.body.append(donde)
  }
  donde.textContent = texto
}

function crearBoton(nombre: string, leer: () => string): HTMLButtonElement {
  const boton = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'copiar',
    title: 'Copiar',
  })
  boton.setAttribute('aria-label', nombre)
  boton.addEventListener('click', async () => {
    const bien = await copiarTexto(leer())
    avisar(bien ? 'Copiado' : 'No se pudo copiar')
    boton.dataset.copiado = bien ? 'si' : 'no'
    setTimeout(() => delete boton.dataset.copiado, 2000)
  })
  return boton
}

function poner(donde: HTMLElement) {
  for (const codigo of donde.querySelectorAll<HTMLElement>("[data-component-name='Markdown/Markdown'] pre")) {
    if (codigo.querySelector('.copiar')) continue
    const texto = codigo.textContent ?? ''
    codigo.append(crearBoton('Copiar el código', () => texto))
  }
  for (const codigo of donde.querySelectorAll<HTMLElement>(
    "[data-component-name='Markdown/Markdown'] :not(pre) > code",
  )) {
    const texto = codigo.textContent ?? ''
    if (!SE_COPIA.test(texto) || codigo.closest('a, button') || codigo.nextElementSibling?.matches('.copiar')) continue
    codigo.after(crearBoton(`Copiar ${sinVerbo(texto)}`, () => sinVerbo(codigo.textContent ?? '')))
  }
}

/** Adds the missing copy buttons, now and whenever Redoc renders more content. */
export const ponerBotonesDeCopiar = (donde: HTMLElement) => trasCadaCambio(donde, () => poner(donde))
