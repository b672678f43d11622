import { ArrowRight } from '../../generated/contract/icons.ts'
import type {
  RegistroDeTotp,
  SegundoFactor,
  SegundoFactorPedido,
  SesionDePersona,
} from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { Html, html } from '../../platform/html.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { PageContent } from '../frame.ts'
import { button, notice } from '../ui/components.ts'
import { signInQuery } from './session.ts'
import {
  accountForm,
  type FormFaults,
  input,
  type PasskeyOptions,
  passkeyButton,
  returnField,
  submitButton,
  summary,
} from './view.ts'

const NUMBERS = html`inputmode="numeric"`
const LETTERS = html`autocapitalize="characters"`

/** Draws the field for a code of the app or a recovery code. */
const factorField = (label: string, faults: FormFaults, keys: Html): Html =>
  input({
    id: 'codigo',
    label,
    value: '',
    faults,
    attributes: html`type="text" class="codigo" maxlength="40" autocomplete="one-time-code" spellcheck="false" ${keys}`,
  })

const LABELS: Readonly<Record<SegundoFactorPedido['formas'][number], string>> = {
  totp: 'las seis cifras de su app de códigos',
  recuperacion: 'un código de recuperación',
  passkey: 'una passkey',
}

const WAYS = new Intl.ListFormat('es', { type: 'disjunction' })

type Ways = SegundoFactorPedido['formas']

/** Path of the page to which the form is posted. */
interface FactorForm {
  action: string
  hidden?: Html
  /** Text of the form's button. */
  send: string
  /** Sentence below the ways to prove the second factor. */
  note?: string
}

/** Draws the form for a code of the app or a recovery code; false if the person has neither. */
export const typedFactor = (
  shapes: Ways,
  faults: FormFaults,
  { action, hidden, send, note }: FactorForm,
): Html | false => {
  const typed = shapes.filter((shape) => shape !== 'passkey').map((shape) => LABELS[shape])
  return (
    typed.length > 0 &&
    html`<p>Escriba ${WAYS.format(typed)}.${note && ` ${note}`}</p>
<form method="post" action="${action}">${hidden}
${factorField('Código', faults, shapes.includes('recuperacion') ? LETTERS : NUMBERS)}
${button({ text: send, icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>`
  )
}

/** Returns the page that asks for the second factor after the code of the mail was right. */
export const secondFactorPage = (
  root: string,
  {
    returnTo,
    formas,
    faults = {},
    passkeys,
  }: { returnTo: string; formas: Ways; faults?: FormFaults; passkeys: PasskeyOptions | undefined },
): PageContent => {
  const own = formas.includes('passkey') ? passkeys : undefined
  return {
    titulo: 'Su segundo factor',
    script: own?.script,
    body: html`<h1 tabindex="-1">Ahora, su segundo factor</h1>
${summary(faults)}${typedFactor(formas, faults, { action: `${root}entrar/segundo-factor`, hidden: returnField(returnTo), send: 'Entrar', note: 'Tiene 10 minutos.' })}
${own && passkeyButton(root, own.dominio, 'entrar', { returnTo })}
${formas.includes('passkey') && html`<p>Con su passkey entra desde el aparato que la tiene${own === undefined && html`, en la página de entrada`}.</p>`}
<p>Si no tiene nada de esto a mano, pida a quien administra las cuentas que restablezca su segundo factor. <a href="${root}entrar${signInQuery({ returnTo })}">Empezar otra vez</a></p>`,
  }
}

interface LimitedOptions {
  root: string
  sesion: SesionDePersona
  /** Reason why the session may add none; undefined if it may. */
  reason: 'hasFactor' | 'correo' | undefined
  passkeys: PasskeyOptions | undefined
}

/** Returns the page of a person without the required second factor: the ways to add one, and the button to sign out. */
export const limitedPage = ({ root, sesion, reason, passkeys }: LimitedOptions): PageContent => ({
  titulo: 'Falta su segundo factor',
  script: reason ? undefined : passkeys?.script,
  body: html`<h1 tabindex="-1">Falta su segundo factor</h1>
${
  reason
    ? html`<p>${sesion.nombre}, ${NOT_HERE[reason]}</p>`
    : html`<p>${sesion.nombre}, para trabajar en la empresa no basta su correo: quien lo lea entraría en su lugar. Agregue un segundo factor, una sola vez.</p>
${passkeys && passkeyButton(root, passkeys.dominio, 'agregar', { before: WITH_PASSKEY })}
<h2>Una app de códigos</h2>
<p>Una app del teléfono que muestra seis cifras, como Google Authenticator, Aegis o la de sus contraseñas.</p>
${accountForm(root, 'app', '', submitButton('Usar una app de códigos'))}
${firstCodesForm(root)}`
}
${accountForm(root, 'salir', '', submitButton('Salir', 'callado'))}`,
})

/** Sentence for a session that may not add a second factor. */
const NOT_HERE = {
  hasFactor: 'su cuenta tiene un segundo factor y esta sesión se abrió sin él. Salga y entre otra vez con él.',
  correo:
    'para trabajar en la empresa no basta su correo, y para agregar un segundo factor tampoco. Pida a quien administra que le invite otra vez: le llega un enlace, y le da un código en persona o por teléfono.',
} as const

