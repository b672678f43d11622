import { GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import { admitsUbicacion, RESENDS_PER_GUIA } from '../../domain/ubicacion/ubicacion.ts'
import type { GuiaDeOperacion, Mensaje } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { ACTIONS, type GuideThing } from './actions.ts'
import { besideForm, type FormsOptions } from './forms.ts'

const STATE_WORDS: Readonly<Record<Mensaje['estado'], string>> = {
  pendiente: 'Por salir',
  enviado: 'Salió',
  entregado: 'Llegó a su teléfono',
  leido: 'Leído',
  fallido: 'No se pudo enviar',
  dudoso: 'No se sabe si salió',
  descartado: 'No hizo falta',
}

/** Draws the messages to the recipient, newest first, and the form that asks for the location once more. */
export const messagesPart = (mensajes: readonly Mensaje[], clock: Clock, forms: FormsOptions<GuideThing>): Html =>
  html`<section class="tarjeta" aria-labelledby="mensajes"><h2 id="mensajes">Mensajes</h2>
${
  mensajes.length === 0
    ? html`<p class="suave">No se le ha escrito a quien recibe.</p>`
    : html`<ul class="lista">${mensajes.toReversed().map((mensaje) => message(mensaje, clock))}</ul>`
}${forms.scopes.includes('operar') && askAgain(mensajes, forms)}</section>
`

function message({ texto, estado, canal, creado_en, entregado_en, leido_en, motivo }: Mensaje, clock: Clock): Html {
  const seen = leido_en ?? entregado_en
  const channel = canal === 'whatsapp' ? 'WhatsApp' : 'buzón de prueba'
  return html`<li><p class="nota">${texto}</p><p class="suave">${clock.formatShort(creado_en)} · ${channel} · ${STATE_WORDS[estado]}${seen && html` el ${clock.formatShort(seen)}`}${motivo && html`: ${motivo}`}</p></li>`
}

function askAgain(mensajes: readonly Mensaje[], forms: FormsOptions<GuideThing>): Html | false {
  const why = whyNotAgain(forms.thing, mensajes)
  if (why === undefined) return besideForm('reenviar', ACTIONS.reenviar!, forms)
  return mensajes.length > 0 && html`<p class="suave">${why}</p>`
}

/** Returns the reason why the recipient cannot be asked for the location once more; undefined if the recipient can. */
function whyNotAgain(guia: GuiaDeOperacion, mensajes: readonly Mensaje[]): string | undefined {
  const { estado, ubicacion, telefono } = guia
  if (ubicacion.estado === 'confirmada') return 'No hay nada que reenviar: el lugar está confirmado.'
  if (!admitsUbicacion({ estado, ubicacion_estado: ubicacion.estado }))
    return `No hay nada que reenviar: la guía está en «${GUIA_STATE_WORDS[estado]}», y ya no espera el lugar.`
  const sent = mensajes.filter((one) => one.tipo === 'solicitud_ubicacion' && one.telefono === telefono).length
  return sent > RESENDS_PER_GUIA
    ? `Ya se reenvió ${RESENDS_PER_GUIA} veces a ese teléfono. Llame, y ponga usted el lugar.`
    : undefined
}
