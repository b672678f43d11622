// Courier's page. It works on the data on the phone; the network only transfers data between the phone and the server.
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { parseGuiaCode, prefetchReader } from './codes.ts'
import { useIsOnline, useScreenPath, useStoredData } from './hooks.ts'
import { onSending, watchQueue } from './queue.ts'
import { watchGuias } from './refresh.ts'
import { Home, type ScreenContext } from './screens/home.tsx'
import { SignIn } from './screens/signIn.tsx'
import { type Screens, useScreens } from './screens.ts'
import { readActions } from './store/actions.ts'
import { readSetting } from './store/base.ts'
import { cleanStore } from './store/cleanup.ts'
import { useTheme } from './theme.ts'
import { ESTADO_NAMES, type Estado } from './vocabulary.ts'

/** Clock difference, in milliseconds, above which the page warns: the times shown then differ from the times sent. */
const MAX_CLOCK_OFFSET_MS = 2 * 60_000
const VERSION_CHECK_MS = 3_600_000

function Application({ registro }: { registro: Promise<ServiceWorkerRegistration> | undefined }) {
  const sesion = useStoredData(async () => (await readSetting('sesion')) ?? null, '')
  const clockOffset = useStoredData(async () => (await readSetting('clockOffset')) ?? 0, '') ?? 0
  const unsentCount = useStoredData(
    async () => (await readActions()).filter((action) => action.status !== 'enviada').length,
    '',
  )
  const [sending, setSending] = useState<readonly number[]>([])
  useEffect(() => onSending(setSending), [])
  const caller = sesion?.repartidor
  useEffect(() => {
    if (caller && registro) prefetchReader().catch(() => {})
  }, [caller, registro])
  const isOnline = useIsOnline()
  const path = useScreenPath()
  const screens = useScreens(caller !== undefined)
  useTheme()
  if (sesion === undefined || unsentCount === undefined) return <Opening />
  if (sesion === null) return <SignIn returningName={null} pendientes={unsentCount} />
  // Without coverage the server cannot say that the session is over, so the phone checks the expiry too.
  const isSesionActive = sesion.isActive && Date.parse(sesion.vence_en) > Date.now() + clockOffset
  const context = { sesion: { ...sesion, isActive: isSesionActive }, isOnline, sending }
  return (
    <>
      <Avisos
        isSesionActive={isSesionActive}
        isOnline={isOnline}
        clockOffset={clockOffset}
        registro={registro}
        isAtSignIn={path[0] === 'entrar'}
      />
      <Screen key={screenKeyOf(path)} path={path} screens={screens} {...context} />
    </>
  )
}

/** The steps of a delivery are one screen, so that its draft, position and faults outlive each step. */
const screenKeyOf = (path: readonly string[]) => path.slice(0, path[2] === 'entregar' ? 3 : undefined).join('/')

/** Shows the same content as the page before its script runs, so that nothing moves until there is data to show. */
const Opening = () => (
  <>
    <h1>Reparto</h1>
    <p>Abriendo…</p>
  </>
)

type ScreenProps = ScreenContext & { path: string[]; screens: Screens | 'faltan' | undefined }

function Screen({ path, screens, ...context }: ScreenProps) {
  const { sesion } = context
  const [place, param = '', action, estado = '', entregaCount] = path
  const guia = parseGuiaCode(param)
  if (place === 'entrar') return <SignIn returningName={sesion.isActive ? null : sesion.nombre} pendientes={0} />
  if (!SCREEN_PLACES.includes(place ?? '') || (place === 'guia' && !guia)) return <Home {...context} />
  if (screens === undefined) return <Opening />
  if (screens === 'faltan') return <MissingScreens />
  const { ActionDetail, Deliver, Guia, DoneScreen, StepScreen } = screens
  const OtherScreen = {
    buscar: screens.SearchScreen,
    escanear: screens.Scan,
    hecho: screens.LoteDone,
    hoy: screens.Hoy,
    mas: screens.MoreScreen,
  }[place as string]
  if (OtherScreen) return <OtherScreen {...context} />
  if (place === 'marcar')
    return <screens.Mark sesion={sesion} estado={param in ESTADO_NAMES ? (param as Estado) : undefined} />
  if (place === 'accion') return <ActionDetail {...context} order={Number(param)} />
  const de = { sesion, guia: guia! }
  if (action === 'entregar') return <Deliver {...de} path={estado} />
  if (action === 'nota') return <StepScreen {...de} estado={null} />
  if (!(estado in ESTADO_NAMES)) return <Guia {...de} />
  if (action === 'hecho')
    return <DoneScreen {...de} estado={estado as Estado} entregaCount={Number(entregaCount ?? 1)} />
  if (action === 'paso') return <StepScreen {...de} estado={estado as Estado} />
  return <Guia {...de} />
}
/** First parts of the addresses whose screens are loaded later than the first screen. */
const SCREEN_PLACES = ['buscar', 'escanear', 'hecho', 'hoy', 'mas', 'marcar', 'accion', 'guia']

