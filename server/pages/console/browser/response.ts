/** Response headers that the console shows. The other headers say nothing about the API. */
const SHOWN_HEADERS = [
  'X-Request-Id',
  'Location',
  'Idempotent-Replayed',
  'ETag',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'Content-Type',
]
/** Meanings of the status codes, for readers who do not know them by heart. */
const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  200: 'Bien',
  201: 'Creado',
  202: 'Recibido',
  204: 'Bien, sin cuerpo',
  304: 'Sin cambios',
  400: 'La solicitud no se pudo leer',
  401: 'Falta una llave válida',
  403: 'La llave no tiene permiso',
  404: 'No existe',
  405: 'La ruta no admite ese método',
  409: 'Está en conflicto con lo que hay',
  413: 'El cuerpo es demasiado grande',
  415: 'El cuerpo no es JSON',
  422: 'Hay datos que corregir',
  429: 'Demasiadas solicitudes',
  503: 'El servicio no está disponible',
}

const ver = (selector: string) => document.querySelector<HTMLElement>(selector)!

function showStatus(text: string, className: string) {
  const estado = ver('#estado')
  estado.className = className
  estado.textContent = text
  const title = ver('#titulo-respuesta')
  title.focus({ preventScroll: true })
  const { top, bottom } = title.getBoundingClientRect()
  if (top < 0 || bottom > innerHeight) title.scrollIntoView()
}

/** Shows that the request is on its way. */
export function showSending() {
  ver('#contestado').hidden = true
  ver('#estado').className = ''
  ver('#estado').textContent = 'Enviando…'
}

/** Shows that the request got no response. */
export const showFailure = () =>
  showStatus(
    'No hubo respuesta: revise su conexión y la dirección. No se sabe si el servicio recibió la solicitud.',
    'falla',
  )

function parseBody(text: string): [leido: unknown, texto: string] {
  try {
    const parsed: unknown = JSON.parse(text)
    return [parsed, JSON.stringify(parsed, null, 2)]
  } catch {
    return [undefined, text]
  }
}

/**
 * Shows a response: status, duration, headers and body. A JSON body is indented.
 * @param ms duration of the request, in milliseconds
 * @returns the parsed body; undefined if the body is not JSON
 */
export async function showResponse(response: Response, ms: number): Promise<unknown> {
  const { status, ok, headers } = response
  const [parsed, text] = parseBody(await response.text())
  const shownHeaders = SHOWN_HEADERS.flatMap((name) => {
    const value = headers.get(name)
    if (value === null) return []
    return [
      Object.assign(document.createElement('dt'), { textContent: name }),
      Object.assign(document.createElement('dd'), { textContent: value }),
    ]
  })
  ver('#cabeceras').replaceChildren(...shownHeaders)
  ver('#recibido').textContent = text || '(vacío)'
  ver('#contestado').hidden = false
  showStatus(
    `${status} · ${STATUS_MEANINGS[status] ?? (ok ? 'Bien' : 'Error')} · ${Math.round(ms)} ms`,
    ok ? 'bien' : 'falla',
  )
  return parsed
}
