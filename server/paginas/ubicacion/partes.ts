import { enGrupos } from '../../codigos/codigoDeGuia.ts'
import type { DatosDeSolicitud } from '../../ubicacion/solicitud.ts'
import { type Html, html } from '../html.ts'
import type { Valores } from './formulario.ts'

export const PREGUNTA = '¿Dónde le entregamos su paquete?'

export const soloNombre = (destinatario: string | null) =>
  (destinatario ?? '').trim().split(/\s+/)[0]?.slice(0, 40) ?? ''
/** A name at the end of a sentence, of which «S. A.» brings its own full stop. */
export const conPunto = (nombre: string) => (nombre.endsWith('.') ? nombre : `${nombre}.`)
export const zona = ({ municipio, departamento }: DatosDeSolicitud) =>
  municipio === departamento ? municipio : `${municipio}, ${departamento}`

/** However much is in a parcel, so many letters say which it is, and the question stays in sight. */
const LETRAS_DE_CONTENIDO = 90

function acortar(texto: string): string {
  if (texto.length <= LETRAS_DE_CONTENIDO) return texto
  const principio = texto.slice(0, LETRAS_DE_CONTENIDO)
  // Up to a word's end, where there is one.
  return `${principio
    .slice(0, principio.lastIndexOf(' ') + 1 || undefined)
    .toWellFormed()
    .trim()}…`
}

/** Whose parcel it is, what is in it and which: above whatever is asked or said of it. */
export const paquete = ({ comercio, contenido, guia }: DatosDeSolicitud): Html =>
  html`<div class="paquete"><p><strong>${comercio}</strong> le envía ${contenido?.trim() ? html`<strong>${acortar(contenido.trim())}</strong>` : 'un paquete'}.</p>
<p class="suave">Guía <b class="codigo">${enGrupos(guia)}</b></p></div>`

export const ocultos = (valores: Valores, campos: readonly (keyof Valores)[]) =>
  campos.map((campo) => html`<input type="hidden" name="${campo}" value="${valores[campo]}">`)
