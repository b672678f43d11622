import type { Dia, Estado, Falla, Motivo } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import { daCustodia, esToma } from '../estados/custodia.ts'
import { exigeUbicacion, exigirTransicion, motivosDe, requiereAccion } from '../estados/estados.ts'
import type { FilaGuia } from '../guias/guia.ts'
import type { FilaEvento, PasoDeGuia } from './evento.ts'

/** Report about a guide (`lectura`): a scan that changes the guide's state, or a note if `estado` is missing. */
export interface Lectura {
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
export interface QuienLee {
  /** Sentence for the reporter about what to do if the location is not confirmed. */
  remedio: string
  /**
   * Courier who has the parcel after the report, if the report says that a courier took it: the reporting courier, or
   * the courier named in it.
   */
  toma?: string | undefined
  /** True if a reported delivery stores its proof in the same transaction. */
  conPrueba?: boolean
}

/** Returns the faults that the contract's schema cannot detect: fields that do not fit the reported state. */
export function revisarLectura({ estado, motivo, forzar, fotos, fecha, repartidor }: Lectura): Falla[] {
  const fallas: Falla[] = []
  const suyos = estado ? motivosDe(estado) : []
  if (motivo !== undefined && !suyos.includes(motivo)) {
    const mensaje =
      suyos.length > 0
        ? `debe ser uno de los motivos de ${estado}: ${suyos.join(', ')}`
        : `${estado ?? 'una anotación'} no lleva motivo; omítalo`
    fallas.push({ campo: '/motivo', codigo: 'valor_no_admitido', mensaje })
  }
  if (forzar !== undefined && estado !== 'en_ruta' && estado !== 'entregado') {
    const mensaje = 'solo vale para pasar a en_ruta sin ubicación confirmada, o a entregado sin prueba; omítalo'
    fallas.push({ campo: '/forzar', codigo: 'incompatible', mensaje })
  }
  if (fotos !== undefined && estado !== 'intento_fallido') {
    const mensaje = 'solo va con estado intento_fallido; las fotos de una entrega, con …/entrega'
    fallas.push({ campo: '/fotos', codigo: 'incompatible', mensaje })
  }
  if (fecha !== undefined && !(estado === 'intento_fallido' && motivo === 'reprogramado')) {
    const mensaje = 'solo va con estado intento_fallido y motivo reprogramado; omítalo'
    fallas.push({ campo: '/fecha', codigo: 'incompatible', mensaje })
  }
  if (repartidor !== undefined && !(estado && esToma(estado))) {
    const mensaje = 'solo va con recolectado o en_ruta, que dejan el paquete en sus manos; omítalo'
    fallas.push({ campo: '/repartidor', codigo: 'incompatible', mensaje })
  }
  return fallas
}

/** Returns true if the reported fact happened before the guide's present state began. */
export const esTardia = ({ estado_en }: Pick<FilaGuia, 'estado_en'>, ocurrido_en: Date) => ocurrido_en < estado_en

/**
 * Returns the event that a report causes, and the guide's new state, by the rules of `x-transiciones`. A late report
 * leaves the state unchanged and becomes an event `guia.escaneo_tardio`.
 * @param esUltima true if no courier took the parcel after the reading. The courier who took the parcel last has
 * custody, in any order of the reports.
 * @throws Problema 409
 */
export function decidirLectura(
  guia: FilaGuia,
  { estado, motivo: dado, forzar }: Lectura,
  ocurrido_en: Date,
  esUltima: boolean,
  { remedio, toma, conPrueba = false }: QuienLee,
): Pick<PasoDeGuia, 'tipo' | 'estado' | 'motivo' | 'intentos' | 'datos' | 'custodio'> {
  if (estado === undefined) return { tipo: 'guia.nota' }
  const motivo = dado ?? null
  const sinConfirmar = exigeUbicacion(estado) && guia.ubicacion_estado !== 'confirmada'
  const loToma = toma !== undefined && esUltima && daCustodia(guia, estado) && (!sinConfirmar || forzar !== undefined)
  const custodia = loToma ? { custodio: toma } : {}
  if (esTardia(guia, ocurrido_en))
    return { tipo: 'guia.escaneo_tardio', motivo, datos: { estado_reportado: estado }, ...custodia }
  exigirTransicion(guia.estado, estado)
  if (sinConfirmar && !forzar) {
    throw new Problema('ubicacion_sin_confirmar', `La ubicación de la guía está ${guia.ubicacion_estado}. ${remedio}`, {
      estado: guia.estado,
    })
  }
  const sinPrueba = estado === 'entregado' && !conPrueba
  if (sinPrueba && !forzar) {
    const mensaje = `Una entrega lleva su prueba. Regístrela con POST /operaciones/v1/guias/${guia.guia}/entrega o, si no hay ninguna, envíe forzar con una razón.`
    throw new Problema('entrega_sin_prueba', mensaje, { estado: guia.estado })
  }
  const intentos = guia.intentos + (estado === 'intento_fallido' ? 1 : 0)
  const datos: NonNullable<FilaEvento['datos']> = {
    ...(estado === 'intento_fallido'
      ? { numero_intento: intentos, requiere_accion: requiereAccion(estado, motivo) }
      : {}),
    ...((sinConfirmar || sinPrueba) && forzar ? { forzado: forzar } : {}),
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
