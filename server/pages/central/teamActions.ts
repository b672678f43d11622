import * as icons from '../../generated/contract/icons.ts'
import type {
  AlcanceDePersona,
  InvitacionAbierta,
  Operador,
  Persona,
  Repartidor,
} from '../../generated/contract/types/index.ts'
import { html } from '../../platform/html.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type Actions, some } from './forms.ts'
import {
  invitationFields,
  invitationOf,
  keyLimits,
  keyLimitsOf,
  type Member,
  memberActions,
  scopeBoxes,
  tickedScopes,
} from './merchantActions.ts'

/** Scopes of a person or a system of the courier company; the form has a box for each. */
export const OFFICE_SCOPES = ['ver', 'operar', 'caja', 'administrar'] as const satisfies AlcanceDePersona[]
type Scope = (typeof OFFICE_SCOPES)[number]

/** Names of all fields of the forms about the team. */
export const TEAM_FIELDS = [
  ...(['correo', 'nombre', 'telefono', 'vence_en', 'redes', 'solapamiento_horas'] as const),
  ...OFFICE_SCOPES,
] as const
type Field = (typeof TEAM_FIELDS)[number]

const administers = { scope: 'administrar', offered: () => true } as const
const noBody = () => undefined
const noFields = () => html``
const noPath = () => ({})

/** Actions that the office can take on its team as a whole. */
export const TEAM_ACTIONS: Actions<null, Field> = {
  invitar: {
    ...administers,
    text: 'Invitar a una persona',
    icon: icons.MessageCircle,
    says: 'Le llega un correo con un enlace que vale una vez, 24 horas. Usted le da además un código, en persona o por teléfono.',
    done: 'La invitación va en camino.',
    fields: (_team, draw) => invitationFields(draw, OFFICE_SCOPES, ['ver']),
    operation: 'invitarPersona',
    path: noPath,
    body: (values) => invitationOf(values, OFFICE_SCOPES),
  },
}

/** Actions that the office can take on an invitation that nobody has accepted. */
export const INVITATION_ACTIONS: Actions<InvitacionAbierta, Field> = {
  retirarInvitacion: {
    ...administers,
    text: 'Retirar la invitación',
    icon: icons.Ban,
    says: 'Su enlace ya no abre nada.',
    done: 'La invitación ya no vale.',
    danger: true,
    fields: noFields,
    operation: 'retirarInvitacion',
    path: ({ invitacion }) => ({ invitacion }),
    body: noBody,
  },
}

/** Person of the courier company, with the person's membership. */
export interface Colleague extends Persona {
  membership: Member['membership']
}
const ofPerson = { ...administers, path: ({ persona }: Colleague) => ({ persona }), fields: noFields, body: noBody }

/** Actions that the office can take on a person of the courier company. */
export const COLLEAGUE_ACTIONS: Actions<Colleague, Scope> = {
  ...memberActions(OFFICE_SCOPES, 'la empresa'),
  cerrar: {
    ...ofPerson,
    text: 'Cerrar sus sesiones',
    icon: icons.DoorOpen,
    says: 'Sale de todos los navegadores, y puede entrar otra vez.',
    done: 'Sus sesiones quedaron cerradas.',
    offered: ({ sesiones }) => sesiones > 0,
    operation: 'cerrarSesionesDePersona',
  },
  invitarOtraVez: {
    ...ofPerson,
    text: 'Invitarla otra vez',
    icon: icons.MessageCircle,
    says: 'Para que agregue su segundo factor. Le llega un correo con un enlace, y usted le da un código, en persona o por teléfono. Sus permisos siguen igual.',
    done: 'La invitación va en camino.',
    offered: ({ segundo_factor }) => !segundo_factor,
    operation: 'invitarPersona',
    path: noPath,
    body: (_values, { correo, nombre, membership }) => ({ correo, nombre, alcances: membership.alcances }),
  },
  restablecer: {
    ...ofPerson,
    text: 'Restablecer su segundo factor',
    icon: icons.ShieldCheck,
    says: 'Para quien perdió todo. Quita su app, sus passkeys y sus códigos, y cierra sus sesiones. Lo aprueba otra persona que administra, y se le avisa por correo.',
    done: 'Su segundo factor quedó restablecido. Invítela otra vez para que agregue otro.',
    danger: true,
    offered: ({ segundo_factor }) => segundo_factor,
    operation: 'restablecerSegundoFactor',
  },
  eliminar: {
    ...ofPerson,
    text: 'Borrar a la persona',
    icon: icons.X,
    says: 'Borra su correo, su nombre y sus permisos, también en los comercios. No se puede deshacer.',
    done: 'La persona quedó borrada.',
    danger: true,
    operation: 'eliminarPersona',
  },
}

