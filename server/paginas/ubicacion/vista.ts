import type { DatosDeSolicitud } from '../../ubicacion/solicitud.ts'
import { type Html, html } from '../html.ts'
import { type Contenido, soloDice } from '../marco.ts'
import { FALTA_LUGAR, type Falla, type Valores } from './formulario.ts'

/** Where a map's tiles come from. */
export interface Mosaicos {
  /** The address of a tile: `https://…/{z}/{x}/{y}.png`, perhaps with `{s}` and `{r}`. */
  url: string
  /** The credit that the map's makers ask for, as plain text. */
  atribucion: string
}

/** A map's tiles, and the files that show them. */
export interface Mapa extends Mosaicos {
  modulo: string
  estilo: string
}

/**
 * The head of the recipient's page.
 * @param direccion of one of the page's files
 */
export const cabezaDe = (direccion: (archivo: 'estilo.css' | 'navegador.js') => string): Html =>
  html`<link rel="stylesheet" href="${direccion('estilo.css')}">
<script type="module" src="${direccion('navegador.js')}"></script>`

const PREGUNTA = '¿Dónde le entregamos su paquete?'
const TRAZO_PIN =
  'M12 1.5a8 8 0 0 0-8 8c0 5.6 6.6 11.9 7.4 12.7a.9.9 0 0 0 1.2 0c.8-.8 7.4-7.1 7.4-12.7a8 8 0 0 0-8-8Zm0 11a3 3 0 1 1 0-6 3 3 0 0 1 0 6Z'
const pin = html`<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false"><path fill="currentColor" d="${TRAZO_PIN}"/></svg>`

const soloNombre = (destinatario: string | null) => (destinatario ?? '').trim().split(/\s+/)[0]?.slice(0, 40) ?? ''
/** A name at the end of a sentence, of which «S. A.» brings its own full stop. */
const conPunto = (nombre: string) => (nombre.endsWith('.') ? nombre : `${nombre}.`)
const zona = ({ municipio, departamento }: DatosDeSolicitud) =>
  municipio === departamento ? municipio : `${municipio}, ${departamento}`

/**
 * The page with the form.
 * @param fallas stand on top and beside their fields
 * @param nuevo nothing was filled in yet
 */
export function paginaDelFormulario(
  datos: DatosDeSolicitud,
  valores: Valores,
  fallas: readonly Falla[],
  mapa: Mapa | null,
  nuevo: boolean,
): Contenido {
  const nombre = soloNombre(datos.destinatario)
  const direccion = [datos.direccion?.trim(), zona(datos)].filter(Boolean).join(', ')
  const cuerpo = html`${fallas.length > 0 && resumen(fallas)}
<h1 tabindex="-1">${PREGUNTA}</h1>
<p>${nombre && `Hola, ${nombre}. `}<strong>${datos.comercio}</strong> le envía un paquete. Díganos el lugar exacto para que el repartidor lo encuentre.</p>
<p class="declarada"><span class="suave">La dirección que nos dieron:</span> <strong>${direccion}</strong></p>
<form method="post" novalidate data-formulario${nuevo && html` data-nuevo`}>
${ocultos(valores, ['lat', 'lng', 'precision_m', 'metodo'])}
<div id="lugar" tabindex="-1">
<section data-con-js hidden aria-labelledby="titulo-gps">
<h2 id="titulo-gps">¿Está ahora donde quiere recibirlo?</h2>
<button type="button" class="principal" id="gps">${pin} Usar mi ubicación</button>
<p id="estado-gps" class="estado" role="status"></p>
</section>
${mapa && elegirEnMapa(datos, mapa)}
${campoDeEnlace(valores.enlace, falla(fallas, 'enlace'))}
</div>
${campoDeReferencia(valores.referencia, falla(fallas, 'referencia'))}
<p id="elegido" class="elegido" role="status" data-con-js hidden></p>
<button type="submit" class="principal">Confirmar</button>
<p id="envio" class="estado" role="status"></p>
</form>
<template id="falta-lugar">${resumen([{ campo: 'lugar', mensaje: FALTA_LUGAR }])}</template>`
  return { titulo: fallas.length > 0 ? `Falta algo – ${PREGUNTA}` : PREGUNTA, cuerpo }
}

const falla = (fallas: readonly Falla[], campo: Falla['campo']) => fallas.find((una) => una.campo === campo)?.mensaje

const resumen = (fallas: readonly Falla[]) =>
  html`<div id="errores" class="errores" role="alert" tabindex="-1" autofocus>
<h2>Revise esto, por favor</h2>
<ul>${fallas.map(({ campo, mensaje }) => html`<li><a href="#${campo}">${mensaje}</a></li>`)}</ul>
</div>`

const ocultos = (valores: Valores, campos: readonly (keyof Valores)[]) =>
  campos.map((campo) => html`<input type="hidden" name="${campo}" value="${valores[campo]}">`)

/** The map's place, empty until somebody wants it: its module and its tiles weigh more than the page. */
function elegirEnMapa({ centro, municipio }: DatosDeSolicitud, { modulo, estilo, url, atribucion }: Mapa): Html {
  return html`<section data-con-js hidden aria-labelledby="titulo-mapa">
<h2 id="titulo-mapa">O señálelo en el mapa</h2>
<p id="ayuda-mapa">Toque su casa en el mapa, o arrastre el pin hasta su puerta.</p>
<div id="mapa" data-modulo="${modulo}" data-estilo="${estilo}" data-url="${url}" data-atribucion="${atribucion}" data-lugar="${municipio}"${centro && html` data-lat="${centro.lat}" data-lng="${centro.lng}"`}><button type="button" id="abrir-mapa">Ver el mapa</button></div>
<p id="estado-mapa" class="estado" role="status"></p>
<details id="flechas" hidden><summary>Mover el pin con botones</summary>
<div class="flechas"><button type="button" data-paso="arriba">↑ Norte</button><button type="button" data-paso="izquierda">← Oeste</button><button type="button" data-paso="derecha">Este →</button><button type="button" data-paso="abajo">↓ Sur</button></div></details>
</section>`
}

