import type { Express, Request } from 'express'
import { isPresent } from '../../api/http/authenticate.ts'
import { createLimit } from '../../api/limits/buckets.ts'
import { zonaDeLaEmpresa } from '../../domain/catalogo/zona.ts'
import type { Deps } from '../../domain/deps.ts'
import { aceptar, leerInvitacion } from '../../domain/equipo/aceptar.ts'
import { escribirCodigo, MINUTOS_DE_CODIGO } from '../../domain/equipo/codigo.ts'
import { limitarEntradas } from '../../domain/equipo/entradas.ts'
import { entrar } from '../../domain/equipo/entrar.ts'
import { entrarConSegundoFactor } from '../../domain/equipo/entrarConSegundoFactor.ts'
import { impedimento } from '../../domain/equipo/factores.ts'
import { leerPasskeys, parteConfiada, presentarPasskey } from '../../domain/equipo/passkey.ts'
import { comercioDe, exigirCorreo } from '../../domain/equipo/persona.ts'
import { quitarPasskeyDe } from '../../domain/equipo/quitarPasskey.ts'
import { leerEntradaAMedias, MINUTOS_A_MEDIAS, presentarSegundoFactor } from '../../domain/equipo/segundoFactor.ts'
import { cookiesDeSesion, presentarSesionDePersona } from '../../domain/equipo/sesion.ts'
import { cerrarSesionDe, elegir, leerSesiones } from '../../domain/equipo/sesiones.ts'
import { Problema } from '../../platform/errors.ts'
import { createClock } from '../../platform/time/clock.ts'
import { readGenerated } from '../assets.ts'
import { FOREIGN_FORM, FORM_REFERRER, FormError, readForm } from '../form.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { type Page, type PageRequest, type Sheet, servePage, waitSheet } from '../page.ts'
import { byDigest } from '../response.ts'
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
  type Faults,
  INVALID_INVITATION,
  invitationPage,
  type PasskeyOptions,
  UNREADABLE_FORM,
} from './view.ts'

/** Maximum requests per minute from one network to these pages. */
const CONSULTAS = 120

type SignInDeps = Pick<
  Deps,
  'db' | 'reloj' | 'secretos' | 'nuevoId' | 'navegador' | 'ajustes' | 'bitacora' | 'limiteDeEntrada' | 'avisarTrabajo'
> &
  SessionDeps

/**
 * Serves the pages on which persons sign in: `/entrar`, `/invitacion/{token}`, `/cuenta` and `/cuenta/presencia`. They
 * work without JavaScript, except for passkeys. Opening a page never changes anything, because mail programs open links
 * by themselves.
 */
export function servirEntrada(app: Express, fachada: Front, deps: SignInDeps) {
  const leer = (archivo: string) => readGenerated(`paginas/entrar/${archivo}`).toString()
  const [estilo, programa] = [leer('estilo.css'), leer('navegador.js')]
  const parte = parteConfiada(deps.ajustes.urlDePersonas)
  const passkeys = parte && { guion: new Html(programa), dominio: parte.dominio }
  const cabeza = ownHead(new Html(estilo))
  const limite = createLimit(CONSULTAS)
  const { verDireccion, verCodigo, mandarCodigo, entrarConCodigo } = createSignIn(deps, passkeys)
  const segundoFactor = createSecondFactor(deps, passkeys)
  const invitacion = createInvitation(deps, fachada)
  const cuenta = createAccount(deps, fachada, passkeys)
  const pagina = (atender: Page['atender']): Page => ({
    metodos: ['POST'],
    cabeceras: {
      ...fachada.permisos({
        'style-src': byDigest(estilo),
        'script-src': byDigest(programa),
        'connect-src': "'self'",
        'form-action': "'self'",
      }),
      ...FORM_REFERRER,
    },
    cabeza: () => cabeza,
    fachada,
    fallo: ACCOUNT_FAILED,
    esperar: ({ red }) => limite(red),
    atender: (pedido) => answer(deps, pedido, atender),
  })
  const ruta = (pedido: PageRequest) => {
    const { resto, leyendo } = pedido
    if (resto === 'segundo-factor') return segundoFactor(pedido)
    if (resto === 'codigo') return leyendo ? verCodigo(pedido) : entrarConCodigo(pedido)
    return leyendo ? verDireccion(pedido) : mandarCodigo(pedido)
  }
  servePage(app, '/entrar', pagina(ruta), (resto) => !['', 'codigo', 'segundo-factor'].includes(resto))
  servePage(app, '/invitacion', pagina(invitacion))
  servePage(
    app,
    '/cuenta/presencia',
    pagina(createPresence(deps, passkeys)),
    (resto) => !['', 'codigo'].includes(resto),
  )
  servePage(app, '/cuenta', pagina(cuenta), (resto) => resto !== '')
}

