// The map, when it is wanted.
import { decir } from './formulario.ts'
import type { Lugar } from './lugar.ts'
import type { abrirMapa as AbrirMapa, Mapa } from './mapa.ts'

export function prepararMapa(lugar: Lugar) {
  const contenedor = document.getElementById('mapa')
  const boton = document.getElementById('abrir-mapa')
  if (!contenedor || !boton) return
  let mapa: Mapa | undefined
  let abriendo = false
  let intentos = 0
  const abrir = async (conFoco: boolean) => {
    if (mapa || abriendo) return
    abriendo = true
    decir('estado-mapa', 'Abriendo el mapa…')
    try {
      // A module that failed to load may stay failed under its name.
      const modulo = contenedor.dataset.modulo! + (intentos++ > 0 ? `?${intentos}` : '')
      const [{ abrirMapa }] = await Promise.all([
        import(new URL(modulo, location.href).href) as Promise<{ abrirMapa: typeof AbrirMapa }>,
        cargarEstilo(contenedor.dataset.estilo!),
      ])
      // Reaching the button with the Tab key scrolls to it, which opens the map: the focus must not go with the button.
      const enfocar = conFoco || document.activeElement === boton
      boton.remove()
      decir('estado-mapa', '')
      mapa = abrirMapa(contenedor, lugar.punto(), {
        alMover: (punto) => lugar.elegir('mapa', punto),
        decir: (texto) => decir('estado-mapa', texto),
      })
      lugar.alElegir = mapa.mover
      prepararFlechas(mapa)
      if (enfocar) mapa.enfocar()
    } catch {
      decir('estado-mapa', 'No se pudo abrir el mapa. Revise su señal y toque «Ver el mapa» otra vez.', 'problema')
    }
    abriendo = false
  }
  boton.addEventListener('click', () => abrir(true))
  // Nobody who is short of data pays for a map they only scrolled past.
  const { saveData } = (navigator as Navigator & { connection?: { saveData?: boolean } }).connection ?? {}
  if (saveData || !('IntersectionObserver' in window)) return
  const vigia = new IntersectionObserver(
    (entradas) => {
      if (!entradas.some((entrada) => entrada.isIntersecting)) return
      vigia.disconnect()
      abrir(false)
    },
    { threshold: 0.5 },
  )
  // What is in sight from the start wasn't scrolled to: the page itself comes first.
  addEventListener('scroll', () => vigia.observe(contenedor), { once: true, passive: true })
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

function prepararFlechas(mapa: Mapa) {
  const flechas = document.getElementById('flechas')!
  flechas.hidden = false
  flechas.addEventListener('click', ({ target }) => {
    const paso = (target as HTMLElement).closest<HTMLElement>('[data-paso]')?.dataset.paso
    if (paso) mapa.paso(paso as Parameters<Mapa['paso']>[0])
  })
}
