import { PERMISSIONS } from '../../domain/equipo/members/permissions.ts'
import { ArrowRight } from '../../generated/contract/icons.ts'
import type {
  AlcanceDePersona,
  Membresia,
  Passkey,
  SesionAbierta,
  SesionDePersona,
} from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { messagePage, type PageContent } from '../frame.ts'
import { button, facts, faultSummary, field, notice } from '../ui/components.ts'
import { signInQuery } from './session.ts'

/** Faults of a form, by the id of the field. */
export type FormFaults = Readonly<Record<string, string>>

/** Draws the list of a form's faults; false if it has none. */
export const summary = (faults: FormFaults) => Object.keys(faults).length > 0 && faultSummary(Object.entries(faults))

interface InputOptions {
  id: string
  label: string
  value: string
  faults: FormFaults
  attributes: Html
}

/** Draws a required field. */
export const input = ({ id, label, value, faults, attributes }: InputOptions): Html =>
  field({
    id,
    label,
    fault: faults[id],
    control: (own) =>
      html`<input ${own} name="${id}" required ${attributes}${value !== '' && html` value="${value}"`}>`,
  })

/** Draws the field for a mail address. */
export const addressField = (label: string, value: string, faults: FormFaults): Html =>
  field({
    id: 'correo',
    label,
    fault: faults.correo,
    control: (own) =>
      html`<input type="email" name="correo" required maxlength="254" autocomplete="username" autocapitalize="none" spellcheck="false" ${own}${value !== '' && html` value="${value}"`}>`,
  })

/** Script for passkeys, and the domain in which passkeys are valid. */
export interface PasskeyOptions {
  script: Html
  dominio: string
}

/** Draws the field for a code by mail. */
export const codeField = (faults: FormFaults): Html =>
  input({
    id: 'codigo',
    label: 'Código de seis cifras',
    value: '',
    faults,
    attributes: html`type="text" class="codigo" maxlength="20" inputmode="numeric" autocomplete="one-time-code" spellcheck="false"`,
  })

const PASSKEY_TEXTS = {
  entrar: 'Entrar con passkey',
  agregar: 'Agregar una passkey',
  probar: 'Confirmar con passkey',
}

/**
 * Draws the button for a passkey. The script shows it if the browser supports passkeys in this domain.
 * @param returnTo path to which the script goes afterwards
 * @param before content that is shown only together with the button
 */
export const passkeyButton = (
  root: string,
  domain: string,
  does: keyof typeof PASSKEY_TEXTS,
  { returnTo = '/cuenta', before }: { returnTo?: string; before?: Html } = {},
): Html =>
  html`<div id="passkey" class="passkey" data-raiz="${root}" data-dominio="${domain}" data-hace="${does}" data-volver="${root}${returnTo.slice(1)}" hidden>
${before}${button({ text: PASSKEY_TEXTS[does], attributes: html`type="button"` })}
<p role="status"></p>
</div>`

/** Draws the hidden field with the path to which a sign-in leads. */
export const returnField = (returnTo: string): Html => html`<input type="hidden" name="volver" value="${returnTo}">`

interface AddressOptions {
  correo?: string
  /** Path to which the sign-in leads. */
  returnTo: string
  /** True if the reader's session ended because nobody used it. */
  idle?: boolean
  faults?: FormFaults
  passkeys: PasskeyOptions | undefined
}

/** Returns the page that asks for the mail address to which a code is sent. */
export const addressPage = (
  root: string,
  { correo = '', returnTo, idle = false, faults = {}, passkeys }: AddressOptions,
): PageContent => ({
  titulo: 'Entrar',
  script: passkeys?.script,
  body: html`<h1 tabindex="-1">Entrar</h1>
${idle && notice(html`<p>Su sesión terminó porque pasó un rato sin que nadie la usara. Entre otra vez y sigue donde estaba.</p>`, 'espera')}${summary(faults)}<p>Le mandamos un código a su correo. No hace falta ninguna contraseña.</p>
<form method="post" action="${root}entrar">${returnField(returnTo)}
${addressField('Su correo', correo, faults)}
${button({ text: 'Mandar el código', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
${passkeys && passkeyButton(root, passkeys.dominio, 'entrar', { returnTo })}`,
})

/** Returns the notice that mails are shown in the local mailbox. */
export const mailboxNotice = (root: string) =>
  notice(html`<p>Aquí los correos no salen: están en el <a href="${root}buzon">buzón</a>.</p>`, 'espera')

