// The two steps of the form: choosing how to give the location, and giving it.
import type { PlaceMethod } from './place.ts'

/** Way in which the recipient gives the location; empty while the recipient chooses a way. */
export type UbicacionWay = PlaceMethod

const TITLES: Record<Exclude<UbicacionWay, ''>, string> = {
  gps: '¿Es aquí?',
  mapa: 'Señale su puerta',
  enlace: 'Pegue el enlace',
  descripcion: 'Describa el lugar',
}

export interface FormSteps {
  forma(): UbicacionWay
  goTo(forma: UbicacionWay): void
  /** Shows the step with which the page begins. */
  start(forma: UbicacionWay): void
}

/**
 * Shows the parts of one step at a time. Going back in the browser's history returns to the choice.
 * @param onArrive called after the recipient has gone to a step
 */
export function prepareSteps(form: HTMLFormElement, onArrive: (forma: UbicacionWay) => void): FormSteps {
  const titulo = document.getElementById('titulo')!
  let actual: UbicacionWay = ''
  const showStep = (forma: UbicacionWay) => {
    actual = forma
    for (const parte of form.querySelectorAll<HTMLElement>('[data-para]')) {
      parte.hidden = !parte.dataset.para!.split(' ').includes(forma || 'elegir')
    }
    if (forma) titulo.textContent = TITLES[forma]
  }
  const goToStep = (forma: UbicacionWay) => {
    showStep(forma)
    onArrive(forma)
    scrollTo(0, 0)
    const focusId = { enlace: 'enlace', descripcion: 'referencia' }[forma as string] ?? 'titulo'
    const donde = forma ? document.getElementById(focusId) : form.querySelector<HTMLElement>('h1')
    donde?.focus({ preventScroll: true })
  }
  const steps: FormSteps = {
    forma: () => actual,
    goTo(forma) {
      if (forma === actual) return
      if (forma) history.pushState({ forma }, '')
      goToStep(forma)
    },
    start: showStep,
  }
  form.addEventListener('click', ({ target }) => {
    const forma = (target as HTMLElement).closest<HTMLElement>('[data-forma]')?.dataset.forma
    if (forma) steps.goTo(forma as UbicacionWay)
  })
  document.getElementById('atras')!.addEventListener('click', () => {
    if (history.state?.forma) history.back()
    else goToStep('')
  })
  window.addEventListener('popstate', ({ state }) => {
    if (form.isConnected) goToStep(state?.forma ?? '')
  })
  return steps
}
