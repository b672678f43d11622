// Courier's page. It works on the data on the phone; the network only transfers data between the phone and the server.
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { codigoDe, prevenirLector } from './codigos.ts'
import { alEnviar, vigilarCola } from './cola.ts'
import { type Estado, NOMBRES } from './dominio.ts'
import { useDatos, useEnLinea, useRuta } from './hooks.ts'
import { type Pantallas, usePantallas } from './pantallas.ts'
import { vigilarGuias } from './refrescar.ts'
import { Entrar } from './screens/entrar.tsx'
import { type Contexto, Inicio } from './screens/inicio.tsx'
import { acciones } from './store/acciones.ts'
import { leerAjuste } from './store/base.ts'
import { limpiarAlmacen } from './store/limpieza.ts'
import { useTema } from './tema.ts'

/** Clock difference, in milliseconds, above which the page warns: the times shown then differ from the times sent. */
const RELOJ_MALO_MS = 2 * 60_000
const REVISAR_VERSION_MS = 3_600_000

function Aplicacion({ registro }: { registro: Promise<ServiceWorkerRegistration> | undefined }) {
  const sesion = useDatos(async () => (await leerAjuste('sesion')) ?? null, '')
  const desfase = useDatos(async () => (await leerAjuste('desfase')) ?? 0, '') ?? 0
  const sinEnviar = useDatos(async () => (await acciones()).filter((una) => una.situacion !== 'enviada').length, '')
  const [enviando, mostrar] = useState<readonly number[]>([])
  useEffect(() => alEnviar(mostrar), [])
  const quien = sesion?.repartidor
  useEffect(() => {
    if (quien && registro) prevenirLector().catch(() => {})
  }, [quien, registro])
  const enLinea = useEnLinea()
  const ruta = useRuta()
  const pantallas = usePantallas(quien !== undefined)
  useTema()
  if (sesion === undefined || sinEnviar === undefined) return <Abriendo />
  if (sesion === null) return <Entrar otraVez={null} pendientes={sinEnviar} />
  // Without coverage the server cannot say that the session is over, so the phone checks the expiry too.
  const vigente = sesion.vigente && Date.parse(sesion.vence_en) > Date.now() + desfase
  const contexto = { sesion: { ...sesion, vigente }, enLinea, enviando }
  return (
    <>
      <Avisos
        vigente={vigente}
        enLinea={enLinea}
        desfase={desfase}
        registro={registro}
        enEntrar={ruta[0] === 'entrar'}
      />
      <Pantalla key={ruta.join('/')} ruta={ruta} pantallas={pantallas} {...contexto} />
    </>
  )
}

/** Shows the same content as the page before its script runs, so that nothing moves until there is data to show. */
const Abriendo = () => (
  <>
    <h1>Reparto</h1>
    <p>Abriendo…</p>
  </>
)

type EnPantalla = Contexto & { ruta: string[]; pantallas: Pantallas | 'faltan' | undefined }

function Pantalla({ ruta, pantallas, ...contexto }: EnPantalla) {
  const { sesion } = contexto
  const [lugar, cual = '', que, estado = '', cuantas] = ruta
  const guia = codigoDe(cual)
  if (lugar === 'entrar') return <Entrar otraVez={sesion.vigente ? null : sesion.nombre} pendientes={0} />
  if (!LUGARES.includes(lugar ?? '') || (lugar === 'guia' && !guia)) return <Inicio {...contexto} />
  if (pantallas === undefined) return <Abriendo />
  if (pantallas === 'faltan') return <SinPantallas />
  const { DetalleDeAccion, Entregar, Guia, PantallaDeHecho, PantallaDePaso } = pantallas
  const OtraPantalla = {
    buscar: pantallas.Buscar,
    escanear: pantallas.Escanear,
    hecho: pantallas.LoteHecho,
    hoy: pantallas.Hoy,
    mas: pantallas.Mas,
  }[lugar as string]
  if (OtraPantalla) return <OtraPantalla {...contexto} />
  if (lugar === 'marcar')
    return <pantallas.Marcar sesion={sesion} estado={cual in NOMBRES ? (cual as Estado) : undefined} />
  if (lugar === 'accion') return <DetalleDeAccion {...contexto} orden={Number(cual)} />
  const de = { sesion, guia: guia! }
  if (que === 'entregar') return <Entregar {...de} />
  if (que === 'nota') return <PantallaDePaso {...de} estado={null} />
  if (!(estado in NOMBRES)) return <Guia {...de} />
  if (que === 'hecho') return <PantallaDeHecho {...de} estado={estado as Estado} cuantas={Number(cuantas ?? 1)} />
  if (que === 'paso') return <PantallaDePaso {...de} estado={estado as Estado} />
  return <Guia {...de} />
}
/** First parts of the addresses whose screens are loaded later than the first screen. */
const LUGARES = ['buscar', 'escanear', 'hecho', 'hoy', 'mas', 'marcar', 'accion', 'guia']

