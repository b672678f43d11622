import { HELD_STATES } from '../../domain/estados/custodia.ts'
import { GUIA_STATE_WORDS, ONGOING_STATES } from '../../domain/estados/estados.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { GuiaDeOperacion } from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import { addDays, shortDay } from '../../platform/time/day.ts'
import type { PageContent } from '../frame.ts'
import { button, emptyState, field, notice, option, stateBadge, table } from '../ui/components.ts'
import { codeLink } from './bulk.ts'
import type { MerchantNames } from './calls.ts'
import type { Refused } from './forms.ts'
import { merchantOptions } from './list.ts'
import { type Office, officePage, outcome } from './shell.ts'

/** Fields of the forms that assign guides and remove assignments, besides the ticked guides. */
export const ASSIGN_FIELDS = ['accion', 'repartidor', 'fecha'] as const

/** Values that a form sent. */
export type Assignment = Readonly<Record<(typeof ASSIGN_FIELDS)[number], string>> & { guias: readonly string[] }

/** Courier who can be chosen, with the number of guides assigned to the courier for today. */
export interface Choice {
  repartidor: string
  nombre: string
  asignadas: number
}

/** Form that assigns guides, and the result of the form that was just sent. */
export interface AssignOptions {
  /** Address to which the form is posted. */
  address: string
  /** Address of the same page with all guides ticked, or with none. */
  tickAddress: string
  /** True if every guide is ticked. */
  ticked: boolean
  choices: readonly Choice[]
  /** Present day by the company's clock. */
  today: string
  /** Form that was just sent; undefined if the page was only opened. */
  sent?: Sent | undefined
}

/** Form that was sent, and the result of its operation. */
export interface Sent {
  values: Assignment
  /** Sentence about the guides whose assignment succeeded; undefined if there are none. */
  done?: string
  /** Guides whose assignment failed, each with a sentence that says why. */
  failed: readonly (readonly [guia: string, sentence: string])[]
  /** Sentence about a form that was refused as a whole. */
  refused?: string
  /** Sentences about faults, by the name of the field. */
  faults: Refused['faults']
}

/** Latest date that the form accepts for an assignment, in days from today. */
const DAYS = 30

/** Draws the result of the form that was just sent; false if the page was only opened. */
export const outcomeNotice = ({ sent }: AssignOptions, root: string): Html | false =>
  sent !== undefined &&
  html`${sent.refused && outcome(sent.refused, 'mal')}${sent.done && outcome(sent.done)}${
    sent.failed.length > 0 &&
    notice(
      html`<h2 tabindex="-1"${!sent.done && html` autofocus`}>${sent.failed.length === 1 ? 'Un paquete no cambió' : `${sent.failed.length} paquetes no cambiaron`}</h2><ul class="lista">${sent.failed.map(([guia, sentence]) => html`<li>${codeLink(root, guia)} ${sentence}</li>`)}</ul>`,
      'mal',
    )
  }`

interface TableOptions {
  label: string
  guias: readonly GuiaDeOperacion[]
  names: MerchantNames
  root: string
  /** Form that assigns the table's guides. Without it, the guides have no boxes to tick. */
  form: AssignOptions | undefined
}

/** Draws guides as a table with a box for each guide. */
export function assignTable({ label, guias, names, root, form }: TableOptions): Html {
  const code = (guia: string) => html`<span class="codigo">${inGroups(guia)}</span>`
  const tick = (guia: string) =>
    form === undefined
      ? html`<a href="${root}central/guias/${guia}">${code(guia)}</a>`
      : html`<label class="elegir"><input type="checkbox" name="guias" value="${guia}"${isTicked(form, guia) && html` checked`}>${code(guia)}</label>`
  const rows = guias.map((guia) => [
    tick(guia.guia),
    html`${guia.destinatario && html`${guia.destinatario}<br>`}<span class="suave">${guia.municipio}${guia.modo === 'test' && ' · de prueba'}</span>`,
    html`${names.get(guia.comercio) ?? guia.comercio}`,
    html`${stateBadge(guia.estado, GUIA_STATE_WORDS[guia.estado])}${guia.repartidor && HELD_STATES.includes(guia.estado) && html`<br><span class="suave">Lo lleva ${guia.repartidor.nombre}</span>`}`,
    html`${guia.asignada_a && html`${guia.asignada_a.nombre}<br><span class="suave">${shortDay(guia.asignada_a.fecha)}</span>`}`,
  ])
  return table(label, ['Código', 'Para', 'Comercio', 'Estado', 'Asignado a'], rows)
}

