import { type Html, html } from '../platform/html.ts'
import type { Front, LinkPreview } from './front.ts'

/**
 * Content of a page. Its title appears in browser histories and on tabs that other people see, so it names no person.
 */
export interface PageContent {
  titulo: string
  body: Html
  /** Script within the page itself. */
  script?: Html | undefined
  /** True if the content shows the company's telephone, so that the footer need not. */
  withTelefono?: boolean
}

/** Parts of the document around the content of a page. */
export interface PageFrame {
  front: Front
  /** Style and script of the page, linked or inline. */
  head: Html
  /** Relative path from the page to the service root, such as `../`. */
  root: string
  /** Address that the brand links to; by default, the service's first page. */
  home?: string
  /** Link preview for the page; undefined for none. */
  preview?: LinkPreview | undefined
  /** Text of the footer before the telephone. */
  nota?: string | undefined
  /** Parts around the content: a bar in place of the brand's header, and what follows the content. */
  bar?: { header: Html; after: Html }
}

/** Returns the HTML document of a page. */
export const frame = (
  { titulo, body, script, withTelefono }: PageContent,
  { front, head, root, home, preview, nota, bar }: PageFrame,
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
${front.head(preview)}
${head}
</head>
<body>
${bar?.header ?? front.renderHeader(root, home)}
<main>
${body}
</main>
${bar?.after}${front.renderFooter(nota, !withTelefono)}${script && html`<script type="module">${script}</script>\n`}</body>
</html>
`.texto

/** Returns the head of a page with its style inline, so that the page loads without another request. */
export const ownHead = (style: Html): Html => html`<style>${style}</style>`

/** Returns the content of a page that has only a title and paragraphs. */
export const messagePage = (titulo: string, ...paragraphs: Html[]): PageContent => ({
  titulo,
  body: html`<h1 tabindex="-1">${titulo}</h1>
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}`,
})
