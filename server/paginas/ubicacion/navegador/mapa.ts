// The map with its pin. Loaded only when somebody wants it: Leaflet weighs more than the rest of the page.
import { DivIcon, LatLng, Map as MapaDeLeaflet, Marker, TileLayer } from 'leaflet'

export interface Punto {
  lat: number
  lng: number
}
type Direccion = 'arriba' | 'abajo' | 'izquierda' | 'derecha'
export interface Mapa {
  /** Shows a point that was chosen elsewhere. */
  mover(punto: Punto): void
  paso(direccion: Direccion): void
  enfocar(): void
}
interface Avisos {
  alMover(punto: Punto): void
  decir(texto: string): void
}

/** The middle of Guatemala, when nobody knows where the municipality lies. */
const SIN_CENTRO = { punto: new LatLng(15.6, -90.3), zoom: 7 }
const ZOOM_DE_MUNICIPIO = 14
const ZOOM_DE_PUERTA = 17
const PASO_PX = 12
const TAPON_MS = 600
const PASOS: Record<Direccion, [number, number]> = {
  arriba: [0, -1],
  abajo: [0, 1],
  izquierda: [-1, 0],
  derecha: [1, 0],
}
const TECLAS: Record<string, Direccion> = {
  ArrowUp: 'arriba',
  ArrowDown: 'abajo',
  ArrowLeft: 'izquierda',
  ArrowRight: 'derecha',
}
const RUMBOS = ['norte', 'noreste', 'este', 'sureste', 'sur', 'suroeste', 'oeste', 'noroeste']

export function abrirMapa(contenedor: HTMLElement, elegido: Punto | undefined, avisos: Avisos): Mapa {
  const { url = '', atribucion = '', lat, lng, lugar = '' } = contenedor.dataset
  const centro = lat && lng ? new LatLng(Number(lat), Number(lng)) : undefined
  const inicio = elegido ? new LatLng(elegido.lat, elegido.lng) : (centro ?? SIN_CENTRO.punto)
  const animado = !matchMedia('(prefers-reduced-motion: reduce)').matches
  const mapa = new MapaDeLeaflet(contenedor, {
    center: inicio,
    zoom: elegido ? ZOOM_DE_PUERTA : centro ? ZOOM_DE_MUNICIPIO : SIN_CENTRO.zoom,
    // The pin takes the keys; a map that takes the wheel traps whoever scrolls by.
    keyboard: false,
    scrollWheelZoom: false,
    zoomControl: false,
    zoomAnimation: animado,
    fadeAnimation: animado,
    markerZoomAnimation: animado,
    inertia: animado,
  })
  let incompleto = ''
  ponerMosaicos(mapa, url, atribucion, () => {
    incompleto = ' Una parte del mapa no cargó: revise su señal.'
    contar()
  })
  ponerZoom(mapa, contenedor)
  const pin = new Marker(inicio, { icon: icono(), draggable: true, autoPan: true, keyboard: true }).addTo(mapa)
  nombrar(pin)

  const contar = demorar(() => avisos.decir(describir(pin.getLatLng(), centro, lugar) + incompleto))
  const poner = (punto: LatLng) => {
    pin.setLatLng(punto)
    mapa.panInside(punto, { padding: [48, 48] })
    avisos.alMover(punto)
    contar()
  }
  const paso = (direccion: Direccion, veces = 1) => {
    const [x, y] = PASOS[direccion]
    const { x: px, y: py } = mapa.latLngToContainerPoint(pin.getLatLng())
    poner(mapa.containerPointToLatLng([px + x * PASO_PX * veces, py + y * PASO_PX * veces]))
  }
  // A tap meant for the button that stood here a moment ago chooses nothing.
  const apertura = performance.now()
  mapa.on('click', ({ latlng }) => {
    if (performance.now() - apertura > TAPON_MS) poner(latlng.wrap())
  })
  pin.on('dragend', () => poner(pin.getLatLng().wrap()))
  pin.getElement()!.addEventListener('keydown', (evento) => {
    const direccion = TECLAS[evento.key]
    if (direccion) paso(direccion, evento.shiftKey ? 5 : 1)
    else if (evento.key === '+') mapa.setZoomAround(pin.getLatLng(), mapa.getZoom() + 1)
    else if (evento.key === '-') mapa.setZoomAround(pin.getLatLng(), mapa.getZoom() - 1)
    else return
    evento.preventDefault()
  })
  contar()
  return {
    mover(punto) {
      pin.setLatLng(punto)
      mapa.setView(punto, Math.max(mapa.getZoom(), ZOOM_DE_PUERTA))
      contar()
    },
    paso: (direccion) => paso(direccion),
    enfocar: () => pin.getElement()?.focus({ preventScroll: true }),
  }
}

