import type { Express, RequestHandler } from 'express'
import { sentencia } from '../../db.ts'
import type { Deps } from '../../deps.ts'
import { Problema } from '../../errores.ts'
import { esReenviada } from '../../http/reenviada.ts'
import { crearLimite } from '../../limites/cubos.ts'
import type { FilaMensaje } from '../../mensajeria/mensaje.ts'
import { tokenDe } from '../../ubicacion/ubicacion.ts'
import { leerGenerado } from '../archivos.ts'
import type { Fachada } from '../fachada.ts'
import { Html } from '../html.ts'
import { cabezaPropia } from '../marco.ts'
import { type Pagina, servirPagina } from '../pagina.ts'
import { porHuella } from '../respuesta.ts'
import { FALLO, type Mensaje, paginaDelBuzon } from './vista.ts'

/** The newest messages to recipients of test guides, of all merchants: a live one is none of the mailbox's. */
const ULTIMOS = sentencia<object, FilaMensaje & Omit<Mensaje, 'token'>>(
  'buzon.ultimos',
  `select m.*, c.nombre as comercio, g.municipio, g.ubicacion_estado from mensaje m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   join comercio c on c.id = m.comercio_id
   where m.modo = 'test' and m.canal = 'buzon' and m.estado <> 'descartado' order by m.creado_en desc limit 100`,
)

/** How often a minute a network may open the mailbox. */
const CONSULTAS = 120

const DE_ESTA_MAQUINA = ['localhost', '127.0.0.1', '[::1]']

/** Serves `/buzon`: the messages that recipients would get on their phones, with links to be opened as they would. */
export function servirBuzon(
  app: Express,
  fachada: Fachada,
  { db, secretos, ajustes }: Pick<Deps, 'db' | 'secretos' | 'ajustes'>,
) {
  app.use('/buzon', exigirSinProxy, exigirNombre([...DE_ESTA_MAQUINA, new URL(ajustes.urlPublica).hostname]))
  const estilo = leerGenerado('paginas/buzon/estilo.css').toString()
  const cabeza = cabezaPropia(new Html(estilo))
  const limite = crearLimite(CONSULTAS)
  const pagina = {
    cabeceras: fachada.permisos({ 'style-src': porHuella(estilo) }),
    cabeza: () => cabeza,
    fachada,
    fallo: FALLO,
    esperar: ({ red }) => limite(red),
    async atender({ raiz }) {
      const filas = await db.consultar(ULTIMOS)
      const mensajes = filas.map((fila) => ({ ...fila, token: tokenDe(secretos, fila.id, fila.kid)?.token }))
      return { status: 200, ...paginaDelBuzon(fachada.marca.nombre, mensajes, raiz) }
    },
  } satisfies Pagina
  servirPagina(app, '/buzon', pagina, (resto) => resto !== '')
}

/** Whoever reads the mailbox through a proxy is on another machine, whatever name the proxy asks by. */
const exigirSinProxy: RequestHandler = (req, _res, next) => {
  if (esReenviada(req))
    throw new Problema('ruta_desconocida', 'El buzón solo se abre en la propia máquina, sin servidores intermedios.')
  next()
}

/** Another site's page can have its own name lead here, and would then read what only this machine may (DNS rebinding). */
const exigirNombre =
  (nombres: readonly string[]): RequestHandler =>
  (req, _res, next) => {
    const { hostname } = URL.parse(`http://${req.headers.host}`) ?? {}
    if (hostname === undefined || !nombres.includes(hostname)) {
      throw new Problema('ruta_desconocida', 'El buzón solo se abre como localhost o con el nombre de PUBLIC_URL.')
    }
    next()
  }
