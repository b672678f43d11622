import type { IncomingMessage } from 'node:http'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import type { Ajustes, Deps } from '../deps.ts'
import { Problema, problemaUniforme } from '../errores.ts'
import type { Autenticadores, Esquema } from './identidad.ts'
import type { Navegador } from './navegador.ts'
import { wasCharged } from './networkGate.ts'
import { estaEn, redDe } from './red.ts'
import { esReenviada } from './reenviada.ts'

/** A way in which requests carry their credential, and what a request without a good one is told. */
interface Credencial {
  /** The credential as the request carries it. @throws Problema 401 */
  leer(req: Request): string
  noVale(): Problema
  /** Refuses a credential that was made for a first try. */
  soloAqui(): Problema
}

/** Why a credential that the embedded default made for a first try is refused. */
export const DE_DEMOSTRACION =
  'es de demostración y solo vale en la propia máquina del servicio, sin PUBLIC_URL ni servidores intermedios'

/** Reports whether what was made for a first try is good for a request, which a proxy may have handed on. */
export const admiteDemostracion = ({ demostracion }: Pick<Ajustes, 'demostracion'>, reenviada: boolean) =>
  demostracion && !reenviada

const noAutenticado = (detail: string) =>
  new Problema('no_autenticado', detail, { cabeceras: { 'WWW-Authenticate': 'Bearer realm="guias"' } })

/** Key of an `Authorization: Bearer <key>` header (RFC 6750, 2.1); undefined if the header is none. */
const llaveDe = (authorization = ''): string | undefined => /^Bearer +([!-~]+) *$/i.exec(authorization)?.[1]

/** Tells whether this process has seen the credential that a request carries be valid. */
export const crearConocedor =
  ({ conoce }: Autenticadores, navegador: Navegador) =>
  (req: IncomingMessage, enCookie: boolean): boolean => {
    const presentada = enCookie ? navegador.leerSesion(req) : llaveDe(req.headers.authorization)
    return presentada !== undefined && conoce(presentada)
  }

/** RFC 6750: one `Authorization: Bearer <key>`. */
const LLAVE: Credencial = {
  leer(req) {
    // Node joins or drops repeated headers silently; two different keys are never the caller's intention.
    const presentadas = req.headersDistinct.authorization ?? []
    if (presentadas.length > 1) throw noAutenticado('Envíe una sola cabecera Authorization.')
    const llave = llaveDe(presentadas[0])
    if (!llave) throw noAutenticado('Envíe «Authorization: Bearer <su llave>» con una llave vigente.')
    return llave
  },
  noVale: () =>
    noAutenticado('La llave no es válida para esta ruta, venció o fue revocada. Revise que esté entera y vigente.'),
  soloAqui: () => noAutenticado(`La llave ${DE_DEMOSTRACION}. Use una llave propia.`),
}

/** A 401 must name a scheme (RFC 9110, 11.6.1), and there is none for cookies: this one says where to look. */
export const RETO_DE_SESION = { 'WWW-Authenticate': 'Cookie realm="repartidor"' }

const cookie = (navegador: Navegador): Credencial => {
  const noVale = (que = 'La sesión venció o se cerró') =>
    new Problema('sesion_invalida', `${que}. Entre otra vez con su código.`, { cabeceras: RETO_DE_SESION })
  return {
    leer(req) {
      const token = navegador.leerSesion(req)
      if (token === undefined) throw noVale('No hay ninguna sesión')
      return token
    },
    noVale,
    soloAqui: () => noVale(`La sesión ${DE_DEMOSTRACION}`),
  }
}

/** Admits only requests that the operation's security scheme knows, before a byte of their body is read. */
export function autenticar(
  { seguridad }: Operacion,
  autenticadores: Autenticadores,
  { navegador, limites, ajustes }: Pick<Deps, 'navegador' | 'limites' | 'ajustes'>,
): RequestHandler {
  if (!seguridad) return (_req, _res, next) => next()
  const verificar = autenticadores[seguridad.esquema as Esquema]
  const { leer, noVale, soloAqui } = seguridad.enCookie ? cookie(navegador) : LLAVE
  return (req: Request, _res: Response, next: NextFunction) => {
    const { ip = '' } = req
    const red = redDe(ip)
    let presentada: string
    try {
      presentada = leer(req)
    } catch (error) {
      if (!wasCharged(req)) limites.contarFallo(red)
      throw error
    }
    verificar(presentada, (buscar) => limites.averiguar(red, buscar))
      .then((identidad) => {
        if (!identidad) {
          limites.contarFallo(red)
          throw noVale()
        }
        if (identidad.demostracion && !admiteDemostracion(ajustes, esReenviada(req))) {
          limites.contarFallo(red)
          throw soloAqui()
        }
        // Before it spends anything: a stolen key takes nothing from where it is used rightly.
        if ('rangos' in identidad && identidad.rangos.length > 0 && !estaEn(ip, identidad.rangos)) {
          limites.contarFallo(red)
          throw problemaUniforme('red_no_permitida')
        }
        limites.avalar(red)
        req.solicitud.identidad = identidad
        next()
      })
      .catch(next)
  }
}

/** Duration of a request, in milliseconds, after which its credential and scope are checked again. */
const VIGENCIA_DE_LO_VISTO = 1_000

/** Checks credential and scope again when the body took more than a second: the key may have been revoked meanwhile. */
export function reautenticar(
  operacion: Operacion,
  autenticadores: Autenticadores,
  deps: Pick<Deps, 'navegador' | 'limites' | 'ajustes'>,
): RequestHandler {
  const autenticarDeNuevo = autenticar(operacion, autenticadores, deps)
  return (req, res, next) => {
    if (performance.now() - req.solicitud.inicio <= VIGENCIA_DE_LO_VISTO) return next()
    autenticarDeNuevo(req, res, (error?: unknown) => next(error ?? problemaDeAlcance(operacion, req)))
  }
}

/** Answers 403 unless the key has every scope that the operation names, before a byte of the body is read. */
export function exigirAlcance(operacion: Operacion): RequestHandler {
  return (req, _res, next) => {
    const problema = problemaDeAlcance(operacion, req)
    // A list that is not read costs one: `limitar` took the largest list's cost.
    if (problema) req.solicitud.admision?.corregir(1)
    next(problema)
  }
}

/** Returns the 403 of a key that lacks a scope of the operation; undefined if it has them all. */
function problemaDeAlcance({ seguridad }: Operacion, { solicitud: { identidad } }: Request): Problema | undefined {
  const suyos: readonly string[] = identidad && 'alcances' in identidad ? identidad.alcances : []
  const falta = seguridad?.alcances.find((alcance) => !suyos.includes(alcance))
  if (falta === undefined) return undefined
  return new Problema('alcance_insuficiente', `La operación pide el alcance ${falta} y esta llave no lo tiene.`)
}
