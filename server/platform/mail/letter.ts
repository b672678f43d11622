import type { Brand } from '../brand/brand.ts'
import { html } from '../html.ts'

/** Content of a mail, from which its plain text, its HTML, and its entry in the local mailbox are made. */
export interface Letter {
  subject: string
  paragraphs: readonly string[]
  /** Code that the reader types. It is shown in large letters on a line of its own. */
  codigo?: string
  /** Link for the reader, with the text of its button. */
  button?: { texto: string; enlace: string }
  /** Paragraphs below the code or the button. */
  despues?: readonly string[]
}

type LetterBrand = Pick<Brand, 'nombre' | 'color'>

/** Returns a mail as plain text. */
export const letterText = ({ paragraphs, codigo, button, despues = [] }: Letter, { nombre }: LetterBrand): string =>
  [
    ...paragraphs,
    ...(codigo === undefined ? [] : [codigo]),
    ...(button ? [`${button.texto}:\n${button.enlace}`] : []),
    ...despues,
    nombre,
  ].join('\n\n')

/**
 * Returns a mail as an HTML document. It has inline styles and no images, because mail programs ignore style sheets and
 * ask before they load anything.
 */
export const letterHtml = (
  { subject, paragraphs, codigo, button, despues = [] }: Letter,
  { nombre, color }: LetterBrand,
): string =>
  html`<!doctype html>
<html lang="es">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;padding:24px 16px;background:#f4f6f5;color:#16201b;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:30rem;margin:0 auto;padding:24px;background:#ffffff;border-radius:12px">
<p style="margin:0 0 16px;color:${color};font-weight:600;font-size:18px">${nombre}</p>
${paragraphs.map((paragraph) => html`<p style="margin:0 0 16px">${paragraph}</p>\n`)}${
  codigo !== undefined &&
  html`<p style="margin:0 0 16px;font-size:32px;font-weight:600;letter-spacing:6px">${codigo}</p>\n`
}${
  button &&
  html`<p style="margin:0 0 16px"><a href="${button.enlace}" style="display:inline-block;padding:12px 20px;background:${color};color:#ffffff;border-radius:8px;text-decoration:none;font-weight:600">${button.texto}</a></p>
<p style="margin:0 0 16px;font-size:14px;color:#4b5650;word-break:break-all">${button.enlace}</p>\n`
}${despues.map((paragraph) => html`<p style="margin:0 0 16px;font-size:14px;color:#4b5650">${paragraph}</p>\n`)}</div>
</body>
</html>
`.texto
