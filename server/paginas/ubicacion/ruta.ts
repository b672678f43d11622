import type { Express } from 'express'
import { crearLimite, porMinuto } from '../../limites/cubos.ts'
import { LimitePorRed } from '../../limites/porRed.ts'
import type { Solicitudes } from '../../ubicacion/solicitud.ts'
import { leerRecursos, servirArchivos } from '../archivos.ts'
import type { Fachada } from '../fachada.ts'
import { servirPagina } from '../pagina.ts'
import { privacidadDelLugar } from '../privacidad.ts'
import { DESCONOCIDA, FALLO, MAL_PEDIDA } from './despues.ts'
import { ErrorDeFormulario, leerFormulario } from './formulario.ts'
import { crearHojas } from './hojas.ts'
import { PREGUNTA } from './partes.ts'
import { cabezaDe, type Mosaicos } from './vista.ts'

export interface OpcionesDeUbicacion {
  fachada: Fachada
  solicitudes: Solicitudes
  /** Where the map's tiles come from; null when no map is offered. */
  mosaicos: Mosaicos | null
  /** For how many days places are kept after a guide's end. */
  retencion: number
  /** The limits' clock, in milliseconds, of which only differences count. */
  reloj?: () => number
}

/** A link's token: 22 characters of base64url, which are 132 bits, too many to guess. */
const TOKEN = /^[A-Za-z0-9_-]{22}$/
/** Requests a minute: previews alone may open a link 50 times, and a network may be a whole mobile one behind one NAT. */
const LIMITES = { red: 600, get: 60, post: 10 }
/** Other links that a network, perhaps a whole mobile one, may ask for of all guides; a guide and a telephone get few. */
const OTROS = { porSegundo: 1 / 60, rafaga: 30 }

const ARCHIVOS = ['navegador.js', 'estilo.css', 'mapa.js', 'mapa.css'] as const

/** The same for every link: whose parcel it is, is told to whoever opens the page, and to no app that keeps it. */
const VISTA_PREVIA = {
  titulo: PREGUNTA,
  descripcion: 'Díganos el lugar exacto para que el repartidor lo encuentre.',
}

/** Serves `/u/{token}`, where the recipient says where to deliver: the token is the only authority, and is never logged. */
export function servirUbicacion(
  app: Express,
  { fachada, solicitudes, mosaicos, retencion, reloj }: OpcionesDeUbicacion,
) {
  const recursos = leerRecursos('paginas/ubicacion/', 'u-recursos/', ARCHIVOS)
  const conReloj = reloj ? { reloj } : {}
  const porRed = new LimitePorRed(porMinuto(LIMITES.red), conReloj)
  const porLectura = crearLimite(LIMITES.get, conReloj)
  const porEnvio = crearLimite(LIMITES.post, conReloj)
  const otros = new LimitePorRed(OTROS, conReloj)
  const { ver, recibir } = crearHojas(solicitudes, {
    mapaDe: (raiz) =>
      mosaicos && {
        ...mosaicos,
        modulo: raiz + recursos.ruta('mapa.js'),
        estilo: raiz + recursos.ruta('mapa.css'),
      },
    porOtro: (red) => otros.tomar(red),
  })
  servirArchivos(app, recursos.archivos)
  servirPagina(app, '/u', {
    metodos: ['POST'],
    cabeceras: politica(fachada, mosaicos),
    cabeza: ({ raiz }) => cabezaDe((archivo) => raiz + recursos.ruta(archivo)),
    fachada,
    previa: VISTA_PREVIA,
    nota: privacidadDelLugar(retencion),
    fallo: FALLO,
    esperar({ red, resto, leyendo }) {
      const deEnlace = leyendo ? porLectura : porEnvio
      return porRed.tomar(red) || (TOKEN.test(resto) ? deEnlace(`${red} ${resto}`) : 0)
    },
    async atender({ req, resto: token, raiz, red, leyendo }) {
      if (!TOKEN.test(token)) return { status: 404, ...DESCONOCIDA }
      const abierto = { token, raiz, red }
      if (leyendo) return ver(abierto, req.query.cambiar === undefined ? {} : { cambiar: '1' })
      try {
        return await recibir(abierto, await leerFormulario(req))
      } catch (error) {
        if (error instanceof ErrorDeFormulario) return { status: error.status, ...MAL_PEDIDA }
        throw error
      }
    },
  })
}

/** The page loads its own files and the map's tiles; its form goes nowhere else; nobody may frame it. */
function politica(fachada: Fachada, mosaicos: Mosaicos | null) {
  const [, origen] = /^(https?:\/\/[^/]+)\//.exec(mosaicos?.url.replace('{s}', '*') ?? '') ?? []
  if (mosaicos && (!origen || /[\s;,{}]/.test(origen))) throw new Error('the address of the map tiles is no URL')
  return fachada.permisos(
    {
      'script-src': "'self'",
      'style-src': "'self'",
      ...(origen ? { 'img-src': origen } : {}),
      'connect-src': "'self'",
      'form-action': "'self'",
    },
    ['geolocation'],
  )
}
