// Forms of the office's pages. Each form makes one change by calling one operation of the contract.
import type { Request } from 'express'
import type { CallOperation, CallParts } from '../../api/contract/calls.ts'
import type { OperationId } from '../../api/contract/contract.ts'
import type { ResultadosDeAsignar } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { type Html, html } from '../../platform/html.ts'
import { capitalized } from '../../platform/words.ts'
import { button, field, icon, option } from '../ui/components.ts'
import { formOf } from './calls.ts'

/**
 * Hidden fields of each form: the action (`accion`), the thing that it changes (`cual`), an idempotency key, and the
 * sequence that the guide must still have.
 */
export const HIDDEN = ['accion', 'cual', 'idempotencia', 'secuencia'] as const
type Hidden = (typeof HIDDEN)[number]

/** Values that a form sent. */
export type Values<F extends string> = Readonly<Record<F | Hidden, string>>

/** Form whose operation answered with a problem: its values, and the sentences to show. */
export interface Refused {
  values: Readonly<Partial<Record<string, string>>>
  /** Sentence about the whole form. */
  sentence: string
  /** Sentences about faults, by the name of the field. */
  faults: Readonly<Partial<Record<string, string>>>
  /** True if the person must first prove to be present. */
  presence: boolean
}

interface DrawOptions {
  hint?: string
  value?: string | number | null | undefined
  required?: boolean
  type?: string
  max?: number
}
type Choices = readonly (readonly [value: string, text: string])[]

/** Functions that draw the fields of a form. A field contains the value that was sent, or else the present value. */
export interface Draw<F extends string> {
  input(name: F, label: string, options?: DrawOptions): Html
  select(name: F, label: string, choices: Choices, options?: Pick<DrawOptions, 'hint' | 'value'>): Html
  /**
   * Draws a group of boxes.
   * @param member member of the operation's body in which it reports a fault of these boxes
   */
  boxes(member: string, legend: string, boxes: readonly Box<F>[]): Html
}
interface Box<F extends string> {
  name: F
  text: string
  detail?: string
  checked: boolean
}
/** Value of a ticked box. */
export const TICKED = 'si'

/**
 * Action that the office can take on a thing, such as a guide or a key: when it is offered, its form, and its
 * operation.
 */
export interface Action<T, F extends string> {
  text: string
  icon: string
  /** Sentence above the form that says what the action does. */
  says: string
  scope: 'operar' | 'administrar'
  /** Sentence that the page shows after the action. */
  done: string
  danger?: boolean
  /** True if the form stands beside the thing that it changes, and not in the list of actions. */
  beside?: true
  /** Text of the button; by default, the text of the action. */
  send?: string
  offered: (thing: T) => boolean
  fields: (thing: T, draw: Draw<F>) => Html
  operation: OperationId
  /** Returns the path parameters of the operation. */
  path: (thing: T) => Readonly<Record<string, string>>
  /** Returns the body of the operation; undefined if it takes none. */
  body: (values: Values<F>, thing: T) => object | undefined
}
export type Actions<T, F extends string> = Readonly<Record<string, Action<T, F>>>

/** Returns a query parameter of the page's address; an empty text if it is missing or repeated. */
export const trimmedText = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** Converts an empty text to undefined, so that the body lacks the member. */
export const some = (value: string) => (value === '' ? undefined : value)

export interface FormsOptions<T> {
  thing: T
  /** Code of the thing, for pages with forms for several things. */
  which?: string
  scopes: readonly string[]
  /** Idempotency key, so that a form that is sent twice makes its change once. */
  key: string
  secuencia?: number
  refused: Refused | undefined
  root: string
  /** Path of the page from the service root. */
  here: string
}

/** Returns the actions that a person may take on a thing, except those whose form stands beside the thing. */
const offeredTo = <T, F extends string>(actions: Actions<T, F>, { thing, scopes }: FormsOptions<T>) =>
  Object.entries(actions).filter(
    ([, { scope, offered, beside }]) => !beside && scopes.includes(scope) && offered(thing),
  )

