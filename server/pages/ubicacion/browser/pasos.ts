// The two steps of the form: choosing how to give the location, and giving it.
import type { Metodo } from './lugar.ts'

/** Way in which the recipient gives the location; empty while the recipient chooses a way. */
export type FormaDeUbicar = Metodo

const TITULOS: Record<Exclude<FormaDeUbicar, ''>, string> = {
  gps: '¿Es aquí?',
  mapa: 'Señale su puerta',
  enlace: 'Pegue el enlace',
  descripcion: 'Describa el lugar',
}

export interface Pasos {
  forma(): FormaDeUbicar
  ir(forma: FormaDeUbicar): void
  /** Shows the step with which the page begins. */
  empezar(forma: FormaDeUbicar): void
}

/**
 * Shows the parts of one step at a time. Going back in the browser's history returns to the choice.
 * @param alLlegar called after the recipient has gone to a step
 */
export function prepararPasos(formulario: HTMLFormElement, alLlegar: (forma: FormaDeUbicar) => void): Pasos {
  const titulo = document.getElementById('titulo')!
  let actual: FormaDeUbicar = ''
  const mostrar = (forma: FormaDeUbicar) => {
    actual = forma
    for (const parte of formulario.querySelectorAll<HTMLElement>('[data-para]')) {
      parte.hidden = !parte.dataset.para!.split(' ').includes(forma || 'elegir')
    }
    if (forma) titulo.textContent = TITULOS[forma]
  }
  const llegar = (forma: FormaDeUbicar) => {
    mostrar(forma)
    alLlegar(forma)
    scrollTo(0, 0)
    const suyo = { enlace: 'enlace', descripcion: 'referencia' }[forma as string] ?? 'titulo'
    const donde = forma ? document.getElementById(suyo) : formulario.querySelector<HTMLElement>('h1')
    donde?.focus({ preventScroll: true })
  }
  const pasos: Pasos = {
    forma: () => actual,
    ir(forma) {
      if (forma === actual) return
      if (forma) history.pushState({ forma }, '')
      llegar(forma)
    },
    empezar: mostrar,
  }
  formulario.addEventListener('click', ({ target }) => {
    const forma = (target as HTMLElement).closest<HTMLElement>('[data-forma]')?.dataset.forma
    if (forma) pasos.ir(forma as FormaDeUbicar)
  })
  document.getElementById('atras')!.addEventListener('click', () => {
    if (history.state?.forma) history.back()
    else llegar('')
  })
  window.addEventListener('popstate', ({ state }) => {
    if (formulario.isConnected) llegar(state?.forma ?? '')
  })
  return pasos
}
