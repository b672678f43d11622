import { PERMISSIONS } from '../../domain/equipo/members/permissions.ts'
import * as icons from '../../generated/contract/icons.ts'
import type {
  Alcance,
  AlcanceDePersona,
  Comercio,
  Llave,
  Membresia,
  Persona,
} from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import { type Action, type Actions, type Draw, TICKED, type Values } from './forms.ts'

/** Scopes of a merchant's person; the form has a box for each. */
export const SHOP_SCOPES = ['propietario', 'despacho', 'cobros', 'lectura'] as const satisfies AlcanceDePersona[]

/** Scopes of a merchant's key, by the name of the form's box. */
const KEY_BOXES = {
  readGuias: ['guias:leer', 'Leer guías', 'Guías, historial y etiquetas.'],
  escribirGuias: ['guias:escribir', 'Escribir guías', 'Crear, corregir y cancelar.'],
  readPruebas: ['pruebas_entrega:leer', 'Leer pruebas de entrega', 'Fotos, firma y quién recibió.'],
  administrarWebhooks: ['webhooks:admin', 'Administrar webhooks', 'A dónde se avisa, y sus secretos.'],
  readBitacora: ['bitacora:leer', 'Leer la bitácora', 'Quién cambió o miró algo suyo.'],
} as const satisfies Record<string, readonly [Alcance, string, string]>
type KeyBox = keyof typeof KEY_BOXES
const KEY_BOX_NAMES = Object.keys(KEY_BOXES) as KeyBox[]

/** Describes in words what a scope of a merchant's key permits. */
export const keyScopeWords = (alcance: Alcance): string =>
  Object.values(KEY_BOXES).find(([one]) => one === alcance)?.[1] ?? alcance

/** Names of all fields of the forms on a merchant's page. */
export const MERCHANT_FIELDS = [
  ...(['nombre', 'pais', 'estricto', 'solicitudes', 'guias', 'fotos_minimas', 'firma', 'documento'] as const),
  ...(['maximos', 'dias_entre', 'dias_para_decidir', 'al_vencer', 'destinatario_decide'] as const),
  ...(['modo', 'vence_en', 'redes', 'solapamiento_horas', 'correo'] as const),
  ...KEY_BOX_NAMES,
  ...SHOP_SCOPES,
] as const
type Field = (typeof MERCHANT_FIELDS)[number]

/** Countries of the catalogue by their code. */
export const COUNTRIES = [
  ['', 'Ninguno'],
  ...(Object.entries({
    GT: 'Guatemala',
    SV: 'El Salvador',
    HN: 'Honduras',
    NI: 'Nicaragua',
    CR: 'Costa Rica',
    PA: 'Panamá',
    CO: 'Colombia',
    MX: 'México',
  }) satisfies [string, string][]),
] as const

const NEEDED = [
  ['obligatoria', 'Obligatoria'],
  ['opcional', 'Opcional'],
  ['no', 'No se pide'],
] as const

const whole = (value: string) => (value === '' ? undefined : Number(value))
const ticked = (value: string) => value === TICKED

/** Draws a box for each scope of a person, with the sentence that explains it. */
export const scopeBoxes = <F extends string>(
  draw: Draw<F>,
  scopes: readonly (F & AlcanceDePersona)[],
  has: readonly string[],
): Html =>
  draw.boxes(
    'alcances',
    'Permisos',
    scopes.map((name) => ({
      name,
      text: PERMISSIONS[name].nombre,
      detail: PERMISSIONS[name].allows,
      checked: has.includes(name),
    })),
  )

/** Returns the scopes whose boxes are ticked. */
export const tickedScopes = <F extends string>(values: Readonly<Record<F, string>>, scopes: readonly F[]): F[] =>
  scopes.filter((scope) => ticked(values[scope]))

/** Draws the fields of an invitation: the person's address and name, and a box for each scope. */
export const invitationFields = <F extends string>(
  draw: Draw<F | 'correo' | 'nombre'>,
  scopes: readonly (F & AlcanceDePersona)[],
  has: readonly string[],
): Html =>
  html`${draw.input('correo', 'Su correo', { type: 'email', required: true, max: 254 })}${draw.input('nombre', 'Su nombre', { required: true, max: 120 })}${scopeBoxes(draw, scopes, has)}`

/** Returns the members of an invitation's body that {@link invitationFields} ask for. */
export const invitationOf = <F extends string>(
  values: Readonly<Record<F | 'correo' | 'nombre', string>>,
  scopes: readonly F[],
) => ({ correo: values.correo, nombre: values.nombre, alcances: tickedScopes<F>(values, scopes) })

/** Draws the fields that limit a key: its last day and its networks. */
export const keyLimits = (draw: Draw<'vence_en' | 'redes'>): Html =>
  html`${draw.input('vence_en', 'Último día en que vale', { type: 'date', hint: 'Si lo deja vacío, no vence.' })}${draw.input('redes', 'Redes desde las que vale', { hint: 'Como 203.0.113.0/24, separadas por comas. Si lo deja vacío, desde cualquiera.', max: 1_000 })}`