/**
 * Returns the page that asks for the code. It looks the same whether or not the address belongs to a person.
 * @param buzon true if mails are shown in the local mailbox
 */
export const codePage = (
  root: string,
  { returnTo, buzon, faults = {} }: { returnTo: string; buzon: boolean; faults?: FormFaults },
): PageContent => ({
  titulo: 'Escriba el código',
  body: html`<h1 tabindex="-1">Escriba el código</h1>
${summary(faults)}<p>Si esa dirección es de una persona que trabaja aquí, en un minuto le llega un código. Vale 10 minutos, una vez, en este navegador.</p>
${buzon && mailboxNotice(root)}
<form method="post" action="${root}entrar/codigo">${returnField(returnTo)}
${codeField(faults)}
${button({ text: 'Entrar', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
<p><a class="aparte" href="${root}entrar${signInQuery({ returnTo })}">Pedir otro código</a></p>`,
})

/** Draws the names of scopes, each with a sentence that explains it. */
const scopeList = (alcances: readonly AlcanceDePersona[]): Html =>
  html`<ul class="permisos">${alcances.map((alcance) => html`<li><b>${PERMISSIONS[alcance].nombre}.</b> ${PERMISSIONS[alcance].allows}</li>\n`)}</ul>`

interface InvitationOptions {
  root: string
  token: string
  /** Name of the courier company or of the merchant. */
  lugar: string
  alcances: readonly AlcanceDePersona[]
  /** True if the invitation names nobody, so that the page asks for name and address. */
  asksForCorreo: boolean
  /** True if the page asks for a code, which the inviter gives to the invited person. */
  asksForCode: boolean
  values?: Readonly<Record<'correo' | 'nombre', string>>
  faults?: FormFaults
}

/** Returns the page of an invitation. Opening the page does not accept the invitation. */
export const invitationPage = ({
  root,
  token,
  lugar,
  alcances,
  asksForCorreo,
  asksForCode,
  values = { correo: '', nombre: '' },
  faults = {},
}: InvitationOptions): PageContent => ({
  titulo: 'Invitación',
  body: html`<h1 tabindex="-1">Le invitan a ${lugar}</h1>
${summary(faults)}<p>Al aceptar queda dentro en este navegador. Las próximas veces entra con su correo, sin contraseña.</p>
<p>Allí podrá:</p>
${scopeList(alcances)}
<form method="post" action="${root}invitacion/${token}">
${
  asksForCode &&
  html`${input({
    id: 'codigo',
    label: 'Código que le dio quien le invitó',
    value: '',
    faults,
    attributes: html`type="text" class="codigo" maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false"`,
  })}
<p class="suave">Son ocho letras y números, como 7K3M-9QX2. No vienen en el correo: pídaselos en persona o por teléfono.</p>
`
}${
  asksForCorreo &&
  html`${input({ id: 'nombre', label: 'Su nombre', value: values.nombre, faults, attributes: html`type="text" maxlength="120" autocomplete="name"` })}
${addressField('Su correo', values.correo, faults)}`
}${button({ text: 'Aceptar y entrar', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>`,
})

interface AccountOptions {
  root: string
  sesion: SesionDePersona
  sesiones: readonly SesionAbierta[]
  ownPasskeys: readonly Passkey[]
  passkeys: PasskeyOptions | undefined
  /** Passkey that the person asked to remove and must confirm, after a proof of presence. */
  passkeyToRemove: Passkey | undefined
  /** Returns the name of the courier company or of a merchant. */
  nameOf(comercio: string | null): string
  zona: string
  /** Approvals that wait for a decision. */
  aprobaciones: Html | undefined
  /** Section about the app and the recovery codes. */
  factors: Html
}

/**
 * Draws a form of the account's page.
 * @param subject thing that the form is about, such as the code of a session
 * @param content fields and button of the form
 */
export const accountForm = (root: string, action: string, subject: string, content: Html): Html =>
  html`<form method="post" action="${root}cuenta"><input type="hidden" name="accion" value="${action}"><input type="hidden" name="cual" value="${subject}">${content}</form>`

/** Draws the button that sends a form of the account's page. */
export const submitButton = (text: string, kind?: 'callado' | 'peligro'): Html =>
  button({ text, kind, attributes: html`type="submit"` })

