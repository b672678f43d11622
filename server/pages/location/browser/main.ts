// Script of the recipient's page. It divides the form into two steps, finds the phone's position, opens the map on
// demand, and sends the form again after bad coverage. Without the script, a link or a description still works.

import { Filling } from './filling.ts'
import { forgetFields, restoreFields, saveFields } from './form.ts'
import { prepareSending } from './send.ts'

/** Delay before the page is loaded again while the service reads a short link, in milliseconds. */
const RELOAD_DELAY_MS = 4_000

/** Prepares the content of `<main>`: the page as it was loaded, or the page that replaced it. */
function start() {
  const form = document.querySelector<HTMLFormElement>('form[data-formulario]')
  const reloadMarker = document.querySelector('[data-recargar]')
  if (reloadMarker) setTimeout(() => reloadMarker.isConnected && location.reload(), RELOAD_DELAY_MS)
  // Once the location is confirmed, the saved fields are no longer needed.
  if (!form || form.dataset.confirmado !== undefined) forgetFields()
  if (!form) return
  // The page that asks whether a far location is right has no fields to restore.
  if (!document.getElementById('lugar')) return prepareSending(form, replacePage, () => false)
  if (form.dataset.nuevo !== undefined) restoreFields(form)
  for (const part of document.querySelectorAll<HTMLElement>('[data-con-js]')) part.hidden = false
  const filling = new Filling(form)
  prepareSending(form, replacePage, () => filling.showMissing())
  form.addEventListener('input', () => saveFields(form))
  document.getElementById('errores')?.addEventListener('click', focusField)
  fixBar(form)
}

/**
 * Moves the focus from a fault to its field. Adds no entry to the browser's history, which contains the form's steps.
 */
function focusField(evento: MouseEvent) {
  const link = (evento.target as HTMLElement).closest('a')
  if (!link) return
  evento.preventDefault()
  const field = document.querySelector<HTMLElement>(link.hash)
  field?.scrollIntoView({ block: 'center' })
  field?.focus({ preventScroll: true })
}

/** Width of the form in characters below which a fixed action bar would cover too much of the window. */
const MIN_WIDTH_CHARACTERS = 14

/**
 * Keeps the action bar at the bottom of the window, unless the text size is large. Reserves as much space below the
 * form as the bar covers. Within a container query, older browsers would fix the bar to the form instead of the window.
 */
function fixBar(form: HTMLFormElement) {
  const actionBar = form.querySelector<HTMLElement>('.barra')!
  const measure = () => {
    const fontSize = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    actionBar.classList.toggle('fija', form.offsetWidth >= MIN_WIDTH_CHARACTERS * fontSize)
    const height = getComputedStyle(actionBar).position === 'fixed' ? actionBar.offsetHeight : 0
    document.body.style.paddingBottom = `${height}px`
    // The fixed action bar must not cover the focused element either.
    document.documentElement.style.scrollPaddingBottom = `${height + 16}px`
  }
  measure()
  if ('ResizeObserver' in window) new ResizeObserver(measure).observe(actionBar)
}

/** Replaces the page with the returned page, as a normal submission of the form would have done. */
function replacePage(page: string) {
  const newDocument = new DOMParser().parseFromString(page, 'text/html')
  const content = newDocument.querySelector('main')
  if (!content) return location.reload()
  document.title = newDocument.title
  document.querySelector('main')!.replaceWith(document.importNode(content, true))
  scrollTo(0, 0)
  start()
  document.querySelector<HTMLElement>('#errores, h1')?.focus()
}

start()
document.querySelector<HTMLElement>('#errores')?.focus()
