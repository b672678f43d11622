// Map with its pin, which stays in the middle while the ground moves. The map loads only when the recipient opens it:
// Leaflet is larger than the rest of the page.
import { Circle, LatLng, Map as LeafletMap, TileLayer } from 'leaflet'
import type { Point } from '../../../platform/maps/point.ts'
import { PIN_OUTLINE } from '../pin.ts'
import type { Zona } from './words.ts'

type Direccion = 'arriba' | 'abajo' | 'izquierda' | 'derecha'
export interface InteractiveMap {
  /** Shows the chosen location, if any, and its precision in metres as the phone reports it. */
  show(point: Point | undefined, precision: number | undefined): void
  paso(direccion: Direccion): void
  /** Requests the map's tiles again. */
  load(): void
}
interface Avisos {
  /** Called when the recipient has moved the pin; undefined where no tile is visible yet. */
  onMove(point: Point | undefined): void
  /** Called when the first tile has loaded (true), and when all tiles have failed (false). */
  onVisibility(isVisible: boolean): void
}

/** Centre of Guatemala, for a municipality whose centre is unknown. */
const COUNTRY_VIEW = { point: new LatLng(15.6, -90.3), zoom: 7 }
const MUNICIPIO_ZOOM = 14
const DOOR_ZOOM = 17
const STEP_PX = 12
const STEPS: Record<Direccion, [number, number]> = {
  arriba: [0, -1],
  abajo: [0, 1],
  izquierda: [-1, 0],
  derecha: [1, 0],
}
const KEYS: Record<string, Direccion> = {
  ArrowUp: 'arriba',
  ArrowDown: 'abajo',
  ArrowLeft: 'izquierda',
  ArrowRight: 'derecha',
}

export function openMap(container: HTMLElement, zone: Zona, avisos: Avisos): InteractiveMap {
  const { url = '', atribucion: attribution = '' } = container.dataset
  let where = zone.centre ? new LatLng(zone.centre.lat, zone.centre.lng) : COUNTRY_VIEW.point
  const map = createMap(container, where, zone.centre ? MUNICIPIO_ZOOM : COUNTRY_VIEW.zoom)
  // The circle's radius is the precision of the position. A pin that the recipient moved has no circle.
  const circle = new Circle(where, { radius: 1, interactive: false, className: 'precision' })
  const tileLayer = addTiles(map, url, attribution, (isVisible) => {
    container.classList.toggle('ciego', !isVisible)
    avisos.onVisibility(isVisible)
  })
  /** The recipient's move of the map; the page moves the map, too. A pin on a blank map waits for the tile below it. */
  let move: 'none' | 'going' | 'waiting' = 'none'
  const settle = () => {
    where = map.getCenter().wrap()
    circle.remove()
    move = isTileVisible(map, where) ? 'none' : 'waiting'
    avisos.onMove(move === 'none' ? where : undefined)
  }
  map.on('moveend', () => move !== 'none' && settle())
  tileLayer.on('tileload', () => move === 'waiting' && settle())
  map.on('dragstart', () => {
    move = 'going'
  })
  const moveTo = (point: LatLng, isAnimated: boolean) => {
    move = 'going'
    map.panTo(point, { animate: isAnimated })
  }
  map.on('click', ({ latlng }) => moveTo(latlng, !isMotionReduced()))
  const step = (direccion: Direccion, times = 1) => {
    const [x, y] = STEPS[direccion]
    const { x: middleX, y: middleY } = map.getSize().divideBy(2)
    moveTo(map.containerPointToLatLng([middleX + x * STEP_PX * times, middleY + y * STEP_PX * times]), false)
  }
  addZoomButtons(map, container)
  addPin(container).addEventListener('keydown', (evento) => {
    const direccion = KEYS[evento.key]
    if (direccion) step(direccion, evento.shiftKey ? 5 : 1)
    else if (evento.key === '+') map.zoomIn()
    else if (evento.key === '-') map.zoomOut()
    else return
    evento.preventDefault()
  })
  return {
    show(point, precision) {
      // The map has no size while it is hidden, so its size may be outdated.
      map.invalidateSize()
      if (!point || where.equals([point.lat, point.lng], 1e-6)) return
      move = 'none'
      where = new LatLng(point.lat, point.lng)
      circle.remove()
      if (precision === undefined) return void map.setView(where, Math.max(map.getZoom(), DOOR_ZOOM))
      circle.setLatLng(where).setRadius(precision).addTo(map)
      map.setView(where, Math.min(map.getBoundsZoom(circle.getBounds()), DOOR_ZOOM))
    },
    paso: (direccion) => step(direccion),
    load() {
      map.invalidateSize()
      tileLayer.redraw()
    },
  }
}

