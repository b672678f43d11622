// The map, when its step comes.
import { decir } from './formulario.ts'
import type { Lugar } from './lugar.ts'
import type { abrirMapa as AbrirMapa, Mapa } from './mapa.ts'
import type { Zona } from './palabras.ts'

/** The map's place on the page, whether the map is open or not. */
export interface Visor {
  /** Shows the map with the place that is chosen, and opens it first if need be. */
  mostrar(): void
  ocultar(): void
  /** Whether what is seen of the map is missing. */
  falta(): boolean
}

/** @param alCambiar called when it is known whether the map can be seen */
export function prepararMapa(lugar: Lugar, alCambiar: () => void, zona: Zona): Visor | undefined {
  const seccion = document.getElementById('con-mapa')
  const contenedor = document.getElementById('mapa')
  if (!seccion || !contenedor) return undefined
  const sinMapa = document.getElementById('sin-mapa')!
  const flechas = document.getElementById('flechas')!
  let mapa: Mapa | undefined
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
      // A module that failed to load may stay failed under its name.
      const modulo = contenedor.dataset.modulo! + (intentos++ > 0 ? `?${intentos}` : '')
      const [{ abrirMapa }] = await Promise.all([
        import(new URL(modulo, location.href).href) as Promise<{ abrirMapa: typeof AbrirMapa }>,
        cargarEstilo(contenedor.dataset.estilo!),
      ])
      mapa = abrirMapa(contenedor, zona, {
        alMover: (punto) => lugar.elegir('mapa', punto),
        alNoVer: () => decir('envio', 'Ahí todavía no se ve el mapa: espere a que cargue.', 'problema'),
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
    if (paso) mapa?.paso(paso as Parameters<Mapa['paso']>[0])
  })
  return {
    mostrar() {
      const estaba = !seccion.hidden
      seccion.hidden = false
      // Below a link that was just pasted, it would open out of sight.
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
      reject(new Error('no style'))
    }
    document.head.append(estilo)
  })
}
