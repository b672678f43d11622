import type { Express, RequestHandler } from 'express'
import { isForwarded } from '../../api/http/forwarded.ts'
import { createLimit } from '../../api/limits/buckets.ts'
import { statement } from '../../data/db.ts'
import { zonaDe } from '../../domain/catalogo/zona.ts'
import { type FilaCorreo, leerCorreo } from '../../domain/correos/correo.ts'
import { redactar } from '../../domain/correos/plantillas.ts'
import type { Deps } from '../../domain/deps.ts'
import type { FilaMensaje } from '../../domain/mensajeria/mensaje.ts'
import { tokenDe } from '../../domain/ubicacion/ubicacion.ts'
import { Problema } from '../../platform/errors.ts'
import { readGenerated } from '../assets.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { type Page, servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import { type Correo, FALLO_DEL_BUZON, type Mensaje, paginaDelBuzon } from './view.ts'

/** Row of a message, with what the page shows of its guide. */
type FilaDelBuzon = FilaMensaje & Omit<Mensaje, 'token' | 'zona'> & { departamento: string }

/**
 * Newest 100 messages to recipients of test guides, of all merchants. The mailbox never shows messages of live guides.
 */
const ULTIMOS = statement<object, FilaDelBuzon>(
  'buzon.ultimos',
  `select m.*, c.nombre as comercio, g.departamento, g.municipio, g.ubicacion_estado from mensaje m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   join comercio c on c.id = m.comercio_id
   where m.modo = 'test' and m.canal = 'buzon' and m.estado <> 'descartado' order by m.creado_en desc limit 100`,
)

/** Newest 50 mails that are in the mailbox or on their way to it. */
const CORREOS = statement<object, Pick<FilaCorreo, 'id' | 'tipo' | 'contenido' | 'estado'>>(
  'buzon.correos',
  `select id, tipo, contenido, estado from correo where contenido is not null and canal is distinct from 'smtp'
   order by creado_en desc limit 50`,
)

/** Maximum requests per minute from one network to the mailbox. */
const CONSULTAS = 120

const DE_ESTA_MAQUINA = ['localhost', '127.0.0.1', '[::1]']

/**
 * Serves `/buzon`, the local mailbox. It shows mails to persons and messages to recipients of test guides, with working
 * links.
 */
export function servirBuzon(
  app: Express,
  fachada: Front,
  { db, secretos, ajustes }: Pick<Deps, 'db' | 'secretos' | 'ajustes'>,
) {
  app.use('/buzon', exigirSinProxy, exigirNombre([...DE_ESTA_MAQUINA, new URL(ajustes.urlPublica).hostname]))
  const estilo = readGenerated('paginas/buzon/estilo.css').toString()
  const cabeza = ownHead(new Html(estilo))
  const limite = createLimit(CONSULTAS)
  const pagina = {
    cabeceras: fachada.permisos({ 'style-src': byDigest(estilo) }),
    cabeza: () => cabeza,
    fachada,
    fallo: FALLO_DEL_BUZON,
    esperar: ({ red }) => limite(red),
    async atender({ raiz }) {
      const filas = await db.consultar(ULTIMOS)
      const mensajes = filas.map((fila) => ({
        ...fila,
        zona: zonaDe(fila, ajustes.zonaHoraria),
        token: tokenDe(secretos, fila.id, fila.kid)?.token,
      }))
      const correos = (await db.consultar(CORREOS)).flatMap((fila): Correo[] => {
        const leido = leerCorreo(secretos, fila)
        if (!leido) return []
        const carta = redactar(fila.tipo, leido.datos, fachada.marca.nombre)
        return [{ ...carta, para: leido.para, sale: fila.estado === 'enviado' }]
      })
      return { status: 200, ...paginaDelBuzon(fachada.marca.nombre, { mensajes, correos }, raiz) }
    },
  } satisfies Page
  servePage(app, '/buzon', pagina, (resto) => resto !== '')
}

/**
 * Refuses requests that came through a proxy: their client is on another machine, even if the proxy asks for
 * `localhost`.
 * @throws Problema `ruta_desconocida`
 */
const exigirSinProxy: RequestHandler = (req, _res, next) => {
  if (isForwarded(req))
    throw new Problema('ruta_desconocida', 'El buzón solo se abre en la propia máquina, sin servidores intermedios.')
  next()
}

/**
 * Returns middleware that refuses every host name but `nombres`. Without it, the page of another site could point its
 * own host name at this machine and read the mailbox (DNS rebinding).
 * @throws Problema `ruta_desconocida`
 */
const exigirNombre =
  (nombres: readonly string[]): RequestHandler =>
  (req, _res, next) => {
    const { hostname } = URL.parse(`http://${req.headers.host}`) ?? {}
    if (hostname === undefined || !nombres.includes(hostname)) {
      throw new Problema('ruta_desconocida', 'El buzón solo se abre como localhost o con el nombre de PUBLIC_URL.')
    }
    next()
  }
