import { DESCRIPCIONES_DE_ESTADO } from '../../contrato/generado/vocabulario.ts'
import type { Reloj } from '../../tiempo/reloj.ts'
import { type Html, html } from '../html.ts'
import type { Entrega } from './entrega.ts'

/** What the page stands in: its style and script, and the way from its address up to where the service begins. */
export interface Marco {
  estilo: Html
  guion: Html
  /** Such as `../`. */
  raiz: string
}

const ICONO =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22%3E%3Cpath fill=%22%230b6b3a%22 d=%22M12 1 3 4.5V11c0 5.5 3.8 10 9 12 5.2-2 9-6.5 9-12V4.5Zm-1.4 15-4-4 1.7-1.7 2.3 2.3 5.1-5.1 1.7 1.7Z%22/%3E%3C/svg%3E'

/** As the document writes it. */
const enGrupos = (codigo: string) => codigo.replace(/(.{4})(?=.)/g, '$1 ')

/** The whole page. The title is what a link preview shows to anybody: it names nobody. */
const documento = (titulo: string, { estilo }: Marco, cuerpo: Html, guion?: Html) =>
  html`<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<title>${titulo}</title>
<link rel="icon" href="${ICONO}">
<style>${estilo}</style>
</head>
<body>
<main>
${cuerpo}
</main>
${guion && html`<script type="module">${guion}</script>\n`}</body>
</html>
`.texto

export function paginaDeVerificacion(entrega: Entrega, reloj: Reloj, zona: string, marco: Marco): string {
  const { guia, modo, prueba } = entrega
  const cuerpo = html`${modo === 'test' && html`<p class="aviso"><strong>Guía de prueba.</strong> No hay ningún paquete: alguien está probando el servicio.</p>\n`}<p class="codigo">Guía <b>${enGrupos(guia)}</b></p>
<h1>Verificar la prueba de entrega</h1>
${comoVa(entrega, reloj)}
${prueba === 'lista' ? verificador(guia, zona, marco) : FALTA[prueba]}
<p><a href="${marco.raiz}r/${guia}">Ver el seguimiento del envío</a></p>`
  return documento(`Verificar la guía ${guia}`, marco, cuerpo, prueba === 'lista' ? marco.guion : undefined)
}

function comoVa({ estado, entregado_en }: Entrega, reloj: Reloj): Html {
  if (!entregado_en) return html`<p>Este envío no se ha entregado. Su estado: ${DESCRIPCIONES_DE_ESTADO[estado]}.</p>`
  const texto = entregado_en.toISOString()
  return html`<p>Este envío se entregó el <b><time datetime="${texto}">${reloj.larga(texto)}</time></b>, ${reloj.zona(texto)}.</p>`
}

const FALTA: Readonly<Record<Exclude<Entrega['prueba'], 'lista'>, Html>> = {
  pendiente: html`<section class="aviso" aria-labelledby="falta"><h2 id="falta">La prueba se está preparando</h2>
<p>El PDF y su firma tardan unos segundos. Vuelva a cargar esta página en un momento.</p></section>`,
  sin_prueba: html`<section class="aviso" aria-labelledby="falta"><h2 id="falta">No hay nada que verificar</h2>
<p>Esta guía no tiene una prueba de entrega en PDF. Si alguien le dio una, no la emitió este servicio.</p></section>`,
}

/** Without JavaScript it says what to do instead; the script shows what it needs. */
const verificador = (
  guia: string,
  zona: string,
  { raiz }: Marco,
) => html`<section id="verificador" data-guia="${guia}" data-zona="${zona}" data-raiz="${raiz}" hidden>
<p>Elija el PDF que le dieron y le diremos si es el original. El archivo <strong>no sale de su dispositivo</strong>: aquí se calcula su huella, y solo ella se compara.</p>
<div class="zona"><label for="archivo"><b>Elegir el PDF</b> <span>o arrastrarlo hasta aquí</span></label>
<input id="archivo" type="file" accept="application/pdf,.pdf"></div>
<div id="resultado" role="status"></div>
</section>
<noscript><section class="aviso"><h2>Hace falta JavaScript</h2>
<p>Su navegador calcula la huella del PDF para no tener que enviarlo, y para eso esta página necesita JavaScript. Permítalo y vuelva a cargarla.</p>
<p>O calcúlela usted (<code>sha256sum prueba.pdf</code>) y envíela:</p>
<p><code>curl -H 'Content-Type: application/json' -d '{"sha256":"…"}' …/verificar/${guia}/comprobar</code></p></section></noscript>`

const aviso = (marco: Marco, titulo: string, ...parrafos: Html[]) =>
  documento(
    titulo,
    marco,
    html`<h1>${titulo}</h1>
${parrafos.map((parrafo) => html`<p>${parrafo}</p>\n`)}`,
  )

/** The same for what can't be a code and for what is nobody's: it teaches nothing to whoever guesses. */
export const paginaDesconocida = (marco: Marco) =>
  aviso(
    marco,
    'No encontramos esa guía',
    html`Revise el código: son 12 letras y números, y está en el encabezado del PDF. Si llegó aquí con el código QR de un documento, ese documento no lo emitió este servicio.`,
  )

export const paginaDeEspera = (marco: Marco, segundos: number) =>
  aviso(
    marco,
    'Espere un momento',
    html`Recibimos muchas consultas seguidas desde su conexión. Vuelva a intentarlo en ${segundos} ${segundos === 1 ? 'segundo' : 'segundos'}.`,
  )

export const paginaDeFallo = (marco: Marco) =>
  aviso(marco, 'Algo nos falló', html`No es culpa suya ni de su archivo. Vuelva a cargar la página en un minuto.`)

export const paginaMalPedida = (marco: Marco) =>
  aviso(marco, 'Esta página solo se lee', html`Ábrala en su navegador para verificar un documento.`)
