import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import * as icons from '../../generated/contract/icons.ts'
import type {
  AvisoDeWebhook,
  AvisoDeWebhookConIntentos,
  Comercio,
  IntentoDeWebhook,
  Webhook,
} from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { type Html, html } from '../../platform/html.ts'
import { capitalized } from '../../platform/words.ts'
import { FOREIGN_FORM } from '../form.ts'
import type { PageRequest, Sheet } from '../page.ts'
import { button, emptyState, facts, field, option, table } from '../ui/components.ts'
import { codeLink } from './bulk.ts'
import {
  type Actions,
  actionForms,
  orProblem,
  perform,
  type Refused,
  refusal,
  sentenceOf,
  trimmedText,
  valuesOf,
} from './forms.ts'
import { above, following, type Office, officePage, outcome } from './shell.ts'

/** Maximum number of webhooks that the page reads in each mode; more than a merchant can have. */
const MAX_WEBHOOKS = '100'

const WEBHOOK_STATES: Readonly<Record<string, string>> = {
  activo: 'Activo',
  pausado: 'Pausado',
  deshabilitado: 'Deshabilitado',
}
const WHY_DISABLED: Readonly<Record<string, string>> = {
  fallas_continuas: 'pasaron 5 días sin un solo envío bueno',
  respondio_410: 'su servidor contestó que ya no existe (410)',
}
const DELIVERY_STATES: Readonly<Record<string, string>> = {
  pendiente: 'Por salir',
  entregado: 'Llegó',
  fallido: 'Falló',
}
const FAULTS: Readonly<Record<string, string>> = {
  http: 'contestó otra cosa que 2xx',
  redireccion: 'contestó con una redirección, que no se sigue',
  tiempo_agotado: 'no contestó en 15 segundos',
  dns: 'su nombre no se halló',
  conexion: 'no se pudo conectar',
  tls: 'su certificado no vale',
  destino_no_permitido: 'su dirección no es pública',
  respuesta_invalida: 'lo que contestó no es HTTP',
  webhook_deshabilitado: 'el webhook está deshabilitado',
}

/** Describes the error of a delivery's last attempt in words. */
export const faultWords = (error: string): string => FAULTS[error] ?? error

interface Delivery extends AvisoDeWebhook {
  comercio: string
}

/** Actions that the office can take on a delivery. */
export const DELIVERY_ACTIONS: Actions<Delivery, never> = {
  reenviar: {
    text: 'Enviar otra vez',
    icon: icons.Undo2,
    says: 'Sale ahora, con el mismo identificador, aunque ya hubiera llegado. El comercio lo ve en su bitácora.',
    scope: 'operar',
    done: 'Va a salir otra vez.',
    offered: () => true,
    fields: () => html``,
    operation: 'reenviarAvisoDeComercio',
    path: ({ comercio, webhook, aviso }) => ({ comercio, webhook, aviso }),
    body: () => undefined,
  },
}

/** Answers a request for a merchant's webhooks, for the deliveries of one webhook, or for one delivery. */
export async function showWebhooks(
  call: CallOperation,
  pageRequest: PageRequest,
  office: Office,
  comercio: Comercio,
  [which, delivery, ...more]: readonly string[],
): Promise<Sheet | undefined> {
  if (more.length > 0) return undefined
  const webhooks = await readWebhooks(call, pageRequest.req, comercio)
  if (which === undefined) return listSheet(office, comercio, webhooks)
  const webhook = webhooks.find((one) => one.webhook === which)
  if (!webhook) return undefined
  return delivery === undefined
    ? showDeliveries(call, pageRequest, office, comercio, webhook)
    : showDelivery(call, pageRequest, office, comercio, webhook, delivery)
}

async function readWebhooks(call: CallOperation, req: Request, { comercio }: Comercio): Promise<Webhook[]> {
  const read = (modo: string) =>
    call(req, 'listarWebhooksDeComercio', { path: { comercio }, query: { modo, limite: MAX_WEBHOOKS } })
  const [live, test] = await Promise.all([read('live'), read('test')])
  return [...live.body.datos, ...test.body.datos]
}

