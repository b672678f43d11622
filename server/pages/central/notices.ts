import * as icons from '../../generated/contract/icons.ts'
import type { DecisionNoPreguntada, GuiaDeOperacion, WebhookConFallas } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { capitalized } from '../../platform/words.ts'
import type { PageContent } from '../frame.ts'
import { emptyState, table } from '../ui/components.ts'
import { chooser } from './bulk.ts'
import type { MerchantNames } from './calls.ts'
import { guideTable } from './list.ts'
import { type Office, officePage } from './shell.ts'
import { faultWords } from './webhooks.ts'

interface NoticesOptions {
  office: Office
  webhooks: readonly WebhookConFallas[]
  /** True if there are more endpoints than shown. */
  more: boolean
  /** Guides whose message did not reach the recipient. */
  unreached: readonly GuiaDeOperacion[]
  /** Guides whose recipient could not be asked for a decision. */
  unasked: { datos: readonly DecisionNoPreguntada[]; hay_mas: boolean }
  names: MerchantNames
}

/**
 * Returns the page with notices that the service could not deliver: webhooks to merchants, and messages to recipients.
 */
export function noticesPage({ office, webhooks, more, unreached, unasked, names }: NoticesOptions): PageContent {
  const rows = guideTable('Mensajes que no llegaron', unreached, {
    office,
    names,
    choosing: true,
    action: { accion: 'reenviar', text: 'Reenviar', returnTo: 'avisos' },
    detail: ({ ubicacion: { solicitud } }) => solicitud?.motivo,
  })
  const questions = guideTable('Preguntas que no salieron', unasked.datos, {
    office,
    names,
    choosing: true,
    action: { accion: 'reintentar', text: 'Poner fecha', returnTo: 'avisos' },
    detail: ({ pregunta: { estado, motivo } }) => motivo ?? (estado === 'dudoso' ? 'No se sabe si salió' : 'No salió'),
  })
  return officePage(office, {
    titulo: 'Avisos que fallan',
    place: 'avisos',
    body: html`<h1 tabindex="-1">Avisos que fallan</h1>
<section aria-labelledby="webhooks"><h2 id="webhooks">Comercios que no reciben</h2>
${
  webhooks.length === 0
    ? emptyState(
        icons.CircleCheck,
        html`<h3>Todos reciben</h3>`,
        'Cuando el servidor de un comercio falle, aparece aquí.',
      )
    : html`<p class="suave">Avísele al comercio: el servicio sigue intentando durante 5 días, y después deja de hacerlo.</p>${webhookTable(webhooks, office)}${more && html`<p>Hay más.</p>`}`
}</section>
<section aria-labelledby="mensajes"><h2 id="mensajes">Mensajes que no llegaron a quien recibe</h2>
${
  unreached.length === 0
    ? emptyState(
        icons.CircleCheck,
        html`<h3>Todos llegaron</h3>`,
        'Cuando un mensaje no se pueda enviar, aparece aquí.',
      )
    : chooser({ office, table: rows, guias: unreached, actions: ['reenviar'], returnTo: 'avisos' })
}</section>${
      unasked.datos.length > 0 &&
      html`
<section aria-labelledby="preguntas"><h2 id="preguntas">Decisiones que no se pudieron preguntar</h2><p class="suave">Llame a quien recibe, o decida por él.</p>${chooser({ office, table: questions, guias: unasked.datos, actions: ['reintentar', 'devolver'], returnTo: 'avisos' })}${unasked.hay_mas && html`<p>Hay más.</p>`}</section>`
    }`,
  })
}

/**
 * Draws failing endpoints as a table. Times follow the company's clock, because an endpoint has no location of its own.
 */
export function webhookTable(webhooks: readonly WebhookConFallas[], { root, clock }: Office): Html {
  return table(
    'Comercios que no reciben',
    ['Comercio', 'Servidor', 'Desde', 'Última falla', 'Esperan', 'Estado'],
    webhooks.map((one) => [
      html`<a href="${root}central/comercios/${one.comercio}/webhooks/${one.webhook}">${one.nombre_comercio}</a>`,
      html`<span class="host">${one.host}</span>`,
      html`<time class="junto" datetime="${one.desde}">${clock.formatShort(one.desde)}</time>`,
      html`${faultOf(one)}<br><span class="suave">${one.intentos === 1 ? '1 intento' : `${one.intentos} intentos`}</span>`,
      html`${waiting(one)}`,
      html`${one.estado === 'fallando' ? 'Se sigue intentando' : 'Deshabilitado'}`,
    ]),
  )
}

/** Maximum that the operation counts; this number means «or more». */
const MAX_PENDING = 1_000

const waiting = ({ pendientes }: WebhookConFallas): string => {
  const more = pendientes >= MAX_PENDING ? ' o más' : ''
  return `${pendientes}${more} ${pendientes === 1 ? 'aviso' : 'avisos'}`
}

/** Describes the last fault in words. For an answer, the HTTP status is enough. */
function faultOf({ ultima_falla }: WebhookConFallas): string {
  if (ultima_falla === null) return 'No se sabe'
  const { error, estado_http } = ultima_falla
  const words = error === 'http' ? 'Contestó' : capitalized(faultWords(error))
  return estado_http === null ? words : `${words} (${estado_http})`
}