function ponerMosaicos(mapa: MapaDeLeaflet, url: string, atribucion: string, alFaltar: () => void) {
  const texto = document.createElement('span')
  texto.textContent = atribucion
  // OpenStreetMap asks for the link; what others ask for is theirs to put into words.
  const suyo = /openstreetmap/i.test(atribucion)
  const enlace = `<a href="https://www.openstreetmap.org/copyright" rel="noreferrer noopener">${texto.innerHTML}</a>`
  mapa.attributionControl.setPrefix(false)
  new TileLayer(url, {
    maxZoom: 19,
    attribution: suyo ? enlace : texto.innerHTML,
    // The page sends no referrer at all; OpenStreetMap refuses tiles to whoever doesn't say from which site. The site,
    // and never the address with its token.
    referrerPolicy: 'origin',
  })
    .once('tileerror', alFaltar)
    .addTo(mapa)
}

/** Buttons of our own: Leaflet's are small links, in English. */
function ponerZoom(mapa: MapaDeLeaflet, contenedor: HTMLElement) {
  const barra = document.createElement('div')
  barra.className = 'zoom'
  for (const [signo, nombre, cambio] of [
    ['+', 'Acercar el mapa', 1],
    ['−', 'Alejar el mapa', -1],
  ] as const) {
    const boton = document.createElement('button')
    boton.type = 'button'
    boton.textContent = signo
    boton.setAttribute('aria-label', nombre)
    boton.addEventListener('click', () => mapa.setZoom(mapa.getZoom() + cambio))
    barra.append(boton)
  }
  // Otherwise a tap on a button would be a tap on the map, too.
  for (const tipo of ['click', 'dblclick', 'mousedown', 'pointerdown', 'touchstart']) {
    barra.addEventListener(tipo, (evento) => evento.stopPropagation())
  }
  contenedor.append(barra)
}

function icono() {
  const svg = (nombre: string, atributos: Record<string, string>, ...dentro: Element[]) => {
    const elemento = document.createElementNS('http://www.w3.org/2000/svg', nombre)
    for (const [clave, valor] of Object.entries(atributos)) elemento.setAttribute(clave, valor)
    elemento.append(...dentro)
    return elemento
  }
  const dibujo = svg(
    'svg',
    { viewBox: '0 0 48 60', width: '48', height: '60', 'aria-hidden': 'true' },
    svg('path', {
      class: 'cuerpo',
      d: 'M24 2C12.4 2 3 11.4 3 23c0 15.5 19 33 21 35 2-2 21-19.5 21-35C45 11.4 35.6 2 24 2Z',
    }),
    svg('circle', { class: 'hueco', cx: '24', cy: '23', r: '8' }),
  )
  return new DivIcon({
    className: 'pin',
    html: dibujo as unknown as HTMLElement,
    iconSize: [48, 60],
    iconAnchor: [24, 58],
  })
}

/** Screen readers pass the arrows on only to what says that it handles them itself. */
function nombrar(pin: Marker) {
  const elemento = pin.getElement()!
  elemento.id = 'pin'
  elemento.setAttribute('role', 'application')
  elemento.setAttribute('aria-roledescription', 'pin del mapa')
  elemento.setAttribute('aria-label', 'Lugar de entrega. Muévalo con las flechas del teclado.')
  elemento.setAttribute('aria-describedby', 'ayuda-mapa')
}

/** The map in words. */
function describir(punto: LatLng, centro: LatLng | undefined, lugar: string): string {
  if (!centro) return 'Toque el mapa o mueva el pin hasta su puerta.'
  const metros = centro.distanceTo(punto)
  if (metros < 5) return `El pin está en el centro de ${lugar}. Muévalo hasta su puerta.`
  const norte = punto.lat - centro.lat
  const este = (punto.lng - centro.lng) * Math.cos((centro.lat * Math.PI) / 180)
  const rumbo = RUMBOS[(Math.round(Math.atan2(este, norte) / (Math.PI / 4)) + 8) % 8]
  const cuanto = metros < 950 ? `${Math.ceil(metros / 10) * 10} metros` : `${(metros / 1000).toFixed(1)} km`
  return `El pin está a ${cuanto} al ${rumbo} del centro de ${lugar}.`
}

/** Said when the pin rests, not at every step. */
function demorar(hacer: () => void): () => void {
  let reloj: number | undefined
  return () => {
    clearTimeout(reloj)
    reloj = window.setTimeout(hacer, 500)
  }
}
