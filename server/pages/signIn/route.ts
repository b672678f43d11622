import type { Express, Request } from 'express'
import { isPresent } from '../../api/http/authenticate.ts'
import { createLimit } from '../../api/limits/buckets.ts'
import { companyTimeZone } from '../../domain/catalogo/timeZone.ts'
import { requireCorreo } from '../../domain/correos/correo.ts'
import type { Deps } from '../../domain/deps.ts'
import { findImpediment } from '../../domain/equipo/factorRules.ts'
import { presentPasskey, readPasskeys, relyingParty } from '../../domain/equipo/factors/passkey.ts'
import { removePasskeyOf } from '../../domain/equipo/factors/quitarPasskey.ts'
import {
  PARTIAL_SIGN_IN_MINUTES,
  presentSecondFactor,
  readPartialSignIn,
} from '../../domain/equipo/factors/secondFactor.ts'
import { CODE_MINUTES, writeCode } from '../../domain/equipo/mailCode.ts'
import { acceptInvitacion, readInvitacion } from '../../domain/equipo/members/aceptar.ts'
import { comercioOf } from '../../domain/equipo/persona.ts'
import { presentPersonaSesion, sesionCookies } from '../../domain/equipo/sessions/sesion.ts'
import { chooseMembresia, closeSesionOf, readSesiones } from '../../domain/equipo/sessions/sessionStore.ts'
import { enterWithCode } from '../../domain/equipo/signIn/abrirSesion.ts'
import { enterWithSecondFactor } from '../../domain/equipo/signIn/abrirSesionConSegundoFactor.ts'
import { limitSignIns } from '../../domain/equipo/signInLimits.ts'
import { Problema } from '../../platform/errors.ts'
import { Html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { readGenerated } from '../assets.ts'
import { FOREIGN_FORM, FORM_REFERRER, FormError, readForm } from '../form.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { type PageRequest, type RenderedPage, type Sheet, servePage, waitSheet } from '../page.ts'
import { byDigest } from '../response.ts'
import { createAddressChange } from './addressChange.ts'
import { approvalsPart, decideByForm } from './approvals.ts'
import { changeFactors, changesFactors } from './factors.ts'
import { factorsPart, limitedPage, secondFactorPage } from './factorsView.ts'
import { askForPresence, createPresence, WRONG_FACTOR } from './presence.ts'
import { returnPath, type SessionDeps, sessionOf, signInQuery, signInSheet } from './session.ts'
import {
  ACCOUNT_FAILED,
  accountPage,
  addressPage,
  attemptOver,
  backPage,
  codePage,
  type FormFaults,
  INVALID_INVITATION,
  invitationPage,
  type PasskeyOptions,
  UNREADABLE_FORM,
} from './view.ts'

/** Maximum requests per minute from one network to these pages. */
const REQUESTS_PER_MINUTE = 120

type SignInDeps = Pick<
  Deps,
  'db' | 'clock' | 'secretos' | 'newId' | 'browser' | 'settings' | 'bitacora' | 'signInLimit' | 'notifyJobs'
> &
  SessionDeps

/**
 * Serves the pages on which persons sign in: `/entrar`, `/invitacion/{token}`, `/cuenta`, `/cuenta/correo` and
 * `/cuenta/presencia`. They work without JavaScript, except for passkeys. Opening a page never changes anything, because
 * mail programs open links by themselves.
 */
export function serveSignIn(app: Express, front: Front, deps: SignInDeps) {
  const read = (archivo: string) => readGenerated(`pages/signIn/${archivo}`).toString()
  const [style, program] = [read('estilo.css'), read('navegador.js')]
  const part = relyingParty(deps.settings.urlDePersonas)
  const passkeys = part && { script: new Html(program), dominio: part.dominio }
  const head = ownHead(new Html(style))
  const limit = createLimit(REQUESTS_PER_MINUTE)
  const { showAddress, showCode, sendCode, signInWithCode } = createSignIn(deps, passkeys)
  const secondFactor = createSecondFactor(deps, passkeys)
  const invitacion = createInvitation(deps, front)
  const cuenta = createAccount(deps, front, passkeys)
  const page = (handle: RenderedPage['handle']): RenderedPage => ({
    methods: ['POST'],
    headers: {
      ...front.policyHeaders({
        'style-src': byDigest(style),
        'script-src': byDigest(program),
        'connect-src': "'self'",
        'form-action': "'self'",
      }),
      ...FORM_REFERRER,
    },
    head: () => head,
    front,
    failure: ACCOUNT_FAILED,
    waitSeconds: ({ red }) => limit(red),
    handle: (pageRequest) => answer(deps, pageRequest, handle),
  })
  const handlerOf = (pageRequest: PageRequest) => {
    const { rest, reading } = pageRequest
    if (rest === 'segundo-factor') return secondFactor(pageRequest)
    if (rest === 'codigo') return reading ? showCode(pageRequest) : signInWithCode(pageRequest)
    return reading ? showAddress(pageRequest) : sendCode(pageRequest)
  }
  servePage(app, '/entrar', page(handlerOf), (rest) => !['', 'codigo', 'segundo-factor'].includes(rest))
  servePage(app, '/invitacion', page(invitacion))
  servePage(app, '/cuenta/presencia', page(createPresence(deps, passkeys)), (rest) => !['', 'codigo'].includes(rest))
  servePage(app, '/cuenta/correo', page(createAddressChange(deps)), (rest) => !['', 'codigo'].includes(rest))
  servePage(app, '/cuenta', page(cuenta), (rest) => rest !== '')
}

/** Answers a request, and shows refusals as pages. */
async function answer(
  { browser }: SignInDeps,
  pageRequest: PageRequest,
  handle: RenderedPage['handle'],
): Promise<Sheet> {
  if (!pageRequest.reading && !browser.isOwnRequest(pageRequest.req)) return { status: 403, ...FOREIGN_FORM }
  try {
    return await handle(pageRequest)
  } catch (error) {
    if (error instanceof FormError) return { status: error.status, ...UNREADABLE_FORM }
    const wait = waitSheet(error)
    if (wait) return wait
    if (error instanceof Problema && error.codigo === 'enlace_invalido') return { status: 410, ...INVALID_INVITATION }
    throw error
  }
}

const userAgentOf = (req: Request) => req.headers['user-agent'] ?? ''

/** Returns the faults of a refused form by field; undefined for another error. */
function faultsOf(error: unknown): FormFaults | undefined {
  if (!(error instanceof Problema) || error.codigo !== 'validacion') return undefined
  const faults = error.details.errores ?? []
  return Object.fromEntries(faults.map(({ campo }) => [campo.slice(1), SENTENCES[campo] ?? 'Revise este dato.']))
}
const SENTENCES: Readonly<Record<string, string>> = {
  '/correo': 'Escriba una dirección de correo, como ana@ejemplo.com.',
  '/nombre': 'Escriba su nombre.',
  '/codigo': 'Escriba el código que le dio quien le invitó.',
}

/** Creates the handlers of `/entrar`. */
function createSignIn(deps: SignInDeps, passkeys: PasskeyOptions | undefined) {
  const { browser, settings } = deps
  const buzon = settings.buzon && settings.lacksMail
  const showAddress = async ({ req, root }: PageRequest): Promise<Sheet> => {
    const idle = req.query.por === 'inactividad'
    return { status: 200, ...addressPage(root, { returnTo: returnPath(req.query.volver), idle, passkeys }) }
  }
  const showCode = async ({ req, root }: PageRequest): Promise<Sheet> => ({
    status: 200,
    ...codePage(root, { returnTo: returnPath(req.query.volver), buzon }),
  })
  const sendCode = async ({ req, root, red }: PageRequest): Promise<Sheet> => {
    const { correo, ...form } = await readForm(req, ['correo', 'volver'])
    const returnTo = returnPath(form.volver)
    limitSignIns(deps, red)
    try {
      const { token } = await writeCode(deps, requireCorreo(correo))
      const headers = { 'Set-Cookie': browser.setSignIn(token, CODE_MINUTES * 60) }
      return { status: 303, a: `${root}entrar/codigo${signInQuery({ returnTo })}`, headers }
    } catch (error) {
      const faults = faultsOf(error)
      if (!faults) throw error
      return { status: 422, ...addressPage(root, { correo, returnTo, faults, passkeys }) }
    }
  }
  const signInWithCode = async ({ req, root, red }: PageRequest): Promise<Sheet> => {
    const { codigo, ...form } = await readForm(req, ['codigo', 'volver'])
    const returnTo = returnPath(form.volver)
    const giveBack = limitSignIns(deps, red)
    const caller = { userAgent: userAgentOf(req), red, requestId: req.solicitud.id }
    try {
      const signedIn = await enterWithCode(deps, { cookie: req.headers.cookie ?? '', codigo }, caller)
      giveBack()
      const clearedCookie = browser.setSignIn('', 0)
      if ('halfDone' in signedIn) {
        const cookie = browser.setPartialSignIn(signedIn.halfDone.token, PARTIAL_SIGN_IN_MINUTES * 60)
        const a = `${root}entrar/segundo-factor${signInQuery({ returnTo })}`
        return { status: 303, a, headers: { 'Set-Cookie': [cookie, clearedCookie] } }
      }
      const cookies = [...sesionCookies(deps, signedIn.token, signedIn.view), clearedCookie]
      return { status: 303, a: root + returnTo.slice(1), headers: { 'Set-Cookie': cookies } }
    } catch (error) {
      if (!(error instanceof Problema) || error.codigo !== 'codigo_incorrecto') throw error
      return { status: 401, ...codePage(root, { returnTo, buzon, faults: { codigo: error.message } }) }
    }
  }
  return { showAddress, showCode, sendCode, signInWithCode }
}

/**
 * Creates the handler of `/entrar/segundo-factor`. Redirects to `/entrar` if no sign-in waits for its second factor.
 */
function createSecondFactor(deps: SignInDeps, passkeys: PasskeyOptions | undefined): RenderedPage['handle'] {
  const { browser } = deps
  return async ({ req, root, red, reading }) => {
    const cookie = req.headers.cookie ?? ''
    const halfSignIn = await readPartialSignIn(deps, cookie)
    if (!halfSignIn) return { status: 303, a: `${root}entrar` }
    const { formas } = halfSignIn
    if (reading)
      return { status: 200, ...secondFactorPage(root, { returnTo: returnPath(req.query.volver), formas, passkeys }) }
    const { codigo, ...form } = await readForm(req, ['codigo', 'volver'])
    const returnTo = returnPath(form.volver)
    const giveBack = limitSignIns(deps, red)
    const caller = { userAgent: userAgentOf(req), red, requestId: req.solicitud.id }
    try {
      const { token, view: sesionView } = await enterWithSecondFactor(deps, { cookie, codigo }, caller)
      giveBack()
      const cookies = [...sesionCookies(deps, token, sesionView), browser.setPartialSignIn('', 0)]
      return { status: 303, a: root + returnTo.slice(1), headers: { 'Set-Cookie': cookies } }
    } catch (error) {
      if (!(error instanceof Problema) || error.codigo !== 'segundo_factor_incorrecto') throw error
      if (!(await readPartialSignIn(deps, cookie)))
        return { status: 401, ...attemptOver(root), headers: { 'Set-Cookie': browser.setPartialSignIn('', 0) } }
      const faults = { codigo: WRONG_FACTOR }
      return { status: 401, ...secondFactorPage(root, { returnTo, formas, faults, passkeys }) }
    }
  }
}

/** Creates the handler of `/invitacion/{token}`. */
function createInvitation(deps: SignInDeps, { brand }: Front): RenderedPage['handle'] {
  const { db } = deps
  const nameOf = async (scope: string) => {
    const comercio = comercioOf(scope)
    const comercioRow = comercio === null ? null : await db.prisma.comercio.findUnique({ where: { comercio } })
    return comercioRow?.nombre ?? brand.nombre
  }
  return async ({ req, rest: token, root, red, reading }) => {
    const invitacion = await readInvitacion(deps, token)
    if (!invitacion) return { status: 410, ...INVALID_INVITATION }
    const { ambito, alcances, correo, codigo_hash } = invitacion
    const invitationOptions = {
      root,
      token,
      lugar: await nameOf(ambito),
      alcances,
      asksForCorreo: correo === null,
      asksForCode: codigo_hash !== null,
    }
    if (reading) return { status: 200, ...invitationPage(invitationOptions) }
    const values = await readForm(req, ['codigo', 'correo', 'nombre'])
    const giveBack = limitSignIns(deps, red)
    try {
      const caller = { userAgent: userAgentOf(req), cookie: req.headers.cookie ?? '', red, requestId: req.solicitud.id }
      const abierta = await acceptInvitacion(deps, { token, ...values }, caller)
      giveBack()
      const headers = { 'Set-Cookie': sesionCookies(deps, abierta.token, abierta.view) }
      return { status: 303, a: `${root}cuenta`, headers }
    } catch (error) {
      if (error instanceof Problema && error.codigo === 'codigo_incorrecto') {
        if (!(await readInvitacion(deps, token))) return { status: 410, ...INVALID_INVITATION }
        return { status: 401, ...invitationPage({ ...invitationOptions, values, faults: { codigo: error.message } }) }
      }
      const faults = faultsOf(error)
      if (!faults) throw error
      return { status: 422, ...invitationPage({ ...invitationOptions, values, faults }) }
    }
  }
}

/** Creates the handler of `/cuenta`. Redirects to `/entrar` without a session. */
function createAccount(
  deps: SignInDeps,
  { brand }: Front,
  passkeys: PasskeyOptions | undefined,
): RenderedPage['handle'] {
  const { db, browser, settings, clock } = deps
  return async (pageRequest) => {
    const { req, root, red, reading } = pageRequest
    const identity = await sessionOf(deps, pageRequest)
    if (!identity) return signInSheet(deps, pageRequest)
    const caller = { identity, red, requestId: req.solicitud.id }
    if (!reading) {
      const form = await readForm(req, ['accion', 'cual', 'razon', 'codigo'])
      const { accion, cual: subject } = form
      if (accion === 'salir') {
        await closeSesionOf(deps, caller, identity.codigo, 'cerrarSesionDePersona')
        const headers = { 'Set-Cookie': browser.setPersonaSesion('', 0) }
        return { status: 303, a: `${root}entrar`, headers }
      }
      const isPresentNow = isPresent(identity, clock())
      if (changesFactors(accion) && !isPresentNow) return askForPresence(root, '/cuenta')
      if (changesFactors(accion)) return changeFactors(deps, caller, form, root)
      if (identity.lacksSecondFactor) return { status: 303, a: `${root}cuenta` }
      const decisionSheet = await decideByForm(deps, caller, form, root)
      if (decisionSheet) return decisionSheet
      if (accion === 'cerrar') await closeSesionOf(deps, caller, subject, 'cerrarSesionPorCodigo')
      if (accion === 'elegir') return switchMembresia(deps, caller, subject, root)
      if (accion === 'quitar' && !isPresentNow) return askForPresence(root, returnPath(`/cuenta?quitar=${subject}`))
      if (accion === 'quitar') return removePasskey(deps, caller, subject, root)
      return { status: 303, a: `${root}cuenta` }
    }
    const sesion = await presentPersonaSesion(db, identity)
    if (identity.lacksSecondFactor) {
      const reason = await findImpediment(db.query, identity.sesion, identity.personaId)
      return { status: 200, ...limitedPage({ root, sesion, reason, passkeys }) }
    }
    const comercios = sesion.membresias.flatMap(({ comercio }) => comercio ?? [])
    const rows = await db.prisma.comercio.findMany({ where: { comercio: { in: comercios } } })
    const names = new Map(rows.map(({ comercio, nombre }) => [comercio, nombre]))
    const nameOf = (comercio: string | null) => (comercio && names.get(comercio)) ?? brand.nombre
    const zona = companyTimeZone(settings.timeZone)
    const ownPasskeys = (await readPasskeys(db, identity.personaId)).map(presentPasskey)
    const sesiones = await readSesiones(deps, identity)
    return {
      status: 200,
      ...accountPage({
        root,
        sesion,
        sesiones,
        ownPasskeys,
        passkeys,
        passkeyToRemove: ownPasskeys.find(({ passkey }) => passkey === req.query.quitar),
        nameOf,
        zona,
        aprobaciones: await approvalsPart(deps, identity, { root, zona }),
        factors: factorsPart(root, await presentSecondFactor(db.query, identity.personaId), createClock(zona)),
      }),
    }
  }
}

/** Removes a passkey of the person, unless it is the last second factor of a person who needs one. */
async function removePasskey(
  deps: SignInDeps,
  caller: Parameters<typeof removePasskeyOf>[1],
  passkey: string,
  root: string,
): Promise<Sheet> {
  try {
    await removePasskeyOf(deps, caller, passkey)
    return { status: 303, a: `${root}cuenta` }
  } catch (error) {
    if (!(error instanceof Problema) || error.codigo !== 'ultimo_segundo_factor') throw error
    return { status: error.status, ...backPage('No se pudo', error.message, root) }
  }
}

/**
 * Switches the session to another membership. If the session is too old for that membership, the person must sign in
 * again.
 */
async function switchMembresia(
  deps: SignInDeps,
  caller: Parameters<typeof chooseMembresia>[1],
  membresia: string,
  root: string,
): Promise<Sheet> {
  try {
    await chooseMembresia(deps, caller, { membresia })
  } catch (error) {
    if (error instanceof Problema && error.codigo === 'sesion_invalida') return { status: 303, a: `${root}entrar` }
    if (!(error instanceof Problema) || error.codigo !== 'membresia_desconocida') throw error
  }
  return { status: 303, a: `${root}cuenta` }
}