/** Draws the forms of the actions that a person may take. A form that was refused is open. */
export function actionForms<T, F extends string>(actions: Actions<T, F>, options: FormsOptions<T>): Html | false {
  const offered = offeredTo(actions, options)
  return offered.length > 0 && html`${offered.map(([name, action]) => actionForm(name, action, options))}`
}

/** Draws the form of an action that stands beside the thing that it changes. */
export const besideForm = <T, F extends string>(name: string, action: Action<T, F>, options: FormsOptions<T>): Html =>
  html`<div class="accion">${form(name, action, options)}</div>`

function actionForm<T, F extends string>(name: string, action: Action<T, F>, options: FormsOptions<T>): Html {
  return html`<details class="accion"${refusedOf(name, options) && html` open`}><summary>${icon(action.icon)}${action.text}</summary>
${form(name, action, options)}</details>
`
}

/** Returns the refusal if it belongs to this form; undefined otherwise. */
const refusedOf = <T>(name: string, { which = '', refused }: FormsOptions<T>) =>
  refused?.values.accion === name && (refused.values.cual ?? '') === which ? refused : undefined

function form<T, F extends string>(name: string, action: Action<T, F>, options: FormsOptions<T>): Html {
  const { thing, which = '', key, secuencia, root, here } = options
  const mine = refusedOf(name, options)
  const draw = drawIn<F>(which === '' ? name : `${name}-${which}`, mine)
  const kind = action.danger ? 'peligro' : action.beside ? undefined : 'principal'
  return html`<form method="post" action="${root}${here}">
${mine && html`<p class="error" role="alert" tabindex="-1" autofocus>${mine.sentence}${mine.presence && html` ${presenceLink(root, here)}`}</p>`}<p class="suave">${action.says}</p>
<input type="hidden" name="accion" value="${name}"><input type="hidden" name="cual" value="${which}"><input type="hidden" name="idempotencia" value="${key}">${secuencia !== undefined && html`<input type="hidden" name="secuencia" value="${secuencia}">`}
${action.fields(thing, draw)}
${button({ text: action.send ?? action.text, kind, attributes: html`type="submit"` })}
</form>
`
}

/** Returns the link to the page on which the person proves to be present. That page leads back to this one. */
export const presenceLink = (root: string, here: string): Html =>
  html`<a href="${root}cuenta/presencia?volver=${encodeURIComponent(`/${here}`)}">Confirme que es usted</a>`

/** Returns functions that draw the fields of a form, with the values and faults of a refused form. */
export function drawIn<F extends string>(form: string, refused: Refused | undefined): Draw<F> {
  const shown = (name: F, own: DrawOptions['value']) => (refused ? (refused.values[name] ?? '') : (own ?? ''))
  const about = (name: F) => ({ id: `${form}-${name}`, fault: refused?.faults[name] })
  return {
    input: (name, label, { hint, value, required = false, type = 'text', max } = {}) =>
      field({
        ...about(name),
        label,
        hint,
        control: (own) =>
          html`<input ${own} name="${name}" type="${type}"${required && html` required`}${max && html` maxlength="${max}"`} autocomplete="off" value="${shown(name, value)}">`,
      }),
    select: (name, label, choices, { hint, value } = {}) =>
      field({
        ...about(name),
        label,
        hint,
        control: (own) =>
          html`<select ${own} name="${name}">${choices.map(([one, text]) => option(one, text, `${shown(name, value)}`))}</select>`,
      }),
    boxes: (member, legend, boxes) => {
      const fault = refused?.faults[member]
      const id = `error-${form}-${member}`
      return html`<fieldset class="casillas"${fault && html` aria-describedby="${id}"`}><legend>${legend}</legend>${fault && html`<p class="error" id="${id}">${fault}</p>`}${boxes.map(({ name, text, detail, checked }) => html`<label class="opcion"><input type="checkbox" name="${name}" value="${TICKED}"${shown(name, checked ? TICKED : '') === TICKED && html` checked`}><span>${text}${detail && html`<small>${detail}</small>`}</span></label>`)}</fieldset>`
    },
  }
}

