import type { Estado, Repartidor } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageContent } from '../frame.ts'
import { button } from '../ui/components.ts'
import { ACTIONS, assignFields, FIELDS, type Field, reason, stepFields, stepsFrom } from './actions.ts'
import { type Draw, drawIn, HIDDEN } from './forms.ts'
import { type Office, officePage, outcome } from './shell.ts'

/** Maximum guides that one form changes. */
export const MAX_CHOSEN = 100
/** Number of guides that are changed at the same time, and number that the page's script sends in one request. */
export const MAX_ITEMS_PER_SLICE = 10

/**
 * Fields of the form for several guides, besides the guides. Each guide's idempotency key begins with `idempotencia`.
 */
export const BULK_FIELDS = [...HIDDEN, ...FIELDS, 'volver'] as const

interface BulkAction {
  /** Text of the button, made from the number of guides. */
  button: (guides: string) => string
  fields: (draw: Draw<Field>, couriers: readonly Repartidor[]) => Html
}

const ALL_STEPS = Object.keys(STATE_MACHINE.transiciones).flatMap((estado) => [...stepsFrom(estado as Estado)])

/** Actions for several guides at once, by their names in {@link ACTIONS}. */
const BULK: Readonly<Record<string, BulkAction>> = {
  reenviar: { button: (guides) => `Reenviar a ${guides}`, fields: () => html`` },
  reintentar: {
    button: (guides) => `Llevar otra vez ${guides}`,
    fields: (draw) =>
      html`${draw.input('fecha', 'Qué día', { type: 'date', hint: 'Si lo deja vacío, el primero que se pueda.' })}${reason(draw)}`,
  },
  asignar: {
    button: (guides) => `Asignar ${guides}`,
    fields: (draw, couriers) => assignFields(couriers, draw),
  },
  registrar: {
    button: (guides) => `Registrar en ${guides}`,
    fields: (draw, couriers) => stepFields([...new Map(ALL_STEPS)], couriers, 'Quien las lleva ahora', draw),
  },
  devolver: { button: (guides) => `Devolver ${guides}`, fields: (draw) => reason(draw) },
  cancelar: { button: (guides) => `Cancelar ${guides}`, fields: (draw) => reason(draw) },
}

/** Returns the text as the name of an action for several guides; undefined if there is no such action. */
export const bulkActionOf = (name: string) => (Object.hasOwn(BULK, name) ? ACTIONS[name] : undefined)

/** Returns the address of the page that takes an action on some guides. */
export const bulkAddress = (root: string, accion: string, guia: string, returnTo: string): string =>
  `${root}central/varias?${new URLSearchParams({ accion, guia, volver: returnTo })}`

interface ChooserOptions {
  office: Office
  /** Table of guides whose rows have a box to tick. */
  table: Html
  guias: readonly { guia: string }[]
  /** Names of the actions that the form offers. */
  actions: readonly string[]
  /** Address below `/central/` of the page to which the person returns. */
  returnTo: string
}

/**
 * Wraps a table in the form that chooses guides and an action. Returns the table unchanged if the person lacks the
 * scope `operar`.
 */
export function chooser({ office: { root, scopes }, table, guias, actions, returnTo }: ChooserOptions): Html {
  if (!scopes.includes('operar') || guias.length === 0) return table
  const id = `con-${actions[0]}`
  return html`<form class="varias" action="${root}central/varias">${table}
<input type="hidden" name="volver" value="${returnTo}"><input type="hidden" name="pagina" value="${guias.map(({ guia }) => guia).join(' ')}">
<div class="barra"><label class="casilla"><input type="checkbox" name="todas" value="1">Todas las de aquí (${guias.length})</label>${
    actions.length > 2
      ? html`<span class="grupo"><label class="oculto" for="${id}">Qué hacer con las elegidas</label><select id="${id}" name="accion">${actions.map((name) => html`<option value="${name}">${ACTIONS[name]!.text}</option>`)}</select>${button({ text: 'Seguir', attributes: html`type="submit"` })}</span>`
      : html`<span class="grupo">${actions.map((name) => button({ text: ACTIONS[name]!.text, attributes: html`type="submit" name="accion" value="${name}"` }))}</span>`
  }</div></form>`
}

