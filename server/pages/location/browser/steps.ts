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
  goTo(shape: UbicacionWay): void
  /** Shows the step with which the page begins. */
  start(shape: UbicacionWay): void
}

/**
 * Shows the parts of one step at a time. Going back in the browser's history returns to the choice.
 * @param onArrive called after the recipient has gone to a step
 */
export function prepareSteps(form: HTMLFormElement, onArrive: (shape: UbicacionWay) => void): FormSteps {
  const title = document.getElementById('titulo')!
  let current: UbicacionWay = ''
  const showStep = (shape: UbicacionWay) => {
    current = shape
    for (const part of form.querySelectorAll<HTMLElement>('[data-para]')) {
      part.hidden = !part.dataset.para!.split(' ').includes(shape || 'elegir')
    }
    if (shape) title.textContent = TITLES[shape]
  }
  const goToStep = (shape: UbicacionWay) => {
    showStep(shape)
    onArrive(shape)
    scrollTo(0, 0)
    const focusId = { enlace: 'enlace', descripcion: 'referencia' }[shape as string] ?? 'titulo'
    const where = shape ? document.getElementById(focusId) : form.querySelector<HTMLElement>('h1')
    where?.focus({ preventScroll: true })
  }
  const steps: FormSteps = {
    forma: () => current,
    goTo(forma) {
      if (forma === current) return
      if (forma) history.pushState({ forma }, '')
      goToStep(forma)
    },
    start: showStep,
  }
  form.addEventListener('click', ({ target }) => {
    const shape = (target as HTMLElement).closest<HTMLElement>('[data-forma]')?.dataset.forma
    if (shape) steps.goTo(shape as UbicacionWay)
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
