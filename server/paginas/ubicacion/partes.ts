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

/** Whose parcel it is, what is in it and which: above whatever is asked or said of it. */
export const paquete = ({ comercio, contenido, guia }: DatosDeSolicitud): Html =>
  html`<p class="paquete"><strong>${comercio}</strong> le envía ${contenido?.trim() ? html`<strong>${contenido.trim()}</strong>` : 'un paquete'}. <span class="suave">Guía <b class="codigo">${enGrupos(guia)}</b></span></p>`

export const ocultos = (valores: Valores, campos: readonly (keyof Valores)[]) =>
  campos.map((campo) => html`<input type="hidden" name="${campo}" value="${valores[campo]}">`)
