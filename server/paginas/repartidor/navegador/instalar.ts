// Whether the page can be put among the phone's apps, and how.
import { useEffect, useState } from 'preact/hooks'
import { leerAjuste } from './almacen/base.ts'
import { useDatos } from './hooks.ts'

/** What Chromium offers once, to be used on a tap. */
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

/** An iPhone's browser says whether it shows an installed page, and offers nothing. */
const { standalone } = navigator as Navigator & { standalone?: boolean }
const instalada = () => standalone === true || matchMedia('(display-mode: standalone)').matches

/** How the page can be installed: by a tap, or by the iPhone's menu; null where it is, it can't be, or nobody wants it. */
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

/** Shows the browser's own question, which an offer allows once. */
export function instalar() {
  oferta?.prompt()
  poner(null)
}
