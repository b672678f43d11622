import type { Express } from 'express'
import type { Deps } from '../../domain/deps.ts'
import { normalizarCodigoDeGuia } from '../../platform/codes/codes.ts'
import { leerGenerado } from '../assets.ts'
import { cabezaPropia } from '../frame.ts'
import type { Fachada } from '../front.ts'
import { Html } from '../html.ts'
import { type Pagina, servirPagina } from '../page.ts'
import { porHuella } from '../response.ts'
import { leerEntrega } from './entrega.ts'
import { DESCONOCIDA, FALLO, paginaDeVerificacion } from './view.ts'

type DepsDeVerificacion = Pick<Deps, 'db' | 'limiteDeVerificacion' | 'ajustes'>

/**
 * Serves `/verificar/{guia}`, which tells the holder of a PDF whether it is the guide's proof of delivery. The page
 * sends the digest of the PDF to an operation one path segment below, which the contract describes.
 */
export function servirVerificacion(app: Express, fachada: Fachada, deps: DepsDeVerificacion) {
  const leer = (archivo: string) => leerGenerado(`paginas/verificar/${archivo}`).toString()
  const [estilo, programa] = [leer('estilo.css'), leer('navegador.js')]
  const [cabeza, guion] = [cabezaPropia(new Html(estilo)), new Html(programa)]
  const pagina = {
    cabeceras: fachada.permisos({
      'style-src': porHuella(estilo),
      'script-src': porHuella(programa),
      'connect-src': "'self'",
    }),
    cabeza: () => cabeza,
    fachada,
    fallo: FALLO,
    esperar: ({ red }) => deps.limiteDeVerificacion.tomar(red),
    async atender({ resto, raiz }) {
      const codigo = normalizarCodigoDeGuia(resto)
      const entrega = codigo === undefined ? undefined : await leerEntrega(deps, codigo)
      return entrega ? { status: 200, ...paginaDeVerificacion(entrega, raiz, guion) } : { status: 404, ...DESCONOCIDA }
    },
  } satisfies Pagina
  servirPagina(app, '/verificar', pagina, (resto) => resto.includes('/'))
}
