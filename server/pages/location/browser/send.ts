// Sends the form in a way that survives bad coverage.
import { showStatus } from './form.ts'

const SEND_DEADLINE_MS = 25_000
const MAX_RETRY_DELAY_S = 30

/**
 * Sends the form without leaving the page, and shows the page that the server returns.
 * @param replacePage function that replaces the current page with the returned page
 * @param showMissing shows what is missing, and returns true if anything is; this check saves a request over a bad network
 */
export function prepareSending(
  form: HTMLFormElement,
  replacePage: (pagina: string) => void,
  showMissing: () => boolean,
) {
  let isSending = false
  let intentos = 0
  let retryTimer: number | undefined
  let pressedButton: HTMLButtonElement | null = null

  const sendForm = async () => {
    if (isSending || !form.isConnected) return
    isSending = true
    clearTimeout(retryTimer)
    setBusy(true)
    showStatus('envio', 'Enviando…')
    const abortController = new AbortController()
    const deadlineTimer = setTimeout(() => abortController.abort(), SEND_DEADLINE_MS)
    try {
      const cuerpo = new URLSearchParams()
      for (const [nombre, valor] of new FormData(form)) cuerpo.append(nombre, String(valor))
      if (pressedButton?.name) cuerpo.append(pressedButton.name, pressedButton.value)
      // The response to a confirmation redirects to this same page. `fetch` follows the redirect and returns the page.
      const respuesta = await fetch(location.pathname, { method: 'POST', body: cuerpo, signal: abortController.signal })
      if (respuesta.status === 429 || respuesta.status >= 500) {
        esperar('Estamos ocupados.', Number(respuesta.headers.get('Retry-After')) || 10)
      } else {
        replacePage(await respuesta.text())
      }
    } catch {
      intentos++
      esperar('No hay señal.', Math.min(MAX_RETRY_DELAY_S, 3 * 2 ** Math.min(intentos - 1, 6)))
    } finally {
      clearTimeout(deadlineTimer)
      isSending = false
    }
  }
  const setBusy = (isBusy: boolean) => {
    for (const button of form.querySelectorAll<HTMLButtonElement>('[type=submit]')) {
      if (isBusy) button.setAttribute('aria-disabled', 'true')
      else button.removeAttribute('aria-disabled')
    }
  }
  const esperar = (motivo: string, segundos: number) => {
    setBusy(false)
    showStatus(
      'envio',
      `${motivo} No se perdió nada: deje abierta esta página y lo enviaremos en cuanto se pueda.`,
      'problema',
    )
    retryTimer = window.setTimeout(sendForm, segundos * 1000)
    if (!navigator.onLine) addEventListener('online', sendForm, { once: true })
  }

  form.addEventListener('submit', (evento) => {
    evento.preventDefault()
    pressedButton = (evento as SubmitEvent).submitter as HTMLButtonElement | null
    if (showMissing()) return
    intentos = 0
    sendForm()
  })
}
