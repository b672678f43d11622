import type { Express } from 'express'
import { porMinuto } from '../../api/limits/buckets.ts'
import { LimitePorRed } from '../../api/limits/networkLimit.ts'
import { normalizarCodigoDeGuia } from '../../platform/codes/codes.ts'
import { leerGenerado } from '../assets.ts'
import { cabezaPropia } from '../frame.ts'
import type { Fachada } from '../front.ts'
import { Html } from '../html.ts'
import { type Hoja, type Pedido, servirPagina } from '../page.ts'
import { porHuella } from '../response.ts'
import type { LeerEnvio } from './envio.ts'
import { FALLO, paginaDelEnvio, paginaDesconocida } from './view.ts'

export interface OpcionesDeRastreo {
  fachada: Fachada
  leer: LeerEnvio
  /** Clock of the rate limit, in milliseconds; only differences count. */
  reloj?: () => number
}

/**
 * Requests per minute of one network. A code has 55 random bits: with ten million guides, a network at this rate
 * guesses one code in about fifty years. A whole mobile network behind one address still gets through.
 */
const CONSULTAS = porMinuto(120)

/**
 * Preview of every tracking link. It says nothing about the parcel: apps keep previews, so only the page itself shows
 * the state.
 */
export const VISTA_PREVIA = { titulo: 'Siga su envío', descripcion: 'Vea por dónde va su paquete y qué sigue.' }

/**
 * Serves `/r/{guia}`, which shows the progress of a parcel to anyone who has its code. Also serves `/r`, which
 * redirects there from a typed code.
 */
export function servirRastreo(app: Express, { fachada, leer, reloj }: OpcionesDeRastreo) {
  const estilo = leerGenerado('paginas/rastreo/estilo.css').toString()
  const cabeza = cabezaPropia(new Html(estilo))
  const limite = new LimitePorRed(CONSULTAS, reloj ? { reloj } : {})
  servirPagina(app, '/r', {
    cabeceras: fachada.permisos({ 'style-src': porHuella(estilo), 'form-action': "'self'" }),
    cabeza: () => cabeza,
    fachada,
    previa: VISTA_PREVIA,
    fallo: FALLO,
    esperar: ({ red }) => limite.tomar(red),
    async atender(pedido) {
      const { req, resto, raiz } = pedido
      if (req.path === '/') return buscar(pedido)
      const codigo = normalizarCodigoDeGuia(resto)
      const envio = codigo === undefined ? undefined : await leer(codigo)
      return envio ? { status: 200, ...paginaDelEnvio(envio, raiz) } : { status: 404, ...paginaDesconocida(raiz) }
    },
  })
}

/** Redirects from a typed code to the parcel's page. */
function buscar({ req, raiz }: Pedido): Hoja {
  const tecleado = req.query.guia
  if (tecleado === undefined || tecleado === '') return { status: 303, a: raiz || './' }
  if (typeof tecleado !== 'string') return { status: 404, ...paginaDesconocida(raiz) }
  const codigo = normalizarCodigoDeGuia(tecleado)
  return codigo === undefined
    ? { status: 404, ...paginaDesconocida(raiz, tecleado) }
    : { status: 303, a: `${raiz}r/${codigo}` }
}