/**
 * Screen shown if another screen could not be loaded, because the page was opened without the service worker and lost
 * coverage.
 */
const MissingScreens = () => (
  <>
    <h1>Falta una parte de la página</h1>
    <p>Se perdió la cobertura mientras se cargaba. Lo que ya anotó está guardado.</p>
    <button type="button" class="principal" onClick={() => location.reload()}>
      Cargarla otra vez
    </button>
  </>
)

function Avisos(props: {
  isSesionActive: boolean
  isOnline: boolean
  clockOffset: number
  isAtSignIn: boolean
  registro: Promise<ServiceWorkerRegistration> | undefined
}) {
  const loadNewVersion = useNewVersion(props.registro)
  const minutes = Math.round(Math.abs(props.clockOffset) / 60_000)
  return (
    <div class="avisos" role="status">
      {!props.isOnline && <p>Sin cobertura. Todo se guarda y se envía después.</p>}
      {!props.isSesionActive && !props.isAtSignIn && (
        <p>
          Su sesión venció; no se perdió nada. <a href="#/entrar">Entre otra vez para enviar</a>
        </p>
      )}
      {Math.abs(props.clockOffset) > MAX_CLOCK_OFFSET_MS && (
        <p>
          El reloj de este teléfono está {minutes} min {props.clockOffset > 0 ? 'atrasado' : 'adelantado'}. Se corrige
          al registrar; póngalo en hora automática.
        </p>
      )}
      {loadNewVersion && (
        <p>
          Hay una versión nueva.{' '}
          <button type="button" onClick={loadNewVersion}>
            Cargarla
          </button>
        </p>
      )}
    </div>
  )
}

/**
 * Returns the function that loads the waiting version; null if no version waits. A version never loads by itself into a
 * page in use.
 */
function useNewVersion(registro: Promise<ServiceWorkerRegistration> | undefined) {
  const [loadVersion, setLoadVersion] = useState<(() => void) | null>(null)
  useEffect(() => {
    const offerVersion = (waitingWorker: ServiceWorker) =>
      setLoadVersion(() => () => {
        navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true })
        waitingWorker.postMessage('activar')
      })
    registro?.then(
      (registration) => {
        // Without a controller, the waiting worker is the first version, not a newer version.
        if (registration.waiting && navigator.serviceWorker.controller) offerVersion(registration.waiting)
        registration.addEventListener('updatefound', () => {
          const installingWorker = registration.installing
          installingWorker?.addEventListener('statechange', () => {
            if (installingWorker.state === 'installed' && navigator.serviceWorker.controller)
              offerVersion(installingWorker)
          })
        })
      },
      () => {},
    )
  }, [registro])
  return loadVersion
}

function registerServiceWorker(): Promise<ServiceWorkerRegistration> | undefined {
  if (!('serviceWorker' in navigator)) return undefined
  const page = new URL('repartidor', location.href).pathname
  const registro = navigator.serviceWorker.register(`${page}/servicio.js`, { scope: page, updateViaCache: 'none' })
  registro.then(
    (registration) => setInterval(() => registration.update().catch(() => {}), VERSION_CHECK_MS),
    () => {},
  )
  return registro
}

const appElement = document.getElementById('app')!
cleanStore().then(
  () => {
    appElement.replaceChildren()
    render(<Application registro={registerServiceWorker()} />, appElement)
    watchQueue()
    watchGuias()
  },
  () => {
    appElement.textContent =
      'Este navegador no deja guardar lo que haga sin cobertura. Abra la página fuera del modo privado, o libere espacio en el teléfono.'
  },
)
