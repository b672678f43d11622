import { isPresent } from '../../api/http/authenticate.ts'
import type { PersonaActor } from '../../domain/bitacora/bitacora.ts'
import type { Deps } from '../../domain/deps.ts'
import { type Factors, needsSecondFactor, readFactors } from '../../domain/equipo/factorRules.ts'
import { proveWithCode } from '../../domain/equipo/factors/probarPresencia.ts'
import { factorFormsOf } from '../../domain/equipo/factors/secondFactor.ts'
import { CODE_MINUTES, writeCode } from '../../domain/equipo/mailCode.ts'
import { limitSignIns } from '../../domain/equipo/signInLimits.ts'
import { ArrowRight } from '../../generated/contract/icons.ts'
import { Problema } from '../../platform/errors.ts'
import { html } from '../../platform/html.ts'
import { readForm } from '../form.ts'
import { messagePage, type PageContent } from '../frame.ts'
import type { RenderedPage, Sheet } from '../page.ts'
import { button } from '../ui/components.ts'
import { typedFactor } from './factorsView.ts'
import { returnPath, type SessionDeps, sessionOf, signInSheet } from './session.ts'
import { codeField, type FormFaults, mailboxNotice, type PasskeyOptions, passkeyButton, summary } from './view.ts'

/** Path of the page on which a person proves to be present. */
const PATH = 'cuenta/presencia'

/** Redirects to the page that asks for a proof of presence and then returns to a path. */
export const askForPresence = (root: string, returnTo: string): Sheet => ({
  status: 303,
  a: `${root}${PATH}?volver=${encodeURIComponent(returnTo)}`,
})

interface ViewOptions {
  root: string
  returnTo: string
  correo: string
  factors: Factors
}

/** Returns the page that offers a code by mail and, if the person has one, a passkey. */
const askPage = ({ root, returnTo, correo }: ViewOptions, passkeys: PasskeyOptions | undefined): PageContent => ({
  titulo: 'Confirme que es usted',
  script: passkeys?.script,
  body: html`<h1 tabindex="-1">Confirme que es usted</h1>
<p>Pasaron más de 5 minutos desde que entró, y lo que sigue es delicado. Le mandamos un código a ${correo}.</p>
<form method="post" action="${root}${PATH}"><input type="hidden" name="volver" value="${returnTo}">
${button({ text: 'Mandar el código', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
${passkeys && passkeyButton(root, passkeys.dominio, 'probar', { returnTo })}
<p><a href="${root}cuenta">Volver a su cuenta</a></p>`,
})

const codePage = (
  { root, returnTo, correo }: ViewOptions,
  { buzon, faults = {} }: { buzon: boolean; faults?: FormFaults },
): PageContent => ({
  titulo: 'Escriba el código',
  body: html`<h1 tabindex="-1">Escriba el código</h1>
${summary(faults)}<p>En un minuto le llega a ${correo}. Vale 10 minutos, una vez, en este navegador.</p>
${buzon && mailboxNotice(root)}
<form method="post" action="${root}${PATH}/codigo"><input type="hidden" name="volver" value="${returnTo}">
${codeField(faults)}
${button({ text: 'Confirmar', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
<p><a class="aparte" href="${root}${PATH}?volver=${encodeURIComponent(returnTo)}">Pedir otro código</a></p>`,
})

/**
 * Returns the page that asks for the second factor. A code by mail would only repeat the factor that opened the
 * session.
 */
const factorPage = (
  { root, returnTo, factors }: ViewOptions,
  { passkeys, faults = {} }: { passkeys: PasskeyOptions | undefined; faults?: FormFaults },
): PageContent => {
  const shapes = factorFormsOf(factors)
  const own = shapes.includes('passkey') ? passkeys : undefined
  return {
    titulo: 'Confirme que es usted',
    script: own?.script,
    body: html`<h1 tabindex="-1">Confirme que es usted</h1>
${summary(faults)}<p>Pasaron más de 5 minutos desde que entró, y lo que sigue es delicado.</p>
${typedFactor(shapes, faults, {
  action: `${root}${PATH}/codigo`,
  hidden: html`<input type="hidden" name="volver" value="${returnTo}">`,
  send: 'Confirmar',
})}
${own && passkeyButton(root, own.dominio, 'probar', { returnTo })}
${shapes.includes('passkey') && html`<p>Con su passkey confirma desde el aparato que la tiene.</p>`}
<p><a href="${root}cuenta">Volver a su cuenta</a></p>`,
  }
}

