import { GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { GuiaDeOperacion, GuiaDetenida, Jornada, WebhookConFallas } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageContent } from '../frame.ts'
import { emptyState, stateBadge } from '../ui/components.ts'
import { chooser } from './bulk.ts'
import type { MerchantNames } from './calls.ts'
import { guideTable, MISSING, type TableOptions } from './list.ts'
import { webhookTable } from './notices.ts'
import { type Office, officePage } from './shell.ts'

/** Guides and endpoints that need a person's attention. */
export interface Attention {
  /** Guides whose recipient did not answer, or did not get the message. */
  withoutPlace: readonly GuiaDeOperacion[]
  /** Guides with an open decision after a failed attempt. */
  undecided: readonly GuiaDeOperacion[]
  /** Parcels in custody whose state has not changed for long. */
  stuck: readonly GuiaDetenida[]
  /** Merchants' webhook endpoints that do not accept deliveries. */
  webhooks: readonly WebhookConFallas[]
}

interface TodayOptions extends Attention {
  office: Office
  jornada: Jornada
  names: MerchantNames
}

interface Part<G> {
  id: string
  title: string
  guias: readonly G[]
  /** Actions on the chosen guides. The first one also has a button in each row. */
  actions: readonly [first: string, ...more: string[]]
  text: string
}

/** Returns the office's first page: number of guides in each state, and what needs a person's attention. */
export function todayPage(options: TodayOptions): PageContent {
  const { office, jornada, names, withoutPlace, undecided, stuck, webhooks } = options
  const { root } = office
  const counts = jornada.estados.filter(({ guias }) => guias > 0)
  const nothing = withoutPlace.length + undecided.length + stuck.length + webhooks.length === 0
  function part<G extends GuiaDeOperacion>(
    { id, title, guias, actions, text }: Part<G>,
    more: Pick<TableOptions<G>, 'since'> = {},
  ): Html | false {
    const action = { accion: actions[0], text, returnTo: '' }
    const rows = guideTable(title, guias, { office, names, choosing: true, action, ...more })
    return (
      guias.length > 0 &&
      html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${chooser({ office, table: rows, guias, actions, returnTo: '' })}</section>`
    )
  }
  return officePage(office, {
    titulo: 'Hoy',
    place: '',
    body: html`<h1 tabindex="-1">Hoy</h1>
<ul class="cuentas"><li><b>${jornada.creadas}</b> creadas hoy</li>${jornada.sin_lugar > 0 && html`<li><a href="${root}central/guias?lugar=${MISSING}"><b>${jornada.sin_lugar}</b> sin lugar</a></li>`}${counts.map(({ estado, guias }) => html`<li><a href="${root}central/guias?estado=${estado}"><b>${guias}</b> ${stateBadge(estado, GUIA_STATE_WORDS[estado])}</a></li>`)}</ul>
${part({ id: 'decidir', title: 'Esperan una decisión', guias: undecided, actions: ['reintentar', 'devolver'], text: 'Poner fecha' })}${part({ id: 'lugar', title: 'Sin lugar: el mensaje no tuvo respuesta', guias: withoutPlace, actions: ['reenviar'], text: 'Reenviar' })}${part({ id: 'detenidas', title: 'No se mueven', guias: stuck, actions: ['registrar', 'devolver'], text: 'Registrar un paso' }, { since: ['Así desde', ({ detenida_desde }) => detenida_desde] })}${
  webhooks.length > 0 &&
  html`<section aria-labelledby="webhooks"><h2 id="webhooks">Comercios que no reciben sus avisos</h2>${webhookTable(webhooks, office)}<p><a href="${root}central/avisos">Ver los avisos que fallan</a></p></section>`
}${nothing && emptyState(icons.CircleCheck, html`<h2>Nada espera a nadie</h2>`, 'Cuando un paquete necesite una decisión o un lugar, aparece aquí.')}
<p class="suave">Las guías de prueba no cuentan; están en la lista de guías.</p>`,
  })
}
