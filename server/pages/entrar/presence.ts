import { isPresent } from '../../api/http/authenticate.ts'
import type { Identities } from '../../api/http/identity.ts'
import type { Quien } from '../../domain/bitacora/bitacora.ts'
import type { Deps } from '../../domain/deps.ts'
import { escribirCodigo, MINUTOS_DE_CODIGO } from '../../domain/equipo/codigo.ts'
import { limitarEntradas } from '../../domain/equipo/entradas.ts'
import { type Factores, leerFactores, pideSegundoFactor } from '../../domain/equipo/factores.ts'
import { probarConCodigo } from '../../domain/equipo/probarPresencia.ts'
import { formasDe } from '../../domain/equipo/segundoFactor.ts'
import { ArrowRight } from '../../generado/contrato/iconos.ts'
import { Problema } from '../../platform/errors.ts'
import { readForm } from '../form.ts'
import { messagePage, type PageContent } from '../frame.ts'
import { html } from '../html.ts'
import type { Page, Sheet } from '../page.ts'
import { button } from '../ui/components.ts'
import { typedFactor } from './factorsView.ts'
import { returnPath, type SessionDeps, sessionOf, signInSheet } from './session.ts'
import { codeField, type Faults, mailboxNotice, type PasskeyOptions, passkeyButton, summary } from './view.ts'

/** Path of the page on which a person proves to be present. */
const PATH = 'cuenta/presencia'

/** Redirects to the page that asks for a proof of presence and then returns to a path. */
export const askForPresence = (raiz: string, volver: string): Sheet => ({
  status: 303,
  a: `${raiz}${PATH}?volver=${encodeURIComponent(volver)}`,
})

interface ViewOptions {
  raiz: string
  volver: string
  correo: string
  factores: Factores
}

/** Returns the page that offers a code by mail and, if the person has one, a passkey. */
const askPage = ({ raiz, volver, correo }: ViewOptions, passkeys: PasskeyOptions | undefined): PageContent => ({
  titulo: 'Confirme que es usted',
  guion: passkeys?.guion,
  cuerpo: html`<h1 tabindex="-1">Confirme que es usted</h1>
<p>Pasaron más de 5 minutos desde que entró, y lo que sigue es delicado. Le mandamos un código a ${correo}.</p>
<form method="post" action="${raiz}${PATH}"><input type="hidden" name="volver" value="${volver}">
${button({ text: 'Mandar el código', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
${passkeys && passkeyButton(raiz, passkeys.dominio, 'probar', { volver })}
<p><a href="${raiz}cuenta">Volver a su cuenta</a></p>`,
})

const codePage = (
  { raiz, volver, correo }: ViewOptions,
  { buzon, faults = {} }: { buzon: boolean; faults?: Faults },
): PageContent => ({
  titulo: 'Escriba el código',
  cuerpo: html`<h1 tabindex="-1">Escriba el código</h1>
${summary(faults)}<p>En un minuto le llega a ${correo}. Vale 10 minutos, una vez, en este navegador.</p>
${buzon && mailboxNotice(raiz)}
<form method="post" action="${raiz}${PATH}/codigo"><input type="hidden" name="volver" value="${volver}">
${codeField(faults)}
${button({ text: 'Confirmar', icon: ArrowRight, kind: 'principal', attributes: html`type="submit"` })}
</form>
<p><a href="${raiz}${PATH}?volver=${encodeURIComponent(volver)}">Pedir otro código</a></p>`,
})

/**
 * Returns the page that asks for the second factor. A code by mail would only repeat the factor that opened the
 * session.
 */
const factorPage = (
  { raiz, volver, factores }: ViewOptions,
  { passkeys, faults = {} }: { passkeys: PasskeyOptions | undefined; faults?: Faults },
): PageContent => {
  const formas = formasDe(factores)
  const own = formas.includes('passkey') ? passkeys : undefined
  return {
    titulo: 'Confirme que es usted',
    guion: own?.guion,
    cuerpo: html`<h1 tabindex="-1">Confirme que es usted</h1>
${summary(faults)}<p>Pasaron más de 5 minutos desde que entró, y lo que sigue es delicado.</p>
${typedFactor(formas, faults, {
  action: `${raiz}${PATH}/codigo`,
  hidden: html`<input type="hidden" name="volver" value="${volver}">`,
  send: 'Confirmar',
})}
${own && passkeyButton(raiz, own.dominio, 'probar', { volver })}
${formas.includes('passkey') && html`<p>Con su passkey confirma desde el aparato que la tiene.</p>`}
<p><a href="${raiz}cuenta">Volver a su cuenta</a></p>`,
  }
}