/** Returns the members of a key's body that {@link keyLimits} ask for. */
export const keyLimitsOf = (values: Readonly<Record<'vence_en' | 'redes', string>>, clock: Clock) => ({
  vence_en: endOfDay(values.vence_en, clock),
  redes: networksOf(values.redes),
})

/** Returns the networks in a text, separated by commas or spaces; undefined if the text has none. */
function networksOf(text: string): string[] | undefined {
  const networks = text.split(/[,; ]+/).filter((one) => one !== '')
  return networks.length === 0 ? undefined : networks
}

/**
 * Returns the instant at which a day ends by a clock; undefined for an empty text. A text that is no date is returned
 * unchanged.
 */
function endOfDay(day: string, clock: Clock): string | undefined {
  if (day === '') return undefined
  const noon = `${day}T12:00:00Z`
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(noon))) return day
  return new Date(Date.parse(`${day}T23:59:59Z`) - clock.minutes(noon) * MINUTE_MS).toISOString()
}

/** Merchant, and the clock by which its page shows times. */
export interface Shop extends Comercio {
  clock: Clock
}

const path = ({ comercio }: Shop) => ({ comercio })
const always = () => true
const change = {
  scope: 'administrar',
  offered: always,
  operation: 'cambiarComercio',
  path,
  done: 'Quedó guardado.',
  send: 'Guardar',
} as const

/** Actions that the office can take on a merchant. The first four together change all settings of `cambiarComercio`. */
export const MERCHANT_ACTIONS: Actions<Shop, Field> = {
  datos: {
    ...change,
    text: 'Nombre y país',
    icon: icons.Store,
    says: 'El nombre lo leen quienes esperan sus paquetes. El país es el de los teléfonos escritos sin «+».',
    fields: ({ nombre, pais, estricto }, draw) =>
      html`${draw.input('nombre', 'Nombre', { value: nombre, required: true, max: 120 })}${draw.select('pais', 'País', COUNTRIES, { value: pais ?? '' })}${draw.boxes(
        'estricto',
        'Lugares inverosímiles',
        [
          {
            name: 'estricto',
            text: 'Rechazar sus guías',
            detail: 'Sin esto se crean, con una advertencia.',
            checked: estricto,
          },
        ],
      )}`,
    body: ({ nombre, pais, estricto }) => ({ nombre, pais: pais === '' ? null : pais, estricto: ticked(estricto) }),
  },
  ritmos: {
    ...change,
    text: 'Cuánto admite cada llave',
    icon: icons.Route,
    says: 'Más allá de esto, sus sistemas esperan y lo intentan otra vez.',
    fields: ({ ritmos }, draw) =>
      html`${draw.input('solicitudes', 'Solicitudes por segundo', { type: 'number', value: ritmos.solicitudes, required: true })}${draw.input('guias', 'Guías por segundo', { type: 'number', value: ritmos.guias, required: true })}`,
    body: ({ solicitudes, guias }) => ({ ritmos: { solicitudes: whole(solicitudes), guias: whole(guias) } }),
  },
  evidencia: {
    ...change,
    text: 'Qué prueba sus entregas',
    icon: icons.ShieldCheck,
    says: 'Vale para las entregas que se hagan desde ahora.',
    fields: ({ evidencia }, draw) =>
      html`${draw.input('fotos_minimas', 'Fotos, por lo menos', { type: 'number', value: evidencia.fotos_minimas, required: true, hint: 'De 1 a 10.' })}${draw.select('firma', 'Firma de quien recibe', NEEDED, { value: evidencia.firma })}${draw.select('documento', 'Número de su documento', NEEDED, { value: evidencia.documento })}`,
    body: ({ fotos_minimas, firma, documento }) => ({
      evidencia: { fotos_minimas: whole(fotos_minimas), firma, documento },
    }),
  },
  intentos: {
    ...change,
    text: 'Qué se hace tras un intento',
    icon: icons.CalendarDays,
    says: 'Vale para los intentos que fallen desde ahora.',
    fields: ({ politica_de_intentos: policy }, draw) =>
      html`${draw.input('maximos', 'Intentos antes de devolver', { type: 'number', value: policy.maximos, required: true })}${draw.input('dias_entre', 'Días entre dos intentos, por lo menos', { type: 'number', value: policy.dias_entre, required: true })}${draw.input('dias_para_decidir', 'Días que se espera una decisión', { type: 'number', value: policy.dias_para_decidir, required: true })}${draw.select(
        'al_vencer',
        'Si nadie decide a tiempo',
        [
          ['devolver', 'Se devuelve el paquete'],
          ['esperar', 'Se espera, y se puede decidir después'],
        ],
        { value: policy.al_vencer },
      )}${draw.boxes('destinatario_decide', 'Quién decide', [
        {
          name: 'destinatario_decide',
          text: 'También quien recibe',
          detail: 'Se le manda un mensaje con un enlace.',
          checked: policy.destinatario_decide,
        },
      ])}`,
    body: ({ maximos, dias_entre, dias_para_decidir, al_vencer, destinatario_decide }) => ({
      politica_de_intentos: {
        maximos: whole(maximos),
        dias_entre: whole(dias_entre),
        dias_para_decidir: whole(dias_para_decidir),
        al_vencer,
        destinatario_decide: ticked(destinatario_decide),
      },
    }),
  },
  llave: {
    text: 'Crear una llave',
    icon: icons.CodeXml,
    says: 'Con ella entra un sistema del comercio. Se muestra una sola vez.',
    scope: 'administrar',
    done: 'La llave quedó creada.',
    offered: always,
    fields: (_comercio, draw) =>
      html`${draw.select('modo', 'Con qué datos', [
        ['live', 'Los reales'],
        ['test', 'Los de prueba'],
      ])}${draw.boxes(
        'alcances',
        'Permisos',
        KEY_BOX_NAMES.map((name) => ({ name, text: KEY_BOXES[name][1], detail: KEY_BOXES[name][2], checked: true })),
      )}${keyLimits(draw)}`,
    operation: 'crearLlave',
    path,
    body: (values, { clock }) => ({
      modo: values.modo,
      alcances: tickedScopes(values, KEY_BOX_NAMES).map((name) => KEY_BOXES[name][0]),
      ...keyLimitsOf(values, clock),
    }),
  },
  invitar: {
    text: 'Invitar a una persona',
    icon: icons.MessageCircle,
    says: 'Le llega un correo con un enlace que vale una vez, 24 horas.',
    scope: 'administrar',
    done: 'La invitación va en camino.',
    offered: always,
    fields: (_comercio, draw) => invitationFields(draw, SHOP_SCOPES, []),
    operation: 'invitarPersona',
    path: () => ({}),
    body: (values, { comercio }) => ({
      comercio,
      ...invitationOf(values, SHOP_SCOPES),
    }),
  },
}

