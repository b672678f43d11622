import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import helmet from 'helmet'
import { almacenDe } from './archivos/abrir.ts'
import type { Almacen } from './archivos/almacen.ts'
import { crearEnlaces } from './archivos/enlaces.ts'
import { crearRecepcion } from './archivos/recepcion.ts'
import { crearGeneradorDeIds, nuevoCodigoDeGuia } from './codigos/codigos.ts'
import type { Config } from './config/config.ts'
import { autocomprobar } from './contrato/autocomprobacion.ts'
import { leerDocumento, leerOperaciones } from './contrato/contrato.ts'
import type { Modo } from './contrato/generado/tipos/index.ts'
import { enlazarRutas } from './contrato/rutas.ts'
import { crearValidacion } from './contrato/validacion.ts'
import type { Db } from './db.ts'
import type { Deps, Salud } from './deps.ts'
import { FORMATOS } from './formatos.ts'
import { crearEscritura } from './guias/escritura.ts'
import { handlers } from './handlers.ts'
import { conDestinoNormal, exigirDestino } from './http/destino.ts'
import { crearLimite } from './http/limite.ts'
import { crearNavegador } from './http/navegador.ts'
import { presentarProblemas, rutaDesconocida, type Testigo } from './http/problemas.ts'
import { identificarSolicitud } from './http/solicitud.ts'
import { crearTurnos } from './http/turnos.ts'
import { crearCursores } from './listas/cursor.ts'
import { crearAutenticadores } from './llaves/autenticadores.ts'
import type { Log } from './log.ts'
import { type OpcionesDePaginas, servirPaginas } from './paginas/paginas.ts'
import { type Politica, resolverDelSistema } from './salida/destino.ts'
import { crearSecretos } from './secretos.ts'
import { crearSolicitudes } from './ubicacion/solicitud.ts'

/** What the composition root decides; everything else follows. */
export interface Partes {
  db: Db
  log: Log
  masterKeys: readonly Buffer[]
  /** Folder of what the service keeps on disk. */
  dataDir: string
  /** Where files are kept; a folder of `dataDir`, unless told otherwise. */
  almacen?: Almacen
  /** Base of every link given out. */
  urlPublica?: string
  /** How long a signed link is good for. */
  minutosDeEnlaces?: number
  /** The courier company, as labels name it. */
  nombreDeMensajeria?: string
  salud: () => Promise<Salud>
  /** Says that rows of pending work were committed, so that the feeder need not wait for its next round. */
  avisarTrabajo: () => void
  /** Where webhooks may be registered; public addresses, unless told otherwise. */
  destinos?: Politica
  /** In days. */
  retencionDeWebhooks?: number
  /** How long a recipient's link is good for, in hours. */
  horasDeSolicitud?: number
  /** How live recipients are asked for their place; the mailbox, unless told otherwise. */
  mensajeria?: Config['mensajeria']
  /** In which documents and pages tell times; the destination's country's, unless told otherwise. */
  zonaHoraria?: string | undefined
  reloj?: () => Date
  nuevoCodigo?: () => string
}

async function compilarContrato() {
  const documento = leerDocumento()
  const operaciones = leerOperaciones(documento)
  const validacion = crearValidacion(documento, operaciones, FORMATOS)
  await autocomprobar(operaciones, validacion)
  return { operaciones, validacion }
}
export type Contrato = Awaited<ReturnType<typeof compilarContrato>>

let contrato: Promise<Contrato> | undefined

/**
 * The contract, compiled once in a process and found to be in force. It needs no database, so it is made while the
 * database starts.
 */
export function cargarContrato(): Promise<Contrato> {
  contrato ??= compilarContrato()
  return contrato
}

const BUZON: Config['mensajeria'] = { tipo: 'buzon' }
/**
 * Sign-ins per minute, of one network and of all, in this process. A code has 50 random bits: at that rate, among a thousand
 * couriers, one is guessed in some three thousand years.
 */
