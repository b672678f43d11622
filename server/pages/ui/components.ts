// Components of the pages, as functions that return HTML. Each has a style sheet in this folder, which the style sheets
// of the pages that show it import.
import { ChevronRight } from '../../generated/contract/icons.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { Html, html } from '../../platform/html.ts'
import { STATE_LOOKS, type Tone } from './states.ts'

/**
 * Draws an icon. Screen readers skip it, because the text beside it or the control's name says the same.
 * @param drawing constant of `icons.ts`
 */
export const icon = (drawing: string): Html =>
  html`<svg class="icono" viewBox="0 0 24 24" aria-hidden="true">${new Html(drawing)}</svg>`

/** Kind of a button. A screen has one filled button (`principal`); the other kinds are less prominent. */
export type ButtonKind = 'principal' | 'callado' | 'peligro' | 'peligro lleno'

interface ButtonOptions {
  text: string
  icon?: string
  kind?: ButtonKind | undefined
  /** Address, if the button is a link. */
  href?: string
  /** Additional attributes, such as a name and a value. */
  attributes?: Html
}

const classes = (...names: (string | false | undefined)[]) => names.filter(Boolean).join(' ')

/** Returns a button, or a link that looks like one. */
export function button({ text, icon: drawing, kind, href, attributes }: ButtonOptions): Html {
  const inside = html`${drawing && icon(drawing)}${text}`
  const more = attributes && html` ${attributes}`
  return href === undefined
    ? html`<button${kind && html` class="${kind}"`}${more}>${inside}</button>`
    : html`<a class="${classes('boton', kind)}" href="${href}"${more}>${inside}</a>`
}

/** Returns a button that shows only an icon. Its name is for screen readers, and appears as a tooltip. */
export const iconButton = (name: string, drawing: string, kind?: ButtonKind): Html =>
  html`<button type="button" class="${classes('solo-icono', kind)}" aria-label="${name}" title="${name}">${icon(drawing)}</button>`

interface FieldOptions {
  id: string
  label: string
  hint?: string | Html | undefined
  fault?: string | undefined
  /** Draws a form control with these attributes: its id, and the ids of the elements that describe it. */
  control(attributes: Html): Html
}

/** Returns a field: label, help, fault and form control. */
export function field({ id, label, hint, fault, control }: FieldOptions): Html {
  const described = classes(fault && `error-${id}`, hint && `ayuda-${id}`)
  const attributes = html`id="${id}"${described && html` aria-describedby="${described}"`}${fault && html` aria-invalid="true"`}`
  return html`<div class="campo"><label for="${id}">${label}</label>
${hint && html`<p class="suave" id="ayuda-${id}">${hint}</p>\n`}${fault && html`<p class="error" id="error-${id}">${fault}</p>\n`}${control(attributes)}</div>`
}

/** Draws an option of a select. It is selected if its value is the chosen one. */
export const option = (value: string, text: string, chosen: string): Html =>
  html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`

/**
 * Returns the summary of a form's faults.
 * @param faults sentences by the id of their field
 * @param focus false to leave the focus where it is
 */
export const faultSummary = (faults: readonly (readonly [id: string, sentence: string])[], focus = true): Html =>
  html`<div id="errores" class="errores" role="alert" tabindex="-1"${focus && html` autofocus`}>
<h2>Revise esto, por favor</h2>
<ul>${faults.map(([id, sentence]) => html`<li><a href="#${id}">${sentence}</a></li>`)}</ul>
</div>`

interface ChoiceOptions {
  icon: string
  text: string
  detail?: string
  href: string
  main?: boolean
}

/** Returns a row that leads to another page. */
export const choiceRow = ({ icon: drawing, text, detail, href, main }: ChoiceOptions): Html =>
  html`<a class="${classes('opcion', main && 'principal')}" href="${href}">${icon(drawing)}<span>${text}${detail && html`<small>${detail}</small>`}</span>${icon(ChevronRight)}</a>`

interface AdviceItem {
  icon: string
  text: string
  detail?: string | Html | false | undefined
}

/** Returns a list of facts or tasks without links. For an item that leads to another page, use {@link choiceRow}. */
export const advice = (items: readonly AdviceItem[]): Html =>
  html`<ul class="consejos">
${items.map(({ icon: drawing, text, detail }) => html`<li>${icon(drawing)}<span><b>${text}</b>${detail && html`<small>${detail}</small>`}</span></li>\n`)}</ul>`

/** Returns a list of names and values. Leaves out values that are null, false or undefined. */
export const facts = (
  values: readonly (readonly [name: string, value: string | number | Html | false | null | undefined])[],
): Html =>
  html`<dl>