const WITH_PASSKEY = html`<h2>Una passkey</h2>
<p>La huella, la cara o el PIN de este aparato. Es lo más rápido.</p>
`

/** Form that the script sends after the first passkey was added. Its answer shows the recovery codes. */
const firstCodesForm = (root: string): Html =>
  html`<div id="primeros" hidden>${accountForm(root, 'codigos', '', submitButton('Ver mis códigos de recuperación'))}</div>`

/**
 * Returns the page that shows the secret of an app, and asks for the app's first code.
 * @param registro undefined after a wrong code, because the secret is shown only once
 */
export const appPage = (
  root: string,
  { registro, qr, faults = {} }: { registro?: RegistroDeTotp; qr?: Html | undefined; faults?: FormFaults },
): PageContent => ({
  titulo: 'Su app de códigos',
  body: html`<h1 tabindex="-1">Su app de códigos</h1>
${summary(faults)}${
  registro &&
  html`<ol>
<li>Abra la app en su teléfono y elija agregar una cuenta.</li>
<li>Apunte la cámara a este código${qr === undefined && html` (aquí no se pudo dibujar)`}, o escriba la clave a mano.</li>
<li>Escriba abajo las seis cifras que la app muestra.</li>
</ol>
${qr}
<p>¿La app está en este mismo aparato? <a href="${registro.uri}">Abrirla aquí</a></p>
<p>Clave para escribir a mano: <span class="clave">${inGroups(registro.secreto).replaceAll('-', ' ')}</span></p>`
}
${accountForm(root, 'confirmar', '', html`${factorField('Seis cifras de la app', faults, NUMBERS)}${button({ text: 'Confirmar', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}`)}
${!registro && accountForm(root, 'app', '', submitButton('Ver otra clave', 'callado'))}
<p><a href="${root}cuenta">Dejarlo</a></p>`,
})

/** Returns the page that shows the recovery codes, only this once. */
export const codesPage = (root: string, codes: readonly string[], place: string): PageContent => {
  const text = `Códigos de recuperación de ${place}\nCada uno vale una vez.\n\n${codes.join('\n')}\n`
  return {
    titulo: 'Sus códigos de recuperación',
    body: html`<h1 tabindex="-1">Sus códigos de recuperación</h1>
${notice(html`<p>Imprímalos o guárdelos ahora: no se vuelven a mostrar.</p>`)}
<p>Si un día no tiene su teléfono ni su passkey, entre con su correo y uno de estos códigos. Cada uno vale una vez.</p>
<ul class="codigos">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<p>${button({ text: 'Descargar como texto', href: `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`, attributes: html`download="codigos-de-recuperacion.txt"` })}</p>
<p>${button({ text: 'Ya los guardé', kind: 'principal', href: `${root}cuenta` })}</p>`,
  }
}

/** Draws the section of the account's page about the app and the recovery codes. */
export const factorsPart = (
  root: string,
  { obligatorio, totp, passkeys, codigos_de_recuperacion: remaining }: SegundoFactor,
  clock: Clock,
): Html => html`<h2>Segundo factor</h2>
${
  totp
    ? html`<ul class="lista"><li class="tarjeta"><p><b>App de códigos</b></p>
<p class="suave">Agregada el ${clock.formatLong(totp.creado_en)}${totp.usado_en && html`. Usada el ${clock.formatLong(totp.usado_en)}`}.</p>${accountForm(root, 'app', '', submitButton('Cambiar de app'))}${
        !(obligatorio && passkeys === 0) && accountForm(root, 'quitarApp', '', submitButton('Quitar la app', 'peligro'))
      }</li></ul>`
    : html`<p>${obligatorio ? 'Entra con su passkey. Una app de códigos en el teléfono sirve cuando no la tiene.' : 'Con una app de códigos, quien lea su correo no entra en su lugar.'}</p>
${accountForm(root, 'app', '', submitButton('Agregar una app de códigos'))}`
}
${
  (totp || passkeys > 0) &&
  html`<h2>Códigos de recuperación</h2>
<p>${codesLeft(remaining)}</p>
${accountForm(root, 'codigos', '', submitButton(remaining === 0 ? 'Hacer códigos de recuperación' : 'Hacer otros diez'))}`
}
`

function codesLeft(remaining: number): Html {
  if (remaining === 0) return html`No tiene ninguno. Sirven el día en que no tenga su teléfono ni su passkey.`
  return html`Le ${remaining === 1 ? 'queda 1 código' : `quedan ${remaining} códigos`}. Al hacer otros, estos dejan de valer.`
}

/** Draws a QR code as an inline SVG. */
export function qrDrawing({ side, modules }: { side: number; modules: ArrayLike<number> }): Html {
  const quiet = 4
  const dark = Array.from({ length: side * side }, (_unused, i) =>
    modules[i] ? `M${(i % side) + quiet} ${Math.floor(i / side) + quiet}h1v1h-1z` : '',
  ).join('')
  const whole = side + 2 * quiet
  return html`<svg class="qr" viewBox="0 0 ${whole} ${whole}" role="img" aria-label="Código QR para la app"><rect width="${whole}" height="${whole}" fill="#fff"/><path fill="#000" d="${new Html(dark)}"/></svg>`
}