/** Describes the state of a webhook in words. */
function stateOf({ estado, motivo, fallas }: Webhook): string {
  const word = WEBHOOK_STATES[estado] ?? estado
  if (motivo !== null) return `${word}: ${WHY_DISABLED[motivo] ?? motivo}`
  return fallas === null ? word : `${word}, con ${fallas.intentos} fallas seguidas`
}

function listSheet(office: Office, comercio: Comercio, webhooks: readonly Webhook[]): Sheet {
  const { root } = office
  const rows = webhooks.map((webhook) => [
    html`<a href="${root}central/comercios/${comercio.comercio}/webhooks/${webhook.webhook}">${webhook.descripcion ?? webhook.webhook}</a>`,
    html`<span class="largo">${webhook.url}</span>`,
    html`${webhook.modo === 'test' ? 'De prueba' : 'Reales'}`,
    html`${stateOf(webhook)}`,
  ])
  return {
    status: 200,
    ...officePage(office, {
      titulo: 'Webhooks',
      place: 'comercios',
      body: html`${above(root, comercio)}<h1 tabindex="-1">Webhooks</h1>
${rows.length === 0 ? emptyState(icons.Link, html`<h2>No tiene ninguno</h2>`, 'El comercio los registra con su llave.') : table('Webhooks', ['Para qué', 'Dirección', 'Datos', 'Estado'], rows)}`,
    }),
  }
}

async function showDeliveries(
  call: CallOperation,
  { req, root }: PageRequest,
  office: Office,
  comercio: Comercio,
  webhook: Webhook,
): Promise<Sheet> {
  const [estado, cursor] = [trimmedText(req.query.estado), trimmedText(req.query.cursor)]
  const query = { ...(estado && { estado }), ...(cursor && { cursor }), limite: '25' }
  const path = { comercio: comercio.comercio, webhook: webhook.webhook }
  const read = await orProblem(call(req, 'listarAvisosDeComercio', { path, query }))
  const here = `central/comercios/${comercio.comercio}/webhooks/${webhook.webhook}`
  const refused = read instanceof Problema
  return {
    status: refused ? 422 : 200,
    ...officePage(office, {
      titulo: 'Envíos de un webhook',
      place: 'comercios',
      body: html`${above(root, comercio, ['webhooks', 'Webhooks'])}<h1 tabindex="-1">${webhook.descripcion ?? webhook.webhook}</h1>
<p><span class="largo">${webhook.url}</span><br><span class="suave">${stateOf(webhook)}${webhook.fallas && ` desde el ${office.clock.formatShort(webhook.fallas.primera_falla_en)}`}</span></p>
<form class="filtros" action="${root}${here}">${field({
        id: 'estado',
        label: 'Estado',
        control: (own) =>
          html`<select ${own} name="estado">${[['', 'Todos'] as const, ...Object.entries(DELIVERY_STATES)].map(([value, text]) => option(value, text, estado))}</select>`,
      })}${button({ text: 'Ver', attributes: html`type="submit"` })}</form>
${refused ? outcome(sentenceOf(read), 'mal') : html`${deliveryTable(office, here, read.body.datos)}${following(root, here, estado === '' ? {} : { estado }, read.body.cursor_siguiente)}`}`,
    }),
  }
}

/** Describes the last answer of the merchant's server in words. */
const answerOf = ({ ultimo_estado_http, ultimo_error }: AvisoDeWebhook): string =>
  [ultimo_estado_http, ultimo_error && faultWords(ultimo_error)].filter((one) => one !== null).join(', ')

function deliveryTable({ root, clock }: Office, here: string, entregas: readonly AvisoDeWebhook[]): Html {
  if (entregas.length === 0)
    return emptyState(icons.Inbox, html`<h2>No hay ninguno</h2>`, 'Los terminados se guardan 90 días.')
  const rows = entregas.map((one) => [
    html`<a href="${root}${here}/${one.aviso}">${one.tipo}</a>`,
    html`${one.guia !== null && codeLink(root, one.guia)}`,
    html`${DELIVERY_STATES[one.estado] ?? one.estado}${one.proximo_intento_en !== null && html`<br><span class="suave">Próximo: ${clock.formatShort(one.proximo_intento_en)}</span>`}`,
    html`${one.intentos} ${one.intentos === 1 ? 'intento' : 'intentos'}`,
    html`${answerOf(one) && `Contestó: ${answerOf(one)}`}`,
    html`<time class="junto" datetime="${one.creado_en}">${clock.formatShort(one.creado_en)}</time>`,
  ])
  return table('Envíos', ['Aviso', 'Guía', 'Estado', 'Intentos', 'Última respuesta', 'Desde'], rows)
}

