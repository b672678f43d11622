import type { Express, RequestHandler } from 'express'
import { isForwarded } from '../../api/http/forwarded.ts'
import { createLimit } from '../../api/limits/buckets.ts'
import { statement } from '../../data/db.ts'
import { timeZoneOf } from '../../domain/catalogo/timeZone.ts'
import { type CorreoRow, readCorreo } from '../../domain/correos/correo.ts'
import { composeLetter } from '../../domain/correos/templates.ts'
import type { Deps } from '../../domain/deps.ts'
import type { MensajeRow } from '../../domain/mensajeria/mensaje.ts'
import { tokenOf } from '../../domain/ubicacion/ubicacion.ts'
import { Problema } from '../../platform/errors.ts'
import { Html } from '../../platform/html.ts'
import { readGenerated } from '../assets.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { type RenderedPage, servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import { BUZON_FAILED, buzonPage, type Correo, type Mensaje } from './view.ts'

/** Row of a message, with what the page shows of its guide. */
type BuzonRow = MensajeRow & Omit<Mensaje, 'token' | 'zona'> & { departamento: string }

/**
 * Newest 100 messages to recipients of test guides, of all merchants. The mailbox never shows messages of live guides.
 */
const LATEST_MENSAJES = statement<object, BuzonRow>(
  'buzon.latestMensajes',
  'central',
  `select m.*, c.nombre as comercio, g.departamento, g.municipio, g.ubicacion_estado from mensaje m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   join comercio c on c.id = m.comercio_id
   where m.modo = 'test' and m.canal = 'buzon' and m.estado <> 'descartado' order by m.creado_en desc limit 100`,
)

/** Newest 50 mails that are in the mailbox or on their way to it. */
const CORREOS = statement<object, Pick<CorreoRow, 'id' | 'tipo' | 'contenido' | 'estado'>>(
  'buzon.correos',
  'central',
  `select id, tipo, contenido, estado from correo where contenido is not null and canal is distinct from 'smtp'
   order by creado_en desc limit 50`,
)

/** Maximum requests per minute from one network to the mailbox. */
const READS_PER_MINUTE = 120

const LOCAL_HOSTNAMES = ['localhost', '127.0.0.1', '[::1]']

/**
 * Serves `/buzon`, the local mailbox. It shows mails to persons and messages to recipients of test guides, with working
 * links.
 */
export function serveBuzon(
  app: Express,
  front: Front,
  { db, secretos, settings }: Pick<Deps, 'db' | 'secretos' | 'settings'>,
) {
  app.use('/buzon', requireNoProxy, requireHostname([...LOCAL_HOSTNAMES, new URL(settings.publicUrl).hostname]))
  const style = readGenerated('pages/mailbox/estilo.css').toString()
  const head = ownHead(new Html(style))
  const limit = createLimit(READS_PER_MINUTE)
  const page = {
    headers: front.policyHeaders({ 'style-src': byDigest(style) }),
    head: () => head,
    front,
    failure: BUZON_FAILED,
    waitSeconds: ({ red }) => limit(red),
    async handle({ root }) {
      const rows = await db.query(LATEST_MENSAJES)
      const mensajes = rows.map((row) => ({
        ...row,
        zona: timeZoneOf(row, settings.timeZone),
        token: tokenOf(secretos, row.id, row.kid)?.token,
      }))
      const correos = (await db.query(CORREOS)).flatMap((row): Correo[] => {
        const opened = readCorreo(secretos, row)
        if (!opened) return []
        const letter = composeLetter(row.tipo, opened.datos, front.brand.nombre)
        return [{ ...letter, to: opened.para, sale: row.estado === 'enviado' }]
      })
      return { status: 200, ...buzonPage(front.brand.nombre, { mensajes, correos }, root) }
    },
  } satisfies RenderedPage
  servePage(app, '/buzon', page, (rest) => rest !== '')
}

/**
 * Refuses requests that came through a proxy: their client is on another machine, even if the proxy asks for
 * `localhost`.
 * @throws Problema `ruta_desconocida`
 */
const requireNoProxy: RequestHandler = (req, _res, next) => {
  if (isForwarded(req))
    throw new Problema('ruta_desconocida', 'El buzón solo se abre en la propia máquina, sin servidores intermedios.')
  next()
}

/**
 * Returns middleware that refuses every host name but `hostnames`. Without it, the page of another site could point its
 * own host name at this machine and read the mailbox (DNS rebinding).
 * @throws Problema `ruta_desconocida`
 */
const requireHostname =
  (hostnames: readonly string[]): RequestHandler =>
  (req, _res, next) => {
    const { hostname } = URL.parse(`http://${req.headers.host}`) ?? {}
    if (hostname === undefined || !hostnames.includes(hostname)) {
      throw new Problema('ruta_desconocida', 'El buzón solo se abre como localhost o con el nombre de PUBLIC_URL.')
    }
    next()
  }
