import express, { type Express } from 'express'
import helmet from 'helmet'
import { autocomprobar } from './contrato/autocomprobacion.ts'
import { leerDocumento, leerOperaciones } from './contrato/contrato.ts'
import { enlazarRutas } from './contrato/rutas.ts'
import { crearValidacion } from './contrato/validacion.ts'
import { crearCursores } from './cursor.ts'
import { crearGeneradorDeIds, nuevoCodigoDeGuia } from './codigos.ts'
import type { Db } from './db.ts'
import type { Deps, Salud } from './deps.ts'
import { FORMATOS } from './formatos.ts'
import { crearEscritura } from './guias/escritura.ts'
import { handlers } from './handlers.ts'
import { presentarProblemas, rutaDesconocida, type Testigo } from './http/problemas.ts'
import { identificarSolicitud } from './http/solicitud.ts'
import { crearAutenticadores } from './llaves/autenticadores.ts'
import type { Log } from './log.ts'
import { servirDocumentacion } from './paginas/docs/ruta.ts'
import { crearSecretos } from './secretos.ts'

/** What the composition root decides; everything else follows. */
export interface Partes {
  db: Db
  log: Log
  masterKeys: readonly Buffer[]
  salud: () => Promise<Salud>
  avisarTrabajo: () => void
  reloj?: () => Date
  nuevoCodigo?: () => string
  /** Sees every answer; tests hold each against the contract. */
  testigo?: Testigo
}

/** What the operations use, without HTTP: the console (`npm run admin`) and the demo's first start use it too. */
export function crearDeps({ db, log, masterKeys, salud, avisarTrabajo, reloj = () => new Date(), nuevoCodigo = nuevoCodigoDeGuia }: Omit<Partes, 'testigo'>) {
  const documento = leerDocumento()
  const operaciones = leerOperaciones(documento)
  const secretos = crearSecretos(masterKeys)
  const nuevoId = crearGeneradorDeIds(reloj)
  const deps: Deps = {
    db,
    log,
    reloj,
    nuevoId,
    nuevoCodigo,
    secretos,
    cursores: crearCursores(secretos),
    validacion: crearValidacion(documento, operaciones, FORMATOS),
    escritura: crearEscritura({ db, log, secretos, nuevoId, nuevoCodigo, avisarTrabajo }),
    avisarTrabajo,
    salud,
  }
  return { deps, operaciones }
}

/** The service as an Express app that doesn't listen. Rejects if the contract's validation isn't in force. */
export async function crearApp({ testigo, ...partes }: Partes): Promise<Express> {
  const { deps, operaciones } = crearDeps(partes)
  await autocomprobar(operaciones, deps.validacion)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use(identificarSolicitud(deps.log, () => deps.nuevoId().id))
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } } }))
  servirDocumentacion(app)
  enlazarRutas(app, { operaciones, handlers, autenticadores: crearAutenticadores(deps.db, deps.reloj), deps, testigo })
  app.use(rutaDesconocida)
  app.use(presentarProblemas(testigo))
  return app
}
