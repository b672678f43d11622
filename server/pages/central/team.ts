import { PERMISSIONS, permissionNames } from '../../domain/equipo/members/permissions.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { InvitacionAbierta, LlaveDeOperador, Operador, Repartidor } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageContent } from '../frame.ts'
import { choiceRow, emptyState, facts, notice } from '../ui/components.ts'
import { actionForms, type Refused } from './forms.ts'
import { addressOf, keyList, LEFT_OFF, type Rows } from './merchants.ts'
import { following, type Office, officePage, outcome } from './shell.ts'
import {
  COLLEAGUE_ACTIONS,
  COURIER_ACTIONS,
  COURIERS_ACTIONS,
  type Colleague,
  INVITATION_ACTIONS,
  SYSTEM_ACTIONS,
  SYSTEMS_ACTIONS,
  TEAM_ACTIONS,
} from './teamActions.ts'

/** Parts of a page that depend on the form that was just sent. */
export interface FormOutcome {
  key: string
  refused?: Refused | undefined
  /** Sentence about the action that was just taken. */
  done?: string | undefined
  /** Names of the persons who can approve what was just requested; undefined if nothing waits for approval. */
  deciders?: readonly string[] | undefined
}

const NAMES = new Intl.ListFormat('es', { type: 'disjunction' })

/** Draws the notices at the top of a page. */
function told(root: string, { done, deciders }: FormOutcome): Html | false {
  if (deciders !== undefined)
    return outcome(
      html`Queda por aprobar: no cambia nada hasta que lo decida ${deciders.length === 0 ? 'otra persona que administra' : NAMES.format(deciders)}, en «Por aprobar» de su cuenta. Vale 72 horas, y puede retirarlo en <a href="${root}cuenta">la suya</a>.`,
      'aviso',
    )
  return done !== undefined && outcome(done)
}

interface TeamOptions extends FormOutcome {
  office: Office
  colleagues: Rows<Colleague>
  invitations: Rows<InvitacionAbierta>
  /** Number of requests that wait for approval. */
  pending: number
}

/** Returns the page with the persons of the courier company. */
export function teamPage(options: TeamOptions): PageContent {
  const { office, colleagues, invitations, pending, key, refused } = options
  const { root, scopes, clock } = office
  const here = 'central/equipo'
  return officePage(office, {
    titulo: 'Equipo',
    place: 'equipo',
    body: html`<h1 tabindex="-1">Equipo</h1>
${told(root, options)}${pending > 0 && notice(html`<p><a href="${root}cuenta">${pending === 1 ? 'Hay una cosa por aprobar' : `Hay ${pending} cosas por aprobar`}</a>, en su cuenta.</p>`)}<p class="enlaces"><a href="${root}${here}/sistemas">Sistemas y sus llaves</a><a href="${root}${here}/repartidores">Repartidores y sus códigos</a><a href="${root}${here}/servicio">Servicio</a></p>
${colleagues.rows.map(({ persona, nombre, membership, segundo_factor, entrado_en, correo_rebotado_en }) =>
  choiceRow({
    icon: icons.Building2,
    text: nombre,
    detail: `Puede ${permissionNames(membership.alcances)} · ${segundo_factor ? 'con segundo factor' : 'sin segundo factor'}${correo_rebotado_en === null ? '' : ' · sus correos rebotan'} · ${entrado_en === null ? 'sin sesión abierta' : `entró el ${clock.formatShort(entrado_en)}`}`,
    href: `${root}${here}/${persona}`,
  }),
)}${colleagues.more && LEFT_OFF}${
  invitations.rows.length > 0 &&
  html`<section aria-labelledby="invitadas"><h2 id="invitadas">Invitadas, y no han entrado</h2><ul class="lista">${invitations.rows.map(
    (invitation) =>
      html`<li class="tarjeta"><b>${invitation.nombre}</b><p class="suave"><span class="largo">${invitation.correo}</span> · podrá ${permissionNames(invitation.alcances)} · vale hasta el ${clock.formatShort(invitation.vence_en)}</p>${actionForms(INVITATION_ACTIONS, { thing: invitation, which: invitation.invitacion, scopes, key, refused, root, here })}</li>`,
  )}</ul>${invitations.more && LEFT_OFF}</section>`
}${actionForms(TEAM_ACTIONS, { thing: null, scopes, key, refused, root, here })}`,
  })
}

interface ColleagueOptions extends FormOutcome {
  office: Office
  colleague: Colleague
}

