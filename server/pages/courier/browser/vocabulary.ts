// Domain of the courier's page: types and tables of the contract, and the words that a courier reads.
import type {
  Decision,
  EntregaParaRegistrar,
  Estado,
  EstadoSiguiente,
  EventoParaRegistrar,
  GuiaDeReparto,
  Motivo,
  MotivoSinFirma,
  PoliticaDeEvidencia,
  RelacionConDestinatario,
  Sesion,
} from '../../../generated/contract/types/index.ts'
import { NOMBRES_DE_MOTIVOS, STATE_MACHINE } from '../../../generated/contract/vocabulary.ts'
import { dayInWords } from '../../../platform/time/day.ts'

export type {
  Estado,
  EstadoSiguiente,
  EventoParaRegistrar,
  GuiaDeReparto,
  Motivo,
  MotivoSinFirma,
  PoliticaDeEvidencia,
  Sesion,
}
export type Relation = RelacionConDestinatario
/** Part of a delivery that the page fills in. Photos and signature are uploaded before the delivery is sent. */
export type EntregaData = Omit<EntregaParaRegistrar, 'fotos' | 'firma' | 'ocurrido_en' | 'idempotencia'>

const transiciones: Readonly<Record<Estado, readonly Estado[]>> = STATE_MACHINE.transiciones
const finalEstados: readonly Estado[] = STATE_MACHINE.finales
const motivos: Partial<Record<Estado, readonly Motivo[]>> = NOMBRES_DE_MOTIVOS

/** Next states in the contract's state machine, without the cancellation, which only merchants use. */
const nextEstadosOf = (estado: Estado): Estado[] => transiciones[estado].filter((other) => other !== 'cancelado')
/** Tells whether a state is final. */
export const isFinalEstado = (estado: Estado) => finalEstados.includes(estado)
const reasonsOf = (estado: Estado) => [...(motivos[estado] ?? [])]

/**
 * States that a courier can report next, called steps, as the phone predicts them from a state. The server gives the
 * same steps once it learns of the state.
 */
export const stepsAfter = (estado: Estado): EstadoSiguiente[] => nextEstadosOf(estado).map(stepTo)
/**
 * Returns the step that leads to a state: its reasons, and whether it needs a proof of delivery or a confirmed
 * location.
 */
export const stepTo = (estado: Estado): EstadoSiguiente => ({
  estado,
  motivos: reasonsOf(estado),
  con_prueba: estado === 'entregado',
  con_ubicacion: estado === 'en_ruta',
})

/** Tells whether the courier who reports this state has the parcel from then on. */
export const takesParcel = (estado: Estado | null) => estado === 'recolectado' || estado === 'en_ruta'

/** States that a courier can report for a guide of which the phone knows only the code. */
export const ALL_STEPS: readonly Estado[] = [
  'entregado',
  'intento_fallido',
  'recolectado',
  'en_ruta',
  'en_bodega',
  'en_devolucion',
]

/** Name of each state, as a courier reads it. */
export const ESTADO_NAMES: Readonly<Record<Estado, string>> = {
  aceptado: 'Por recoger',
  recolectado: 'Recolectado',
  en_bodega: 'En bodega',
  en_transito: 'En tránsito',
  en_ruta: 'En ruta',
  intento_fallido: 'Intento fallido',
  entregado: 'Entregado',
  en_devolucion: 'En devolución',
  devuelto: 'Devuelto',
  extraviado: 'Extraviado',
  cancelado: 'Cancelado',
}

/** Text of the button that reports each state. */
export const STEP_LABELS: Readonly<Record<Estado, string>> = {
  aceptado: 'Aceptar',
  recolectado: 'Recoger el paquete',
  en_bodega: 'Dejar en bodega',
  en_transito: 'Enviar a otra bodega',
  en_ruta: 'Salir a ruta',
  intento_fallido: 'No se pudo entregar',
  entregado: 'Entregar',
  en_devolucion: 'Empezar la devolución',
  devuelto: 'Devolver al comercio',
  extraviado: 'Reportar extravío',
  cancelado: 'Cancelar',
}

/**
 * Tells whether a step receives the parcel from the courier who carries it. The server then offers the guide's present
 * state as a next step.
 */
export const isHandover = (
  datos: Pick<GuiaDeReparto, 'estado' | 'siguientes'> | null | undefined,
  estado: Estado | null,
): boolean => datos?.estado === estado && datos.siguientes.some((step) => step.estado === estado)

/** Returns the text of the button that reports a state of a guide. */
export const stepLabel = (datos: Parameters<typeof isHandover>[0], estado: Estado): string =>
  isHandover(datos, estado) ? 'Recibir el paquete' : STEP_LABELS[estado]

