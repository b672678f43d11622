import type { FilaMensaje } from '../../domain/mensajeria/mensaje.ts'
import type { EstadoDeUbicacion } from '../../generado/contrato/tipos/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import type { PageContent } from '../frame.ts'
import { html } from '../html.ts'

/** A message as the mailbox shows it. */
export interface Mensaje extends Pick<FilaMensaje, 'telefono' | 'guia' | 'estado' | 'tipo'> {
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
<p>Lo que recibirían en su teléfono los destinatarios de guías de prueba sin ubicación, o que no se pudieron entregar. Aquí no sale nada afuera: abra un enlace y conteste como lo harían ellos.</p>
${
  mensajes.length > 0
    ? html`<ol>${mensajes.map((mensaje) => tarjeta(marca, mensaje, raiz))}</ol>`
    : html`<p><strong>Todavía no hay mensajes.</strong> Cree una guía de prueba sin <code>lat</code>, <code>lng</code> ni <code>maps_url</code>.</p>`
}`,
})

const tarjeta = (marca: string, mensaje: Mensaje, raiz: string) => html`<li class="tarjeta">
<p class="suave">Para ${mensaje.telefono ?? '(borrado)'} · guía ${inGroups(mensaje.guia)} · ${mensaje.estado}</p>
<p>Le escribe ${marca}. ${texto(mensaje)}</p>
${
  mensaje.estado === 'pendiente' || mensaje.token === undefined
    ? html`<p><em>Está por salir: vuelva a cargar la página.</em></p>`
    : enlace(mensaje, mensaje.token, raiz)
}
</li>\n`

const texto = ({ tipo, comercio, municipio }: Mensaje) =>
  tipo === 'solicitud_decision'
    ? html`No pudimos entregarle su paquete de <strong>${comercio}</strong>. Díganos qué hacemos:`
    : html`<strong>${comercio}</strong> le envía un paquete a ${municipio}. Díganos dónde entregarlo:`

const enlace = ({ tipo, ubicacion_estado }: Mensaje, token: string, raiz: string) =>
  tipo === 'solicitud_decision'
    ? html`<a class="boton principal" href="${raiz}d/${token}">Decidir</a>`
    : html`<a class="boton principal" href="${raiz}u/${token}">${ubicacion_estado === 'confirmada' ? 'Ver el lugar confirmado' : 'Decir dónde es'}</a>`

export const FALLO_DEL_BUZON = html`Vuelva a cargar la página en un minuto.`
