import { useState } from 'preact/hooks'
import { isSignedOut, requestSignOut } from '../api.ts'
import { goTo, requestPosition, useStoredData } from '../hooks.ts'
import { runExclusively } from '../queue.ts'
import { readActions } from '../store/actions.ts'
import { readSetting, type Sesion, setSetting } from '../store/base.ts'
import { forgetSesion } from '../store/cleanup.ts'
import { readDrafts } from '../store/drafts.ts'
import { Install } from './install.tsx'
import { BackLink, ConfirmDialog, ScreenTitle } from './pieces.tsx'

/** Screen with rarely used functions: order of the stops, colours, installation, and signing out. */
export function MoreScreen({ sesion }: { sesion: Sesion }) {
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <ScreenTitle>Más</ScreenTitle>
      <p class="suave">{sesion.nombre}</p>
      <a class="boton" href="#/marcar">
        Marcar varias
      </a>
      <NearestFirst />
      <ThemeChoice />
      <Install />
      <SignOut repartidor={sesion.repartidor} />
    </>
  )
}

/**
 * Button that lets the order of the stops begin at the courier's position. Each tap asks the phone once for its
 * position.
 */
function NearestFirst() {
  const [statusText, setStatusText] = useState('')
  const request = () => {
    setStatusText('Buscando…')
    requestPosition()
      .then((here) => setSetting('desde', here))
      .then(
        () => goTo('', true),
        () => setStatusText('No se sabe dónde está'),
      )
  }
  return (
    <button type="button" onClick={request}>
      <span aria-live="polite">{statusText || 'Ordenar desde aquí'}</span>
    </button>
  )
}

const THEMES = [
  [undefined, 'Del teléfono'],
  ['claro', 'Claro'],
  ['oscuro', 'Oscuro'],
] as const

/** Choice between light and dark colours, because the phone's own setting may be hard to read in the sun. */
function ThemeChoice() {
  const storedTheme = useStoredData(async () => ({ chosen: await readSetting('theme') }), '')
  if (!storedTheme) return null
  return (
    <>
      <h2 id="tema">Colores</h2>
      <fieldset class="segmento" aria-labelledby="tema">
        {THEMES.map(([value, label]) => (
          <label key={label}>
            <input
              class="oculto"
              type="radio"
              name="tema"
              checked={storedTheme.chosen === value}
              onChange={() => setSetting('theme', value)}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </>
  )
}

function SignOut({ repartidor }: { repartidor: string }) {
  const [pendingWork, setPendingWork] = useState<{ unsentCount: number; halfDone: number } | null>(null)
  const signOut = () =>
    runExclusively(async () => {
      const isServerInformed = await requestSignOut().then(isSignedOut, () => false)
      await forgetSesion(!isServerInformed)
      goTo('', true)
    })
  const request = async () => {
    const [actions, drafts] = await Promise.all([readActions(), readDrafts(repartidor)])
    const unsentCount = actions.filter(({ status }) => status !== 'enviada').length
    if (unsentCount + drafts.length > 0) setPendingWork({ unsentCount, halfDone: drafts.length })
    else await signOut()
  }
  return (
    <>
      <button type="button" class="discreto" onClick={request}>
        Salir
      </button>
      {pendingWork && (
        <ConfirmDialog
          titulo="¿Salir sin haberlo enviado todo?"
          yes="Salir de todos modos"
          no="Quedarme"
          onClose={() => setPendingWork(null)}
          onAccept={signOut}
        >
          {pendingWork.unsentCount > 0 && (
            <p>
              {pendingWork.unsentCount === 1 ? 'Hay una acción' : `Hay ${pendingWork.unsentCount} acciones`} sin enviar.
              Quedan guardadas en este teléfono, y se envían cuando vuelva a entrar quien las hizo.
            </p>
          )}
          {pendingWork.halfDone > 0 && <p>Lo que no terminó de llenar se borra, con sus fotos.</p>}
        </ConfirmDialog>
      )}
    </>
  )
}
