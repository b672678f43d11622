/** Pages of the guide's chapters: what the generator makes of them, in the frame of the documentation. */

import { Html, html } from '../../platform/html.ts'
import type { Front } from '../front.ts'
import { ABOUT_KEYS, type DocsBar, renderBar, renderSearch, THEME_SCRIPT } from './bar.ts'

export interface Chapter {
  titulo: string
  /** Name in addresses, such as `recibir-webhooks`. */
  nombre: string
  /** Sentence that introduces the chapter. */
  summary: string
  parts: { titulo: string; id: string }[]
  /** HTML of the chapter, without its title. */
  content: string
}
/** Group of operations, or one of its operations, with its address from the service root. */
interface MenuEntry {
  titulo: string
  lugar: string
}
export interface MenuGroup extends MenuEntry {
  operaciones: MenuEntry[]
}
/** All that the generator writes for the pages of the chapters. */
export interface Chapters {
  chapters: Chapter[]
  groups: MenuGroup[]
}

/** Chapters in which a reader first needs a key. */
const NEED_KEY = new Set(['inicio-rapido', 'autenticacion', 'modo-de-prueba', 'pasar-a-produccion'])

const renderMenu = ({ chapters, groups }: Chapters, current: Chapter, root: string): Html =>
  html`<nav id="indice" aria-label="Índice">
<ul>
<li><a href="${root}docs">API de guías de envío</a></li>
${chapters.map((chapter) =>
  chapter === current
    ? html`<li><a href="${chapter.nombre}" aria-current="page">${chapter.titulo}</a>${
        chapter.parts.length > 0 &&
        html`<ul>
${chapter.parts.map(({ titulo, id }) => html`<li><a href="#${id}">${titulo}</a></li>\n`)}</ul>`
      }</li>\n`
    : html`<li><a href="${chapter.nombre}">${chapter.titulo}</a></li>\n`,
)}</ul>
<h2>Operaciones</h2>
${groups.map(
  ({ titulo, operaciones }) =>
    html`<details><summary>${titulo}</summary><ul>
${operaciones.map((operacion) => html`<li><a href="${root}${operacion.lugar}">${operacion.titulo}</a></li>\n`)}</ul></details>\n`,
)}</nav>`

/** Returns who gives a merchant its key, and the telephone to ask at. */
export const renderKeyAnswer = ({ telefono }: Front['brand']): Html =>
  html`${ABOUT_KEYS.answer}${telefono && html` Teléfono: <a href="tel:${telefono.e164}">${telefono.visible}</a>.`}`

function renderNeighbours({ chapters }: Chapters, current: Chapter): Html {
  const i = chapters.indexOf(current)
  const [before, after] = [chapters[i - 1], chapters[i + 1]]
  return html`<nav class="vecinos" aria-label="Capítulos vecinos">${before && html`<a rel="prev" href="${before.nombre}">← ${before.titulo}</a>`}${after && html`<a rel="next" href="${after.nombre}">${after.titulo} →</a>`}</nav>`
}

/** Style and script of the chapters' pages. */
export interface ChapterFrame {
  front: Front
  bar: DocsBar
  /** Text of the inline style sheet. */
  style: string
  /** Path of the program from the service root. */
  programPath: string
}

/** Returns the document of a chapter. */
export const chapterPage = (
  all: Chapters,
  chapter: Chapter,
  { front, bar, style, programPath }: ChapterFrame,
): string =>
  html`<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${chapter.titulo} · ${front.brand.nombre}</title>
${front.head({ titulo: chapter.titulo, descripcion: chapter.summary })}
<link rel="alternate" type="text/markdown" href="guia/${chapter.nombre}.md">
<script>${new Html(THEME_SCRIPT)}</script>
<style>${new Html(style)}</style>
<script type="module" src="${bar.root}${programPath}"></script>
</head>
<body>
<a class="saltar" href="#contenido">Saltar al contenido</a>
${renderBar(bar)}
<div class="hoja">
<main id="contenido">
<p class="rutas"><a class="a-indice" href="#indice">Índice</a><a href="guia/${chapter.nombre}.md">Ver como Markdown</a></p>
<h1>${chapter.titulo}</h1>
${NEED_KEY.has(chapter.nombre) && html`<p class="nota"><b>${ABOUT_KEYS.question}</b> ${renderKeyAnswer(front.brand)}</p>\n`}${new Html(chapter.content)}
${renderNeighbours(all, chapter)}
</main>
${renderMenu(all, chapter, bar.root)}
</div>
${renderSearch(bar)}
</body>
</html>
`.texto