/** Sentence for a second factor that is wrong, or a code of it that was used before. */
export const WRONG_FACTOR = 'El código no vale. Espere el siguiente de su app, o use uno de recuperación.'

type PresenceDeps = Pick<
  Deps,
  'db' | 'clock' | 'secretos' | 'newId' | 'browser' | 'settings' | 'bitacora' | 'signInLimit' | 'notifyJobs'
> &
  SessionDeps

/**
 * Creates the handlers of `/cuenta/presencia`, which works without JavaScript. Redirects to `/entrar` without a
 * session.
 */
export function createPresence(deps: PresenceDeps, passkeys: PasskeyOptions | undefined): RenderedPage['handle'] {
  const { db, browser, settings, clock } = deps
  const buzon = settings.buzon && settings.lacksMail

  const sendPresenceCode = async (
    { root, returnTo, correo, factors }: ViewOptions,
    network: string,
  ): Promise<Sheet> => {
    if (needsSecondFactor(factors)) return askForPresence(root, returnTo)
    limitSignIns(deps, network)
    const { token } = await writeCode(deps, correo)
    const headers = { 'Set-Cookie': browser.setSignIn(token, CODE_MINUTES * 60) }
    return { status: 303, a: `${root}${PATH}/codigo?volver=${encodeURIComponent(returnTo)}`, headers }
  }

  const verifyPresenceCode = async (
    caller: PersonaActor,
    cookie: string,
    codigo: string,
    viewOptions: ViewOptions,
  ): Promise<Sheet> => {
    try {
      await proveWithCode(deps, caller, { cookie, codigo })
      const headers = { 'Set-Cookie': browser.setSignIn('', 0) }
      return { status: 303, a: viewOptions.root + viewOptions.returnTo.slice(1), headers }
    } catch (error) {
      if (error instanceof Problema && error.codigo === 'sesion_invalida')
        return {
          status: 401,
          ...messagePage('La sesión se cerró', html`${error.message} <a href="${viewOptions.root}entrar">Entrar</a>`),
          headers: { 'Set-Cookie': browser.setPersonaSesion('', 0) },
        }
      if (!(error instanceof Problema) || error.codigo !== 'codigo_incorrecto') throw error
      const page = needsSecondFactor(viewOptions.factors)
        ? factorPage(viewOptions, { passkeys, faults: { codigo: WRONG_FACTOR } })
        : codePage(viewOptions, { buzon, faults: { codigo: error.message } })
      return { status: 401, ...page }
    }
  }

  return async (pageRequest) => {
    const { req, root, rest, reading, red } = pageRequest
    const identity = await sessionOf(deps, pageRequest)
    if (!identity) return signInSheet(deps, pageRequest)
    const { codigo, ...form } = reading
      ? { codigo: '', volver: req.query.volver }
      : await readForm(req, ['codigo', 'volver'])
    const returnTo = returnPath(form.volver)
    const factors = await readFactors(db.query, identity.personaId)
    const viewOptions = { root, returnTo, correo: identity.correo, factors }
    if (!reading && rest !== 'codigo') return sendPresenceCode(viewOptions, red)
    const caller = { identity, red, requestId: req.solicitud.id }
    if (!reading) return verifyPresenceCode(caller, req.headers.cookie ?? '', codigo, viewOptions)
    if (isPresent(identity, clock())) return { status: 303, a: root + returnTo.slice(1) }
    if (needsSecondFactor(factors)) return { status: 200, ...factorPage(viewOptions, { passkeys }) }
    if (rest === 'codigo') return { status: 200, ...codePage(viewOptions, { buzon }) }
    return { status: 200, ...askPage(viewOptions, factors.passkeys > 0 ? passkeys : undefined) }
  }
}
