import { permissionNames } from '../../domain/equipo/members/permissions.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { Comercio, Llave } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageContent } from '../frame.ts'
import { button, emptyState, facts, notice, table } from '../ui/components.ts'
import { actionForms, drawIn, presenceLink, type Refused } from './forms.ts'
import {
  COUNTRIES,
  isLlaveAccepted,
  KEY_ACTIONS,
  keyScopeWords,
  MERCHANT_ACTIONS,
  type Member,
  memberActions,
  SHOP_SCOPES,
} from './merchantActions.ts'
import { following, type Office, officePage, outcome } from './shell.ts'

/** Actions that the office can take on a membership of a merchant. */
export const SHOP_MEMBER_ACTIONS = memberActions(SHOP_SCOPES, 'este comercio')

interface ListOptions {
  office: Office
  texto: string
  comercios: readonly Comercio[]
  next: string | null
  refused?: string | undefined
}

/** Returns the page with the merchants, newest first, or with those that a search by name found. */
export function merchantsPage({ office, texto, comercios, next, refused }: ListOptions): PageContent {
  const { root, scopes, clock } = office
  const rows = comercios.map(({ comercio, nombre, pais, creado_en }) => [
    html`<a href="${root}central/comercios/${comercio}">${nombre}</a>`,
    html`${pais && countryOf(pais)}`,
    html`<span class="codigo">${comercio}</span>`,
    html`<time class="junto" datetime="${creado_en}">${clock.formatShort(creado_en)}</time>`,
  ])
  const found =
    comercios.length > 0
      ? html`${table('Comercios', ['Nombre', 'País', 'Identificador', 'Creado'], rows)}${following(root, 'central/comercios', texto === '' ? {} : { texto }, next)}`
      : emptyState(
          icons.Store,
          html`<h2>No hay ninguno</h2>`,
          texto === ''
            ? 'El primero se crea con el botón de arriba.'
            : 'Revise lo que buscó, o busque una parte del nombre.',
        )
  return officePage(office, {
    titulo: 'Comercios',
    place: 'comercios',
    body: html`<div class="cabeza"><h1 tabindex="-1">Comercios</h1>${scopes.includes('administrar') && button({ text: 'Nuevo comercio', icon: icons.Store, href: `${root}central/comercios/nuevo` })}</div>
<form class="filtros" action="${root}central/comercios"><div class="campo"><label for="texto">Nombre</label><input id="texto" name="texto" type="search" value="${texto}" maxlength="100" autocomplete="off"></div>${button({ text: 'Buscar comercio', attributes: html`type="submit"` })}</form>
${refused ? outcome(refused, 'mal') : found}`,
  })
}

const countryOf = (country: string) => COUNTRIES.find(([code]) => code === country)?.[1] ?? country

/** Fields of the form that creates a merchant. */
export const NEW_FIELDS = ['nombre', 'pais', 'correo', 'persona'] as const

/** Returns the page with the form that creates a merchant and invites its first person. */
export function newMerchantPage(
  office: Office,
  { refused, present }: { refused: Refused | undefined; present: boolean },
) {
  const { root } = office
  const draw = drawIn<(typeof NEW_FIELDS)[number]>('nuevo', refused)
  return officePage(office, {
    titulo: 'Nuevo comercio',
    place: 'comercios',
    body: html`<p class="suave"><a href="${root}central/comercios">Comercios</a></p>
<h1 tabindex="-1">Nuevo comercio</h1>
${!present && !refused && notice(html`<p>Para invitar a su primera persona hace falta confirmar quién es usted. ${presenceLink(root, 'central/comercios/nuevo?confirmado=1')} antes de llenar esto.</p>`)}<form class="angosto" method="post" action="${root}central/comercios/nuevo">
${refused && html`<p class="error" role="alert" tabindex="-1" autofocus>${refused.sentence}${refused.presence && html` ${presenceLink(root, 'central/comercios/nuevo?confirmado=1')}`}</p>`}${draw.input('nombre', 'Nombre', { required: true, max: 120, hint: 'Lo leen quienes esperan sus paquetes.' })}${draw.select('pais', 'País', COUNTRIES, { value: 'GT', hint: 'El de los teléfonos escritos sin «+».' })}
<h2>Su primera persona</h2><p class="suave">Le llega un correo para entrar, con el permiso «Propietario». Puede dejarlo vacío e invitarla después.</p>
${draw.input('correo', 'Su correo', { type: 'email', max: 254 })}${draw.input('persona', 'Su nombre', { max: 120 })}
${button({ text: 'Crear el comercio', kind: 'principal', attributes: html`type="submit"` })}</form>`,
  })
}