/** Reads a posted form; undefined if it is not a form of these pages. */
export const valuesOf = <F extends string>(req: Request, fields: readonly F[]): Promise<Values<F> | undefined> =>
  formOf<F | Hidden>(req, [...HIDDEN, ...fields])

/** Returns an operation's problem as a value. Throws all other errors again. */
export const orProblem = <T>(answer: Promise<T>): Promise<T | Problema> =>
  answer.catch((error: unknown) => {
    if (error instanceof Problema && error.status < 500 && error.codigo !== 'demasiadas_solicitudes') return error
    throw error
  })

/** Successful answer of the operation behind a form. */
export interface Done {
  status: number
  body?: unknown
}

/**
 * Calls the operation for the action that a form names.
 * @param find returns the record that the form changes; a problem if reading it fails; undefined if it does not belong
 * to the page
 * @returns the action's name with the operation's answer or problem; undefined if `actions` lacks the action, or if
 * `find` returns undefined
 */
export async function perform<T, F extends string>(
  call: CallOperation,
  req: Request,
  actions: Actions<T, F>,
  values: Values<F>,
  find: () => T | undefined | Promise<T | Problema | undefined>,
): Promise<{ name: string; answer: Done | Problema } | undefined> {
  const name = values.accion
  if (!Object.hasOwn(actions, name)) return undefined
  const { operation, path, body } = actions[name]!
  const thing: Awaited<T> | Problema | undefined = await find()
  if (thing instanceof Problema) return { name, answer: thing }
  if (thing === undefined) return undefined
  const parts = { path: path(thing), body: body(values, thing), key: some(values.idempotencia) }
  return { name, answer: await orProblem(callAction(call, req, operation, parts as CallParts<OperationId>)) }
}

/**
 * Calls the operation of an action on one thing.
 * @throws Problema as the operation answers it, also if it answers for each thing and refused this one
 */
export async function callAction(
  call: CallOperation,
  req: Request,
  operation: OperationId,
  parts: CallParts<OperationId>,
): Promise<Done> {
  const answer: Done = await call(req, operation, parts)
  const { resultados = [] } = (answer.body ?? {}) as Partial<ResultadosDeAsignar>
  const [entry] = resultados
  if (entry && !entry.ok) throw new Problema(entry.error.codigo, entry.error.mensaje)
  return answer
}

/** Makes a sentence of a message: a capital letter at its beginning, and a full stop. */
const sentence = (text: string) => `${capitalized(text)}.`

/** Returns the message of an operation that refused a query. */
export const sentenceOf = ({ message, details: { errores = [] } }: Problema): string =>
  errores.length > 0 ? errores.map(({ mensaje }) => sentence(mensaje)).join(' ') : message

/** Returns the name of a form's field: the last part of the path of a member. */
const memberOf = (field: string) =>
  field
    .split('/')
    .filter((part) => !/^\d*$/.test(part))
    .at(-1) ?? ''

/**
 * Returns the message about each field of a refused form, by the field's name.
 * @param named field names by the name that the operation uses, where the two differ
 */
export const faultsOf = (
  { details: { errores = [] } }: Problema,
  named: Readonly<Record<string, string>> = {},
): Refused['faults'] =>
  Object.fromEntries(
    errores.map(({ campo, mensaje }) => {
      const member = memberOf(campo)
      return [named[member] ?? member, sentence(mensaje)] as const
    }),
  )

/**
 * Returns the sentences about a form that an operation refused.
 * @param named as for {@link faultsOf}
 */
export const refusal = (
  values: Refused['values'],
  problem: Problema,
  named: Readonly<Record<string, string>> = {},
): Refused => ({
  values,
  sentence: problem.message,
  faults: faultsOf(problem, named),
  presence: problem.codigo === 'presencia_requerida',
})
