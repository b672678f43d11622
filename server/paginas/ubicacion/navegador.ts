// What the page does beyond its HTML: the phone's position, the map when it is wanted, and sending that survives bad
// coverage. Everything works without it, with a link. The form is the state: what is chosen stands in its hidden fields.
import type { abrirMapa as AbrirMapa, Mapa, Punto } from './mapa.ts'

/** Below this a position is as good as it gets: no reason to wait for a better one. */
const PRECISA_M = 25
/** Over this it names a neighbourhood and not a door. */
const IMPRECISA_M = 200
/** How long a better position is waited for after the first. */
const AFINANDO_MS = 8_000
const PLAZO_DE_ENVIO_MS = 25_000
const ESPERA_MAXIMA_S = 30

const MEMORIA = `ubicacion:${location.pathname}`
const CAMPOS = ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia'] as const

/** Sets up what stands in <main>: the page as it came, or one that was put in its place. */
function iniciar() {
  const formulario = document.querySelector<HTMLFormElement>('form[data-formulario]')
  if (!formulario) return olvidar()
  prepararEnvio(formulario)
  const enlace = document.querySelector<HTMLInputElement>('#enlace')
  if (!enlace) return
  if (formulario.dataset.nuevo !== undefined) recordar(formulario)
  for (const parte of document.querySelectorAll<HTMLElement>('[data-con-js]')) parte.hidden = false
  const plegable = document.querySelector<HTMLDetailsElement>('#con-enlace')!
  plegable.open = enlace.value !== '' || enlace.getAttribute('aria-invalid') === 'true'
  const lugar = prepararLugar(formulario)
  prepararPosicion(lugar)
  prepararMapa(lugar)
  enlace.addEventListener('input', () => {
    if (enlace.value.trim()) lugar.elegir('enlace')
    else if (lugar.metodo() === 'enlace') lugar.elegir('')
  })
  formulario.addEventListener('input', () => guardar(formulario))
}

const campo = (formulario: HTMLFormElement, nombre: string) =>
  formulario.elements.namedItem(nombre) as HTMLInputElement | null
const decir = (id: string, texto: string, clase = '') => {
  const donde = document.getElementById(id)
  if (!donde) return
  donde.className = `estado ${clase}`
  donde.textContent = texto
}
const enMetros = (metros: number) =>
  metros < 950
    ? `${Math.max(1, metros < 20 ? Math.round(metros) : Math.round(metros / 10) * 10)} metros`
    : `${(metros / 1000).toFixed(1)} km`

// --- What was filled in outlives the page: Android drops it while the person is looking for a link in another app ---

function guardar(formulario: HTMLFormElement) {
  try {
    sessionStorage.setItem(MEMORIA, JSON.stringify(CAMPOS.map((nombre) => campo(formulario, nombre)?.value ?? '')))
  } catch {} // private windows may have no storage
}

function recordar(formulario: HTMLFormElement) {
  try {
    const valores = JSON.parse(sessionStorage.getItem(MEMORIA) ?? '[]') as unknown[]
    CAMPOS.forEach((nombre, i) => {
      const donde = campo(formulario, nombre)
      if (donde && typeof valores[i] === 'string') donde.value = valores[i]
    })
  } catch {}
}

function olvidar() {
  try {
    sessionStorage.removeItem(MEMORIA)
  } catch {}
}

// --- The chosen place ---

type Metodo = '' | 'gps' | 'mapa' | 'enlace'
interface Lugar {
  metodo(): Metodo
  punto(): Punto | undefined
  elegir(metodo: Metodo, punto?: Punto, precision?: number): void
  /** Called with every point that doesn't come from the map. */
  alElegir?: (punto: Punto) => void
}

function prepararLugar(formulario: HTMLFormElement): Lugar {
  const poner = (nombre: string, valor: string) => {
    campo(formulario, nombre)!.value = valor
  }
  const leer = (nombre: string) => campo(formulario, nombre)?.value ?? ''
  const contar = () => {
    const metodo = leer('metodo')
    const precision = Number(leer('precision_m'))
    const imprecisa = metodo === 'gps' && precision > IMPRECISA_M
    const elegido = document.getElementById('elegido')!
    const textos: Record<string, string> = {
      gps: `Lugar elegido: su ubicación${imprecisa ? ', pero es poco exacta' : ''} (unos ${enMetros(precision)}).`,
      mapa: 'Lugar elegido: el pin del mapa.',
      enlace: 'Lugar elegido: el enlace que pegó.',
    }
    elegido.textContent = textos[metodo] ?? 'Todavía no ha elegido el lugar.'
    elegido.classList.toggle('listo', metodo in textos && !imprecisa)
  }
  const lugar: Lugar = {
    metodo: () => leer('metodo') as Metodo,
    punto: () => (leer('lat') ? { lat: Number(leer('lat')), lng: Number(leer('lng')) } : undefined),
    elegir(metodo, punto, precision) {
      poner('metodo', metodo)
      poner('lat', punto ? punto.lat.toFixed(7) : '')
      poner('lng', punto ? punto.lng.toFixed(7) : '')
      poner('precision_m', precision === undefined ? '' : String(Math.round(precision)))
      contar()
      guardar(formulario)
      if (metodo) document.querySelector('#errores a[href="#lugar"]')?.closest('#errores')?.remove()
      if (punto && metodo !== 'mapa') lugar.alElegir?.(punto)
    },
  }
  contar()
  return lugar
}

