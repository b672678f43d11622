import type { Express } from 'express'
import { normalizarCodigoDeGuia } from '../../codigos/codigos.ts'
import { porMinuto } from '../../limites/cubos.ts'
import { LimitePorRed } from '../../limites/porRed.ts'
import { leerGenerado } from '../archivos.ts'
import type { Fachada } from '../fachada.ts'
import { Html } from '../html.ts'
import { cabezaPropia } from '../marco.ts'
import { type Hoja, type Pedido, servirPagina } from '../pagina.ts'
import { porHuella } from '../respuesta.ts'
import type { LeerEnvio } from './envio.ts'
import { FALLO, paginaDelEnvio, paginaDesconocida } from './vista.ts'

export interface OpcionesDeRastreo {
  fachada: Fachada
  leer: LeerEnvio
  /** The limit's clock, in milliseconds, of which only differences count. */
  reloj?: () => number
}

/**
 * Requests of one network. A code has 55 random bits: at this rate, among ten million guides, one is guessed in some fifty
 * years. A whole mobile network behind one address still gets through.
 */
const CONSULTAS = porMinuto(120)

/** The same for every parcel: what becomes of one is told to whoever opens the page, and to no app that keeps it. */
export const VISTA_PREVIA = { titulo: 'Siga su envío', descripcion: 'Vea por dónde va su paquete y qué sigue.' }

/** Serves `/r/{guia}`, which says where a parcel is to whoever has its code, and `/r`, which leads there from a code that was typed. */
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

/** Leads from what was typed to the parcel's page. */
function buscar({ req, raiz }: Pedido): Hoja {
  const tecleado = req.query.guia
  if (tecleado === undefined || tecleado === '') return { status: 303, a: raiz || './' }
  if (typeof tecleado !== 'string') return { status: 404, ...paginaDesconocida(raiz) }
  const codigo = normalizarCodigoDeGuia(tecleado)
  return codigo === undefined
    ? { status: 404, ...paginaDesconocida(raiz, tecleado) }
    : { status: 303, a: `${raiz}r/${codigo}` }
}
