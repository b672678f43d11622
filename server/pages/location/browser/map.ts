// Map with its pin. It loads only when the recipient opens it: Leaflet is larger than the rest of the page.
import { Circle, DivIcon, LatLng, Map as LeafletMap, Marker, TileLayer } from 'leaflet'
import type { Point } from '../../../platform/maps/point.ts'
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
  onMove(point: Point): void
  /** Called when the pin would be put where no tile is visible. */
  onUnseen(): void
  /** Called when the first tile has loaded (true), and when all tiles have failed (false). */
  onVisibility(isVisible: boolean): void
}

/** Centre of Guatemala, for a municipality whose centre is unknown. */
const COUNTRY_VIEW = { point: new LatLng(15.6, -90.3), zoom: 7 }
const MUNICIPIO_ZOOM = 14
const DOOR_ZOOM = 17
const PASO_PX = 12
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

/** Opens the map in its container. */
export function openMap(container: HTMLElement, zone: Zona, avisos: Avisos): InteractiveMap {
  const { url = '', atribucion: attribution = '' } = container.dataset
  const centre = zone.centre ? new LatLng(zone.centre.lat, zone.centre.lng) : COUNTRY_VIEW.point
  const map = createMap(container, centre, zone.centre ? MUNICIPIO_ZOOM : COUNTRY_VIEW.zoom)
  const pin = new Marker(centre, { icon: createPinIcon(), draggable: true, autoPan: true, keyboard: true }).addTo(map)
  // The circle's radius is the precision of the position. A pin that the recipient moved has no circle.
  const circle = new Circle(centre, { radius: 1, interactive: false, className: 'precision' })
  let where = centre
  const placePin = (point: LatLng) => {
    if (!isTileVisible(map, point)) {
      pin.setLatLng(where)
      return avisos.onUnseen()
    }
    where = point
    circle.remove()
    pin.setLatLng(point)
    map.panInside(point, { padding: [48, 48] })
    avisos.onMove(point)
  }
  const step = (direccion: Direccion, times = 1) => {
    const [x, y] = STEPS[direccion]
    const { x: px, y: py } = map.latLngToContainerPoint(pin.getLatLng())
    placePin(map.containerPointToLatLng([px + x * PASO_PX * times, py + y * PASO_PX * times]))
  }
  const tileLayer = addTiles(map, url, attribution, (isVisible) => {
    container.classList.toggle('ciego', !isVisible)
    avisos.onVisibility(isVisible)
  })
  addZoomButtons(map, container)
  labelPin(pin)
  map.on('click', ({ latlng }) => placePin(latlng.wrap()))
  pin.on('dragend', () => placePin(pin.getLatLng().wrap()))
  pin.getElement()!.addEventListener('keydown', (evento) => {
    const direccion = KEYS[evento.key]
    if (direccion) step(direccion, evento.shiftKey ? 5 : 1)
    else if (evento.key === '+') map.setZoomAround(pin.getLatLng(), map.getZoom() + 1)
    else if (evento.key === '-') map.setZoomAround(pin.getLatLng(), map.getZoom() - 1)
    else return
    evento.preventDefault()
  })
  return {
    show(point, precision) {
      // The map has no size while it is hidden, so its size may be outdated.
      map.invalidateSize({ pan: false })
      if (!point || where.equals([point.lat, point.lng], 1e-6)) return
      where = new LatLng(point.lat, point.lng)
      pin.setLatLng(where)
      circle.remove()
      if (precision === undefined) return void map.setView(where, Math.max(map.getZoom(), DOOR_ZOOM))
      circle.setLatLng(where).setRadius(precision).addTo(map)
      map.fitBounds(circle.getBounds(), { maxZoom: DOOR_ZOOM })
    },
    paso: (direccion) => step(direccion),
    load() {
      map.invalidateSize({ pan: false })
      tileLayer.redraw()
    },
  }
}

function createMap(container: HTMLElement, center: LatLng, zoom: number) {
  const isAnimated = !matchMedia('(prefers-reduced-motion: reduce)').matches
  return new LeafletMap(container, {
    center,
    zoom,
    // The pin handles the keys, not the map. A map that handles the wheel would trap readers who scroll past it.
    keyboard: false,
    scrollWheelZoom: false,
    zoomControl: false,
    zoomAnimation: isAnimated,
    fadeAnimation: isAnimated,
    markerZoomAnimation: isAnimated,
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

function createPinIcon() {
  const svg = (name: string, attributes: Record<string, string>, ...children: Element[]) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.append(...children)
    return element
  }
  const drawing = svg(
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
    html: drawing as unknown as HTMLElement,
    iconSize: [48, 60],
    iconAnchor: [24, 58],
  })
}

/**
 * Gives the pin a role and a name. Screen readers pass arrow keys only to elements that declare that they handle keys.
 */
function labelPin(pin: Marker) {
  const element = pin.getElement()!
  element.id = 'pin'
  element.setAttribute('role', 'application')
  element.setAttribute('aria-roledescription', 'pin del mapa')
  element.setAttribute('aria-label', 'Lugar de entrega. Muévalo con las flechas del teclado.')
  element.setAttribute('aria-describedby', 'ayuda-mapa estado-lugar')
}