// --- Where the phone is ---

function prepararPosicion(lugar: Lugar) {
  const boton = document.querySelector<HTMLButtonElement>('#gps')!
  if (!window.isSecureContext || !navigator.geolocation) {
    boton.closest('section')!.hidden = true
    return
  }
  let vigilando: number | undefined
  let corte: number | undefined
  let mejor = Number.POSITIVE_INFINITY
  const parar = () => {
    if (vigilando !== undefined) navigator.geolocation.clearWatch(vigilando)
    clearTimeout(corte)
    vigilando = undefined
    boton.removeAttribute('aria-disabled')
  }
  const concluir = () => {
    parar()
    contarPrecision(mejor)
  }
  boton.addEventListener('click', () => {
    if (vigilando !== undefined) return
    mejor = Number.POSITIVE_INFINITY
    boton.setAttribute('aria-disabled', 'true')
    decir('estado-gps', 'Buscando dónde está… Si el teléfono le pide permiso, toque «Permitir».')
    // The first position is often the antenna's; the satellites' comes seconds later.
    vigilando = navigator.geolocation.watchPosition(
      ({ coords: { latitude: lat, longitude: lng, accuracy } }) => {
        if (accuracy < mejor) {
          if (mejor === Number.POSITIVE_INFINITY) corte = window.setTimeout(concluir, AFINANDO_MS)
          mejor = accuracy
          lugar.elegir('gps', { lat, lng }, accuracy)
          decir('estado-gps', `${encontrada(accuracy)} Seguimos buscando una mejor…`)
        }
        if (accuracy <= PRECISA_M) concluir()
      },
      (error) => {
        // Between two positions a fault passes by itself; without any it is what there is to tell.
        if (mejor < Number.POSITIVE_INFINITY && error.code !== error.PERMISSION_DENIED) return
        parar()
        decir('estado-gps', POR_QUE[error.code] ?? POR_QUE[2]!, 'problema')
      },
      { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 },
    )
  })
}

const encontrada = (metros: number) => `Encontramos su ubicación, con precisión de unos ${enMetros(metros)}.`

function contarPrecision(metros: number) {
  if (metros <= IMPRECISA_M) return decir('estado-gps', encontrada(metros), 'bien')
  decir(
    'estado-gps',
    `${encontrada(metros)} Es poco exacta: salga a un lugar abierto e inténtelo otra vez${hayMapa() ? ', o mueva el pin en el mapa' : ''}.`,
    'problema',
  )
}

const hayMapa = () => document.getElementById('mapa') !== null
const OTRA_FORMA = 'O elija el lugar de otra forma, aquí abajo.'
/** By the code of GeolocationPositionError. */
const POR_QUE: Record<number, string> = {
  1: `El teléfono no nos dio permiso para ver su ubicación. Toque el candado que está arriba, junto a la dirección de esta página; entre a «Permisos», permita la «Ubicación» y toque el botón otra vez. ${OTRA_FORMA}`,
  2: `El teléfono no encontró su ubicación. Encienda la «Ubicación» (GPS) en los ajustes y toque el botón otra vez. ${OTRA_FORMA}`,
  3: `El teléfono tardó demasiado. Salga a un lugar abierto y toque el botón otra vez. ${OTRA_FORMA}`,
}

// --- The map, when it is wanted ---