/** Returns the page of one person of the courier company. */
export function colleaguePage(options: ColleagueOptions): PageContent {
  const { office, colleague, key, refused } = options
  const { root, scopes, clock } = office
  const { persona, nombre, membership, segundo_factor, sesiones, entrado_en, creado_en } = colleague
  return officePage(office, {
    titulo: 'Una persona del equipo',
    place: 'equipo',
    body: html`<p class="suave"><a href="${root}central/equipo">Equipo</a></p>
<h1 tabindex="-1">${nombre}</h1>
${told(root, options)}${facts([
  ['Correo', addressOf(colleague, clock)],
  [
    'Permisos',
    html`<ul class="lista">${membership.alcances.map((one) => html`<li>${PERMISSIONS[one].nombre}: <span class="suave">${PERMISSIONS[one].allows}</span></li>`)}</ul>`,
  ],
  ['Segundo factor', segundo_factor ? 'Tiene' : 'No tiene: invítela otra vez para que lo agregue'],
  [
    'Sesiones',
    entrado_en === null
      ? 'Ninguna abierta'
      : `${sesiones === 1 ? 'Una abierta' : `${sesiones} abiertas`}; la última vez entró el ${clock.formatLong(entrado_en)}`,
  ],
  ['Desde', clock.formatLong(creado_en)],
  ['Identificador', html`<span class="largo">${persona}</span>`],
])}
${actionForms(COLLEAGUE_ACTIONS, { thing: colleague, scopes, key, refused, root, here: `central/equipo/${persona}` })}`,
  })
}

interface SystemsOptions extends FormOutcome {
  office: Office
  systems: readonly Operador[]
  next: string | null
}

/** Returns the page with the systems that use the operators' API. */
export function systemsPage(options: SystemsOptions): PageContent {
  const { office, systems, next, key, refused } = options
  const { root, scopes, clock } = office
  const here = 'central/equipo/sistemas'
  return officePage(office, {
    titulo: 'Sistemas',
    place: 'equipo',
    body: html`<p class="suave"><a href="${root}central/equipo">Equipo</a></p>
<h1 tabindex="-1">Sistemas y sus llaves</h1>
${told(root, options)}${systems.length === 0 && emptyState(icons.CodeXml, html`<h2>No hay ninguno</h2>`, 'Un sistema usa la API de operaciones con su llave.')}${systems.map(
  ({ operador, nombre, revocado_en, creado_en }) =>
    choiceRow({
      icon: icons.CodeXml,
      text: nombre,
      detail:
        revocado_en === null
          ? `Desde el ${clock.formatShort(creado_en)}`
          : `Revocado el ${clock.formatShort(revocado_en)}`,
      href: `${root}${here}/${operador}`,
    }),
)}${following(root, here, {}, next)}${actionForms(SYSTEMS_ACTIONS, { thing: null, scopes, key, refused, root, here })}`,
  })
}

interface SystemOptions extends FormOutcome {
  office: Office
  system: Operador
  keys: Rows<LlaveDeOperador>
}

/** Returns the page of one such system, with its keys. */
export function systemPage(options: SystemOptions): PageContent {
  const { office, system, keys, key, refused } = options
  const { root, scopes, clock } = office
  const here = `central/equipo/sistemas/${system.operador}`
  return officePage(office, {
    titulo: 'Un sistema',
    place: 'equipo',
    body: html`<p class="suave"><a class="aparte" href="${root}central/equipo">Equipo</a> / <a class="aparte" href="${root}central/equipo/sistemas">Sistemas</a></p>
<div class="cabeza"><h1 tabindex="-1">${system.nombre}</h1><span class="codigo suave">${system.operador}</span></div>
${told(root, options)}<section class="tarjeta" aria-labelledby="llaves"><h2 id="llaves">Llaves</h2>${keyList({
      office,
      keys,
      key,
      refused,
      here,
      detail: ({ alcances }) => html`${alcances.map((one) => PERMISSIONS[one].nombre).join(', ')}`,
    })}${actionForms(SYSTEM_ACTIONS, { thing: { ...system, clock }, scopes, key, refused, root, here })}</section>`,
  })
}

interface CouriersOptions extends FormOutcome {
  office: Office
  couriers: readonly Repartidor[]
  next: string | null
}

/** Returns the page with the couriers and the codes with which they sign in. */
export function courierAccessPage(options: CouriersOptions): PageContent {
  const { office, couriers, next, key, refused } = options
  const { root, scopes, clock } = office
  const here = 'central/equipo/repartidores'
  return officePage(office, {
    titulo: 'Repartidores',
    place: 'equipo',
    body: html`<p class="suave"><a href="${root}central/equipo">Equipo</a></p>
<h1 tabindex="-1">Repartidores y sus códigos</h1>
${told(root, options)}${couriers.length === 0 && emptyState(icons.Truck, html`<h2>No hay ninguno</h2>`, 'Cada uno entra en /repartidor con su código.')}<ul class="lista">${couriers.map(
      (courier) =>
        html`<li class="tarjeta"><b>${courier.nombre}</b><p class="suave">${courier.telefono && html`<a href="tel:${courier.telefono}">${courier.telefono}</a> · `}${courier.activo ? `desde el ${clock.formatShort(courier.creado_en)}` : 'desactivado'}</p>${actionForms(COURIER_ACTIONS, { thing: courier, which: courier.repartidor, scopes, key, refused, root, here })}</li>`,
    )}</ul>${following(root, here, {}, next)}${actionForms(COURIERS_ACTIONS, { thing: null, scopes, key, refused, root, here })}`,
  })
}