/** Answers a request, and shows refusals as pages. */
async function answer({ navegador }: SignInDeps, pedido: PageRequest, atender: Page['atender']): Promise<Sheet> {
  if (!pedido.leyendo && !navegador.esPropia(pedido.req)) return { status: 403, ...FOREIGN_FORM }
  try {
    return await atender(pedido)
  } catch (error) {
    if (error instanceof FormError) return { status: error.status, ...UNREADABLE_FORM }
    const wait = waitSheet(error)
    if (wait) return wait
    if (error instanceof Problema && error.codigo === 'enlace_invalido') return { status: 410, ...INVALID_INVITATION }
    throw error
  }
}

const agenteDe = (req: Request) => req.headers['user-agent'] ?? ''

/** Returns the faults of a refused form by field; undefined for another error. */
function faultsOf(error: unknown): Faults | undefined {
  if (!(error instanceof Problema) || error.codigo !== 'validacion') return undefined
  const fallas = error.detalles.errores ?? []
  return Object.fromEntries(fallas.map(({ campo }) => [campo.slice(1), SENTENCES[campo] ?? 'Revise este dato.']))
}
const SENTENCES: Readonly<Record<string, string>> = {
  '/correo': 'Escriba una dirección de correo, como ana@ejemplo.com.',
  '/nombre': 'Escriba su nombre.',
  '/codigo': 'Escriba el código que le dio quien le invitó.',
}

/** Creates the handlers of `/entrar`. */
function createSignIn(deps: SignInDeps, passkeys: PasskeyOptions | undefined) {
  const { navegador, ajustes } = deps
  const buzon = ajustes.buzon && ajustes.sinCorreo
  const verDireccion = async ({ req, raiz }: PageRequest): Promise<Sheet> => {
    const idle = req.query.por === 'inactividad'
    return { status: 200, ...addressPage(raiz, { volver: returnPath(req.query.volver), idle, passkeys }) }
  }
  const verCodigo = async ({ req, raiz }: PageRequest): Promise<Sheet> => ({
    status: 200,
    ...codePage(raiz, { volver: returnPath(req.query.volver), buzon }),
  })
  const mandarCodigo = async ({ req, raiz, red }: PageRequest): Promise<Sheet> => {
    const { correo, ...form } = await readForm(req, ['correo', 'volver'])
    const volver = returnPath(form.volver)
    limitarEntradas(deps, red)
    try {
      const { token } = await escribirCodigo(deps, exigirCorreo(correo))
      const cabeceras = { 'Set-Cookie': navegador.ponerEntrada(token, MINUTOS_DE_CODIGO * 60) }
      return { status: 303, a: `${raiz}entrar/codigo${signInQuery({ volver })}`, cabeceras }
    } catch (error) {
      const faults = faultsOf(error)
      if (!faults) throw error
      return { status: 422, ...addressPage(raiz, { correo, volver, faults, passkeys }) }
    }
  }
  const entrarConCodigo = async ({ req, raiz, red }: PageRequest): Promise<Sheet> => {
    const { codigo, ...form } = await readForm(req, ['codigo', 'volver'])
    const volver = returnPath(form.volver)
    const devolver = limitarEntradas(deps, red)
    const quien = { agente: agenteDe(req), red, idSolicitud: req.solicitud.id }
    try {
      const entrado = await entrar(deps, { cookie: req.headers.cookie ?? '', codigo }, quien)
      devolver()
      const sinCodigo = navegador.ponerEntrada('', 0)
      if ('aMedias' in entrado) {
        const cookie = navegador.ponerEntradaAMedias(entrado.aMedias.token, MINUTOS_A_MEDIAS * 60)
        const a = `${raiz}entrar/segundo-factor${signInQuery({ volver })}`
        return { status: 303, a, cabeceras: { 'Set-Cookie': [cookie, sinCodigo] } }
      }
      const cookies = [...cookiesDeSesion(deps, entrado.token, entrado.vista), sinCodigo]
      return { status: 303, a: raiz + volver.slice(1), cabeceras: { 'Set-Cookie': cookies } }
    } catch (error) {
      if (!(error instanceof Problema) || error.codigo !== 'codigo_incorrecto') throw error
      return { status: 401, ...codePage(raiz, { volver, buzon, faults: { codigo: error.message } }) }
    }
  }
  return { verDireccion, verCodigo, mandarCodigo, entrarConCodigo }
}