/**
 * Screen shown if another screen could not be loaded, because the page was opened without the service worker and lost
 * coverage.
 */
const SinPantallas = () => (
  <>
    <h1>Falta una parte de la página</h1>
    <p>Se perdió la cobertura mientras se cargaba. Lo que ya anotó está guardado.</p>
    <button type="button" class="principal" onClick={() => location.reload()}>
      Cargarla otra vez
    </button>
  </>
)

function Avisos(props: {
  vigente: boolean
  enLinea: boolean
  desfase: number
  enEntrar: boolean
  registro: Promise<ServiceWorkerRegistration> | undefined
}) {
  const nueva = useVersionNueva(props.registro)
  const minutos = Math.round(Math.abs(props.desfase) / 60_000)
  return (
    <div class="avisos" role="status">
      {!props.enLinea && <p>Sin cobertura. Siga trabajando: todo se guarda y se envía después.</p>}
      {!props.vigente && !props.enEntrar && (
        <p>
          Su sesión venció; no se perdió nada. <a href="#/entrar">Entre otra vez para enviar</a>
        </p>
      )}
      {Math.abs(props.desfase) > RELOJ_MALO_MS && (
        <p>
          El reloj de este teléfono está {minutos} min {props.desfase > 0 ? 'atrasado' : 'adelantado'}. Se corrige al
          registrar; póngalo en hora automática.
        </p>
      )}
      {nueva && (
        <p>
          Hay una versión nueva.{' '}
          <button type="button" onClick={nueva}>
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
function useVersionNueva(registro: Promise<ServiceWorkerRegistration> | undefined) {
  const [cargar, poner] = useState<(() => void) | null>(null)
  useEffect(() => {
    const ofrecer = (esperando: ServiceWorker) =>
      poner(() => () => {
        navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true })
        esperando.postMessage('activar')
      })
    registro?.then(
      (el) => {
        // Without a controller, the waiting worker is the first version, not a newer version.
        if (el.waiting && navigator.serviceWorker.controller) ofrecer(el.waiting)
        el.addEventListener('updatefound', () => {
          const instalando = el.installing
          instalando?.addEventListener('statechange', () => {
            if (instalando.state === 'installed' && navigator.serviceWorker.controller) ofrecer(instalando)
          })
        })
      },
      () => {},
    )
  }, [registro])
  return cargar
}

function registrarServicio(): Promise<ServiceWorkerRegistration> | undefined {
  if (!('serviceWorker' in navigator)) return undefined
  const pagina = new URL('repartidor', location.href).pathname
  const registro = navigator.serviceWorker.register(`${pagina}/servicio.js`, { scope: pagina, updateViaCache: 'none' })
  registro.then(
    (el) => setInterval(() => el.update().catch(() => {}), REVISAR_VERSION_MS),
    () => {},
  )
  return registro
}

const raiz = document.getElementById('app')!
limpiarAlmacen().then(
  () => {
    raiz.replaceChildren()
    render(<Aplicacion registro={registrarServicio()} />, raiz)
    vigilarCola()
    vigilarGuias()
  },
  () => {
    raiz.textContent =
      'Este navegador no deja guardar lo que haga sin cobertura. Abra la página fuera del modo privado, o libere espacio en el teléfono.'
  },
)