function prepararMapa(lugar: Lugar) {
  const contenedor = document.getElementById('mapa')
  const boton = document.getElementById('abrir-mapa')
  if (!contenedor || !boton) return
  let mapa: Mapa | undefined
  let abriendo = false
  let intentos = 0
  const abrir = async (conFoco: boolean) => {
    if (mapa || abriendo) return
    abriendo = true
    decir('estado-mapa', 'Abriendo el mapa…')
    try {
      // A module that failed to load may stay failed under its name.
      const modulo = contenedor.dataset.modulo! + (intentos++ > 0 ? `?${intentos}` : '')
      const [{ abrirMapa }] = await Promise.all([
        import(new URL(modulo, location.href).href) as Promise<{ abrirMapa: typeof AbrirMapa }>,
        cargarEstilo(contenedor.dataset.estilo!),
      ])
      // Reaching the button with the Tab key scrolls to it, which opens the map: the focus must not go with the button.
      const enfocar = conFoco || document.activeElement === boton
      boton.remove()
      decir('estado-mapa', '')
      mapa = abrirMapa(contenedor, lugar.punto(), {
        alMover: (punto) => lugar.elegir('mapa', punto),
        decir: (texto) => decir('estado-mapa', texto),
      })
      lugar.alElegir = mapa.mover
      prepararFlechas(mapa)
      if (enfocar) mapa.enfocar()
    } catch {
      decir('estado-mapa', 'No se pudo abrir el mapa. Revise su señal y toque «Ver el mapa» otra vez.', 'problema')
    }
    abriendo = false
  }
  boton.addEventListener('click', () => abrir(true))
  // Nobody who is short of data pays for a map they only scrolled past.
  const { saveData } = (navigator as Navigator & { connection?: { saveData?: boolean } }).connection ?? {}
  if (saveData || !('IntersectionObserver' in window)) return
  const vigia = new IntersectionObserver(
    (entradas) => {
      if (!entradas.some((entrada) => entrada.isIntersecting)) return
      vigia.disconnect()
      abrir(false)
    },
    { threshold: 0.5 },
  )
  // What is in sight from the start wasn't scrolled to: the page itself comes first.
  addEventListener('scroll', () => vigia.observe(contenedor), { once: true, passive: true })
}

function cargarEstilo(direccion: string) {
  return new Promise<void>((resolve, reject) => {
    const estilo = document.createElement('link')
    estilo.rel = 'stylesheet'
    estilo.href = direccion
    estilo.onload = () => resolve()
    estilo.onerror = () => {
      estilo.remove()
      reject(new Error('no style'))
    }
    document.head.append(estilo)
  })
}

function prepararFlechas(mapa: Mapa) {
  const flechas = document.getElementById('flechas')!
  flechas.hidden = false
  flechas.addEventListener('click', ({ target }) => {
    const paso = (target as HTMLElement).closest<HTMLElement>('[data-paso]')?.dataset.paso
    if (paso) mapa.paso(paso as Parameters<Mapa['paso']>[0])
  })
}

// --- Sending ---

function prepararEnvio(formulario: HTMLFormElement) {
  let enviando = false
  let intentos = 0
  let reloj: number | undefined
  let pulsado: HTMLButtonElement | null = null

  const enviar = async () => {
    if (enviando || !formulario.isConnected) return
    enviando = true
    clearTimeout(reloj)
    ocupar(true)
    decir('envio', 'Enviando…')
    const corte = new AbortController()
    const plazo = setTimeout(() => corte.abort(), PLAZO_DE_ENVIO_MS)
    try {
      const cuerpo = new URLSearchParams()
      for (const [nombre, valor] of new FormData(formulario)) cuerpo.append(nombre, String(valor))
      if (pulsado?.name) cuerpo.append(pulsado.name, pulsado.value)
      // The answer to a confirmation is a redirection to this same page: one way there, and the page comes back.
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
    decir(
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
    if (faltaLugar(formulario)) return
    intentos = 0
    enviar()
  })
}

/** Said at once, without asking the server over a bad network. */
function faltaLugar(formulario: HTMLFormElement): boolean {
  const plantilla = document.querySelector<HTMLTemplateElement>('#falta-lugar')
  if (!plantilla || campo(formulario, 'lat')?.value || campo(formulario, 'enlace')?.value.trim()) return false
  document.getElementById('errores')?.remove()
  document.querySelector('main')!.prepend(plantilla.content.cloneNode(true))
  document.getElementById('errores')!.focus()
  return true
}

/** Puts the page that was answered in the place of this one, as following the form would have done. */
function sustituir(pagina: string) {
  const nueva = new DOMParser().parseFromString(pagina, 'text/html')
  const contenido = nueva.querySelector('main')
  if (!contenido) return location.reload()
  document.title = nueva.title
  document.querySelector('main')!.replaceWith(document.importNode(contenido, true))
  scrollTo(0, 0)
  iniciar()
  document.querySelector<HTMLElement>('#errores, h1')?.focus()
}

iniciar()
document.querySelector<HTMLElement>('#errores')?.focus()
