import type { DeclaredResponse } from '../../api/contract/handler.ts'
import type { Db } from '../../data/db.ts'
import type { EntregaParaRegistrar, Falla } from '../../generated/contract/types/index.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { readEvidencePolicy } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { afterEstado } from '../estados/decision.ts'
import { isFinalState, requireTransition } from '../estados/estados.ts'
import {
  findEvento,
  type GuiaStep,
  presentEvento,
  type StepWithConsequences,
  takeStep,
  takeStepAnd,
} from '../eventos/evento.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { answerReport, type EventoRegistrado, type Report, type Reporter, registerOnce } from '../scans/register.ts'
import { deliver, findPrueba, readArchivos, readPruebas, recordIntento } from './prueba.ts'

/** Registers a delivery with its proof. Repeating a delivery returns the event of the first time. */
export async function registerWithPrueba(
  deps: Pick<Deps, 'db' | 'clock' | 'newId' | 'secretos' | 'notifyJobs'>,
  { api, ...caller }: Reporter & Pick<ReportSource, 'api'>,
  code: string,
  body: EntregaParaRegistrar & Pick<Report, 'idempotencia'>,
): Promise<DeclaredResponse<'registrarEntrega'>> {
  const { db } = deps
  const registered = await registerOnce(deps, caller, code, body, {
    estado: 'entregado',
    async record(guia, reportedStep) {
      const decision = afterEstado(guia.decision, 'entregado')
      const step = { ...reportedStep, ...decideEntrega(guia, reportedStep.ocurrido_en), decision }
      const politica = await readEvidencePolicy(db, guia.comercio_id)
      const doorPolicy = api === '/repartidor/v1' ? body.evidencia : politica
      return (await areUnused(db, guia, requestedArchivosOf(body), { autor: caller.autor, api }))
        ? deliver(deps, guia, step, body, { politica, doorPolicy })
        : undefined
    },
    // A delivered guide has one proof. A request with the same content as that proof is a repetition, with or without
    // an idempotency key.
    async findPrevious(guia) {
      const prueba = guia.estado === 'entregado' ? await findPrueba(db, guia) : undefined
      return prueba && findEvento(db, guia, prueba.secuencia)
    },
  })
  const { distancia_m = null } = registered.repetido ? ((await pruebaOf(db, registered)) ?? {}) : registered
  return answerReport(registered, { ...presentEvento(registered.evento), aplicado: true, distancia_m })
}

/** Returns the proof of a delivery's own event. The guide's proof is another one if the delivery was undone since. */
const pruebaOf = async (db: Db, { guia, evento }: Pick<EventoRegistrado, 'guia' | 'evento'>) =>
  (await readPruebas(db, guia)).find(({ secuencia }) => secuencia === evento.secuencia)

/**
 * Returns what a delivery changes in the guide. A late report of a delivery is still applied unless the guide is in a
 * final state, because a proof outweighs a scan.
 * @throws Problema 409, or 422 for a delivery before the guide existed
 */
function decideEntrega(guia: GuiaRow, ocurrido_en: Date): Pick<GuiaStep, 'tipo' | 'estado' | 'datos'> {
  const tardio = ocurrido_en < guia.estado_en && !isFinalState(guia.estado)
  if (tardio && ocurrido_en < guia.creado_en) {
    const mensaje = `no puede ser antes de que la guía existiera (${guia.creado_en.toISOString()})`
    throw problemOfFaults('validacion', [{ campo: '/ocurrido_en', codigo: 'fuera_de_rango', mensaje }])
  }
  if (!tardio) requireTransition(guia.estado, 'entregado')
  return { tipo: 'guia.entregado', estado: 'entregado', datos: tardio ? { tardio } : null }
}

const requestedArchivosOf = ({ fotos, firma }: EntregaParaRegistrar): RequestedArchivo[] => [
  ...requestedFotos(fotos),
  ...(firma === undefined ? [] : [{ archivo: firma, tipo: 'firma' as const, campo: '/firma' }]),
]

/**
 * Returns the function that writes the event of a scan or note. If the report has photos, the photos are stored as
 * proof of a failed attempt.
 */
export const takeStepWithFotos =
  (deps: Pick<Deps, 'db' | 'notifyJobs'>, de: ReportSource, fotos: readonly string[] = []) =>
  async (guia: GuiaRow, step: StepWithConsequences) => {
    if (fotos.length === 0) return step.followUps ? takeStepAnd(deps, guia, step) : takeStep(deps, guia, step)
    return (await areUnused(deps.db, guia, requestedFotos(fotos), de))
      ? recordIntento(deps, guia, step, fotos)
      : undefined
  }

/** File that a request names, and the member that names it. */
interface RequestedArchivo {
  archivo: string
  tipo: 'foto' | 'firma'
  campo: string
}

const requestedFotos = (fotos: readonly string[]): RequestedArchivo[] =>
  fotos.map((archivo, i) => ({ archivo, tipo: 'foto', campo: `/fotos/${i}` }))

/** Code of the person who reports, and the API through which that person uploads files. */
interface ReportSource {
  autor: string
  api: '/operaciones/v1' | '/repartidor/v1'
}

/**
 * Reports whether the author may use each of these files, and each belongs to the guide, has the right type and is
 * unused. Returns false if another request changed the guide: the same request, sent twice, may have used the files.
 * @throws Problema 422 naming each file that fails a check
 */
async function areUnused(
  db: Db,
  guia: GuiaRow,
  requested: readonly RequestedArchivo[],
  { autor, api }: ReportSource,
): Promise<boolean> {
  const names = requested.map(({ archivo }) => archivo)
  const guiaArchivos = await readArchivos(db, guia, names)
  const faults = requested.flatMap(({ archivo, tipo, campo }): Falla[] => {
    const ownArchivo = guiaArchivos.get(archivo)
    // A photo by one courier proves nothing about another courier's delivery, so couriers use only their own files.
    // Operators use any file.
    const usableArchivo = api === '/operaciones/v1' || ownArchivo?.autor === autor ? ownArchivo : undefined
    if (usableArchivo?.tipo === tipo && usableArchivo.usado_en === null) return []
    const mensaje = usableArchivo
      ? `debe ser una ${tipo} sin usar; ese archivo es ${usableArchivo.tipo}${usableArchivo.usado_en ? ' y ya está en una prueba' : ''}`
      : `no es un archivo suyo de esta guía; súbalo a POST ${api}/guias/${guia.guia}/archivos`
    return [{ campo, codigo: 'valor_no_admitido', mensaje }]
  })
  if (faults.length === 0) return true
  if ((await findGuia(db, 'todos', guia.guia)).secuencia !== guia.secuencia) return false
  throw problemOfFaults('validacion', faults)
}
