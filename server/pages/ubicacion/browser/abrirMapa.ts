// Opens the map when the recipient reaches its step.
import { decirEstado } from './formulario.ts'
import type { LugarElegido } from './lugar.ts'
import type { abrirMapa as AbrirMapa, MapaInteractivo } from './mapa.ts'
import type { Zona } from './palabras.ts'

/** Parts of the chosen location that the map shows and changes. */
export type MarkedPlace = Pick<LugarElegido, 'punto' | 'precision' | 'elegir'>

/** Part of the page that holds the map, open or not. */
export interface Visor {
  /** Shows the map with the chosen location. Opens the map first if it is not open. */
  mostrar(): void
  ocultar(): void
  /** Tells whether the map failed to become visible. */
  falta(): boolean
}

/**
 * Prepares the part of the page that holds the map; undefined if the page has no such part.
 * @param alCambiar called when it is known whether the map is visible
 */
export function prepararMapa(lugar: MarkedPlace, alCambiar: () => void, zona: Zona): Visor | undefined {
  const seccion = document.getElementById('con-mapa')
  const contenedor = document.getElementById('mapa')
  if (!seccion || !contenedor) return undefined
  const sinMapa = document.getElementById('sin-mapa')!
  const flechas = document.getElementById('flechas')!
  let mapa: MapaInteractivo | undefined
  let abriendo = false
  let intentos = 0
  const ayuda = document.getElementById('ayuda-mapa')!
  let visto = false
  const juzgar = (ahora: boolean) => {
    visto = ahora
    contenedor.hidden = !visto
    ayuda.hidden = !visto
    flechas.hidden = !visto || seccion.hidden
    sinMapa.hidden = visto
    alCambiar()
  }
  const abrir = async () => {
    if (mapa || abriendo) return
    abriendo = true
    contenedor.hidden = false
    sinMapa.hidden = true
    try {
      // A module that failed to load may stay failed under its URL, so each retry uses a new URL.
      const modulo = contenedor.dataset.modulo! + (intentos++ > 0 ? `?${intentos}` : '')
      const [{ abrirMapa }] = await Promise.all([
        import(new URL(modulo, location.href).href) as Promise<{ abrirMapa: typeof AbrirMapa }>,
        cargarEstilo(contenedor.dataset.estilo!),
      ])
      mapa = abrirMapa(contenedor, zona, {
        alMover: (punto) => lugar.elegir('mapa', punto),
        alNoVer: () => decirEstado('envio', 'Ahí todavía no se ve el mapa: espere a que cargue.', 'problema'),
        alJuzgar: juzgar,
      })
      mapa.mostrar(lugar.punto(), lugar.precision())
    } catch {
      juzgar(false)
    }
    abriendo = false
  }
  document.getElementById('reintentar-mapa')!.addEventListener('click', () => {
    if (!mapa) return abrir()
    contenedor.hidden = false
    sinMapa.hidden = true
    mapa.cargar()
  })
  flechas.addEventListener('click', ({ target }) => {
    const paso = (target as HTMLElement).closest<HTMLElement>('[data-paso]')?.dataset.paso
    if (paso) mapa?.paso(paso as Parameters<MapaInteractivo['paso']>[0])
  })
  return {
    mostrar() {
      const estaba = !seccion.hidden
      seccion.hidden = false
      // After a link is pasted, the map would otherwise open outside the visible part of the page.
      if (!estaba) contenedor.scrollIntoView({ block: 'nearest' })
      flechas.hidden = !visto
      if (mapa) mapa.mostrar(lugar.punto(), lugar.precision())
      else abrir()
    },
    ocultar() {
      seccion.hidden = true
      flechas.hidden = true
    },
    falta: () => !sinMapa.hidden,
  }
}

function cargarEstilo(direccion: string) {
  return new Promise<void>((resolve, reject) => {
    const estilo = document.createElement('link')
    estilo.rel = 'stylesheet'
    estilo.href = direccion
    estilo.onload = () => resolve()
    estilo.onerror = () => {
      estilo.remove()
      reject(new Error('map stylesheet failed to load'))
    }
    document.head.append(estilo)
  })
}
