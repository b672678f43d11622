import { HELD_STATES } from '../../domain/estados/custodia.ts'
import { GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { Estado, GuiaDeOperacion } from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import type { PageContent } from '../frame.ts'
import { button, emptyState, field, option, stateBadge, table } from '../ui/components.ts'
import { bulkAddress, chooser, codeLink } from './bulk.ts'
import { FILTER_CHOICES, type MerchantNames } from './calls.ts'
import { MAX_EXPORTED } from './export.ts'
import { following, type Office, officePage, outcome } from './shell.ts'

/** Filters of the list, as in the page's address. */
export interface Filters {
  q: string
  estado: string
  comercio: string
  /** {@link MISSING} for guides whose place is not confirmed. */
  lugar: string
  /** Day on which the guides were created, by the company's clock. */
  dia: string
  /** Number of guides on a page; empty means {@link PAGE_SIZE}. */
  cuantas: string
}

/** Default number of guides on a page. The other choice is the maximum. */
export const PAGE_SIZE = '25'
export const MAX_PAGE_SIZE = '100'

/** Value of the filter for guides whose place is not confirmed. */
export const MISSING = 'falta'

interface ListOptions {
  office: Office
  /** Cursor of the page; empty for the first page. */
  cursor: string
  filters: Filters
  guias: readonly GuiaDeOperacion[]
  /** Merchants in the filter's list, besides the chosen merchant. */
  choices: MerchantNames
  /** Names of the merchants of the guides and of the filter. */
  names: MerchantNames
  /** Cursor of the next page; null at the end. */
  next: string | null
  /** True if a search found more guides than are shown. */
  more?: boolean
  /** Message of a search that the service refused. */
  refused?: string | undefined
}

/** Draws the options of a filter by merchant. Adds the chosen merchant if it is not in the list. */
export const merchantOptions = (choices: MerchantNames, names: MerchantNames, chosen: string): Html =>
  html`${chosen !== '' && !choices.has(chosen) && option(chosen, names.get(chosen) ?? chosen, chosen)}${[...choices].map(([choice, name]) => option(choice, name, chosen))}`

/** Returns the page with the list of guides, newest first, and its filters. */
export function listPage(options: ListOptions): PageContent {
  const { office, filters, cursor: here, guias, choices, names, next, more, refused } = options
  const { root } = office
  const { q, estado, comercio, lugar, dia, cuantas } = filters
  const select = (id: string, label: string, options: Html, hint?: Html | false) =>
    field({
      id,
      label,
      hint: hint || undefined,
      control: (own) => html`<select ${own} name="${id}">${options}</select>`,
    })
  return officePage(office, {
    titulo: 'Guías',
    place: 'guias',
    searchText: q,
    body: html`<h1 tabindex="-1">Guías</h1>
${
  q === ''
    ? html`<form class="filtros" action="${root}central/guias">${select(
        'estado',
        'Estado',
        html`${option('', 'Todos', estado)}${Object.entries(GUIA_STATE_WORDS).map(([choice, word]) => option(choice, word, estado))}`,
      )}${select(
        'comercio',
        'Comercio',
        html`${option('', 'Todos', comercio)}${merchantOptions(choices, names, comercio)}`,
        choices.size >= FILTER_CHOICES &&
          html`Los ${FILTER_CHOICES} más nuevos. Los demás, desde <a href=\"${root}central/comercios\">Comercios</a>.`,
      )}${select('lugar', 'Lugar', html`${option('', 'Todos', lugar)}${option(MISSING, 'Sin lugar', lugar)}`)}${field({
        id: 'dia',
        label: 'Creadas el día',
        control: (own) => html`<input ${own} name="dia" type="date" value="${dia}">`,
      })}${select(
        'cuantas',
        'Por página',
        html`${option('', PAGE_SIZE, cuantas)}${option(MAX_PAGE_SIZE, MAX_PAGE_SIZE, cuantas)}`,
      )}${button({ text: 'Ver', attributes: html`type="submit"` })}</form>`
    : html`<p>Lo que se halló con «${q}». <a href="${root}central/guias">Ver todas</a></p>`
}
${refused ? outcome(refused, 'mal') : results()}`,
  })

  function results(): Html {
    const further = following(root, 'central/guias', { ...filters }, next)
    if (guias.length === 0)
      return emptyState(
        icons.PackageSearch,
        html`<h2>${further ? 'Nada todavía' : 'No hay ninguna'}</h2>`,
        further
          ? 'Entre las más nuevas no hay ninguna así. Se puede seguir buscando.'
          : 'Revise lo que buscó, o quite un filtro.',
        further || undefined,
      )
    const table = guideTable('Guías', guias, { office, names, choosing: true })
    const given = Object.entries({ ...filters, cursor: here }).filter(([, value]) => value !== '')
    const address = `guias?${new URLSearchParams(given)}`
    return html`${chooser({ office, table, guias, actions: LIST_ACTIONS, returnTo: address })}${more && html`<p>Hay más. Agregue otra palabra para hallar menos.</p>`}${further}${q === '' && html`<p class="enlaces"><a href="${root}central/guias.csv?${new URLSearchParams({ ...filters }).toString()}" download>Bajar la lista (CSV, hasta ${MAX_EXPORTED} guías)</a></p>`}`
  }
}

const LIST_ACTIONS = ['reenviar', 'reintentar', 'asignar', 'registrar', 'devolver', 'cancelar'] as const

export interface TableOptions<G> {
  office: Office
  names: MerchantNames
  /** True if each row has a box to tick, for persons with the scope `operar`. */
  choosing?: boolean
  /** True if all rows have the courier that the page names. The column is then left out. */
  ofOneCourier?: boolean
  /** Action with a button in each row, and the page to return to. */
  action?: { accion: string; text: string; returnTo: string }
  /** Title of the time column, and the function that returns its instant. Default: the guide's last change. */
  since?: readonly [name: string, instant: (guia: G) => string]
  /** Additional text below the state. */
  detail?: (guia: G) => string | null | undefined
}

export function guideTable<G extends GuiaDeOperacion>(
  label: string,
  guias: readonly G[],
  {
    office,
    names,
    choosing,
    ofOneCourier = false,
    action,
    since,
    detail = (guia) => needs(guia, office),
  }: TableOptions<G>,
): Html {
  const { root, scopes } = office
  const operates = scopes.includes('operar')
  const [column, instant] = since ?? ['Cambió', (guia: G) => guia.actualizado_en]
  const rows = guias.map((guia) => [
    ...(choosing && operates ? [box(guia)] : []),
    ...row(guia, {
      comercio: names.get(guia.comercio) ?? guia.comercio,
      root,
      since: instant(guia),
      detail: detail(guia),
      ofOneCourier,
    }),
    ...(action && operates
      ? [html`<a href="${bulkAddress(root, action.accion, guia.guia, action.returnTo)}">${action.text}</a>`]
      : []),
  ])
  const columns = [
    ...(choosing && operates ? ['Elegir'] : []),
    'Código',
    'Para',
    'Comercio',
    'Estado',
    ...(ofOneCourier ? [] : ['Lo lleva']),
    column,
    ...(action && operates ? ['Hacer'] : []),
  ]
  return table(label, columns, rows)
}

const box = ({ guia }: GuiaDeOperacion): Html =>
  html`<label class="casilla"><input type="checkbox" name="guia" value="${guia}"><span class="oculto">Elegir ${inGroups(guia)}</span></label>`

interface RowOptions {
  comercio: string
  root: string
  since: string
  detail: string | null | undefined
  ofOneCourier: boolean
}

function row(guia: GuiaDeOperacion, { comercio, root, since, detail, ofOneCourier }: RowOptions): readonly Html[] {
  const clock = createClock(guia.zona_horaria)
  return [
    codeLink(root, guia.guia),
    html`${guia.destinatario && html`${guia.destinatario}<br>`}<span class="suave">${guia.municipio}${guia.modo === 'test' && ' · de prueba'}</span>`,
    html`${comercio}${guia.external_ref && html`<br><span class="suave">${guia.external_ref}</span>`}`,
    html`${stateBadge(guia.estado, GUIA_STATE_WORDS[guia.estado])}${detail && html`<br><span class="suave">${detail}</span>`}`,
    ...(ofOneCourier ? [] : [html`${guia.repartidor?.nombre}`]),
    html`<time class="junto" datetime="${since}">${clock.formatShort(since)}</time>`,
  ]
}

/** States in which a missing location is still a problem. */
const BEFORE_ROUTE: readonly Estado[] = ['aceptado', 'recolectado', 'en_bodega', 'en_transito', 'intento_fallido']

/** Returns what a guide waits for from a person; undefined if it waits for none. */
function needs(guia: GuiaDeOperacion, office: Office): string | undefined {
  const { estado, ubicacion, decision } = guia
  if (decision?.estado === 'pendiente') return 'Espera una decisión'
  if (ubicacion.estado !== 'confirmada' && BEFORE_ROUTE.includes(estado)) return 'Sin lugar'
  const receiver = handoverTo(guia, office)
  return receiver && `Espera el traspaso a ${receiver}`
}

/**
 * Returns the name of the courier who is to receive a parcel from the courier who carries it; undefined if the guide
 * awaits no hand-over today.
 */
export function handoverTo(
  { estado, repartidor, asignada_a }: GuiaDeOperacion,
  { clock, now }: Pick<Office, 'clock' | 'now'>,
): string | undefined {
  if (!repartidor || !asignada_a || !HELD_STATES.includes(estado)) return undefined
  const isDue = asignada_a.fecha <= clock.dia(now.toISOString())
  return isDue && asignada_a.repartidor !== repartidor.repartidor ? asignada_a.nombre : undefined
}
