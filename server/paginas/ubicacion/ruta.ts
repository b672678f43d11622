import type { Express, Request } from 'express'
import { crearLimite } from '../../http/limite.ts'
import type { LugarPropuesto, Solicitudes } from '../../ubicacion/solicitud.ts'
import { servirRecurso } from '../recursos.ts'
import { anotarFallo, enviar, ponerCabeceras, type Respuesta, raizDesde, redDe } from '../respuesta.ts'
import {
  type Envio,
  ErrorDeEnvio,
  leerEnvio,
  numero,
  referenciaLarga,
  soloEnlace,
  type Valores,
  valoresDe,
} from './formulario.ts'
import { enlazar, leerRecursos, PREFIJO } from './recursos.ts'
import {
  type Enlazados,
  FALTA_LUGAR,
  type Falla,
  type Mosaicos,
  paginaCerrada,
  paginaDeEspera,
  paginaDeFallo,
  paginaDeGracias,
  paginaDelFormulario,
  paginaDeSeguro,
  paginaDesconocida,
  paginaMalPedida,
  paginaVencida,
} from './vista.ts'

export interface OpcionesDeUbicacion {
  solicitudes: Solicitudes
  /** Where the map's tiles come from; null: no map is offered. */
  mosaicos: Mosaicos | null
  /** In milliseconds; only differences count. */
  reloj?: () => number
}

/** 22 characters of base64url: 132 bits, too many to guess. */
const TOKEN = /^[A-Za-z0-9_-]{22}$/
/** Per minute. Previews alone may open a link 50 times; an address may be a whole mobile network behind one NAT. */
const LIMITES = { ip: 600, get: 60, post: 10 }

const PERMISOS = 'geolocation=(self), camera=(), microphone=()'

/** `/u/{token}`: where the recipient says where to deliver. The token is the only authority, and is never logged. */
export function servirPaginaDeUbicacion(app: Express, { solicitudes, mosaicos, reloj }: OpcionesDeUbicacion) {
  const recursos = leerRecursos()
  const csp = politica(mosaicos)
  const porIp = crearLimite(LIMITES.ip, reloj)
  const porLectura = crearLimite(LIMITES.get, reloj)
  const porEnvio = crearLimite(LIMITES.post, reloj)
  app.use(`/${PREFIJO.slice(0, -1)}`, servirRecurso(recursos))

  app.use('/u', (req, res) => {
    const enlazados = enlazar(recursos, raizDesde(req), mosaicos !== null)
    ponerCabeceras(res, csp, PERMISOS)
    atender(req, enlazados)
      .catch((error: unknown) => fallar(req, error, enlazados))
      .then((respuesta) => enviar(req, res, respuesta))
      .catch(() => res.destroy())
  })

  async function atender(req: Request, enlazados: Enlazados): Promise<Respuesta> {
    const leyendo = req.method === 'GET' || req.method === 'HEAD'
    if (!leyendo && req.method !== 'POST') {
      return { status: 405, html: paginaMalPedida(enlazados), cabeceras: { Allow: 'GET, HEAD, POST' } }
    }
    const token = req.path.slice(1)
    const conocible = TOKEN.test(token)
    const ip = redDe(req.ip ?? '')
    const espera = porIp(ip) || (conocible ? (leyendo ? porLectura : porEnvio)(`${ip} ${token}`) : 0)
    if (espera > 0) {
      const cabeceras = { 'Retry-After': String(espera) }
      return { status: 429, html: paginaDeEspera(enlazados, espera), cabeceras }
    }
    if (!conocible) return { status: 404, html: paginaDesconocida(enlazados) }
    return leyendo ? mostrar(token, enlazados) : recibir(token, await leerEnvio(req), enlazados)
  }

  async function mostrar(token: string, enlazados: Enlazados, envio?: Valores, fallas: readonly Falla[] = []) {
    const datos = await solicitudes.leer(token)
    if (!datos) return { status: 404, html: paginaDesconocida(enlazados) }
    if (datos.estado === 'vencida') return { status: 410, html: paginaVencida(enlazados) }
    if (datos.estado === 'cerrada') return { status: 200, html: paginaCerrada(enlazados) }
    if (datos.estado === 'confirmada') return { status: 200, html: paginaDeGracias(datos, enlazados) }
    const html = paginaDelFormulario(datos, envio ?? VACIO, fallas, mosaicos, enlazados, envio === undefined)
    return { status: fallas.length > 0 ? 422 : 200, html }
  }

  async function recibir(token: string, envio: Envio, enlazados: Enlazados): Promise<Respuesta> {
    const valores = valoresDe(envio)
    if (envio.accion === 'corregir') return mostrar(token, enlazados, valores)
    const { lugar, fallas } = interpretar(envio)
    if (!lugar) return mostrar(token, enlazados, valores, fallas)
    const resultado = await solicitudes.confirmar(token, lugar)
    // Relative to the page, so that it holds below any prefix.
    if (resultado.ok) return { status: 303, html: '', cabeceras: { Location: token } }
    switch (resultado.motivo) {
      case 'lejos': {
        const datos = await solicitudes.leer(token)
        if (!datos) return { status: 404, html: paginaDesconocida(enlazados) }
        return { status: 422, html: paginaDeSeguro(datos, valores, resultado.distancia_km, enlazados) }
      }
      case 'desconocida':
        return { status: 404, html: paginaDesconocida(enlazados) }
      case 'vencida':
        return { status: 410, html: paginaVencida(enlazados) }
      case 'cerrada':
        return { status: 200, html: paginaCerrada(enlazados) }
      default:
        return mostrar(token, enlazados, valores, [{ campo: CAMPO_DE[resultado.motivo], mensaje: resultado.mensaje }])
    }
  }
}

