/** The buttons with which one copies what Redoc shows without one: the guide's programs, addresses and commands. */

import { copiarTexto } from './portapapeles.ts'

/** What is copied out of a sentence: addresses, paths, variables of the environment, commands. */
const SE_COPIA =
  /^(?:(?:GET|POST|PUT|PATCH|DELETE) )?(?:https?:\/\/|\/(?:api|\.well-known|docs|verificar|r)\/|\/\w+\.(?:json|yaml|txt)$)\S*$|^[A-Z]+(?:_[A-Z]+)+$|^(?:npm|npx|curl) \S/

const sinVerbo = (texto: string) => texto.replace(/^[A-Z]+ (?=\/)/, '')

/** Says to whoever doesn't see it that something was copied. */
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

/** Puts buttons where there are none, now and wherever Redoc shows more. */
export function ponerBotonesDeCopiar(donde: HTMLElement) {
  let pedido = false
  const pedir = () => {
    if (pedido) return
    pedido = true
    requestAnimationFrame(() => {
      pedido = false
      poner(donde)
    })
  }
  new MutationObserver(pedir).observe(donde, { childList: true, subtree: true })
  pedir()
}
