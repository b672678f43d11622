// Map with its pin. It loads only when the recipient opens it: Leaflet is larger than the rest of the page.
import { Circle, DivIcon, LatLng, Map as MapaDeLeaflet, Marker, TileLayer } from 'leaflet'
import type { Point } from '../../../platform/maps/point.ts'
import type { Zona } from './palabras.ts'

type Direccion = 'arriba' | 'abajo' | 'izquierda' | 'derecha'
export interface MapaInteractivo {
  /** Shows the chosen location, if any, and its precision in metres as the phone reports it. */
  mostrar(punto: Point | undefined, precision: number | undefined): void
  paso(direccion: Direccion): void
  /** Requests the map's tiles again. */
  cargar(): void
}
interface Avisos {
  alMover(punto: Point): void
  /** Called when the pin would be put where no tile is visible. */
  alNoVer(): void
  /** Called when the first tile has loaded (true), and when all tiles have failed (false). */
  alJuzgar(visto: boolean): void
}

/** Centre of Guatemala, for a municipality whose centre is unknown. */
const SIN_CENTRO = { punto: new LatLng(15.6, -90.3), zoom: 7 }
const ZOOM_DE_MUNICIPIO = 14
const ZOOM_DE_PUERTA = 17
const PASO_PX = 12
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

/** Opens the map in its container. */
export function abrirMapa(contenedor: HTMLElement, zona: Zona, avisos: Avisos): MapaInteractivo {
  const { url = '', atribucion = '' } = contenedor.dataset
  const centro = zona.centro ? new LatLng(zona.centro.lat, zona.centro.lng) : SIN_CENTRO.punto
  const mapa = crearMapa(contenedor, centro, zona.centro ? ZOOM_DE_MUNICIPIO : SIN_CENTRO.zoom)
  const pin = new Marker(centro, { icon: icono(), draggable: true, autoPan: true, keyboard: true }).addTo(mapa)
  // The circle's radius is the precision of the position. A pin that the recipient moved has no circle.
  const circulo = new Circle(centro, { radius: 1, interactive: false, className: 'precision' })
  let donde = centro
  const poner = (punto: LatLng) => {
    if (!seVe(mapa, punto)) {
      pin.setLatLng(donde)
      return avisos.alNoVer()
    }
    donde = punto
    circulo.remove()
    pin.setLatLng(punto)
    mapa.panInside(punto, { padding: [48, 48] })
    avisos.alMover(punto)
  }
  const paso = (direccion: Direccion, veces = 1) => {
    const [x, y] = PASOS[direccion]
    const { x: px, y: py } = mapa.latLngToContainerPoint(pin.getLatLng())
    poner(mapa.containerPointToLatLng([px + x * PASO_PX * veces, py + y * PASO_PX * veces]))
  }
  const capa = ponerMosaicos(mapa, url, atribucion, (visto) => {
    contenedor.classList.toggle('ciego', !visto)
    avisos.alJuzgar(visto)
  })
  ponerZoom(mapa, contenedor)
  nombrar(pin)
  mapa.on('click', ({ latlng }) => poner(latlng.wrap()))
  pin.on('dragend', () => poner(pin.getLatLng().wrap()))
  pin.getElement()!.addEventListener('keydown', (evento) => {
    const direccion = TECLAS[evento.key]
    if (direccion) paso(direccion, evento.shiftKey ? 5 : 1)
    else if (evento.key === '+') mapa.setZoomAround(pin.getLatLng(), mapa.getZoom() + 1)
    else if (evento.key === '-') mapa.setZoomAround(pin.getLatLng(), mapa.getZoom() - 1)
    else return
    evento.preventDefault()
  })
  return {
    mostrar(punto, precision) {
      // The map has no size while it is hidden, so its size may be outdated.
      mapa.invalidateSize({ pan: false })
      if (!punto || donde.equals([punto.lat, punto.lng], 1e-6)) return
      donde = new LatLng(punto.lat, punto.lng)
      pin.setLatLng(donde)
      circulo.remove()
      if (precision === undefined) return void mapa.setView(donde, Math.max(mapa.getZoom(), ZOOM_DE_PUERTA))
      circulo.setLatLng(donde).setRadius(precision).addTo(mapa)
      mapa.fitBounds(circulo.getBounds(), { maxZoom: ZOOM_DE_PUERTA })
    },
    paso: (direccion) => paso(direccion),
    cargar() {
      mapa.invalidateSize({ pan: false })
      capa.redraw()
    },
  }
}

function crearMapa(contenedor: HTMLElement, center: LatLng, zoom: number) {
  const animado = !matchMedia('(prefers-reduced-motion: reduce)').matches
  return new MapaDeLeaflet(contenedor, {
    center,
    zoom,
    // The pin handles the keys, not the map. A map that handles the wheel would trap readers who scroll past it.
    keyboard: false,
    scrollWheelZoom: false,
    zoomControl: false,
    zoomAnimation: animado,
    fadeAnimation: animado,
    markerZoomAnimation: animado,
    inertia: animado,
  })
}

/** Tells whether a tile is visible at a point. A recipient must not put the pin on a blank map. */
function seVe(mapa: MapaDeLeaflet, punto: LatLng): boolean {
  const { x, y } = mapa.latLngToContainerPoint(punto)
  const { left, top } = mapa.getContainer().getBoundingClientRect()
  return [...mapa.getContainer().querySelectorAll('.leaflet-tile-loaded')].some((mosaico) => {
    const caja = mosaico.getBoundingClientRect()
    return left + x >= caja.left && left + x <= caja.right && top + y >= caja.top && top + y <= caja.bottom
  })
}

/**
 * Adds the tiles to the map.
 * @param alJuzgar called when the first tile has loaded, and when all have failed
 */
function ponerMosaicos(mapa: MapaDeLeaflet, url: string, atribucion: string, alJuzgar: (visto: boolean) => void) {
  const texto = document.createElement('span')
  texto.textContent = atribucion
  // OpenStreetMap requires a link to its copyright page. For any other provider, the operator configures the credit.
  const suyo = /openstreetmap/i.test(atribucion)
  const enlace = `<a href="https://www.openstreetmap.org/copyright" rel="noreferrer noopener">${texto.innerHTML}</a>`
  mapa.attributionControl.setPrefix(false)
  let visto = false
  const decir = (ahora: boolean) => {
    if (ahora !== visto || !ahora) alJuzgar(ahora)
    visto = ahora
  }
  return new TileLayer(url, {
    maxZoom: 19,
    attribution: suyo ? enlace : texto.innerHTML,
    // The page sends no referrer, and OpenStreetMap refuses tiles to sites that send none. The origin is enough, and
    // does not contain the token of the page's address.
    referrerPolicy: 'origin',
  })
    .on('tileload', () => decir(true))
    .on('load', () => decir(mapa.getContainer().querySelector('.leaflet-tile-loaded') !== null))
    .addTo(mapa)
}

/** Adds zoom buttons, because Leaflet's own buttons are small links in English. */
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
  // Events of the zoom buttons stop here. Otherwise a tap on a button would also be a tap on the map.
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

/**
 * Gives the pin a role and a name. Screen readers pass arrow keys only to elements that declare that they handle keys.
 */
function nombrar(pin: Marker) {
  const elemento = pin.getElement()!
  elemento.id = 'pin'
  elemento.setAttribute('role', 'application')
  elemento.setAttribute('aria-roledescription', 'pin del mapa')
  elemento.setAttribute('aria-label', 'Lugar de entrega. Muévalo con las flechas del teclado.')
  elemento.setAttribute('aria-describedby', 'ayuda-mapa estado-lugar')
}
