import type { Express } from 'express'
import { normalizarCodigoDeGuia } from '../../codigos/codigos.ts'
import type { Deps } from '../../deps.ts'
import { leerGenerado } from '../archivos.ts'
import type { Fachada } from '../fachada.ts'
import { Html } from '../html.ts'
import { cabezaPropia } from '../marco.ts'
import { type Pagina, servirPagina } from '../pagina.ts'
import { porHuella } from '../respuesta.ts'
import { leerEntrega } from './entrega.ts'
import { DESCONOCIDA, FALLO, paginaDeVerificacion } from './vista.ts'

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