/**
 * Creates the handler of `/entrar/segundo-factor`. Redirects to `/entrar` if no sign-in waits for its second factor.
 */
function createSecondFactor(deps: SignInDeps, passkeys: PasskeyOptions | undefined): Page['atender'] {
  const { navegador } = deps
  return async ({ req, raiz, red, leyendo }) => {
    const cookie = req.headers.cookie ?? ''
    const pedido = await leerEntradaAMedias(deps, cookie)
    if (!pedido) return { status: 303, a: `${raiz}entrar` }
    const { formas } = pedido
    if (leyendo)
      return { status: 200, ...secondFactorPage(raiz, { volver: returnPath(req.query.volver), formas, passkeys }) }
    const { codigo, ...form } = await readForm(req, ['codigo', 'volver'])
    const volver = returnPath(form.volver)
    const devolver = limitarEntradas(deps, red)
    const quien = { agente: agenteDe(req), red, idSolicitud: req.solicitud.id }
    try {
      const { token, vista } = await entrarConSegundoFactor(deps, { cookie, codigo }, quien)
      devolver()
      const cookies = [...cookiesDeSesion(deps, token, vista), navegador.ponerEntradaAMedias('', 0)]
      return { status: 303, a: raiz + volver.slice(1), cabeceras: { 'Set-Cookie': cookies } }
    } catch (error) {
      if (!(error instanceof Problema) || error.codigo !== 'segundo_factor_incorrecto') throw error
      if (!(await leerEntradaAMedias(deps, cookie)))
        return { status: 401, ...attemptOver(raiz), cabeceras: { 'Set-Cookie': navegador.ponerEntradaAMedias('', 0) } }
      const faults = { codigo: WRONG_FACTOR }
      return { status: 401, ...secondFactorPage(raiz, { volver, formas, faults, passkeys }) }
    }
  }
}

/** Creates the handler of `/invitacion/{token}`. */
function createInvitation(deps: SignInDeps, { marca }: Front): Page['atender'] {
  const { db } = deps
  const nombreDe = async (ambito: string) => {
    const comercio = comercioDe(ambito)
    const fila = comercio === null ? null : await db.prisma.comercio.findUnique({ where: { comercio } })
    return fila?.nombre ?? marca.nombre
  }
  return async ({ req, resto: token, raiz, red, leyendo }) => {
    const invitacion = await leerInvitacion(deps, token)
    if (!invitacion) return { status: 410, ...INVALID_INVITATION }
    const { ambito, alcances, correo, codigo_hash } = invitacion
    const vista = {
      raiz,
      token,
      lugar: await nombreDe(ambito),
      alcances,
      pregunta: correo === null,
      pideCodigo: codigo_hash !== null,
    }
    if (leyendo) return { status: 200, ...invitationPage(vista) }
    const valores = await readForm(req, ['codigo', 'correo', 'nombre'])
    const devolver = limitarEntradas(deps, red)
    try {
      const quien = { agente: agenteDe(req), cookie: req.headers.cookie ?? '', red, idSolicitud: req.solicitud.id }
      const abierta = await aceptar(deps, { token, ...valores }, quien)
      devolver()
      const cabeceras = { 'Set-Cookie': cookiesDeSesion(deps, abierta.token, abierta.vista) }
      return { status: 303, a: `${raiz}cuenta`, cabeceras }
    } catch (error) {
      if (error instanceof Problema && error.codigo === 'codigo_incorrecto') {
        if (!(await leerInvitacion(deps, token))) return { status: 410, ...INVALID_INVITATION }
        return { status: 401, ...invitationPage({ ...vista, valores, faults: { codigo: error.message } }) }
      }
      const faults = faultsOf(error)
      if (!faults) throw error
      return { status: 422, ...invitationPage({ ...vista, valores, faults }) }
    }
  }
}

