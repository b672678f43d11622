// What the page speaks of: the contract's own types and tables, and the words a courier reads.
import type {
  EntregaParaRegistrar,
  Estado,
  EstadoSiguiente,
  EventoParaRegistrar,
  GuiaDeReparto,
  Motivo,
  RelacionConDestinatario,
  Sesion,
} from '../../../contrato/generado/tipos/index.ts'
import { MAQUINA_DE_ESTADOS, NOMBRES_DE_MOTIVOS } from '../../../contrato/generado/vocabulario.ts'

export type { Estado, EstadoSiguiente, EventoParaRegistrar, GuiaDeReparto, Motivo, Sesion }
export type Relacion = RelacionConDestinatario
/** The part of a delivery that the page fills in; photos and signature are uploaded before it is sent. */
export type DatosDeEntrega = Omit<EntregaParaRegistrar, 'fotos' | 'firma' | 'ocurrido_en' | 'idempotencia'>

const transiciones: Readonly<Record<Estado, readonly Estado[]>> = MAQUINA_DE_ESTADOS.transiciones
const finales: readonly Estado[] = MAQUINA_DE_ESTADOS.finales
const motivos: Partial<Record<Estado, readonly Motivo[]>> = NOMBRES_DE_MOTIVOS

/** The machine of the contract, without what only merchants do. */
const siguientesDe = (estado: Estado): Estado[] => transiciones[estado].filter((otro) => otro !== 'cancelado')
export const esFinal = (estado: Estado) => finales.includes(estado)
const motivosDe = (estado: Estado) => [...(motivos[estado] ?? [])]

/** The next steps that the phone foresees from a state, as the server will give them when it hears of it. */
export const pasosDesde = (estado: Estado): EstadoSiguiente[] => siguientesDe(estado).map(pasoA)
export const pasoA = (estado: Estado): EstadoSiguiente => ({
  estado,
  motivos: motivosDe(estado),
  con_prueba: estado === 'entregado',
  con_ubicacion: estado === 'en_ruta',
})

/** Whether that step puts the parcel into the hands of the courier who takes it. */
export const esToma = (estado: Estado | null) => estado === 'recolectado' || estado === 'en_ruta'

/** All that a courier can do to a guide of which nothing is known but its code. */
export const TODOS_LOS_PASOS: readonly Estado[] = [
  'entregado',
  'intento_fallido',
  'recolectado',
  'en_ruta',
  'en_bodega',
  'en_devolucion',
]

export const NOMBRES: Readonly<Record<Estado, string>> = {
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

/** What the button says that leads to a state. */
export const PASOS: Readonly<Record<Estado, string>> = {
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

/** What is said once a step is registered. */
export const HECHOS: Readonly<Record<Estado, string>> = {
  ...NOMBRES,
  recolectado: 'Recogida',
  en_bodega: 'Dejada en bodega',
  en_transito: 'Enviada a otra bodega',
  entregado: 'Entregada',
  intento_fallido: 'Intento anotado',
  en_devolucion: 'En devolución',
  devuelto: 'Devuelta al comercio',
  extraviado: 'Extravío reportado',
}

/** The steps that end a parcel's way to its recipient: apart from the others, and asked about. */
export const PELIGROSOS: readonly Estado[] = ['en_devolucion', 'extraviado']

/** What a courier does most, first. */
const HABITUALES: readonly Estado[] = ['entregado', 'recolectado', 'en_ruta', 'devuelto', 'intento_fallido']
const lugarDe = ({ estado }: EstadoSiguiente) => HABITUALES.indexOf(estado) + 1 || HABITUALES.length + 1

/** The steps that a thumb finds without looking, and the rest; both in the order of what is done most. */
export function repartirPasos(pasos: readonly EstadoSiguiente[]) {
  const [peligrosos, comunes] = [
    pasos.filter(({ estado }) => PELIGROSOS.includes(estado)),
    pasos.filter(({ estado }) => !PELIGROSOS.includes(estado)).sort((uno, otro) => lugarDe(uno) - lugarDe(otro)),
  ]
  const aMano = comunes.filter((paso, i) => i === 0 || paso.estado === 'intento_fallido')
  return { aMano, otros: comunes.filter((paso) => !aMano.includes(paso)), peligrosos }
}

export const MOTIVOS_DICHOS: Readonly<Record<Motivo, string>> = {
  destinatario_ausente: 'No había nadie',
  direccion_inexistente: 'La dirección no existe',
  direccion_incorrecta: 'La dirección está mal',
  destinatario_rechaza: 'No lo quiso recibir',
  sin_pago: 'No pagó',
  persona_no_autorizada: 'No había quien pudiera recibir',
  sin_respuesta: 'No contesta',
  fuera_de_cobertura: 'Fuera de la zona de reparto',
  reprogramado: 'Pidió otro día',
  fuerza_mayor: 'Camino cerrado, lluvia u otra fuerza mayor',
  intentos_agotados: 'Se agotaron los intentos',
  a_pedido_del_comercio: 'Lo pidió el comercio',
  danado: 'El paquete está dañado',
  robo: 'Robo',
  perdida: 'Se perdió',
  destruido: 'Se destruyó',
  otro: 'Otro motivo',
}

export const RELACIONES: Readonly<Record<Relacion, string>> = {
  destinatario: 'Es el destinatario',
  familiar: 'Familiar',
  companero: 'Compañero de trabajo',
  vigilante: 'Vigilante o portero',
  vecino: 'Vecino',
  otro: 'Otra persona',
}
