import { admitsCorreccion } from '../../domain/correcciones/correccion.ts'
import { isAwaitingDecision, isTaken } from '../../domain/estados/decision.ts'
import {
  GUIA_STATE_WORDS,
  isFinalState,
  isRectifiable,
  nextStates,
  reasonsOf,
  reportableStates,
} from '../../domain/estados/estados.ts'
import { admitsUbicacion } from '../../domain/ubicacion/ubicacion.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { Estado, GuiaDeOperacion, Repartidor } from '../../generated/contract/types/index.ts'
import { DESCRIPCIONES_DE_MOTIVO } from '../../generated/contract/vocabulary.ts'
import { type Html, html } from '../../platform/html.ts'
import { type Actions, type Draw, some, type Values } from './forms.ts'

/** Names of all fields of the forms on a guide's page. Each form has some of them. */
export const FIELDS = [
  ...(['razon', 'destinatario', 'telefono', 'departamento', 'municipio', 'direccion', 'indicaciones'] as const),
  ...(['lugar', 'referencia', 'fecha', 'paso', 'repartidor', 'descripcion'] as const),
] as const
export type Field = (typeof FIELDS)[number]
type GuideValues = Values<Field>

const WHY = 'La lee el comercio en el historial.'
export const reason = (draw: Draw<Field>, label = 'Por qué') =>
  draw.input('razon', label, { hint: WHY, required: true, max: 300 })
/**
 * The form for several guides does not know the guides' sequences. Its idempotency key alone ensures that each change
 * is made once.
 */
const numbered = ({ secuencia }: GuideValues) => ({ secuencia: secuencia === '' ? undefined : Number(secuencia) })

/** Texts that the form changes, compared with the guide's. An emptied text becomes null, which erases it. */
const changed = (values: GuideValues, guia: GuiaDeOperacion) =>
  Object.fromEntries(
    (['destinatario', 'telefono', 'departamento', 'municipio', 'direccion', 'indicaciones'] as const)
      .filter((name) => values[name] !== (guia[name] ?? ''))
      .map((name) => [name, values[name] === '' ? null : values[name]]),
  )

/** Reads a location from a text: two coordinates, or a map link. */
function placeOf(place: string): object {
  const pair = /^(-?\d{1,2}(?:\.\d{1,15})?)(?:[,;] ?| )(-?\d{1,3}(?:\.\d{1,15})?)$/.exec(place)
  return pair ? { lat: Number(pair[1]), lng: Number(pair[2]) } : { maps_url: place }
}

type Step = readonly [value: string, text: string]

/** Steps that the office can report: a state, and a reason if the state has reasons. */
export const stepsFrom = (estado: Estado): readonly Step[] =>
  reportableStates(estado)
    .filter((step) => step !== 'entregado')
    .flatMap<Step>((step) => {
      const reasons = reasonsOf(step)
      const word = GUIA_STATE_WORDS[step]
      return reasons.length === 0
        ? [[step, word]]
        : reasons.map((motivo) => [`${step}:${motivo}`, `${word}: ${DESCRIPCIONES_DE_MOTIVO[motivo]}`])
    })

/** Guide, and the couriers who may be chosen to carry its parcel. */
export type GuideThing = GuiaDeOperacion & { couriers: readonly Repartidor[] }

/**
 * Draws the fields of a report: the step, the courier who has the parcel afterwards, and details in words.
 * @param unchosen text of the option that leaves the courier unchanged
 */
export const stepFields = (
  steps: readonly Step[],
  couriers: readonly Repartidor[],
  unchosen: string,
  draw: Draw<Field>,
): Html =>
  html`${draw.select('paso', 'Qué pasó', steps)}${draw.select(
    'repartidor',
    'Quién lo lleva desde ahora',
    [['', unchosen], ...courierChoices(couriers)],
    { hint: 'Solo al recolectarlo o al salir a ruta.' },
  )}${draw.input('descripcion', 'Detalle', { hint: WHY, max: 300 })}`

/** Couriers who can be chosen, as options. */
const courierChoices = (couriers: readonly Repartidor[]): readonly Step[] =>
  couriers.filter(({ activo }) => activo).map(({ repartidor, nombre }) => [repartidor, nombre])

/** Draws the fields of an assignment: the courier, and the day. */
export const assignFields = (couriers: readonly Repartidor[], draw: Draw<Field>): Html =>
  html`${draw.select('repartidor', 'A quién', [['', 'Elija uno'], ...courierChoices(couriers)])}${draw.input('fecha', 'Para qué día', { type: 'date', hint: 'Si lo deja vacío, hoy.' })}`

