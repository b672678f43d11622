import { type MensajeRow, mensajeTextOf } from '../../domain/mensajeria/mensaje.ts'
import type { EstadoDeUbicacion } from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { html } from '../../platform/html.ts'
import type { Letter } from '../../platform/mail/letter.ts'
import { showTelephone } from '../../platform/telephones/telephone.ts'
import { createClock } from '../../platform/time/clock.ts'
import type { PageContent } from '../frame.ts'

/** A message as the mailbox shows it. */
export interface Mensaje extends Pick<MensajeRow, 'telefono' | 'guia' | 'estado' | 'tipo' | 'creado_en' | 'vence_en'> {
  comercio: string
  municipio: string
  /** IANA time zone of the guide's destination. */
  zona: string
  ubicacion_estado: EstadoDeUbicacion
  /** Token of the message's link; undefined if the master key that made the token no longer exists. */
  token?: string | undefined
}

/** A mail as the mailbox shows it. */
export interface Correo extends Letter {
  to: string
  /** True if the mail was sent; false if it is about to be sent. */
  sale: boolean
}

/**
 * Returns the content of the mailbox page.
 * @param root relative path from the page to the service root, such as `../`
 */
export const buzonPage = (
  brand: string,
  { mensajes, correos }: { mensajes: readonly Mensaje[]; correos: readonly Correo[] },
  root: string,
): PageContent => ({
  titulo: 'Buzón de mensajes',
  body: html`<h1>Buzón de mensajes</h1>
<p>Lo que recibirían en su teléfono los destinatarios de guías de prueba sin ubicación, o que no se pudieron entregar. Aquí no sale nada afuera: abra un enlace y conteste como lo harían ellos.</p>
${
  mensajes.length > 0
    ? html`<ol>${mensajes.map((mensaje) => renderBubble(brand, mensaje, root))}</ol>`
    : html`<p><strong>Todavía no hay mensajes.</strong> Cree una guía de prueba sin <code>lat</code>, <code>lng</code> ni <code>maps_url</code>.</p>`
}${
  correos.length > 0 &&
  html`<h2>Correos</h2>
<p>Lo que recibirían por correo las personas que entran al servicio. Con <code>SMTP_URL</code> salen de verdad.</p>
<ol>${correos.map(sobre)}</ol>`
}`,
})

/** Draws a message as a phone shows it: a bubble with its time, below the name of the phone's owner. */
function renderBubble(brand: string, mensaje: Mensaje, root: string) {
  const createdAt = mensaje.creado_en.toISOString()
  return html`<li class="mensaje">
<p class="suave">Para ${mensaje.telefono === null ? '(borrado)' : showTelephone(mensaje.telefono)} · guía ${inGroups(mensaje.guia)} · ${mensaje.estado}</p>
<div class="globo"><p>${mensajeTextOf({ ...mensaje, brand })}</p>
${
  mensaje.estado === 'pendiente' || mensaje.token === undefined
    ? html`<p><em>Está por salir: vuelva a cargar la página.</em></p>`
    : link(mensaje, mensaje.token, root)
}
<time datetime="${createdAt}">${createClock(mensaje.zona).formatShort(createdAt)}</time></div>
</li>\n`
}

const sobre = ({ to, sale, subject, paragraphs, codigo, button, despues = [] }: Correo) => html`<li class="tarjeta">
<p class="suave">Para ${to} · ${sale ? 'enviado' : 'pendiente'}</p>
<h3>${subject}</h3>
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}${codigo !== undefined && html`<p><code class="codigo">${codigo}</code></p>\n`}${
  button && html`<p><a class="boton principal" href="${button.enlace}">${button.texto}</a></p>\n`
}${despues.map((paragraph) => html`<p class="suave">${paragraph}</p>\n`)}</li>\n`

const link = ({ tipo, ubicacion_estado }: Mensaje, token: string, root: string) =>
  tipo === 'solicitud_decision'
    ? html`<a class="boton principal" href="${root}d/${token}">Decidir</a>`
    : html`<a class="boton principal" href="${root}u/${token}">${ubicacion_estado === 'confirmada' ? 'Ver el lugar confirmado' : 'Decir dónde es'}</a>`

export const BUZON_FAILED = html`Vuelva a cargar la página en un minuto.`