/** Reports whether a key is accepted at this time. */
export const isLlaveAccepted = (
  { vence_en, revocado_en }: Pick<Llave, 'vence_en' | 'revocado_en'>,
  now: Date,
): boolean => revocado_en === null && (vence_en === null || Date.parse(vence_en) > now.getTime())

/** Key, and the time at which the page is made. */
export interface TimedKey {
  id: string
  vence_en: string | null
  revocado_en: string | null
  now: Date
}
const keyPath = ({ id }: TimedKey) => ({ llave: id })
const ofKey = {
  scope: 'administrar',
  path: keyPath,
  offered: (key: TimedKey) => isLlaveAccepted(key, key.now),
} as const

/** Actions that the office can take on a key of a merchant or an operator. */
export const KEY_ACTIONS: Actions<TimedKey, 'solapamiento_horas'> = {
  rotar: {
    ...ofKey,
    text: 'Rotarla',
    icon: icons.History,
    says: 'Da otra igual. La de ahora deja de valer cuando pasan estas horas.',
    done: 'La llave quedó rotada.',
    fields: (_key, draw) =>
      draw.input('solapamiento_horas', 'Horas en que valen las dos', {
        type: 'number',
        value: 24,
        required: true,
        hint: 'De 0 a 168. Con 0, la de ahora deja de valer enseguida.',
      }),
    operation: 'rotarLlave',
    body: ({ solapamiento_horas }) => ({ solapamiento_horas: whole(solapamiento_horas) }),
  },
  revocar: {
    ...ofKey,
    text: 'Revocarla',
    icon: icons.Ban,
    says: 'Deja de valer en un segundo. No se puede deshacer.',
    done: 'La llave ya no vale.',
    danger: true,
    fields: () => html``,
    operation: 'revocarLlave',
    body: () => undefined,
  },
}

/** Person, with the membership that the page shows. */
export interface Member extends Pick<Persona, 'persona' | 'nombre' | 'correo' | 'correo_rebotado_en' | 'entrado_en'> {
  membership: Membresia
}
const memberPath = ({ membership }: Member) => ({ membresia: membership.membresia })

/** Creates the actions that the office can take on a membership. */
export const memberActions = <F extends AlcanceDePersona>(scopes: readonly F[], place: string): Actions<Member, F> => {
  const ofMember = { scope: 'administrar', offered: always, path: memberPath } as const
  const change: Action<Member, F> = {
    ...ofMember,
    text: 'Cambiar sus permisos',
    send: 'Guardar',
    icon: icons.Pencil,
    says: 'Valen en un segundo, también en las sesiones abiertas.',
    done: 'Los permisos quedaron guardados.',
    fields: ({ membership }, draw) => scopeBoxes(draw, scopes, membership.alcances),
    operation: 'cambiarMembresia',
    body: (values: Values<F>) => ({ alcances: tickedScopes(values, scopes) }),
  }
  return {
    permisos: change,
    quitar: {
      ...ofMember,
      text: `Quitarla de ${place}`,
      icon: icons.Ban,
      says: 'Deja de entrar aquí, y sus sesiones se cierran. Lo que hizo queda en la bitácora.',
      done: 'La persona ya no está.',
      danger: true,
      fields: () => html``,
      operation: 'quitarMembresia',
      body: () => undefined,
    },
  }
}