async function showDelivery(
  call: CallOperation,
  { req, root, reading }: PageRequest,
  office: Office,
  comercio: Comercio,
  webhook: Webhook,
  code: string,
): Promise<Sheet | undefined> {
  const path = { comercio: comercio.comercio, webhook: webhook.webhook, aviso: code }
  const read = await orProblem(call(req, 'obtenerAvisoDeComercio', { path }))
  if (read instanceof Problema) return undefined
  const thing = { ...read.body, comercio: comercio.comercio }
  const here = `central/comercios/${path.comercio}/webhooks/${path.webhook}/${code}`
  let refused: Refused | undefined
  let status = 200
  if (!reading) {
    const values = await valuesOf<never>(req, [])
    const performed = values && (await perform(call, req, DELIVERY_ACTIONS, values, () => thing))
    if (!performed) return { status: 400, ...FOREIGN_FORM }
    if (!(performed.answer instanceof Problema)) return { status: 303, a: `${root}${here}?hecho=${performed.name}` }
    status = performed.answer.status
    refused = refusal(values, performed.answer)
  }
  const done = trimmedText(req.query.hecho) === 'reenviar' && DELIVERY_ACTIONS.reenviar!.done
  return {
    status,
    ...officePage(office, {
      titulo: 'Un envío de webhook',
      place: 'comercios',
      body: html`${above(root, comercio, ['webhooks', 'Webhooks'], [`webhooks/${webhook.webhook}`, webhook.descripcion ?? webhook.webhook])}
<div class="cabeza"><h1 tabindex="-1">${thing.tipo}</h1><span class="suave">${DELIVERY_STATES[thing.estado] ?? thing.estado}</span></div>
${done && outcome(done)}${deliveryFacts(office, thing)}
${actionForms(DELIVERY_ACTIONS, { thing, scopes: office.scopes, key: randomUUID(), refused, root, here })}
<h2>Intentos</h2>${attempts(office, thing.historial)}
<details class="accion"><summary>Lo que se envía</summary><pre class="crudo" tabindex="0">${thing.cuerpo}</pre></details>`,
    }),
  }
}

const deliveryFacts = ({ root, clock }: Office, one: AvisoDeWebhookConIntentos): Html =>
  facts([
    ['Guía', one.guia && codeLink(root, one.guia)],
    ['Identificador', html`<span class="largo">${one.evento}</span>`],
    ['Desde', clock.formatShort(one.creado_en)],
    ['Terminó', one.terminado_en && clock.formatShort(one.terminado_en)],
    ['Próximo intento', one.proximo_intento_en && clock.formatShort(one.proximo_intento_en)],
    ['Contestó', answerOf(one) || null],
  ])

function attempts({ clock }: Office, history: readonly IntentoDeWebhook[]): Html {
  if (history.length === 0) return html`<p class="suave">Todavía ninguno.</p>`
  return html`<ol class="lista">${history.map(
    (one) =>
      html`<li><b>${one.error === null ? 'Llegó' : capitalized(faultWords(one.error))}</b><p class="suave">${clock.formatShort(one.iniciado_en)} · ${one.estado_http !== null && `${one.estado_http} · `}${Math.round(one.latencia.total_ms)} ms${one.tardio && ' · tardío'}</p>${one.detalle !== null && html`<p>${one.detalle}</p>`}${one.respuesta !== null && one.respuesta.cuerpo !== '' && html`<details class="accion"><summary>Lo que contestó</summary><pre class="crudo" tabindex="0">${one.respuesta.cuerpo}</pre></details>`}</li>`,
  )}</ol>`
}
