// Script of the page where a recipient decides. It finds the phone's position and opens the map for another place.
// Without the script, a link or a description of the place works.
import type { Point } from '../../../platform/maps/point.ts'
import { showStatus } from '../../location/browser/form.ts'
import { prepareMap } from '../../location/browser/openMap.ts'
import { preparePosition } from '../../location/browser/position.ts'
import { describeChoice, readZone } from '../../location/browser/words.ts'
import { askForPin, IMPRECISE_ABOVE_M } from '../../location/precision.ts'

const placeForm = document.querySelector<HTMLFormElement>('form[data-lugar]')

/** Prepares the form for another place. Setting the pin clears the link, and typing a link removes the pin. */
function prepareForm(form: HTMLFormElement) {
  const field = (name: string) => form.elements.namedItem(name) as HTMLInputElement
  const [lat, lng, precision, link] = [field('lat'), field('lng'), field('precision_m'), field('enlace')]
  const openButton = document.getElementById('abrir-mapa')
  const zone = readZone(form)
  const place = {
    point: () => (lat.value ? { lat: Number(lat.value), lng: Number(lng.value) } : undefined),
    precision: () => (precision.value ? Number(precision.value) : undefined),
    choose(method: string, point?: Point, metres?: number) {
      if (method !== 'gps') search.stop()
      if (method !== 'enlace') link.value = ''
      lat.value = point ? point.lat.toFixed(7) : ''
      lng.value = point ? point.lng.toFixed(7) : ''
      precision.value = metres === undefined ? '' : String(Math.round(metres))
      field('aproximado').checked = false
      showStatus('envio', '')
      describe()
    },
  }
  const describe = () => {
    const [point, metres] = [place.point(), place.precision()]
    showStatus('estado-lugar', point ? describeChoice(point, metres, zone, search.isSearching()) : '')
    document.getElementById('impreciso')!.hidden = (metres ?? 0) <= IMPRECISE_ABOVE_M
    const hasMap = visor !== undefined && !visor.isMissing()
    document.getElementById('porque-impreciso')!.textContent = askForPin(metres ?? 0, hasMap)
  }
  const visor = prepareMap(place, () => describe(), zone)
  const showMap = () => {
    if (openButton) openButton.hidden = true
    visor?.show()
  }
  const onFind = (point: Point, metres: number) => {
    place.choose('gps', point, metres)
    showMap()
  }
  const search = preparePosition(onFind, describe)
  document.getElementById('con-punto')!.hidden = false
  openButton?.addEventListener('click', () => {
    showMap()
    document.getElementById('ayuda-mapa')!.focus()
  })
  link.addEventListener('input', () => place.choose('enlace'))
  if (!place.point()) return
  showMap()
  describe()
}

if (placeForm) prepareForm(placeForm)