${values.filter(([, value]) => value !== false && value !== null && value !== undefined).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`

/** Returns a notice within the page. Its tone is that of a warning by default. */
export const notice = (body: Html, tone: Tone = 'aviso'): Html =>
  html`<div class="aviso" data-tono="${tone}">${body}</div>`

/** Returns the state of a guide: icon and word, in the state's tone. */
export const stateBadge = (estado: Estado, word: string): Html =>
  html`<span class="insignia" data-tono="${STATE_LOOKS[estado].tone}">${icon(STATE_LOOKS[estado].icon)}${word}</span>`

interface LabelOptions {
  tone: Tone
  icon: string
  word: string | Html
  /** Paragraphs below the heading. */
  said?: Html | false | undefined
  /** Part below the dashed line. */
  rest?: Html | false | undefined
}

/** Returns a short text in large letters with its icon, as the heading of a page. */
export const label = ({ tone, icon: drawing, word, said, rest }: LabelOptions): Html =>
  html`<div class="etiqueta" data-tono="${tone}"><div class="voz">${icon(drawing)}
<h1 tabindex="-1">${word}</h1>${said}</div>${rest && html`<div class="resto">${rest}</div>`}</div>`

/** Returns a guide's state in large letters, as the heading of a page. */
export const stateLabel = ({ estado, ...options }: Omit<LabelOptions, 'tone' | 'icon'> & { estado: Estado }): Html =>
  label({ ...STATE_LOOKS[estado], ...options })

/**
 * Returns the progress of a parcel as a line of steps.
 * @param current index of the present step
 */
export const progress = (label: string, steps: readonly string[], current: number): Html =>
  html`<div class="con-avance"><ol class="avance" aria-label="${label}">
${steps.map((step, i) => {
  if (i < current) return html`<li class="hecho"><span>${step}</span><span class="oculto">, hecho</span></li>\n`
  return i === current
    ? html`<li aria-current="step"><span>${step}</span></li>\n`
    : html`<li><span>${step}</span></li>\n`
})}</ol></div>`

interface TimelineEntry {
  text: string
  /** Instant in ISO 8601, and the words for it. */
  time: { iso: string; words: string }
}

/** Returns a history, newest event first. The first dot has the tone of the present state. */
export const timeline = (estado: Estado, entries: readonly TimelineEntry[]): Html =>
  html`<ol class="linea" data-tono="${STATE_LOOKS[estado].tone}">
${entries.map(({ text, time }) => html`<li><b>${text}</b><time datetime="${time.iso}">${time.words}</time></li>\n`)}</ol>`

/** Returns the placeholder for an empty page or list: what it would show, and what to do. */
export const emptyState = (drawing: string, title: Html, sentence: string, action?: Html): Html =>
  html`<div class="vacio">${icon(drawing)}${title}<p>${sentence}</p>${action}</div>`

/** Returns the placeholder for a list that is still loading. */
export const skeleton = (rows: number): Html =>
  html`<div role="status"><span class="oculto">Cargando…</span>${Array.from({ length: rows }, () => html`<p aria-hidden="true"><span class="hueso"></span><span class="hueso"></span></p>`)}</div>`

/**
 * Returns the navigation between the parts of a long list: the part that is shown, and links to the previous and the
 * next.
 */
export const pagination = (shown: string, previous: string | undefined, next: string | undefined): Html =>
  html`<nav class="paginas" aria-label="Páginas"><span>${shown}</span><span class="grupo">${previous !== undefined && button({ text: 'Anterior', href: previous, attributes: html`rel="prev"` })}${next !== undefined && button({ text: 'Siguiente', href: next, attributes: html`rel="next"` })}</span></nav>`

interface Tab {
  icon: string
  text: string
  href: string
  current?: boolean
}

/** Returns the navigation bar between the sections of an application. */
export const tabs = (label: string, places: readonly Tab[]): Html =>
  html`<nav class="pestanas" aria-label="${label}">${places.map(({ icon: drawing, text, href, current }) => html`<a href="${href}"${current && html` aria-current="page"`}>${icon(drawing)}${text}</a>`)}</nav>`

/** Returns a choice between few values. It works in a form without JavaScript. */
export const segment = (
  label: string,
  name: string,
  values: readonly (readonly [value: string, text: string])[],
): Html =>
  html`<fieldset class="segmento"><legend class="oculto">${label}</legend>${values.map(([value, text], i) => html`<label><input class="oculto" type="radio" name="${name}" value="${value}"${i === 0 && html` checked`}>${text}</label>`)}</fieldset>`

/** Returns the result of an action with a button that undoes it. Screen readers announce it. */
export const toast = (text: string, undo?: Html): Html =>
  html`<div class="brindis" role="status"><span>${text}</span>${undo}</div>`

/**
 * Returns a question before a step that cannot be undone.
 * @param open true to show it within the page; otherwise the page's script opens it
 */
export const dialog = (id: string, title: string, body: Html, open = false): Html =>
  html`<dialog id="${id}" aria-labelledby="${id}-titulo"${open && html` open`}><h2 id="${id}-titulo">${title}</h2>${body}</dialog>`

/** Returns a table that scrolls horizontally within itself. On a phone, each row becomes a block. */
export const table = (label: string, columns: readonly string[], rows: readonly (readonly Html[])[]): Html =>
  html`<div class="marco-tabla"><table class="tabla"><caption class="oculto">${label}</caption><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table></div>`
