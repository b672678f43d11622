/**
 * Renders the guide's chapters as HTML for their pages, `/docs/<chapter>`, with the menu that all of these pages show.
 * The server adds the frame with the brand and fills in its address and days (`server/pages/docs/chapter.ts`).
 */
import { Marked, type Token, type Tokens } from 'marked'
import type { Chapter, Chapters, MenuGroup } from '../../server/pages/docs/chapter.ts'
import { type Html, html } from '../../server/platform/html.ts'
import { type Json, type JsonObject, operacionesOf } from './contract.ts'
import { type GuideChapter, idOf, readContractGuide, summaryOf, toSlug } from './guide.ts'

/** Chapter whose code stands beside the text on wide screens. */
const WITH_CODE_BESIDE = 'inicio-rapido'

/** Returns the address of a link of the guide, relative to a chapter's page. */
function addressOf(href: string): string {
  const [, chapter, part] = /^#\/section\/([^/]+)(?:\/(.+))?$/.exec(href) ?? []
  if (chapter) return part ? `${chapter}#${part}` : chapter
  if (href.startsWith('#error-')) return `errores${href}`
  if (href.startsWith('#/')) return `../docs${href}`
  return href.startsWith('/') ? `..${href}` : href
}

/** Comments and quoted texts of the guide's languages: shell, JavaScript, Python, PHP and JSON. */
const CODE_PARTS =
  /(\/\*[\s\S]*?\*\/|(?<=^|\s)(?:#|\/\/).*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)/gm

/** Classes of the parts of a program that {@link CODE_PARTS} separates: plain, comment, quoted text, plain again. */
const PART_CLASSES = [null, 'comentario', 'cadena']

/** Returns a program as HTML, with its comments and its quoted texts marked. */
function renderCode(text: string): Html {
  const parts = text.split(CODE_PARTS).flatMap((part, i) => {
    const name = PART_CLASSES[i % PART_CLASSES.length]
    if (!part) return []
    return [name ? html`<span class="${name}">${part}</span>` : html`${part}`]
  })
  return html`<pre><code>${parts}\n</code></pre>\n`
}

const markdown = new Marked({
  renderer: {
    code: ({ text }) => renderCode(text).texto,
    // Wide tables scroll within their box. On phones, they become lists.
    table(token) {
      const row = (cells: Tokens.TableCell[], name: 'td' | 'th') =>
        `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join('')}</tr>`
      const rows = token.rows.map((cells) => row(cells, 'td')).join('\n')
      return `<div class="tabla"><table><thead>${row(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`
    },
  },
})

/** Reads a text whose links lead from a chapter's page. */
function readTokens(text: string): Token[] {
  const tokens = markdown.lexer(text)
  markdown.walkTokens(tokens, (token) => {
    if (token.type === 'link') token.href = addressOf(token.href)
  })
  return tokens
}

/** Returns the tokens in rows, each of text and the code beside it. Text after the last code belongs to that row. */
function rowsOf(tokens: Token[]): { text: Token[]; code: Token[] }[] {
  const rows: { text: Token[]; code: Token[] }[] = []
  for (const token of tokens) {
    const isCode = token.type === 'code'
    if (!isCode && token.type !== 'space' && (rows.at(-1)?.code.length ?? 1) > 0) rows.push({ text: [], code: [] })
    if (isCode && rows.length === 0) rows.push({ text: [], code: [] })
    if (token.type !== 'space') rows.at(-1)![isCode ? 'code' : 'text'].push(token)
  }
  const last = rows.at(-1)
  if (rows.length > 1 && last!.code.length === 0)
    rows.splice(-2, 2, { ...rows.at(-2)!, text: [...rows.at(-2)!.text, ...last!.text] })
  return rows
}

/** Returns a text as HTML, after the heading that belongs to it. */
function renderText(heading: string, text: string, isBeside: boolean): string {
  const tokens = readTokens(text)
  if (!isBeside) return heading + markdown.parser(tokens)
  return rowsOf(tokens)
    .map((row, i) => {
      const columns = [(i === 0 ? heading : '') + markdown.parser(row.text), markdown.parser(row.code)]
      return `<div class="fila">${columns.map((column) => `<div>${column}</div>`).join('')}</div>\n`
    })
    .join('')
}

function toChapter(chapter: GuideChapter): Chapter {
  const { titulo, nombre, texto, parts } = chapter
  const isBeside = nombre === WITH_CODE_BESIDE
  return {
    titulo,
    nombre,
    summary: summaryOf(chapter),
    parts: parts.map((part) => ({ titulo: part.titulo, id: idOf(part) })),
    content: [
      renderText('', texto, isBeside),
      ...parts.map((part) => {
        const heading = html`<h2 id="${idOf(part)}"><a href="#${idOf(part)}">${part.titulo}</a></h2>\n`.texto
        return `<section>${renderText(heading, part.texto, isBeside)}</section>\n`
      }),
    ].join(''),
  }
}

/** Returns the operations by group, with their addresses in the reading view. */
const menuOf = (contract: JsonObject): MenuGroup[] =>
  ((contract.tags ?? []) as JsonObject[]).map(({ name }) => ({
    titulo: String(name),
    lugar: `docs#/${toSlug(String(name))}`,
    operaciones: operacionesOf(contract)
      .filter(({ definition }) => (definition.tags as Json[])[0] === name)
      .map(({ id, definition }) => ({
        titulo: String(definition.summary),
        lugar: `docs#/${toSlug(String(name))}/${id.toLowerCase()}`,
      })),
  }))

/**
 * Returns all chapters.
 * @param contract bundled contract whose guide has its diagrams drawn
 */
export const chaptersOf = (contract: JsonObject): Chapters => ({
  chapters: readContractGuide(contract).guideChapters.map(toChapter),
  groups: menuOf(contract),
})
