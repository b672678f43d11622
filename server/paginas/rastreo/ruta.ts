import type { Express } from 'express'
import { normalizarCodigoDeGuia } from '../../codigos/codigos.ts'
import { crearLimite } from '../../limites/cubos.ts'
import { leerGenerado } from '../archivos.ts'
import { Html } from '../html.ts'
import { cabezaPropia } from '../marco.ts'
import { type Hoja, type Pedido, servirPagina } from '../pagina.ts'
import { permisos, porHuella } from '../respuesta.ts'
import type { LeerEnvio } from './envio.ts'
import { FALLO, ICONO, paginaDeBusqueda, paginaDelEnvio, paginaDesconocida } from './vista.ts'

export interface OpcionesDeRastreo {
  leer: LeerEnvio
  /** The limit's clock, in milliseconds, of which only differences count. */
  reloj?: () => number
}

/**
 * How often a minute a network may ask for anything. A code has 55 random bits: at this rate, among ten million guides, one is
 * guessed in some fifty years; and a whole mobile network behind one address still gets through.
 */
const CONSULTAS = 120

/** Serves `/r/{guia}`, which says where a parcel is to whoever has its code, and `/r`, where the code is typed. */
export function servirRastreo(app: Express, { leer, reloj }: OpcionesDeRastreo) {
  const estilo = leerGenerado('paginas/rastreo/estilo.css').toString()
  const cabeza = cabezaPropia(new Html(estilo), ICONO)
  const limite = crearLimite(CONSULTAS, reloj ? { reloj } : {})
  servirPagina(app, '/r', {
    cabeceras: permisos({ 'style-src': porHuella(estilo), 'img-src': 'data:', 'form-action': "'self'" }),
    cabeza: () => cabeza,
    fallo: FALLO,
    esperar: ({ red }) => limite(red),
    async atender(pedido) {
      const { req, resto, raiz } = pedido
      if (req.path === '/') return buscar(pedido)
      const codigo = normalizarCodigoDeGuia(resto)
      const envio = codigo === undefined ? undefined : await leer(codigo)
      return envio ? { status: 200, ...paginaDelEnvio(envio, raiz) } : { status: 404, ...paginaDesconocida(raiz) }
    },
  })
}

/** Leads from what was typed to the parcel's page. */
function buscar({ req, raiz }: Pedido): Hoja {
  const tecleado = req.query.guia
  if (tecleado === undefined || tecleado === '') return { status: 200, ...paginaDeBusqueda(raiz) }
  const codigo = typeof tecleado === 'string' ? normalizarCodigoDeGuia(tecleado) : undefined
  return codigo === undefined ? { status: 404, ...paginaDesconocida(raiz) } : { status: 303, a: `${raiz}r/${codigo}` }
}