/** Guides that a person chose, and the chosen action. */
export interface Chosen {
  accion: string
  guias: readonly string[]
  /** Address below `/central/` of the page to which the person returns; empty for the first page. */
  returnTo: string
}

const backLink = ({ root }: Office, returnTo: string, text: string): Html =>
  html`<p><a href="${root}central${returnTo && `/${returnTo}`}">${text}</a></p>`

const counted = (guias: readonly unknown[]): string => (guias.length === 1 ? '1 guía' : `${guias.length} guías`)

/** Returns the page that asks for confirmation: it shows the action, the number of guides, and the action's fields. */
export function confirmPage(
  office: Office,
  { accion, guias, returnTo }: Chosen,
  couriers: readonly Repartidor[],
  key: string,
): PageContent {
  const { root } = office
  const { text, says, danger } = ACTIONS[accion]!
  const bulk = BULK[accion]!
  return officePage(office, {
    titulo: text,
    place: 'guias',
    body: html`<h1 tabindex="-1">${text}: ${counted(guias)}</h1>
<form id="varias" class="accion" method="post" action="${root}central/varias" data-tanda="${MAX_ITEMS_PER_SLICE}">
<p class="suave">${says}</p>
<input type="hidden" name="accion" value="${accion}"><input type="hidden" name="idempotencia" value="${key}"><input type="hidden" name="volver" value="${returnTo}">
${guias.map((guia) => html`<input type="hidden" name="guia" value="${guia}">`)}
${bulk.fields(drawIn(accion, undefined), couriers)}
${button({ text: bulk.button(counted(guias)), kind: danger ? 'peligro lleno' : 'principal', attributes: html`type="submit"` })}
</form>
<section id="avance" class="tarjeta" aria-labelledby="avance-titulo" hidden><h2 id="avance-titulo" tabindex="-1">${text}</h2>
<progress max="${guias.length}" value="0" aria-labelledby="avance-titulo"></progress><p role="status"></p>
${button({ text: 'Detener', attributes: html`type="button"` })}<ul class="lista"></ul></section>
<details><summary>Ver ${guias.length === 1 ? 'la guía' : `las ${counted(guias)}`}</summary><ul class="codigos">${guias.map((guia) => html`<li>${codeLink(root, guia)}</li>`)}</ul></details>
${backLink(office, returnTo, 'Volver')}`,
  })
}

/** Draws the code of a guide, as a link to its page. */
export const codeLink = (root: string, guia: string): Html =>
  html`<a class="codigo junto" href="${root}central/guias/${guia}">${inGroups(guia)}</a>`

/** Returns the page for a choice of guides on which no action is possible. */
export const unchosenPage = (office: Office, returnTo: string, sentence: string): PageContent =>
  officePage(office, {
    titulo: 'Elija guías',
    place: 'guias',
    body: html`<h1 tabindex="-1">Elija guías</h1>${outcome(sentence, 'mal')}${backLink(office, returnTo, 'Volver')}`,
  })

/** Result of an action on one guide: the sentence of the refusal, or undefined if it succeeded. */
export interface Verdict {
  guia: string
  refused: string | undefined
}

/** Returns the page with the result of each guide. The page's script also reads this page after each slice. */
export function verdictPage(office: Office, { accion, returnTo }: Chosen, verdicts: readonly Verdict[]): PageContent {
  const { root } = office
  const refused = verdicts.filter((one) => one.refused !== undefined)
  const done = verdicts.filter((one) => one.refused === undefined)
  return officePage(office, {
    titulo: 'Listo',
    place: 'guias',
    body: html`<h1 tabindex="-1">${ACTIONS[accion]!.text}</h1>
<p id="hechas" role="status" tabindex="-1" autofocus data-hechas="${done.length}">Se hizo en ${counted(done)}${refused.length > 0 && html`, y en ${refused.length} no se pudo`}.</p>
${refused.length > 0 && html`<h2>No se pudo</h2><ul id="negadas" class="lista">${refused.map((one) => html`<li>${codeLink(root, one.guia)} <span>${one.refused}</span></li>`)}</ul>`}
${done.length > 0 && html`<h2>Hechas</h2><ul class="codigos">${done.map(({ guia }) => html`<li>${codeLink(root, guia)}</li>`)}</ul>`}
${backLink(office, returnTo, 'Volver a la lista')}`,
  })
}