/** States that end a parcel's way to its recipient. Screens show their buttons apart and ask for confirmation. */
export const DANGEROUS_ESTADOS: readonly Estado[] = ['en_devolucion', 'extraviado']

/** States that couriers report most often, in order of frequency. */
const FREQUENT_ESTADOS: readonly Estado[] = ['entregado', 'recolectado', 'en_ruta', 'devuelto', 'intento_fallido']
const rankOf = ({ estado }: EstadoSiguiente) => FREQUENT_ESTADOS.indexOf(estado) + 1 || FREQUENT_ESTADOS.length + 1

/**
 * Splits the states that can be reported into three lists: `handySteps`, whose buttons a thumb finds without looking,
 * `otherSteps` and `dangerousSteps`. The first two lists are in order of frequency.
 */
export function splitSteps(steps: readonly EstadoSiguiente[]) {
  const [dangerousSteps, commonSteps] = [
    steps.filter(({ estado }) => DANGEROUS_ESTADOS.includes(estado)),
    steps
      .filter(({ estado }) => !DANGEROUS_ESTADOS.includes(estado))
      .sort((step, other) => rankOf(step) - rankOf(other)),
  ]
  const handySteps = commonSteps.filter((step, i) => i === 0 || step.estado === 'intento_fallido')
  return { handySteps, otherSteps: commonSteps.filter((step) => !handySteps.includes(step)), dangerousSteps }
}

/** Describes a decision about a parcel: that it returns, or the day and hours of its delivery. */
export const decisionWords = ({ accion, fecha, franja }: Decision): string =>
  accion === 'devolver'
    ? 'Vuelve al comercio'
    : `Otro intento el ${fecha && dayInWords(fecha)}${franja ? `, de ${franja.desde} a ${franja.hasta}` : ''}`

/** Name of each reason, as a courier reads it. */
export const REASON_NAMES: Readonly<Record<Motivo, string>> = {
  destinatario_ausente: 'No había nadie',
  direccion_inexistente: 'La dirección no existe',
  direccion_incorrecta: 'La dirección está mal',
  destinatario_rechaza: 'No lo quiso recibir',
  sin_pago: 'No pagó',
  persona_no_autorizada: 'Quien estaba no podía',
  sin_respuesta: 'No contesta',
  fuera_de_cobertura: 'Fuera de la zona',
  reprogramado: 'Pidió otro día',
  fuerza_mayor: 'Clima, bloqueo o similar',
  intentos_agotados: 'Se agotaron los intentos',
  sin_decision: 'Nadie decidió',
  a_pedido_del_comercio: 'Lo pidió el comercio',
  danado: 'El paquete está dañado',
  robo: 'Robo',
  perdida: 'Se perdió',
  destruido: 'Se destruyó',
  por_operador: 'La canceló la central',
  otro: 'Otro motivo',
}

/** Reasons that concern the address or the way to it. */
const PLACE_REASONS: readonly Motivo[] = [
  'direccion_inexistente',
  'direccion_incorrecta',
  'fuera_de_cobertura',
  'fuerza_mayor',
]

/** Groups the reasons of a change of state under headings. */
export function groupReasons(reasons: readonly Motivo[]): { titulo: string; reasons: readonly Motivo[] }[] {
  if (reasons.length === 0) return []
  if (!reasons.some((reason) => PLACE_REASONS.includes(reason))) return [{ titulo: '¿Por qué?', reasons }]
  const isOfPlace = (reason: Motivo) => reason === 'otro' || PLACE_REASONS.includes(reason)
  return [
    { titulo: 'La persona', reasons: reasons.filter((reason) => !isOfPlace(reason)) },
    { titulo: 'El lugar, el camino u otra cosa', reasons: reasons.filter(isOfPlace) },
  ]
}

/** Name of each relation of a receiver to the recipient. */
export const RELATION_NAMES: Readonly<Record<Relation, string>> = {
  destinatario: 'Es el destinatario',
  familiar: 'Familiar',
  companero: 'Compañero de trabajo',
  vigilante: 'Vigilante o portero',
  vecino: 'Vecino',
  otro: 'Otra persona',
}

/** Returns the steps that a guide allows, given whether its place is confirmed. */
export const possibleSteps = (steps: readonly EstadoSiguiente[], isConfirmed: boolean): EstadoSiguiente[] =>
  steps.filter(({ con_ubicacion }) => isConfirmed || !con_ubicacion)

/** Returns the place in the page where a step of a guide is taken. */
export const stepPath = (guia: string, { estado, con_prueba }: EstadoSiguiente): string =>
  `guia/${guia}/${con_prueba ? 'entregar' : `paso/${estado}`}`