/** Creates the handler of `/cuenta`. Redirects to `/entrar` without a session. */
function createAccount(deps: SignInDeps, { marca }: Front, passkeys: PasskeyOptions | undefined): Page['atender'] {
  const { db, navegador, ajustes, reloj } = deps
  return async (pedido) => {
    const { req, raiz, red, leyendo } = pedido
    const identidad = await sessionOf(deps, pedido)
    if (!identidad) return signInSheet(deps, pedido)
    const quien = { identidad, red, idSolicitud: req.solicitud.id }
    if (!leyendo) {
      const formulario = await readForm(req, ['accion', 'cual', 'razon', 'codigo'])
      const { accion, cual } = formulario
      if (accion === 'salir') {
        await cerrarSesionDe(deps, quien, identidad.codigo, 'cerrarSesionDePersona')
        const cabeceras = { 'Set-Cookie': navegador.ponerSesionDePersona('', 0) }
        return { status: 303, a: `${raiz}entrar`, cabeceras }
      }
      const presente = isPresent(identidad, reloj())
      if (changesFactors(accion) && !presente) return askForPresence(raiz, '/cuenta')
      if (changesFactors(accion)) return changeFactors(deps, quien, formulario, raiz)
      if (identidad.faltaSegundoFactor) return { status: 303, a: `${raiz}cuenta` }
      const decidida = await decideByForm(deps, quien, formulario, raiz)
      if (decidida) return decidida
      if (accion === 'cerrar') await cerrarSesionDe(deps, quien, cual, 'cerrarSesionPorCodigo')
      if (accion === 'elegir') return elegirOtra(deps, quien, cual, raiz)
      if (accion === 'quitar' && !presente) return askForPresence(raiz, returnPath(`/cuenta?quitar=${cual}`))
      if (accion === 'quitar') return removePasskey(deps, quien, cual, raiz)
      return { status: 303, a: `${raiz}cuenta` }
    }
    const sesion = await presentarSesionDePersona(db, identidad)
    if (identidad.faltaSegundoFactor) {
      const porQue = await impedimento(db.consultar, identidad.sesion, identidad.personaId)
      return { status: 200, ...limitedPage({ raiz, sesion, porQue, passkeys }) }
    }
    const comercios = sesion.membresias.flatMap(({ comercio }) => comercio ?? [])
    const filas = await db.prisma.comercio.findMany({ where: { comercio: { in: comercios } } })
    const nombres = new Map(filas.map(({ comercio, nombre }) => [comercio, nombre]))
    const nombreDe = (comercio: string | null) => (comercio && nombres.get(comercio)) ?? marca.nombre
    const zona = zonaDeLaEmpresa(ajustes.zonaHoraria)
    const suyas = (await leerPasskeys(db, identidad.personaId)).map(presentarPasskey)
    const sesiones = await leerSesiones(deps, identidad)
    return {
      status: 200,
      ...accountPage({
        raiz,
        sesion,
        sesiones,
        suyas,
        passkeys,
        quitar: suyas.find(({ passkey }) => passkey === req.query.quitar),
        nombreDe,
        zona,
        aprobaciones: await approvalsPart(deps, identidad, { raiz, zona }),
        factores: factorsPart(raiz, await presentarSegundoFactor(db.consultar, identidad.personaId), createClock(zona)),
      }),
    }
  }
}

/** Removes a passkey of the person, unless it is the last second factor of a person who needs one. */
async function removePasskey(
  deps: SignInDeps,
  quien: Parameters<typeof quitarPasskeyDe>[1],
  passkey: string,
  raiz: string,
): Promise<Sheet> {
  try {
    await quitarPasskeyDe(deps, quien, passkey)
    return { status: 303, a: `${raiz}cuenta` }
  } catch (error) {
    if (!(error instanceof Problema) || error.codigo !== 'ultimo_segundo_factor') throw error
    return { status: error.status, ...backPage('No se pudo', error.message, raiz) }
  }
}

/**
 * Switches the session to another membership. If the session is too old for that membership, the person must sign in
 * again.
 */
async function elegirOtra(
  deps: SignInDeps,
  quien: Parameters<typeof elegir>[1],
  membresia: string,
  raiz: string,
): Promise<Sheet> {
  try {
    await elegir(deps, quien, { membresia })
  } catch (error) {
    if (error instanceof Problema && error.codigo === 'sesion_invalida') return { status: 303, a: `${raiz}entrar` }
    if (!(error instanceof Problema) || error.codigo !== 'membresia_desconocida') throw error
  }
  return { status: 303, a: `${raiz}cuenta` }
}
