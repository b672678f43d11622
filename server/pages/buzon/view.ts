import type { FilaMensaje } from '../../domain/mensajeria/mensaje.ts'
import type { EstadoDeUbicacion } from '../../generado/contrato/tipos/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import type { PageContent } from '../frame.ts'
import { html } from '../html.ts'

/** A message as the mailbox shows it. */
export interface Mensaje extends Pick<FilaMensaje, 'telefono' | 'guia' | 'estado'> {
  comercio: string
  municipio: string
  ubicacion_estado: EstadoDeUbicacion
  /** Token of the message's link; undefined if the master key that made the token is gone. */
  token?: string | undefined
}

/**
 * Returns the content of the mailbox page.
 * @param raiz relative path from the page to the service root, such as `../`
 */
export const paginaDelBuzon = (marca: string, mensajes: readonly Mensaje[], raiz: string): PageContent => ({
  titulo: 'Buzón de mensajes',
  cuerpo: html`<h1>Buzón de mensajes</h1>
<p>Lo que recibirían en su teléfono los destinatarios de guías de prueba sin ubicación. Aquí no sale nada afuera: abra un enlace y confirme el lugar como lo harían ellos.</p>
${
  mensajes.length > 0
    ? html`<ol>${mensajes.map((mensaje) => tarjeta(marca, mensaje, raiz))}</ol>`
    : html`<p><strong>Todavía no hay mensajes.</strong> Cree una guía de prueba sin <code>lat</code>, <code>lng</code> ni <code>maps_url</code>.</p>`
}`,
})

const tarjeta = (
  marca: string,
  { telefono, comercio, municipio, guia, estado, ubicacion_estado, token }: Mensaje,
  raiz: string,
) => html`<li>
<p class="suave">Para ${telefono ?? '(borrado)'} · guía ${inGroups(guia)} · ${estado}</p>
<p>Le escribe ${marca}. <strong>${comercio}</strong> le envía un paquete a ${municipio}. Díganos dónde entregarlo:</p>
${
  estado === 'pendiente' || token === undefined
    ? html`<p><em>Está por salir: vuelva a cargar la página.</em></p>`
    : html`<a class="boton principal" href="${raiz}u/${token}">${ubicacion_estado === 'confirmada' ? 'Ver el lugar confirmado' : 'Decir dónde es'}</a>`
}
</li>\n`

export const FALLO_DEL_BUZON = html`Vuelva a cargar la página en un minuto.`
