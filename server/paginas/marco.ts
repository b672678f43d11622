import { type Html, html } from './html.ts'

/** The brand's colour where no style sheet reaches, in icons and around a page; a test holds it against `base.css`. */
export const MARCA = '#0b6b3a'

/** An icon of one path, in a square of 24. */
export const dibujarIcono = (trazo: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="${MARCA}" d="${trazo}"/></svg>`

/** What a page says. Its title is what a link preview shows to anybody: it names nobody. */
export interface Contenido {
  titulo: string
  cuerpo: Html
  /** The program that stands in the page itself. */
  guion?: Html | undefined
}

/**
 * Writes the HTML document that every page is.
 * @param cabeza its style, icon and program, loaded or brought along
 */
export const marco = ({ titulo, cuerpo, guion }: Contenido, cabeza: Html): string =>
  html`<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<title>${titulo}</title>
${cabeza}
</head>
<body>
<main>
${cuerpo}
</main>
${guion && html`<script type="module">${guion}</script>\n`}</body>
</html>
`.texto

/** The head of a page that brings its style and its icon along, so that there is nothing else to wait for. */
export const cabezaPropia = (estilo: Html, icono: string): Html =>
  html`<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icono)}">
<style>${estilo}</style>`

/** The content of a page that only says something. */
export const soloDice = (titulo: string, ...parrafos: Html[]): Contenido => ({
  titulo,
  cuerpo: html`<h1 tabindex="-1">${titulo}</h1>
${parrafos.map((parrafo) => html`<p>${parrafo}</p>\n`)}`,
})