/** Sentences that the page of a merchant shows after the merchant was created or its first person was invited. */
export const SAID: Readonly<Record<string, string>> = {
  creado: 'El comercio quedó creado.',
  invitado: 'El comercio quedó creado, y la invitación va en camino.',
}

/** Rows that a page shows, and whether there are more. */
export interface Rows<T> {
  rows: readonly T[]
  more: boolean
}

interface MerchantOptions {
  office: Office
  comercio: Comercio
  /** Keys and persons; undefined if the reader lacks the scope `administrar`. */
  keys: Rows<Llave> | undefined
  members: Rows<Member> | undefined
  key: string
  refused?: Refused | undefined
  /** Sentence about the action that was just taken or refused. */
  said?: { text: string; good: boolean } | undefined
}

export function merchantPage(options: MerchantOptions): PageContent {
  const { office, comercio, keys, members, key, refused, said } = options
  const { root, scopes, clock } = office
  const here = `central/comercios/${comercio.comercio}`
  const forms = (which: readonly string[]) =>
    actionForms(Object.fromEntries(which.map((name) => [name, MERCHANT_ACTIONS[name]!])), {
      thing: { ...comercio, clock },
      scopes,
      key,
      refused,
      root,
      here,
    })
  return officePage(office, {
    titulo: 'Comercio',
    place: 'comercios',
    body: html`<p class="suave"><a href="${root}central/comercios">Comercios</a></p>
<div class="cabeza"><h1 tabindex="-1">${comercio.nombre}</h1><span class="codigo suave">${comercio.comercio}</span></div>
${said && outcome(said.text, said.good ? 'bien' : 'aviso')}<p class="enlaces"><a href="${root}central/guias?comercio=${comercio.comercio}">Sus guías</a><a href="${root}${here}/webhooks">Sus webhooks</a>${scopes.includes('administrar') && html`<a href="${root}${here}/bitacora">Su bitácora</a>`}</p>
<div class="ficha"><div>
<section class="tarjeta" aria-labelledby="ajustes"><h2 id="ajustes">Ajustes</h2>${settings(comercio, clock.formatLong(comercio.creado_en))}${forms(['datos', 'ritmos', 'evidencia', 'intentos'])}</section>
</div>${
      keys &&
      members &&
      html`<div>
<section class="tarjeta" aria-labelledby="personas"><h2 id="personas">Personas</h2>${memberList({ ...options, members })}${forms(['invitar'])}</section>
<section class="tarjeta" aria-labelledby="llaves"><h2 id="llaves">Llaves</h2>${keyList({ office, keys, key, refused, here, detail: ({ modo, alcances }) => html`${modo === 'test' ? 'De prueba' : 'Real'}: ${alcances.map(keyScopeWords).join(', ')}` })}${forms(['llave'])}</section>
</div>`
    }</div>`,
  })
}

const FIRMA_WORDS = { obligatoria: 'firma obligatoria', opcional: 'firma opcional', no: 'sin firma' } as const
const DOCUMENT_WORDS = {
  obligatoria: 'documento obligatorio',
  opcional: 'documento opcional',
  no: 'sin documento',
} as const

/** Describes the settings of a merchant in words. */
function settings({ pais, estricto, ritmos, evidencia, politica_de_intentos: policy }: Comercio, since: string): Html {
  const { fotos_minimas, firma, documento } = evidencia
  const days = (count: number) => `${count} ${count === 1 ? 'día' : 'días'}`
  return facts([
    ['País', pais === null ? 'Ninguno' : countryOf(pais)],
    ['Lugares inverosímiles', estricto ? 'Se rechazan' : 'Se crean, con una advertencia'],
    ['Cada llave', `${ritmos.solicitudes} solicitudes y ${ritmos.guias} guías por segundo`],
    [
      'Pruebas',
      `${fotos_minimas} ${fotos_minimas === 1 ? 'foto' : 'fotos'}, ${FIRMA_WORDS[firma]}, ${DOCUMENT_WORDS[documento]}`,
    ],
    [
      'Tras un intento',
      `Hasta ${policy.maximos}, con ${days(policy.dias_entre)} entre ellos. Se espera ${days(policy.dias_para_decidir)}, y sin decisión ${policy.al_vencer === 'devolver' ? 'se devuelve' : 'se sigue esperando'}.${policy.destinatario_decide ? ' También decide quien recibe.' : ''}`,
    ],
    ['Desde', since],
  ])
}

