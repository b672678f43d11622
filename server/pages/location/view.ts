import type { UbicacionRequestData } from '../../domain/ubicacion/request.ts'
import * as icons from '../../generated/contract/icons.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageContent } from '../frame.ts'
import { faultSummary, icon } from '../ui/components.ts'
import type { FieldFault, FormValues } from './form.ts'
import {
  aroundMunicipality,
  declaredAddress,
  firstName,
  hiddenFields,
  IMPRECISE_QUESTION,
  parcelSummary,
  positionButton,
  UBICACION_QUESTION,
} from './parts.ts'
import { ARROWS, type MapData, renderMap } from './tiles.ts'

/**
 * Returns the head of the recipient's page.
 * @param direccion returns the path of one of the page's files
 */
export const ubicacionHead = (direccion: (archivo: 'estilo.css' | 'navegador.js') => string): Html =>
  html`<link rel="stylesheet" href="${direccion('estilo.css')}">
<script type="module" src="${direccion('navegador.js')}"></script>`

interface FormPageOptions {
  values: FormValues
  /** Faults, shown at the top of the page and beside their fields. */
  fallas: readonly FieldFault[]
  placeMap: MapData | null
  /** True if the recipient has filled in nothing yet. */
  nuevo: boolean
}

/**
 * Returns the page with the form. The page's script divides it into two steps: choosing how to give the location (parts
 * for `elegir`), and giving it (parts for the chosen way). Without the script, the parts that work without it are shown
 * one below another.
 */
export function ubicacionFormPage(
  datos: UbicacionRequestData,
  { values, fallas, placeMap, nuevo }: FormPageOptions,
): PageContent {
  const body = html`${fallas.length > 0 && faultSummary(fallas.map(({ campo, mensaje }) => [campo, mensaje]))}
${parcelSummary(datos)}
<form method="post" novalidate data-formulario${nuevo && html` data-nuevo`}${aroundMunicipality(datos)}>
${hiddenFields(values, ['lat', 'lng', 'precision_m', 'metodo', 'cambiar'])}
<div id="lugar" tabindex="-1">
<div data-para="elegir">${renderChoices(datos, values.cambiar === '1', placeMap !== null)}</div>
<h1 id="titulo" tabindex="-1" data-con-js data-para="gps mapa enlace descripcion" hidden></h1>
${linkField(values.enlace, fault(fallas, 'enlace'))}
${placeMap && renderMap(placeMap, MAP_OPTIONS)}
<p id="estado-lugar" class="estado" role="status"></p>
${IMPRECISE_QUESTION}
${placeMap && ARROWS}
</div>
${referenceField(values.referencia, fault(fallas, 'referencia'))}
<div class="barra" data-para="gps mapa enlace descripcion">
<p id="envio" class="estado" role="status"></p>
<button type="button" id="atras" data-con-js hidden>Atrás</button>
<button type="submit" class="principal">Confirmar</button>
<noscript><button type="submit" name="accion" value="describir">No tengo enlace: basta con la descripción</button></noscript>
</div>
</form>`
  return { titulo: fallas.length > 0 ? `Falta algo – ${UBICACION_QUESTION}` : UBICACION_QUESTION, body }
}

const fault = (faults: readonly FieldFault[], field: FieldFault['campo']) =>
  faults.find((fieldFault) => fieldFault.campo === field)?.mensaje

/** Returns the question about the location, and the ways to answer it. */
function renderChoices(datos: UbicacionRequestData, isChanging: boolean, hasMap: boolean): Html {
  const name = firstName(datos.destinatario)
  return html`<h1 tabindex="-1">${UBICACION_QUESTION}</h1>
<p>${name && `Hola, ${name}. `}${isChanging ? 'Diga otra vez el lugar: el nuevo queda en vez del que nos dio.' : 'Díganos el lugar exacto para que el repartidor lo encuentre.'}</p>
${declaredAddress(datos)}
<div class="formas" data-con-js hidden>
${positionButton('principal', `O toque ${hasMap ? '«Señalarlo en el mapa», ' : ''}«Pegar un enlace de mapa» o «Describirlo con palabras», aquí abajo.`)}
${hasMap && way('mapa', icons.MapPin, 'Señalarlo en el mapa')}
${way('enlace', icons.Link, 'Pegar un enlace de mapa')}
${way('descripcion', icons.Pencil, 'Describirlo con palabras')}
</div>`
}

/** Returns the button for one way to answer. */
const way = (shape: string, drawing: string, name: string) =>
  html`<button type="button" class="opcion" data-forma="${shape}">${icon(drawing)}<span>${name}</span>${icon(icons.ChevronRight)}</button>`

const MAP_OPTIONS = {
  titulo: 'titulo',
  hint: 'Mueva el mapa hasta que el pin esté en su puerta, o toque su casa.',
  moreButtons: html`
<button type="button" data-forma="enlace">Pegar un enlace de mapa</button>
<button type="button" data-forma="descripcion">Describirlo con palabras</button>`,
}

const linkField = (value: string, error: string | undefined) =>
  html`<div class="campo" data-para="enlace"><label for="enlace">Enlace del mapa</label>
<p class="suave" id="ayuda-enlace">En Google Maps o Waze, busque su casa, toque «Compartir» y «Copiar». Después péguelo aquí.</p>
<p class="error" id="error-enlace"${!error && html` hidden`}>${error}</p>
<input id="enlace" name="enlace" type="text" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="2048" value="${value}" aria-describedby="error-enlace ayuda-enlace"${error && html` aria-invalid="true"`}></div>`

const referenceField = (value: string, error: string | undefined) =>
  html`<div class="campo" data-para="descripcion"><label for="referencia">¿Cómo reconocemos el lugar?</label>
<p class="suave" id="ayuda-referencia" data-para="ninguna">Por ejemplo: portón verde, frente a la tienda. Puede dejarlo vacío.</p>
<p class="suave" id="ayuda-descripcion" data-para="descripcion" data-con-js hidden>Cómo llegar y cómo se ve: calle o colonia, qué hay cerca, de qué color es.</p>
<p class="error" id="error-referencia"${!error && html` hidden`}>${error}</p>
<textarea id="referencia" name="referencia" rows="2" maxlength="200" autocomplete="off" aria-describedby="error-referencia ayuda-referencia ayuda-descripcion"${error && html` aria-invalid="true"`}>
${value}</textarea></div>`
