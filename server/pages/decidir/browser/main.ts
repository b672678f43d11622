// Script of the page where a recipient decides. It opens the map for another place. Without the script, a link or a
// description of the place works.
import type { Point } from '../../../platform/maps/point.ts'
import { prepararMapa } from '../../ubicacion/browser/abrirMapa.ts'
import { decirEstado } from '../../ubicacion/browser/formulario.ts'
import { leerZona, situar } from '../../ubicacion/browser/palabras.ts'

const formulario = document.querySelector<HTMLFormElement>('form[data-lugar]')

/** Prepares the form for another place. Setting the pin clears the link, and typing a link removes the pin. */
function iniciar(form: HTMLFormElement) {
  const campo = (nombre: string) => form.elements.namedItem(nombre) as HTMLInputElement
  const [lat, lng, enlace] = [campo('lat'), campo('lng'), campo('enlace')]
  const abrir = document.getElementById('abrir-mapa') as HTMLButtonElement
  const zona = leerZona(form)
  const poner = (punto?: Point) => {
    lat.value = punto ? punto.lat.toFixed(7) : ''
    lng.value = punto ? punto.lng.toFixed(7) : ''
    decirEstado('envio', '')
    decirEstado('estado-lugar', punto ? `El pin está ${situar(punto, zona) || 'donde lo ve'}.` : '')
  }
  const lugar = {
    punto: () => (lat.value ? { lat: Number(lat.value), lng: Number(lng.value) } : undefined),
    precision: () => undefined,
    elegir(_metodo: unknown, punto?: Point) {
      enlace.value = ''
      poner(punto)
    },
  }
  const visor = prepararMapa(lugar, () => {}, zona)
  const mostrar = () => {
    abrir.hidden = true
    visor?.mostrar()
  }
  abrir.hidden = false
  abrir.addEventListener('click', () => {
    mostrar()
    document.getElementById('ayuda-mapa')!.focus()
  })
  enlace.addEventListener('input', () => poner())
  if (lugar.punto()) mostrar()
}

if (formulario) iniciar(formulario)
