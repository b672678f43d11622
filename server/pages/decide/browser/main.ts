// Script of the page where a recipient decides. It opens the map for another place. Without the script, a link or a
// description of the place works.
import type { Point } from '../../../platform/maps/point.ts'
import { showStatus } from '../../location/browser/form.ts'
import { prepareMap } from '../../location/browser/openMap.ts'
import { describePosition, readZone } from '../../location/browser/words.ts'

const placeForm = document.querySelector<HTMLFormElement>('form[data-lugar]')

/** Prepares the form for another place. Setting the pin clears the link, and typing a link removes the pin. */
function prepareForm(form: HTMLFormElement) {
  const field = (name: string) => form.elements.namedItem(name) as HTMLInputElement
  const [lat, lng, link] = [field('lat'), field('lng'), field('enlace')]
  const openButton = document.getElementById('abrir-mapa') as HTMLButtonElement
  const zone = readZone(form)
  const setPoint = (point?: Point) => {
    lat.value = point ? point.lat.toFixed(7) : ''
    lng.value = point ? point.lng.toFixed(7) : ''
    showStatus('envio', '')
    showStatus('estado-lugar', point ? `El pin está ${describePosition(point, zone) || 'donde lo ve'}.` : '')
  }
  const place = {
    point: () => (lat.value ? { lat: Number(lat.value), lng: Number(lng.value) } : undefined),
    precision: () => undefined,
    choose(_method: unknown, point?: Point) {
      link.value = ''
      setPoint(point)
    },
  }
  const visor = prepareMap(place, () => {}, zone)
  const showMap = () => {
    openButton.hidden = true
    visor?.show()
  }
  openButton.hidden = false
  openButton.addEventListener('click', () => {
    showMap()
    document.getElementById('ayuda-mapa')!.focus()
  })
  link.addEventListener('input', () => setPoint())
  if (place.point()) showMap()
}

if (placeForm) prepareForm(placeForm)
