import * as icons from '../../generated/contract/icons.ts'
import type { Comercio } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { messagePage, type PageContent } from '../frame.ts'
import type { Sheet } from '../page.ts'
import { button, dialog, icon, notice } from '../ui/components.ts'

/** Person of the office who reads a page. */
export interface Office {
  /** Relative path from the page to the service root, such as `../`. */
  root: string
  nombre: string
  scopes: readonly string[]
  /** Code of the person. */
  persona: string
  /** Time of the person's last proof of presence. */
  presence: Date
  /** Script of the pages. */
  program: Html
  /** Clock of the courier company. */
  clock: Clock
  now: Date
  /** Cursor at which the page's stream of changes begins; undefined for a page without stream. */
  cursor?: string
}

/** Sections of the office's pages, by the first part of their address. */
const PLACES = [
  ['', 'Hoy', icons.Inbox],
  ['guias', 'Guías', icons.Package],
  ['reparto', 'Reparto', icons.Truck],
  ['avisos', 'Avisos', icons.TriangleAlert],
  ['comercios', 'Comercios', icons.Store],
  ['equipo', 'Equipo', icons.ShieldCheck],
] as const

/** Help on the keyboard shortcuts, which the page's script opens. */
const KEYS = dialog(
  'teclas',
  'Teclas',
  html`<dl>${(
    [
      ['/', 'Buscar'],
      ['j', 'Bajar por la lista'],
      ['k', 'Subir por la lista'],
      ['Enter', 'Abrir la guía'],
      ['x', 'Marcar la guía'],
      ['?', 'Ver esta ayuda'],
    ] as const
  ).map(([key, says]) => html`<dt><kbd>${key}</kbd></dt><dd>${says}</dd>`)}</dl>
<label class="casilla"><input type="checkbox" id="usar-teclas">Usar estas teclas</label>
<form method="dialog">${button({ text: 'Cerrar', attributes: html`type="submit"` })}</form>`,
)

interface OfficeContent extends PageContent {
  /** Section to which the page belongs. */
  place: (typeof PLACES)[number][0]
  /** Text in the search field. */
  searchText?: string
  /** Guide, if the page shows a single one. */
  guia?: string
}

/** Adds the navigation between sections and the search field to a page. */
export const officePage = (
  { root, nombre, scopes, program, cursor }: Office,
  { titulo, body, place, searchText = '', guia }: OfficeContent,
): PageContent => ({
  titulo,
  script: program,
  body: html`<div class="mando"><nav aria-label="Secciones">${PLACES.filter(([path]) => path !== 'equipo' || scopes.includes('administrar')).map(([path, text, drawing]) => html`<a href="${root}central${path && `/${path}`}"${path === place && html` aria-current="page"`}>${icon(drawing)}${text}</a>`)}<a href="${root}cuenta">${icon(icons.Building2)}${nombre}</a></nav>
<form role="search" action="${root}central/guias"><label class="oculto" for="q">Código, teléfono, nombre o referencia</label><input id="q" name="q" type="search" placeholder="Código, teléfono, nombre o referencia" value="${searchText}" maxlength="100" autocomplete="off">${button({ text: 'Buscar', icon: icons.Search, attributes: html`type="submit"` })}</form></div>
${cursor === undefined ? body : html`<div id="vivo" data-desde="${cursor}" data-flujo="${root}central/en-vivo"${guia && html` data-guia="${guia}"`}>${body}</div>`}
<button type="button" id="abrir-teclas" class="callado" hidden>Teclas</button>${KEYS}`,
})

/**
 * Draws the sentence about what was just done, or about why it was not. The sentence gets the focus when the page opens,
 * so that it is read out, and the next Tab goes on from here.
 */
export const outcome = (text: Html | string, kind: 'bien' | 'aviso' | 'mal' = 'bien'): Html =>
  kind === 'mal'
    ? html`<p class="error" role="alert" tabindex="-1" autofocus>${text}</p>`
    : notice(html`<p role="status" tabindex="-1" autofocus>${text}</p>`, kind)

export const NOT_OFFICE = messagePage(
  'Esta página es de la oficina',
  html`Su cuenta no trabaja en la empresa de mensajería, o no puede ver guías. En «Su cuenta» puede seguir con otra membresía.`,
)
const NOTHING = html`<h1>No está</h1><p>Revise la dirección, o vuelva a la lista.</p>`
/** Returns the response for an address without a page. */
export const notThere = (office: Office, place: OfficeContent['place'], body: Html = NOTHING): Sheet => ({
  status: 404,
  ...officePage(office, { titulo: 'No está', place, body }),
})
export const NO_GUIDE = html`<h1>No encontramos esa guía</h1><p>Revise el código: son 12 letras y números.</p>`
export const CENTRAL_FAILED = html`Vuelva a intentarlo en un minuto. Lo que ya registró está guardado.`

/** Draws the link to the next page of a list; false on the last page. */
export const following = (root: string, path: string, query: Readonly<Record<string, string>>, cursor: string | null) =>
  cursor !== null &&
  html`<nav class="paginas" aria-label="Páginas">${button({ text: 'Siguientes', href: `${root}${path}?${new URLSearchParams({ ...query, cursor })}`, attributes: html`rel="next"` })}</nav>`

/** Draws the links to the pages above this one. */
export const above = (
  root: string,
  { comercio, nombre }: Comercio,
  ...more: readonly (readonly [string, string])[]
): Html =>
  html`<p class="suave"><a class="aparte" href="${root}central/comercios">Comercios</a> / <a class="aparte" href="${root}central/comercios/${comercio}">${nombre}</a>${more.map(([path, text]) => html` / <a class="aparte" href="${root}central/comercios/${comercio}/${path}">${text}</a>`)}</p>`
