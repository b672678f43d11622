// Sends the form in a way that survives bad coverage.
import { decirEstado } from './formulario.ts'

const PLAZO_DE_ENVIO_MS = 25_000
const ESPERA_MAXIMA_S = 30

/**
 * Sends the form without leaving the page, and shows the page that the server returns.
 * @param sustituir function that replaces the current page with the returned page
 * @param queFalta shows what is missing, and returns true if anything is; this check saves a request over a bad network
 */
export function prepararEnvio(
  formulario: HTMLFormElement,
  sustituir: (pagina: string) => void,
  queFalta: () => boolean,
) {
  let enviando = false
  let intentos = 0
  let reloj: number | undefined
  let pulsado: HTMLButtonElement | null = null

  const enviar = async () => {
    if (enviando || !formulario.isConnected) return
    enviando = true
    clearTimeout(reloj)
    ocupar(true)
    decirEstado('envio', 'Enviando…')
    const corte = new AbortController()
    const plazo = setTimeout(() => corte.abort(), PLAZO_DE_ENVIO_MS)
    try {
      const cuerpo = new URLSearchParams()
      for (const [nombre, valor] of new FormData(formulario)) cuerpo.append(nombre, String(valor))
      if (pulsado?.name) cuerpo.append(pulsado.name, pulsado.value)
      // The response to a confirmation redirects to this same page. `fetch` follows the redirect and returns the page.
      const respuesta = await fetch(location.pathname, { method: 'POST', body: cuerpo, signal: corte.signal })
      if (respuesta.status === 429 || respuesta.status >= 500) {
        esperar('Estamos ocupados.', Number(respuesta.headers.get('Retry-After')) || 10)
      } else {
        sustituir(await respuesta.text())
      }
    } catch {
      intentos++
      esperar('No hay señal.', Math.min(ESPERA_MAXIMA_S, 3 * 2 ** Math.min(intentos - 1, 6)))
    } finally {
      clearTimeout(plazo)
      enviando = false
    }
  }
  const ocupar = (ocupado: boolean) => {
    for (const boton of formulario.querySelectorAll<HTMLButtonElement>('[type=submit]')) {
      if (ocupado) boton.setAttribute('aria-disabled', 'true')
      else boton.removeAttribute('aria-disabled')
    }
  }
  const esperar = (motivo: string, segundos: number) => {
    ocupar(false)
    decirEstado(
      'envio',
      `${motivo} No se perdió nada: deje abierta esta página y lo enviaremos en cuanto se pueda.`,
      'problema',
    )
    reloj = window.setTimeout(enviar, segundos * 1000)
    if (!navigator.onLine) addEventListener('online', enviar, { once: true })
  }

  formulario.addEventListener('submit', (evento) => {
    evento.preventDefault()
    pulsado = (evento as SubmitEvent).submitter as HTMLButtonElement | null
    if (queFalta()) return
    intentos = 0
    enviar()
  })
}