function memberList({ office, comercio, members, key, refused }: MerchantOptions & { members: Rows<Member> }): Html {
  if (members.rows.length === 0) return html`<p class="suave">Nadie de este comercio entra con su correo.</p>`
  const { root, scopes, clock } = office
  return html`<ul class="lista">${members.rows.map((member) => {
    const { entrado_en } = member
    return html`<li><b>${member.nombre}</b><p>${addressOf(member, clock)}</p><p class="suave">Puede ${permissionNames(member.membership.alcances)} · ${entrado_en === null ? 'sin sesión abierta' : `entró el ${clock.formatShort(entrado_en)}`}</p>${actionForms(SHOP_MEMBER_ACTIONS, { thing: member, which: member.membership.membresia, scopes, key, refused, root, here: `central/comercios/${comercio.comercio}` })}</li>`
  })}</ul>${members.more && LEFT_OFF}`
}

/** Draws the mail address of a person, with the time at which a mail to it bounced. */
export const addressOf = (
  { correo, correo_rebotado_en: bounced }: Pick<Member, 'correo' | 'correo_rebotado_en'>,
  clock: Office['clock'],
): Html =>
  html`${correo}${bounced !== null && html`<br><span class="error">El último correo rebotó el ${clock.formatShort(bounced)}: revise la dirección.</span>`}`

/** Sentence below a list that does not show all rows. */
export const LEFT_OFF = html`<p class="suave">Se ven los 100 más nuevos. Los demás están en la API de operaciones.</p>`

interface KeyListOptions<K> {
  office: Office
  keys: Rows<K>
  key: string
  refused: Refused | undefined
  here: string
  /** Draws what the key permits. */
  detail: (key: K) => Html
}

/** Draws the keys of a merchant or an operator. Keys that are no longer valid come last. */
export function keyList<K extends Pick<Llave, 'id' | 'vence_en' | 'revocado_en' | 'usado_en' | 'creado_en' | 'redes'>>({
  office,
  keys,
  key,
  refused,
  here,
  detail,
}: KeyListOptions<K>): Html {
  const { root, scopes, clock, now } = office
  if (keys.rows.length === 0) return html`<p class="suave">No hay ninguna.</p>`
  const [alive = [], dead = []] = [true, false].map((valid) =>
    keys.rows.filter((one) => isLlaveAccepted(one, now) === valid),
  )
  const item = (one: K) => {
    const { id, vence_en, revocado_en, usado_en, redes } = one
    const until =
      revocado_en !== null
        ? `Revocada el ${clock.formatShort(revocado_en)}`
        : vence_en === null
          ? 'No vence'
          : `${isLlaveAccepted(one, now) ? 'Vence' : 'Venció'} el ${clock.formatShort(vence_en)}`
    const used = usado_en === null ? 'sin usar' : `usada el ${clock.formatShort(usado_en)}`
    return html`<li><b class="codigo">${id}</b><p>${detail(one)}</p><p class="suave">${until} · ${used}${redes.length > 0 && html` · desde ${redes.join(', ')}`}</p>${actionForms(KEY_ACTIONS, { thing: { id, vence_en, revocado_en, now }, which: id, scopes, key, refused, root, here })}</li>`
  }
  return html`<ul class="lista">${alive.map(item)}</ul>${dead.length > 0 && html`<details class="accion"><summary>Las que ya no valen (${dead.length})</summary><ul class="lista">${dead.map(item)}</ul></details>`}${keys.more && LEFT_OFF}`
}

interface SecretOptions {
  /** Title of the page: the kind of secret. */
  title: string
  secret: string
  /** Path and name of the page to which the person continues. */
  back: string
  place: 'comercios' | 'equipo'
  /** True if another person must first approve the key. */
  pending?: boolean
  /** Sentence about the use of the secret. */
  note?: string | undefined
}

/** Returns the page that shows a secret, only this once. */
export function secretPage(office: Office, { title, secret, back, place, pending, note }: SecretOptions): PageContent {
  return officePage(office, {
    titulo: title,
    place,
    body: html`<h1 tabindex="-1">${title}</h1>
${outcome(html`Guárdelo ahora: no se puede volver a mostrar.${pending && ' No vale hasta que lo apruebe otra persona que administra, en «Por aprobar» de su cuenta.'}`, 'aviso')}
${note !== undefined && html`<p>${note}</p>`}<p><code class="secreto" id="secreto">${secret}</code></p>
<p data-copia="secreto" hidden>${button({ text: 'Copiar', attributes: html`type="button"` })} <span role="status"></span></p>
<p><a href="${office.root}${back}">Ya lo guardé</a></p>`,
  })
}
