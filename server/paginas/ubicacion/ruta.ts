import type { Express } from 'express'
import { crearLimite } from '../../http/limite.ts'
import type { LugarPropuesto, Solicitudes } from '../../ubicacion/solicitud.ts'
import { leerRecursos, servirArchivos } from '../archivos.ts'
import { type Hoja, servirPagina } from '../pagina.ts'
import { permisos } from '../respuesta.ts'
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
import {
  CERRADA,
  cabezaDe,
  DESCONOCIDA,
  FALLO,
  FALTA_LUGAR,
  type Falla,
  MAL_PEDIDA,
  type Mosaicos,
  paginaDeGracias,
  paginaDelFormulario,
  paginaDeSeguro,
  VENCIDA,
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
/** Per minute. Previews alone may open a link 50 times; a network may be a whole mobile one behind one NAT. */
const LIMITES = { red: 600, get: 60, post: 10 }

const ARCHIVOS = ['navegador.js', 'estilo.css', 'mapa.js', 'mapa.css', 'icono.svg'] as const

/** `/u/{token}`: where the recipient says where to deliver. The token is the only authority, and is never logged. */
export function servirUbicacion(app: Express, { solicitudes, mosaicos, reloj }: OpcionesDeUbicacion) {
  const recursos = leerRecursos('ubicacion', 'u-recursos/', ARCHIVOS)
  const porRed = crearLimite(LIMITES.red, reloj)
  const porLectura = crearLimite(LIMITES.get, reloj)
  const porEnvio = crearLimite(LIMITES.post, reloj)
  servirArchivos(app, recursos.archivos)

  const ver = async (token: string, raiz: string, envio?: Valores, fallas: readonly Falla[] = []): Promise<Hoja> => {
    const datos = await solicitudes.leer(token)
    if (!datos) return { status: 404, ...DESCONOCIDA }
    if (datos.estado === 'vencida') return { status: 410, ...VENCIDA }
    if (datos.estado === 'cerrada') return { status: 200, ...CERRADA }
    if (datos.estado === 'confirmada') return { status: 200, ...paginaDeGracias(datos) }
    const mapa = mosaicos && {
      ...mosaicos,
      modulo: raiz + recursos.ruta('mapa.js'),
      estilo: raiz + recursos.ruta('mapa.css'),
    }
    const status = fallas.length > 0 ? 422 : 200
    return { status, ...paginaDelFormulario(datos, envio ?? VACIO, fallas, mapa, envio === undefined) }
  }

  async function recibir(token: string, raiz: string, envio: Envio): Promise<Hoja> {
    const valores = valoresDe(envio)
    if (envio.accion === 'corregir') return ver(token, raiz, valores)
    const { lugar, fallas } = interpretar(envio)
    if (!lugar) return ver(token, raiz, valores, fallas)
    const resultado = await solicitudes.confirmar(token, lugar)
    if (resultado.ok) return { status: 303, a: token }
    if (resultado.motivo === 'lejos') {
      const datos = await solicitudes.leer(token)
      return datos
        ? { status: 422, ...paginaDeSeguro(datos, valores, resultado.distancia_km) }
        : { status: 404, ...DESCONOCIDA }
    }
    if (!('mensaje' in resultado)) return ver(token, raiz)
    return ver(token, raiz, valores, [{ campo: CAMPO_DE[resultado.motivo], mensaje: resultado.mensaje }])
  }

  servirPagina(app, '/u', {
    metodos: ['POST'],
    cabeceras: politica(mosaicos),
    cabeza: ({ raiz }) => cabezaDe((archivo) => raiz + recursos.ruta(archivo)),
    fallo: FALLO,
    esperar({ red, resto, leyendo }) {
      const deEnlace = leyendo ? porLectura : porEnvio
      return porRed(red) || (TOKEN.test(resto) ? deEnlace(`${red} ${resto}`) : 0)
    },
    async atender({ req, resto: token, raiz, leyendo }) {
      if (!TOKEN.test(token)) return { status: 404, ...DESCONOCIDA }
      if (leyendo) return ver(token, raiz)
      try {
        return await recibir(token, raiz, await leerEnvio(req))
      } catch (error) {
        if (error instanceof ErrorDeEnvio) return { status: error.status, ...MAL_PEDIDA }
        throw error
      }
    },
  })
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
function politica(mosaicos: Mosaicos | null) {
  const [, origen] = /^(https?:\/\/[^/]+)\//.exec(mosaicos?.url.replace('{s}', '*') ?? '') ?? []
  if (mosaicos && (!origen || /[\s;,{}]/.test(origen))) throw new Error('the address of the map tiles is no URL')
  return permisos(
    {
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': `'self'${origen ? ` ${origen}` : ''}`,
      'connect-src': "'self'",
      'form-action': "'self'",
    },
    ['geolocation'],
  )
}
