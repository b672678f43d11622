import { isPresent } from '../../api/http/authenticate.ts'
import type { PersonaActor } from '../../domain/bitacora/bitacora.ts'
import type { Deps } from '../../domain/deps.ts'
import { changeCorreo } from '../../domain/equipo/members/cambiarCorreo.ts'
import { requestCorreoChange } from '../../domain/equipo/members/pedirCambioDeCorreo.ts'
import { ArrowRight } from '../../generated/contract/icons.ts'
import { Problema } from '../../platform/errors.ts'
import { html } from '../../platform/html.ts'
import { readForm } from '../form.ts'
import type { PageContent } from '../frame.ts'
import type { RenderedPage, Sheet } from '../page.ts'
import { button } from '../ui/components.ts'
import { askForPresence } from './presence.ts'
import { type SessionDeps, sessionOf, signInSheet } from './session.ts'
import { addressField, codeField, type FormFaults, mailboxNotice, summary } from './view.ts'

/** Path of the page on which a person changes its mail address. */
const PATH = 'cuenta/correo'

const backToAccount = (root: string) => html`<p><a href="${root}cuenta">Volver a su cuenta</a></p>`

const newAddressPage = (
  root: string,
  { current, value = '', faults = {} }: { current: string; value?: string; faults?: FormFaults },
): PageContent => ({
  titulo: 'Cambiar su correo',
  body: html`<h1 tabindex="-1">Cambiar su correo</h1>
${summary(faults)}<p>Ahora entra con ${current}. Le mandamos un código a la dirección nueva, y no cambia nada hasta que lo escriba aquí.</p>
<form method="post" action="${root}${PATH}">
${addressField('Correo nuevo', value, faults)}
${button({ text: 'Mandar el código', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
${backToAccount(root)}`,
})

const codePage = (root: string, { buzon, faults = {} }: { buzon: boolean; faults?: FormFaults }): PageContent => ({
  titulo: 'Escriba el código',
  body: html`<h1 tabindex="-1">Escriba el código</h1>
${summary(faults)}<p>En un minuto llega a la dirección nueva. Vale 10 minutos, una vez, en este navegador. Al cambiarla se cierran sus demás sesiones, y avisamos a la anterior.</p>
${buzon && mailboxNotice(root)}
<form method="post" action="${root}${PATH}/codigo">
${codeField(faults)}
${button({ text: 'Cambiar mi correo', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
<p><a class="aparte" href="${root}${PATH}">Escribir otra dirección</a></p>
${backToAccount(root)}`,
})

type AddressDeps = Pick<
  Deps,
  'db' | 'clock' | 'secretos' | 'newId' | 'browser' | 'settings' | 'bitacora' | 'signInLimit' | 'notifyJobs'
> &
  SessionDeps

/** Creates the handlers of `/cuenta/correo`, which works without JavaScript. */
export function createAddressChange(deps: AddressDeps): RenderedPage['handle'] {
  const { settings, clock } = deps
  const buzon = settings.buzon && settings.lacksMail

  const sendCode = async (caller: PersonaActor, value: string, root: string): Promise<Sheet> => {
    try {
      await requestCorreoChange(deps, caller, value)
      return { status: 303, a: `${root}${PATH}/codigo` }
    } catch (error) {
      if (!(error instanceof Problema) || error.codigo !== 'validacion') throw error
      const faults = { correo: 'Escriba otra dirección que la de ahora, como ana@ejemplo.com.' }
      return { status: 422, ...newAddressPage(root, { current: caller.identity.correo, value, faults }) }
    }
  }

  const change = async (caller: PersonaActor, code: string, root: string): Promise<Sheet> => {
    try {
      await changeCorreo(deps, caller, code)
      return { status: 303, a: `${root}cuenta` }
    } catch (error) {
      if (!(error instanceof Problema)) throw error
      const { codigo, message, status } = error
      if (codigo === 'codigo_incorrecto') return { status, ...codePage(root, { buzon, faults: { codigo: message } }) }
      if (codigo !== 'correo_ocupado') throw error
      return { status, ...newAddressPage(root, { current: caller.identity.correo, faults: { correo: message } }) }
    }
  }

  return async (pageRequest) => {
    const { req, root, rest, reading, red } = pageRequest
    const identity = await sessionOf(deps, pageRequest)
    if (!identity) return signInSheet(deps, pageRequest)
    if (identity.lacksSecondFactor) return { status: 303, a: `${root}cuenta` }
    const caller = { identity, red, requestId: req.solicitud.id }
    if (rest === 'codigo') {
      if (reading) return { status: 200, ...codePage(root, { buzon }) }
      return change(caller, (await readForm(req, ['codigo'])).codigo, root)
    }
    if (!isPresent(identity, clock())) return askForPresence(root, `/${PATH}`)
    if (reading) return { status: 200, ...newAddressPage(root, { current: identity.correo }) }
    return sendCode(caller, (await readForm(req, ['correo'])).correo, root)
  }
}
