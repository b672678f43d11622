import { install, useInstallable } from '../install.ts'
import { setSetting } from '../store/base.ts'

/** Offers to install the page as an app, until the page is installed or the courier refuses. */
export function Install() {
  const installMethod = useInstallable()
  if (!installMethod) return null
  return (
    <section class="nota" aria-label="Instalar">
      <p>
        {installMethod === 'toque'
          ? 'Póngala entre sus aplicaciones: abre de un toque, también sin cobertura.'
          : 'Para abrirla de un toque: Compartir, y «Agregar a inicio».'}
      </p>
      <div class="par">
        {installMethod === 'toque' && (
          <button type="button" onClick={install}>
            Instalar
          </button>
        )}
        <button type="button" onClick={() => setSetting('declinesInstall', true)}>
          No, gracias
        </button>
      </div>
    </section>
  )
}