const VACIO: Valores = { lat: '', lng: '', precision_m: '', metodo: '', enlace: '', referencia: '' }
const CAMPO_DE = {
  sin_lugar: 'lugar',
  coordenadas_invalidas: 'lugar',
  enlace_invalido: 'enlace',
  referencia_larga: 'referencia',
} as const

/** What the form says, or why it says nothing. A point and a link together: `metodo` names what was chosen last. */
function interpretar(envio: Envio): { lugar?: LugarPropuesto; fallas: Falla[] } {
  const { metodo, enlace, referencia } = envio
  const fallas: Falla[] = []
  if (referenciaLarga(referencia)) {
    fallas.push({ campo: 'referencia', mensaje: 'La descripción es muy larga: use 200 letras o menos.' })
  }
  const comun = { seguro: envio.seguro === '1', ...(referencia && { referencia }) }
  const conPunto = (metodo === 'gps' || metodo === 'mapa') && (envio.lat !== '' || envio.lng !== '')
  if (!conPunto) {
    if (enlace === '') fallas.push({ campo: 'lugar', mensaje: FALTA_LUGAR })
    return fallas.length > 0
      ? { fallas }
      : { lugar: { ...comun, metodo: 'enlace', enlace: soloEnlace(enlace) }, fallas }
  }
  const lat = numero(envio.lat, -90, 90)
  const lng = numero(envio.lng, -180, 180)
  const precision_m = metodo === 'gps' ? numero(envio.precision_m, 0, 1_000_000) : undefined
  if (lat === undefined || lng === undefined) {
    fallas.push({ campo: 'lugar', mensaje: 'No pudimos leer el lugar. Elíjalo otra vez.' })
    return { fallas }
  }
  if (fallas.length > 0) return { fallas }
  return { lugar: { ...comun, metodo, lat, lng, ...(precision_m === undefined ? {} : { precision_m }) }, fallas }
}

/** The page loads its own files and the map's tiles; its form goes nowhere else; nobody may frame it. */
function politica(mosaicos: Mosaicos | null): string {
  const [, origen] = /^(https?:\/\/[^/]+)\//.exec(mosaicos?.url.replace('{s}', '*') ?? '') ?? []
  if (mosaicos && (!origen || /[\s;,{}]/.test(origen))) throw new Error('the address of the map tiles is no URL')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self'${origen ? ` ${origen}` : ''}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function fallar(req: Request, error: unknown, enlazados: Enlazados): Respuesta {
  if (error instanceof ErrorDeEnvio) return { status: error.status, html: paginaMalPedida(enlazados) }
  anotarFallo(req, error)
  return { status: 503, html: paginaDeFallo(enlazados), cabeceras: { 'Retry-After': '10' } }
}