/** Returns the page of a person's account: memberships, sessions, and the button to sign out. */
export function accountPage({
  root,
  sesion,
  sesiones,
  ownPasskeys,
  passkeys,
  passkeyToRemove,
  nameOf,
  zona,
  aprobaciones,
  factors,
}: AccountOptions): PageContent {
  const clock = createClock(zona)
  const current = sesion.membresias.find(({ membresia }) => membresia === sesion.membresia)
  const otherMembresias = sesion.membresias.filter(({ membresia }) => membresia !== sesion.membresia)
  const action = (name: string, subject: string, buttonHtml: Html) => accountForm(root, name, subject, buttonHtml)
  const membresiaCard = ({ membresia, comercio, alcances }: Membresia) =>
    html`<li class="tarjeta"><p><b>${nameOf(comercio)}</b></p>${scopeList(alcances)}${action('elegir', membresia, submitButton('Seguir aquí'))}</li>\n`
  const abierta = ({
    sesion: code,
    actual: isCurrent,
    dispositivo,
    red,
    creado_en,
    vence_en,
    inactiva_en,
  }: SesionAbierta) =>
    html`<li class="tarjeta"><p><b>${dispositivo}</b>${isCurrent && html` · este navegador`}</p>
<p class="suave">Entró el ${clock.formatLong(creado_en)}${red && html` desde la red ${red}`}. Termina el ${clock.formatLong(vence_en)}${inactiva_en !== vence_en && html`, o el ${clock.formatLong(inactiva_en)} si nadie la usa`}.</p>${
      !isCurrent && action('cerrar', code, submitButton('Cerrar esta sesión', 'peligro'))
    }</li>\n`
  const passkey = ({ passkey: code, dispositivo, creado_en, usado_en }: Passkey) =>
    html`<li class="tarjeta"><p><b>${dispositivo}</b></p>
<p class="suave">Agregada el ${clock.formatLong(creado_en)}${usado_en && html`. Usada el ${clock.formatLong(usado_en)}`}.</p>${action('quitar', code, submitButton('Quitar esta passkey', 'peligro'))}</li>\n`
  return {
    titulo: 'Su cuenta',
    script: passkeys?.script,
    body: html`<h1 tabindex="-1">Su cuenta</h1>
${
  passkeyToRemove &&
  notice(
    html`<p>¿Quita la passkey de «${passkeyToRemove.dispositivo}»? Con ella ya no se podrá entrar.</p>${action('quitar', passkeyToRemove.passkey, submitButton('Sí, quitarla', 'peligro'))}`,
  )
}
${
  current?.comercio === null &&
  current.alcances.includes('ver') &&
  html`<p>${button({ text: 'Ir a la central', icon: ArrowRight, kind: 'principal', href: `${root}central` })}</p>`
}
${facts([
  ['Nombre', sesion.nombre],
  ['Correo', html`${sesion.correo}<br><a class="aparte" href="${root}cuenta/correo">Cambiar el correo</a>`],
  ['Trabaja en', current && nameOf(current.comercio)],
  ['Permisos', current && scopeList(current.alcances)],
])}
${aprobaciones}${otherMembresias.length > 0 && html`<h2>También trabaja en</h2>\n<ul class="lista">${otherMembresias.map(membresiaCard)}</ul>`}
${
  (passkeys || ownPasskeys.length > 0) &&
  html`<h2>Passkeys</h2>
<p>Con una passkey entra con su huella, su cara o el PIN de su aparato, sin esperar un código.</p>
<ul class="lista">${ownPasskeys.map(passkey)}</ul>
${passkeys && passkeyButton(root, passkeys.dominio, 'agregar')}`
}
${factors}<h2>Dónde tiene la sesión abierta</h2>
<ul class="lista">${sesiones.map(abierta)}</ul>
${action('salir', '', submitButton('Salir', 'callado'))}`,
  }
}

export const INVALID_INVITATION = messagePage(
  'El enlace ya no vale',
  html`Venció, ya se usó, o no está entero. Pida otra invitación a quien se la mandó.`,
)
export const UNREADABLE_FORM = messagePage('No se pudo leer', html`Abra la página otra vez y repita.`)
export const ACCOUNT_FAILED = html`Vuelva a intentarlo en un minuto.`

/** Returns the page after the last attempt with the second factor of a sign-in. */
export const attemptOver = (root: string): PageContent =>
  messagePage(
    'Demasiados intentos',
    html`El segundo factor falló cinco veces, y esta entrada terminó. <a href="${root}entrar">Empezar otra vez</a>`,
  )

/** Returns a page with a message, and a link back to the account. */
export const backPage = (title: string, mensaje: string, root: string): PageContent =>
  messagePage(title, html`${mensaje} <a href="${root}cuenta">Volver a su cuenta</a>`)