/** The field for a link, open from the start, because without JavaScript it is the only way; the program folds it. */
const campoDeEnlace = (valor: string, error: string | undefined) =>
  html`<details id="con-enlace" open><summary>Pegar un enlace de mapa</summary>
<label for="enlace">Enlace del mapa</label>
<p class="suave" id="ayuda-enlace">En Google Maps o Waze, busque su casa, toque «Compartir» y «Copiar». Después péguelo aquí.</p>
${error && html`<p class="error" id="error-enlace">${error}</p>`}
<input id="enlace" name="enlace" type="text" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="2048" value="${valor}" aria-describedby="${error && 'error-enlace '}ayuda-enlace"${error && html` aria-invalid="true"`}>
</details>`

const campoDeReferencia = (valor: string, error: string | undefined) =>
  html`<div class="campo"><label for="referencia">¿Cómo reconocemos el lugar?</label>
<p class="suave" id="ayuda-referencia">Por ejemplo: portón verde, frente a la tienda. Puede dejarlo vacío.</p>
${error && html`<p class="error" id="error-referencia">${error}</p>`}
<textarea id="referencia" name="referencia" rows="2" maxlength="200" autocomplete="off" aria-describedby="${error && 'error-referencia '}ayuda-referencia"${error && html` aria-invalid="true"`}>
${valor}</textarea></div>`

/** The page that asks whether a place is meant that is far from the declared municipality. */
export function paginaDeSeguro(datos: DatosDeSolicitud, valores: Valores, distanciaKm: number): Contenido {
  const titulo = '¿Seguro que es ahí?'
  const km = Math.round(distanciaKm).toLocaleString('es-GT')
  return {
    titulo,
    cuerpo: html`<h1 tabindex="-1" autofocus>${titulo}</h1>
<p>El lugar que eligió está a unos <strong>${km}\u00a0km</strong> de <strong>${zona(datos)}</strong>, que es la dirección del paquete.</p>
<form method="post" data-formulario>
${ocultos(valores, ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia'])}
<button type="submit" class="principal" name="accion" value="corregir">No, quiero corregirlo</button>
<button type="submit" name="seguro" value="1">Sí, entréguenlo ahí</button>
<p id="envio" class="estado" role="status"></p>
</form>`,
  }
}

/** The page that says what was confirmed. */
export function paginaDeGracias(datos: DatosDeSolicitud): Contenido {
  const nombre = soloNombre(datos.destinatario)
  const { lat = null, lng = null, referencia = null } = datos.confirmado ?? {}
  const titulo = nombre ? `¡Gracias, ${nombre}!` : '¡Gracias!'
  const enMapa =
    lat !== null &&
    lng !== null &&
    `https://www.google.com/maps/search/?api=1&query=${lat.toFixed(6)},${lng.toFixed(6)}`
  return {
    titulo: 'Gracias',
    cuerpo: html`<div class="gracias"><svg viewBox="0 0 24 24" width="56" height="56" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="11" fill="currentColor"/><path class="hueco" fill="none" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round" d="m7 12.5 3.5 3.5L17 9"/></svg>
<h1 tabindex="-1">${titulo}</h1>
<p>Ya sabemos dónde entregarle el paquete que le envía <strong>${conPunto(datos.comercio)}</strong></p>
<dl>
<dt>Lugar</dt><dd>${enMapa ? html`El punto que nos señaló. <a href="${enMapa}" rel="noreferrer noopener">Verlo en el mapa</a>` : 'El enlace de mapa que nos dio.'}</dd>
${referencia && html`<dt>Cómo reconocerlo</dt><dd>${referencia}</dd>`}
</dl>
<p>Ya puede cerrar esta página. Si algo no está bien, avísele a ${conPunto(datos.comercio)}</p></div>`,
  }
}

// What follows tells nothing of any parcel: whoever guesses, or finds an old link, learns nothing.

export const DESCONOCIDA = soloDice(
  'No encontramos este enlace',
  html`Puede que se haya cortado al copiarlo. Ábralo otra vez desde el mensaje que recibió.`,
  html`Si sigue sin abrir, escríbale a la tienda donde compró.`,
)

export const VENCIDA = soloDice(
  'Este enlace ya venció',
  html`Ya no se puede usar. Busque en sus mensajes si le mandamos uno más nuevo.`,
  html`Si no lo tiene, escríbale a la tienda donde compró y pídale que se lo mande otra vez.`,
)

export const CERRADA = soloDice(
  'Ya no hace falta confirmar',
  html`Este paquete ya no necesita su ubicación. No tiene que hacer nada más.`,
  html`Si tiene alguna duda, escríbale a la tienda donde compró.`,
)

export const MAL_PEDIDA = soloDice(
  'No pudimos leer eso',
  html`Abra otra vez el enlace desde el mensaje que recibió y vuelva a intentarlo.`,
)

export const FALLO = html`No es culpa suya. Espere un minuto y vuelva a abrir el enlace desde el mensaje que recibió.`