const ENTRADAS = { red: 30, todas: 600 }
/** PDFs of labels drawn at once (a hundred labels take most of a second of this process), and those that wait for it. */
const ETIQUETAS_A_LA_VEZ = 2
const ETIQUETAS_EN_ESPERA = 16
/** Per minute and network, the page and its question together: as much as the tracking page lets through. */
const VERIFICACIONES = 120
const PUBLICOS: Politica = { resolver: resolverDelSistema, loopback: false }

/** What the operations use, without HTTP: the console (`npm run admin`) uses it too. */
export function crearDeps(
  { validacion }: Contrato,
  {
    db,
    log,
    masterKeys,
    dataDir,
    almacen = almacenDe(dataDir),
    urlPublica = '',
    minutosDeEnlaces = 15,
    nombreDeMensajeria = 'Servicio de mensajería',
    salud,
    avisarTrabajo,
    destinos = PUBLICOS,
    retencionDeWebhooks = 90,
    horasDeSolicitud = 72,
    mensajeria = BUZON,
    zonaHoraria,
    reloj = () => new Date(),
    nuevoCodigo = nuevoCodigoDeGuia,
  }: Partes,
): Deps {
  const secretos = crearSecretos(masterKeys)
  const nuevoId = crearGeneradorDeIds(reloj)
  const porRed = crearLimite(ENTRADAS.red)
  const deTodas = crearLimite(ENTRADAS.todas)
  const canalDe = (modo: Modo) => (modo === 'live' ? mensajeria.tipo : 'buzon')
  const deEnlaces = { secretos, reloj, urlPublica, minutos: minutosDeEnlaces }
  const escritura = crearEscritura({ db, log, secretos, nuevoId, nuevoCodigo, avisarTrabajo, canalDe })
  return {
    db,
    log,
    reloj,
    nuevoId,
    secretos,
    cursores: crearCursores(secretos),
    validacion,
    escritura,
    avisarTrabajo,
    destinos,
    retencionDeWebhooks,
    canalDe,
    horasDeSolicitud,
    whatsapp: mensajeria.tipo === 'whatsapp' ? mensajeria : undefined,
    almacen,
    recepcion: crearRecepcion(join(dataDir, 'subidas')),
    navegador: crearNavegador(urlPublica),
    limiteDeEntrada: (red) => porRed(red) || deTodas(''),
    enlaces: crearEnlaces(deEnlaces),
    enlacesDeEtiquetas: crearEnlaces({ ...deEnlaces, carpeta: 'etiquetas' }),
    turnoDeEtiquetas: crearTurnos(ETIQUETAS_A_LA_VEZ, ETIQUETAS_EN_ESPERA),
    urlPublica,
    nombreDeMensajeria,
    limiteDeVerificacion: crearLimite(VERIFICACIONES),
    zonaHoraria,
    salud,
  }
}

/** What only HTTP is told. */
export interface OpcionesDeApp extends OpcionesDePaginas {
  /** Reverse proxies whose word about the caller's address is believed. */
  proxies: number
}

/** The service as an Express app that doesn't listen, ready to be given to a server. */
export function crearApp(
  { operaciones }: Contrato,
  deps: Deps,
  { proxies, ...paginas }: OpcionesDeApp = { mosaicos: null, proxies: 0, buzon: false },
  testigo?: Testigo,
): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.set('trust proxy', proxies)
  app.use(identificarSolicitud(deps.log, () => deps.nuevoId().id))
  app.use(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    }),
  )
  app.use(exigirDestino)
  servirPaginas(app, { ...deps, solicitudes: crearSolicitudes(deps) }, paginas)
  enlazarRutas(app, { operaciones, handlers, autenticadores: crearAutenticadores(deps.db, deps.reloj), deps, testigo })
  app.use(rutaDesconocida)
  app.use(presentarProblemas(deps.urlPublica, testigo))
  return conDestinoNormal(app)
}
