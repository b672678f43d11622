// Sends the form in a way that survives bad coverage.
import { showStatus } from './form.ts'

const SEND_DEADLINE_MS = 25_000
const MAX_RETRY_DELAY_S = 30

/**
 * Sends the form without leaving the page, and shows the page that the server returns.
 * @param replacePage function that replaces the current page with the returned page
 * @param showMissing shows what is missing, and returns true if anything is; this check saves a request over a bad network
 */
export function prepareSending(form: HTMLFormElement, replacePage: (page: string) => void, showMissing: () => boolean) {
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
      const body = new URLSearchParams()
      for (const [name, value] of new FormData(form)) body.append(name, String(value))
      if (pressedButton?.name) body.append(pressedButton.name, pressedButton.value)
      // The response to a confirmation redirects to this same page. `fetch` follows the redirect and returns the page.
      const response = await fetch(location.pathname, { method: 'POST', body, signal: abortController.signal })
      if (response.status === 429 || response.status >= 500) {
        wait('Estamos ocupados.', Number(response.headers.get('Retry-After')) || 10)
      } else {
        replacePage(await response.text())
      }
    } catch {
      intentos++
      wait('No hay señal.', Math.min(MAX_RETRY_DELAY_S, 3 * 2 ** Math.min(intentos - 1, 6)))
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
  const wait = (motivo: string, seconds: number) => {
    setBusy(false)
    showStatus(
      'envio',
      `${motivo} No se perdió nada: deje abierta esta página y lo enviaremos en cuanto se pueda.`,
      'problema',
    )
    retryTimer = window.setTimeout(sendForm, seconds * 1000)
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
