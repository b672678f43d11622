// The place that is chosen, by whichever way.
import { campo, enMetros, guardar } from './formulario.ts'
import type { Punto } from './mapa.ts'

/** A position that is exact to more metres than that names a neighbourhood and not a door. */
export const IMPRECISA_M = 200

type Metodo = '' | 'gps' | 'mapa' | 'enlace'
export interface Lugar {
  metodo(): Metodo
  punto(): Punto | undefined
  elegir(metodo: Metodo, punto?: Punto, precision?: number): void
  /** Called with every point that doesn't come from the map. */
  alElegir?: (punto: Punto) => void
}

export function prepararLugar(formulario: HTMLFormElement): Lugar {
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
