// Installation of the page as an app on the phone.
import { useEffect, useState } from 'preact/hooks'
import { useStoredData } from './hooks.ts'
import { readSetting } from './store/base.ts'

/** Event with which Chromium offers the installation. It can be used once, after a tap. */
interface InstallOffer extends Event {
  prompt(): Promise<{ outcome: 'accepted' | 'dismissed' }>
}

let installOffer: InstallOffer | null = null
const listeners = new Set<() => void>()
function setOffer(newOffer: InstallOffer | null) {
  installOffer = newOffer
  for (const listener of listeners) listener()
}
addEventListener('beforeinstallprompt', (evento) => {
  evento.preventDefault()
  setOffer(evento as InstallOffer)
})
addEventListener('appinstalled', () => setOffer(null))

/** Safari on an iPhone says whether the page is installed, but offers no installation. */
const { standalone } = navigator as Navigator & { standalone?: boolean }
const isInstalled = () => standalone === true || matchMedia('(display-mode: standalone)').matches

/**
 * Returns the way to install the page: by a tap, or by the iPhone's menu. Null if the page is installed, cannot be
 * installed, or the courier refused.
 */
export function useInstallable(): 'toque' | 'menu' | null {
  const [hasOffer, setHasOffer] = useState(installOffer !== null)
  useEffect(() => {
    const update = () => setHasOffer(installOffer !== null)
    listeners.add(update)
    update()
    return () => void listeners.delete(update)
  }, [])
  const refused = useStoredData(async () => (await readSetting('declinesInstall')) ?? false, '')
  if (refused !== false || isInstalled()) return null
  return hasOffer ? 'toque' : standalone === false ? 'menu' : null
}

/** Shows the browser's question about the installation. Each offer allows the question once. */
export function install() {
  installOffer?.prompt()
  setOffer(null)
}