/** Actions that the office can take on the systems that use the operators' API as a whole. */
export const SYSTEMS_ACTIONS: Actions<null, Field> = {
  sistema: {
    ...administers,
    text: 'Agregar un sistema',
    icon: icons.CodeXml,
    says: 'Un programa que usa la API de operaciones. Después cree su llave; cada uno con la suya.',
    done: 'El sistema quedó agregado.',
    fields: (_team, draw) => draw.input('nombre', 'Su nombre', { required: true, max: 120 }),
    operation: 'crearOperador',
    path: noPath,
    body: ({ nombre }) => ({ nombre }),
  },
}

/** System, and the clock by which its page shows times. */
export interface System extends Operador {
  clock: Clock
}
const ofSystem = {
  ...administers,
  path: ({ operador }: System) => ({ operador }),
  offered: ({ revocado_en }: System) => revocado_en === null,
}

/** Actions that the office can take on one system. */
export const SYSTEM_ACTIONS: Actions<System, Field> = {
  llave: {
    ...ofSystem,
    text: 'Crear una llave',
    icon: icons.CodeXml,
    says: 'Se muestra una sola vez.',
    done: 'La llave quedó creada.',
    fields: (_system, draw) => html`${scopeBoxes(draw, OFFICE_SCOPES, ['ver'])}${keyLimits(draw)}`,
    operation: 'crearLlaveDeOperador',
    body: (values, { clock }) => ({
      alcances: tickedScopes(values, OFFICE_SCOPES),
      ...keyLimitsOf(values, clock),
    }),
  },
  revocarSistema: {
    ...ofSystem,
    text: 'Revocar el sistema',
    icon: icons.Ban,
    says: 'Todas sus llaves dejan de valer, y no puede tener otras. No se puede deshacer.',
    done: 'El sistema ya no entra.',
    danger: true,
    fields: noFields,
    operation: 'revocarOperador',
    body: noBody,
  },
}

/** Actions that the office can take on couriers as a whole. */
export const COURIERS_ACTIONS: Actions<null, Field> = {
  repartidor: {
    ...administers,
    text: 'Agregar un repartidor',
    icon: icons.Truck,
    says: 'Le da un código, con el que entra en /repartidor desde su teléfono. Se muestra una sola vez.',
    done: 'El repartidor quedó agregado.',
    fields: (_team, draw) =>
      html`${draw.input('nombre', 'Su nombre', { required: true, max: 120, hint: 'Lo leen los comercios y quien recibe.' })}${draw.input('telefono', 'Su teléfono', { type: 'tel', max: 40, hint: 'Con + y el código del país. Puede quedar vacío.' })}`,
    operation: 'crearRepartidor',
    path: noPath,
    body: ({ nombre, telefono }) => ({ nombre, telefono: some(telefono) }),
  },
}

const ofCourier = {
  ...administers,
  path: ({ repartidor }: Repartidor) => ({ repartidor }),
  fields: noFields,
  body: noBody,
}

/** Actions that the office can take on one courier. */
export const COURIER_ACTIONS: Actions<Repartidor, Field> = {
  codigo: {
    ...ofCourier,
    text: 'Dar otro código',
    icon: icons.History,
    says: 'El de antes y sus sesiones dejan de valer en un segundo. Si estaba desactivado, entra otra vez.',
    done: 'El código quedó renovado.',
    operation: 'renovarCodigo',
  },
  desactivar: {
    ...ofCourier,
    text: 'Desactivar',
    icon: icons.Ban,
    says: 'Deja de entrar en un segundo. Lo que registró queda. Otro código lo activa de nuevo.',
    done: 'El repartidor quedó desactivado.',
    danger: true,
    offered: ({ activo }) => activo,
    operation: 'desactivarRepartidor',
  },
}