/** After a refusal, the boxes that were sent stay ticked, except those of guides that did change. */
const isTicked = ({ sent, ticked }: AssignOptions, guia: string): boolean =>
  sent?.refused ? sent.values.guias.includes(guia) : ticked

interface FormOptions extends AssignOptions {
  table: Html
  /** Courier who is selected when the page opens; empty if none. */
  chosen?: string
  text: string
  /** Additional buttons of the form. */
  more?: Html
}

/** Draws a form that assigns the ticked guides of a table. */
export function assignForm({ table, chosen = '', text, more, ...form }: FormOptions): Html {
  const { address, tickAddress, ticked, choices, today, sent } = form
  const courier = sent?.values.repartidor ?? chosen
  return html`<form class="asignar" method="post" action="${address}">
<p><a class="aparte" href="${tickAddress}">${ticked ? 'Desmarcar todos' : 'Marcar todos'}</a></p>
${table}
<div class="filtros">${field({
    id: 'repartidor',
    label: 'Repartidor',
    fault: sent?.faults.repartidor,
    control: (own) =>
      html`<select ${own} name="repartidor" required>${option('', 'Elija uno', courier)}${choices.map(({ repartidor, nombre, asignadas }) => option(repartidor, asignadas > 0 ? `${nombre} (${asignadas} para hoy)` : nombre, courier))}</select>`,
  })}${field({
    id: 'fecha',
    label: 'Para qué día',
    fault: sent?.faults.fecha,
    control: (own) =>
      html`<input ${own} name="fecha" type="date" required min="${today}" max="${addDays(today, DAYS)}" value="${sent?.values.fecha || today}">`,
  })}${button({ text, kind: 'principal', attributes: html`type="submit" name="accion" value="asignar"` })}${more}</div>
</form>`
}

/** Filters of the page for choosing guides, as in the page's address. */
export interface AssignFilters {
  estado: string
  comercio: string
  municipio: string
  /** `todas` also shows guides that are already assigned. */
  cuales: string
}

interface AssignPageOptions extends AssignOptions {
  office: Office
  filters: AssignFilters
  /** Number of guides in each municipality. */
  municipios: readonly (readonly [municipio: string, guias: number])[]
  guias: readonly GuiaDeOperacion[]
  names: MerchantNames
  /** Merchants in the filter's list, besides the chosen merchant. */
  merchants: MerchantNames
  /** True if there are more guides than the page shows. */
  more: boolean
}

/** Returns the page on which the office chooses guides for a courier. */
export function assignPage(options: AssignPageOptions): PageContent {
  const { office, filters, municipios, guias, names, merchants, more, ...form } = options
  const { root } = office
  const may = office.scopes.includes('operar')
  const select = (id: keyof AssignFilters, label: string, choices: Html) =>
    field({ id, label, control: (own) => html`<select ${own} name="${id}">${choices}</select>` })
  const chosen = filters.municipio
  return officePage(office, {
    titulo: 'Asignar paquetes',
    place: 'reparto',
    body: html`<p class="suave"><a class="aparte" href="${root}central/reparto">Reparto</a></p>
<h1 tabindex="-1">Asignar paquetes</h1>
${outcomeNotice(form, root)}<form class="filtros" action="${root}central/reparto/asignar">${select(
      'estado',
      'Estado',
      html`${ONGOING_STATES.map((value) => option(value, GUIA_STATE_WORDS[value], filters.estado))}`,
    )}${select(
      'comercio',
      'Comercio',
      html`${option('', 'Todos', filters.comercio)}${merchantOptions(merchants, names, filters.comercio)}`,
    )}${select(
      'municipio',
      'Municipio',
      html`${option('', 'Todos', chosen)}${municipios.map(([value, count]) => option(value, `${value} (${count})`, chosen))}`,
    )}${select(
      'cuales',
      'Cuáles',
      html`${option('', 'Sin asignar', filters.cuales)}${option('todas', 'También los asignados', filters.cuales)}`,
    )}${button({ text: 'Ver', attributes: html`type="submit"` })}</form>
${more && html`<p class="suave">Hay más: se muestran ${guias.length}, los más nuevos. Elija un municipio o un comercio, o asigne estos primero.</p>`}${
  guias.length === 0
    ? emptyState(
        icons.PackageOpen,
        html`<h2>No hay ninguno así</h2>`,
        'Elija otro estado, otro municipio u otro comercio.',
      )
    : may
      ? assignForm({
          ...form,
          table: assignTable({ label: 'Paquetes', guias, names, root, form }),
          text: 'Asignar lo marcado',
        })
      : html`<p class="suave">Con sus permisos, aquí solo puede ver.</p>${assignTable({ label: 'Paquetes', guias, names, root, form: undefined })}`
}`,
  })
}