const path = ({ guia }: GuiaDeOperacion) => ({ guia })

/** Actions that the office can take on a guide. */
export const ACTIONS: Actions<GuideThing, Field> = {
  reintentar: {
    text: 'Llevarlo otra vez',
    icon: icons.CalendarDays,
    says: 'Decide que se haga otro intento. El repartidor lo ve enseguida.',
    scope: 'operar',
    done: 'Se decidió otro intento.',
    offered: ({ decision }) => isAwaitingDecision(decision) && decision.opciones.includes('reintentar'),
    fields: ({ decision }, draw) =>
      html`${draw.input('fecha', 'Qué día', { type: 'date', value: decision?.fecha_desde, hint: 'Si lo deja vacío, el primero que se pueda.' })}${reason(draw)}`,
    operation: 'reintentarGuiaPorOperador',
    path,
    body: (values) => ({ razon: values.razon, fecha: some(values.fecha), ...numbered(values) }),
  },
  ubicar: {
    text: 'Poner el lugar',
    icon: icons.MapPin,
    says: 'Dice dónde se entrega, por ejemplo porque lo dijeron por teléfono.',
    scope: 'operar',
    done: 'El lugar quedó confirmado.',
    offered: ({ estado, ubicacion }) => admitsUbicacion({ estado, ubicacion_estado: ubicacion.estado }),
    fields: ({ ubicacion: { lat, lng, referencia } }, draw) =>
      html`${draw.input('lugar', 'Coordenadas o enlace de mapa', { required: true, value: lat === null ? '' : `${lat}, ${lng}`, hint: 'Como 14.6349, -90.5069, o el enlace que le compartieron.', max: 2048 })}${draw.input('referencia', 'Señas', { value: referencia, max: 300 })}${reason(draw)}`,
    operation: 'confirmarUbicacionPorOperador',
    path,
    body: ({ lugar, referencia, razon }) => ({ ...placeOf(lugar), referencia: some(referencia), razon }),
  },
  reenviar: {
    text: 'Reenviar el mensaje',
    icon: icons.MessageCircle,
    says: 'Le pide otra vez el lugar a quien recibe, con otro enlace.',
    scope: 'operar',
    done: 'El mensaje está por salir.',
    beside: true,
    offered: ({ estado, ubicacion }) =>
      ubicacion.estado !== 'confirmada' && admitsUbicacion({ estado, ubicacion_estado: ubicacion.estado }),
    fields: () => html``,
    operation: 'reenviarSolicitudPorOperador',
    path,
    body: () => undefined,
  },
  corregir: {
    text: 'Corregir los datos',
    icon: icons.Pencil,
    says: 'Cambia quién recibe, su teléfono o su dirección. Con otro teléfono se le pide otra vez el lugar, si faltaba.',
    scope: 'operar',
    done: 'Los datos quedaron corregidos.',
    offered: ({ estado }) => admitsCorreccion(estado),
    fields: (guia, draw) =>
      html`${draw.input('destinatario', 'Recibe', { value: guia.destinatario, max: 120 })}${draw.input('telefono', 'Teléfono', { value: guia.telefono, type: 'tel', required: true, hint: 'Con + y el código del país.', max: 40 })}${draw.input('departamento', 'Departamento', { value: guia.departamento, required: true, max: 100 })}${draw.input('municipio', 'Municipio', { value: guia.municipio, required: true, max: 100 })}${draw.input('direccion', 'Dirección', { value: guia.direccion, max: 300 })}${draw.input('indicaciones', 'Indicaciones', { value: guia.indicaciones, max: 300 })}${reason(draw)}`,
    operation: 'corregirGuiaPorOperador',
    path,
    body: (values, guia) => ({ ...changed(values, guia), razon: values.razon, ...numbered(values) }),
  },
  asignar: {
    text: 'Asignar a un repartidor',
    icon: icons.Truck,
    says: 'Quien lo recibe lo ve enseguida en su teléfono. Si otro lo lleva, se lo traspasa: cambia de manos al escanearlo.',
    scope: 'operar',
    done: 'Quedó asignada.',
    offered: ({ estado }) => !isFinalState(estado),
    fields: ({ couriers }, draw) => assignFields(couriers, draw),
    operation: 'asignarGuias',
    path: () => ({}),
    body: ({ repartidor, fecha }, { guia }) => ({ guias: [guia], repartidor, fecha: some(fecha) }),
  },
  registrar: {
    text: 'Registrar un paso',
    icon: icons.ScanBarcode,
    says: 'Anota dónde está el paquete, como lo haría un repartidor.',
    scope: 'operar',
    done: 'El paso quedó registrado.',
    offered: ({ estado }) => stepsFrom(estado).length > 0,
    fields: ({ estado, repartidor, couriers }, draw) =>
      stepFields(
        stepsFrom(estado),
        couriers,
        repartidor ? `Lo sigue llevando ${repartidor.nombre}` : 'Todavía nadie',
        draw,
      ),
    operation: 'registrarEvento',
    path,
    body: ({ paso, repartidor, descripcion }) => {
      const [estado, motivo] = paso.split(':')
      return { estado, motivo, repartidor: some(repartidor), descripcion: some(descripcion) }
    },
  },
  entregar: {
    text: 'Registrar una entrega sin prueba',
    icon: icons.CircleCheck,
    says: 'Para quien recogió en la bodega, o si falló el teléfono del repartidor. El comercio ve que no hay prueba, y por qué.',
    scope: 'operar',
    done: 'La entrega quedó registrada.',
    danger: true,
    offered: ({ estado }) => nextStates(estado).includes('entregado'),
    fields: (_guia, draw) =>
      html`${draw.input('descripcion', 'Quién recibió', { required: true, max: 120 })}${reason(draw, 'Por qué no hay prueba')}`,
    operation: 'registrarEvento',
    path,
    body: ({ descripcion, razon }) => ({
      estado: 'entregado',
      descripcion: `Recibió ${descripcion}`,
      forzar: { razon },
    }),
  },
  notar: {
    text: 'Nota de la central',
    icon: icons.Pencil,
    says: 'Solo la lee la oficina. No se cambia ni se quita.',
    scope: 'operar',
    done: 'La nota quedó guardada.',
    offered: ({ datos_borrados_en }) => datos_borrados_en === null,
    fields: (_guia, draw) => draw.input('descripcion', 'Nota', { required: true, max: 1_000 }),
    operation: 'crearNota',
    path,
    body: ({ descripcion }) => ({ texto: descripcion }),
  },
  anotar: {
    text: 'Avisar en el historial',
    icon: icons.MessageCircle,
    says: 'Lo leen el comercio y el repartidor. No cambia el estado.',
    scope: 'operar',
    done: 'Quedó en el historial.',
    offered: ({ datos_borrados_en }) => datos_borrados_en === null,
    fields: (_guia, draw) => draw.input('descripcion', 'Qué deben saber', { required: true, max: 300 }),
    operation: 'registrarEvento',
    path,
    body: ({ descripcion }) => ({ tipo: 'guia.nota', descripcion }),
  },
  devolver: {
    text: 'Devolver al comercio',
    icon: icons.Undo2,
    says: 'Decide que el paquete vuelva. Si alguien lo lleva, vuelve con su próximo paso.',
    scope: 'operar',
    done: 'Se decidió la devolución.',
    danger: true,
    offered: ({ estado, decision }) => nextStates(estado).includes('en_devolucion') && !isTaken(decision),
    fields: (_guia, draw) => reason(draw),
    operation: 'devolverGuiaPorOperador',
    path,
    body: ({ razon }) => ({ razon }),
  },
  cancelar: {
    text: 'Cancelar la guía',
    icon: icons.Ban,
    says: 'Cancela en nombre del comercio. No se puede deshacer.',
    scope: 'operar',
    done: 'La guía quedó cancelada.',
    danger: true,
    offered: ({ estado }) => nextStates(estado).includes('cancelado'),
    fields: (_guia, draw) => reason(draw),
    operation: 'cancelarGuiaPorOperador',
    path,
    body: ({ razon }) => ({ razon }),
  },
  deshacer: {
    text: 'Deshacer el último estado',
    icon: icons.History,
    says: 'Para un error: la guía vuelve a estar como antes. El historial conserva los dos pasos.',
    scope: 'administrar',
    done: 'El último estado se deshizo.',
    danger: true,
    offered: ({ estado }) => isRectifiable(estado),
    fields: (_guia, draw) => reason(draw, 'Por qué fue un error'),
    operation: 'rectificarGuia',
    path,
    body: (values) => ({ razon: values.razon, ...numbered(values) }),
  },
}

/** Names of form fields, by the name that the operation uses for the same value. */
export const FIELD_OF: Readonly<Record<string, string>> = {
  lat: 'lugar',
  lng: 'lugar',
  maps_url: 'lugar',
  estado: 'paso',
  motivo: 'paso',
  texto: 'descripcion',
}
