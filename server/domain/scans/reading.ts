import type { Dia, Estado, Falla, Motivo } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { daCustodia, isHandover, isTaking } from '../estados/custodia.ts'
import { reasonsOf, requiresAction, requiresUbicacion, requireTransition } from '../estados/estados.ts'
import type { EventoRow, GuiaStep } from '../eventos/evento.ts'
import type { GuiaRow } from '../records/guiaFields.ts'

/** Report about a guide (`lectura`): a scan that changes the guide's state, or a note if `estado` is missing. */
export interface Scan {
  estado?: Estado
  motivo?: Motivo
  forzar?: { razon: string }
  fotos?: readonly string[]
  /** Day that the recipient asked for at the door. */
  fecha?: Dia
  /** Courier who has the parcel after the report, if the reported state gives the parcel to a courier. */
  repartidor?: string
}

/** Properties of the reporter (courier, operator or merchant) that affect the outcome of a report. */
export interface ScanReporter {
  /** Sentence for the reporter about what to do if the location is not confirmed. */
  remedy: string
  /**
   * Courier who has the parcel after the report, if the report says that a courier took it: the reporting courier, or
   * the courier named in it.
   */
  taker?: string | undefined
  /** Courier of the guide's assignment; undefined if it is not assigned. */
  assignedTo?: string | undefined
  /** True if a reported delivery stores its proof in the same transaction. */
  hasPrueba?: boolean
}

/** Returns the faults that the contract's schema cannot detect: fields that do not fit the reported state. */
export function checkScan({ estado, motivo, forzar, fotos, fecha, repartidor }: Scan): Falla[] {
  const faults: Falla[] = []
  const allowedReasons = estado ? reasonsOf(estado) : []
  if (motivo !== undefined && !allowedReasons.includes(motivo)) {
    const mensaje =
      allowedReasons.length > 0
        ? `debe ser uno de los motivos de ${estado}: ${allowedReasons.join(', ')}`
        : `${estado ?? 'una anotación'} no lleva motivo; omítalo`
    faults.push({ campo: '/motivo', codigo: 'valor_no_admitido', mensaje })
  }
  if (forzar !== undefined && estado !== 'en_ruta' && estado !== 'entregado') {
    const mensaje = 'solo vale para pasar a en_ruta sin ubicación confirmada, o a entregado sin prueba; omítalo'
    faults.push({ campo: '/forzar', codigo: 'incompatible', mensaje })
  }
  if (fotos !== undefined && estado !== 'intento_fallido') {
    const mensaje = 'solo va con estado intento_fallido; las fotos de una entrega, con …/entrega'
    faults.push({ campo: '/fotos', codigo: 'incompatible', mensaje })
  }
  if (fecha !== undefined && !(estado === 'intento_fallido' && motivo === 'reprogramado')) {
    const mensaje = 'solo va con estado intento_fallido y motivo reprogramado; omítalo'
    faults.push({ campo: '/fecha', codigo: 'incompatible', mensaje })
  }
  if (repartidor !== undefined && !(estado && isTaking(estado))) {
    const mensaje = 'solo va con recolectado o en_ruta, que dejan el paquete en sus manos; omítalo'
    faults.push({ campo: '/repartidor', codigo: 'incompatible', mensaje })
  }
  return faults
}

/** Returns true if the reported fact happened before the guide's present state began. */
export const isLate = ({ estado_en }: Pick<GuiaRow, 'estado_en'>, ocurrido_en: Date) => ocurrido_en < estado_en

/**
 * Returns the event that a report causes, and the guide's new state, by the rules of `x-transiciones`. A late report
 * leaves the state unchanged and becomes an event `guia.escaneo_tardio`. So does the report of a hand-over if a courier
 * took the parcel later.
 * @param isLatest true if no courier took the parcel after the reading. The courier who took the parcel last has
 * custody, in any order of the reports.
 * @throws Problema 409
 */
export function decideScan(
  guia: GuiaRow,
  { estado, motivo: givenMotivo, forzar }: Scan,
  ocurrido_en: Date,
  isLatest: boolean,
  { remedy, taker, assignedTo, hasPrueba = false }: ScanReporter,
): Pick<GuiaStep, 'tipo' | 'estado' | 'motivo' | 'intentos' | 'datos' | 'custodio'> {
  if (estado === undefined) return { tipo: 'guia.nota' }
  const motivo = givenMotivo ?? null
  const isReceived = taker !== undefined && isHandover(guia, estado, taker, assignedTo)
  if (isReceived && isLatest) return { tipo: 'guia.traspasada', custodio: taker }
  const isUnconfirmed = requiresUbicacion(estado) && guia.ubicacion_estado !== 'confirmada'
  const isTaken =
    taker !== undefined && isLatest && daCustodia(guia, estado) && (!isUnconfirmed || forzar !== undefined)
  const custodia = isTaken ? { custodio: taker } : {}
  if (isReceived || isLate(guia, ocurrido_en))
    return { tipo: 'guia.escaneo_tardio', motivo, datos: { estado_reportado: estado }, ...custodia }
  requireTransition(guia.estado, estado)
  if (isUnconfirmed && !forzar) {
    throw new Problema('ubicacion_sin_confirmar', `La ubicación de la guía está ${guia.ubicacion_estado}. ${remedy}`, {
      estado: guia.estado,
    })
  }
  const lacksPrueba = estado === 'entregado' && !hasPrueba
  if (lacksPrueba && !forzar) {
    const mensaje = `Una entrega lleva su prueba. Regístrela con POST /operaciones/v1/guias/${guia.guia}/entrega o, si no hay ninguna, envíe forzar con una razón.`
    throw new Problema('entrega_sin_prueba', mensaje, { estado: guia.estado })
  }
  const intentos = guia.intentos + (estado === 'intento_fallido' ? 1 : 0)
  const datos: NonNullable<EventoRow['datos']> = {
    ...(estado === 'intento_fallido'
      ? { numero_intento: intentos, requiere_accion: requiresAction(estado, motivo) }
      : {}),
    ...((isUnconfirmed || lacksPrueba) && forzar ? { forzado: forzar } : {}),
  }
  return {
    tipo: `guia.${estado}`,
    estado,
    motivo,
    intentos,
    datos: Object.keys(datos).length > 0 ? datos : null,
    ...custodia,
  }
}
