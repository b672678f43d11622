import type { Fachada, VistaPrevia } from './fachada.ts'
import { type Html, html } from './html.ts'

/** What a page says. Its title stands in histories and on tabs that others see: it names nobody. */
export interface Contenido {
  titulo: string
  cuerpo: Html
  /** The program that stands in the page itself. */
  guion?: Html | undefined
}

/** What stands around what a page says. */
export interface Alrededor {
  fachada: Fachada
  /** The page's style and program, loaded or brought along. */
  cabeza: Html
  /** The way from the page up to where the service begins, such as `../`. */
  raiz: string
  /** Where the brand leads to; unless told, to the service's first page. */
  inicio?: string
  /** What is shown beside links to the page; undefined: nothing is. */
  previa?: VistaPrevia | undefined
  /** What the page's foot says before whom to call. */
  nota?: string | undefined
}

/** Writes the HTML document that every page is. */
export const marco = (
  { titulo, cuerpo, guion }: Contenido,
  { fachada, cabeza, raiz, inicio, previa, nota }: Alrededor,
): string =>
  html`<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<title>${titulo}</title>
${fachada.cabeza(previa)}
${cabeza}
</head>
<body>
${fachada.encabezado(raiz, inicio)}
<main>
${cuerpo}
</main>
${fachada.pie(nota)}${guion && html`<script type="module">${guion}</script>\n`}</body>
</html>
`.texto

/** The head of a page that brings its style along, so that there is nothing else to wait for. */
export const cabezaPropia = (estilo: Html): Html => html`<style>${estilo}</style>`

/** The content of a page that only says something. */
export const soloDice = (titulo: string, ...parrafos: Html[]): Contenido => ({
  titulo,
  cuerpo: html`<h1 tabindex="-1">${titulo}</h1>
${parrafos.map((parrafo) => html`<p>${parrafo}</p>\n`)}`,
})