const isMotionReduced = () => matchMedia('(prefers-reduced-motion: reduce)').matches

function createMap(container: HTMLElement, center: LatLng, zoom: number) {
  const isAnimated = !isMotionReduced()
  return new LeafletMap(container, {
    center,
    zoom,
    // The pin handles the keys, not the map. A map that handles the wheel would trap readers who scroll past it.
    keyboard: false,
    scrollWheelZoom: false,
    // Zooming keeps the ground below the pin.
    touchZoom: 'center',
    doubleClickZoom: false,
    zoomControl: false,
    zoomAnimation: isAnimated,
    fadeAnimation: isAnimated,
    inertia: isAnimated,
  })
}

/** Tells whether a tile is visible at a point. A recipient must not put the pin on a blank map. */
function isTileVisible(map: LeafletMap, point: LatLng): boolean {
  const { x, y } = map.latLngToContainerPoint(point)
  const { left, top } = map.getContainer().getBoundingClientRect()
  return [...map.getContainer().querySelectorAll('.leaflet-tile-loaded')].some((tile) => {
    const box = tile.getBoundingClientRect()
    return left + x >= box.left && left + x <= box.right && top + y >= box.top && top + y <= box.bottom
  })
}

/**
 * Adds the tiles to the map.
 * @param onVisibility called when the first tile has loaded, and when all have failed
 */
function addTiles(map: LeafletMap, url: string, attribution: string, onVisibility: (isVisible: boolean) => void) {
  const text = document.createElement('span')
  text.textContent = attribution
  // OpenStreetMap requires a link to its copyright page. For any other provider, the operator configures the credit.
  const isOpenStreetMap = /openstreetmap/i.test(attribution)
  const link = `<a href="https://www.openstreetmap.org/copyright" rel="noreferrer noopener">${text.innerHTML}</a>`
  map.attributionControl.setPrefix(false)
  let isVisible = false
  const reportVisibility = (now: boolean) => {
    if (now !== isVisible || !now) onVisibility(now)
    isVisible = now
  }
  return new TileLayer(url, {
    maxZoom: 19,
    attribution: isOpenStreetMap ? link : text.innerHTML,
    // The page sends no referrer, and OpenStreetMap refuses tiles to sites that send none. The origin is enough, and
    // does not contain the token of the page's address.
    referrerPolicy: 'origin',
  })
    .on('tileload', () => reportVisibility(true))
    .on('load', () => reportVisibility(map.getContainer().querySelector('.leaflet-tile-loaded') !== null))
    .addTo(map)
}

/** Adds zoom buttons, because Leaflet's own buttons are small links in English. */
function addZoomButtons(map: LeafletMap, container: HTMLElement) {
  const zoomBar = document.createElement('div')
  zoomBar.className = 'zoom'
  for (const [sign, name, change] of [
    ['+', 'Acercar el mapa', 1],
    ['−', 'Alejar el mapa', -1],
  ] as const) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = sign
    button.setAttribute('aria-label', name)
    button.addEventListener('click', () => map.setZoom(map.getZoom() + change))
    zoomBar.append(button)
  }
  // Events of the zoom buttons stop here. Otherwise a tap on a button would also be a tap on the map.
  for (const type of ['click', 'dblclick', 'mousedown', 'pointerdown', 'touchstart']) {
    zoomBar.addEventListener(type, (evento) => evento.stopPropagation())
  }
  container.append(zoomBar)
}

/**
 * Adds the pin in the middle of the map. It has a role and a name, because screen readers pass arrow keys only to
 * elements that declare that they handle keys.
 */
function addPin(container: HTMLElement): HTMLElement {
  const svg = (name: string, attributes: Record<string, string>, ...children: Element[]) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.append(...children)
    return element
  }
  const pin = document.createElement('div')
  pin.append(
    svg(
      'svg',
      { viewBox: '0 0 48 60', width: '48', height: '60', 'aria-hidden': 'true' },
      svg('path', { class: 'cuerpo', d: PIN_OUTLINE }),
      svg('circle', { class: 'hueco', cx: '24', cy: '23', r: '8' }),
    ),
  )
  const attributes = {
    id: 'pin',
    class: 'pin',
    tabindex: '0',
    role: 'application',
    'aria-roledescription': 'pin del mapa',
    'aria-label': 'Lugar de entrega. Muévalo con las flechas del teclado.',
    'aria-describedby': 'ayuda-mapa estado-lugar',
  }
  for (const [name, value] of Object.entries(attributes)) pin.setAttribute(name, value)
  container.append(pin)
  return pin
}