/** Sentence for a second factor that is wrong, or a code of it that was used before. */
export const WRONG_FACTOR = 'El código no vale. Espere el siguiente de su app, o use uno de recuperación.'

type Person = Quien & { identidad: Identities['sesionDePersona'] }

type PresenceDeps = Pick<
  Deps,
  'db' | 'reloj' | 'secretos' | 'nuevoId' | 'navegador' | 'ajustes' | 'bitacora' | 'limiteDeEntrada' | 'avisarTrabajo'
> &
  SessionDeps

/**
 * Creates the handlers of `/cuenta/presencia`, which works without JavaScript. Redirects to `/entrar` without a
 * session.
 */
export function createPresence(deps: PresenceDeps, passkeys: PasskeyOptions | undefined): Page['atender'] {
  const { db, navegador, ajustes, reloj } = deps
  const buzon = ajustes.buzon && ajustes.sinCorreo

  const mandar = async ({ raiz, volver, correo, factores }: ViewOptions, red: string): Promise<Sheet> => {
    if (pideSegundoFactor(factores)) return askForPresence(raiz, volver)
    limitarEntradas(deps, red)
    const { token } = await escribirCodigo(deps, correo)
    const cabeceras = { 'Set-Cookie': navegador.ponerEntrada(token, MINUTOS_DE_CODIGO * 60) }
    return { status: 303, a: `${raiz}${PATH}/codigo?volver=${encodeURIComponent(volver)}`, cabeceras }
  }

  const probar = async (quien: Person, cookie: string, codigo: string, vista: ViewOptions): Promise<Sheet> => {
    try {
      await probarConCodigo(deps, quien, { cookie, codigo })
      const cabeceras = { 'Set-Cookie': navegador.ponerEntrada('', 0) }
      return { status: 303, a: vista.raiz + vista.volver.slice(1), cabeceras }
    } catch (error) {
      if (error instanceof Problema && error.codigo === 'sesion_invalida')
        return {
          status: 401,
          ...messagePage('La sesión se cerró', html`${error.message} <a href="${vista.raiz}entrar">Entrar</a>`),
          cabeceras: { 'Set-Cookie': navegador.ponerSesionDePersona('', 0) },
        }
      if (!(error instanceof Problema) || error.codigo !== 'codigo_incorrecto') throw error
      const page = pideSegundoFactor(vista.factores)
        ? factorPage(vista, { passkeys, faults: { codigo: WRONG_FACTOR } })
        : codePage(vista, { buzon, faults: { codigo: error.message } })
      return { status: 401, ...page }
    }
  }

  return async (pedido) => {
    const { req, raiz, resto, leyendo, red } = pedido
    const identidad = await sessionOf(deps, pedido)
    if (!identidad) return signInSheet(deps, pedido)
    const { codigo, ...formulario } = leyendo
      ? { codigo: '', volver: req.query.volver }
      : await readForm(req, ['codigo', 'volver'])
    const volver = returnPath(formulario.volver)
    const factores = await leerFactores(db.consultar, identidad.personaId)
    const vista = { raiz, volver, correo: identidad.correo, factores }
    if (!leyendo && resto !== 'codigo') return mandar(vista, red)
    const quien = { identidad, red, idSolicitud: req.solicitud.id }
    if (!leyendo) return probar(quien, req.headers.cookie ?? '', codigo, vista)
    if (isPresent(identidad, reloj())) return { status: 303, a: raiz + volver.slice(1) }
    if (pideSegundoFactor(factores)) return { status: 200, ...factorPage(vista, { passkeys }) }
    if (resto === 'codigo') return { status: 200, ...codePage(vista, { buzon }) }
    return { status: 200, ...askPage(vista, factores.passkeys > 0 ? passkeys : undefined) }
  }
}
