// Installation of the page as an app on the phone.
import { useEffect, useState } from 'preact/hooks'
import { useDatos } from './hooks.ts'
import { leerAjuste } from './store/base.ts'

/** Event with which Chromium offers the installation. It can be used once, after a tap. */
interface Oferta extends Event {
  prompt(): Promise<{ outcome: 'accepted' | 'dismissed' }>
}

let oferta: Oferta | null = null
const oyentes = new Set<() => void>()
function poner(nueva: Oferta | null) {
  oferta = nueva
  for (const oyente of oyentes) oyente()
}
addEventListener('beforeinstallprompt', (evento) => {
  evento.preventDefault()
  poner(evento as Oferta)
})
addEventListener('appinstalled', () => poner(null))

/** Safari on an iPhone says whether the page is installed, but offers no installation. */
const { standalone } = navigator as Navigator & { standalone?: boolean }
const instalada = () => standalone === true || matchMedia('(display-mode: standalone)').matches

/**
 * Returns the way to install the page: by a tap, or by the iPhone's menu. Null if the page is installed, cannot be
 * installed, or the courier refused.
 */
export function useInstalable(): 'toque' | 'menu' | null {
  const [hay, decir] = useState(oferta !== null)
  useEffect(() => {
    const mirar = () => decir(oferta !== null)
    oyentes.add(mirar)
    mirar()
    return () => void oyentes.delete(mirar)
  }, [])
  const rechazada = useDatos(async () => (await leerAjuste('sinInstalar')) ?? false, '')
  if (rechazada !== false || instalada()) return null
  return hay ? 'toque' : standalone === false ? 'menu' : null
}

/** Shows the browser's question about the installation. Each offer allows the question once. */
export function instalar() {
  oferta?.prompt()
  poner(null)
}
