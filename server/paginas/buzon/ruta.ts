import { createHash } from 'node:crypto'
import type { Express } from 'express'
import { sentencia } from '../../db.ts'
import type { Deps } from '../../deps.ts'
import type { FilaMensaje } from '../../mensajeria/mensaje.ts'
import { tokenDe } from '../../ubicacion/ubicacion.ts'

/** The newest messages of the mailbox, over all merchants: it exists only where somebody tries the service out. */
const ULTIMOS = sentencia(
  'buzon.ultimos',
  `select m.*, c.nombre as comercio, g.municipio, g.ubicacion_estado from mensaje m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   join comercio c on c.id = m.comercio_id
   where m.canal = 'buzon' and m.estado <> 'descartado' order by m.creado_en desc limit 100`,
)

type Mensaje = FilaMensaje & { comercio: string; municipio: string; ubicacion_estado: string }

const ESTILO = `:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem}ol{list-style:none;padding:0;display:grid;gap:1rem}li{border:1px solid #8886;border-radius:.75rem;padding:1rem;overflow-wrap:anywhere}
p{margin:.25rem 0}small{opacity:.8}a.abrir{display:inline-block;margin-top:.5rem;padding:.75rem 1.25rem;border-radius:.5rem;
background:#0b5fa5;color:#fff;text-decoration:none;font-weight:600}`
const CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(ESTILO).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** `/buzon`: what recipients would get on their phones, each with its link, to be opened as they would. */
export function servirBuzon(app: Express, { db, secretos }: Pick<Deps, 'db' | 'secretos'>) {
  app.get('/buzon', async (_req, res) => {
    const mensajes = await db.consultar<Mensaje>(ULTIMOS, [])
    res.setHeader('Content-Type', 'text/html; charset=utf-8')
    res.setHeader('Content-Security-Policy', CSP)
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('Referrer-Policy', 'no-referrer')
    res.setHeader('X-Robots-Tag', 'noindex')
    res.end(pagina(mensajes.map((mensaje) => tarjeta(mensaje, tokenDe(secretos, mensaje.id, mensaje.kid)?.token))))
  })
}

const escapar = (texto: string) => texto.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)

const tarjeta = (
  { telefono, comercio, municipio, guia, estado, ubicacion_estado }: Mensaje,
  token: string | undefined,
) => `<li>
  <p><small>Para ${escapar(telefono ?? '(borrado)')} · guía ${escapar(guia)} · ${escapar(estado)}</small></p>
  <p>Hola. <strong>${escapar(comercio)}</strong> le envía un paquete a ${escapar(municipio)}. Díganos dónde entregarlo:</p>
  ${estado === 'pendiente' || token === undefined ? '<p><em>Está por salir: vuelva a cargar la página.</em></p>' : `<a class="abrir" href="/u/${token}">${ubicacion_estado === 'confirmada' ? 'Ver el lugar confirmado' : 'Decir dónde es'}</a>`}
</li>`

const pagina = (tarjetas: readonly string[]) => `<!doctype html>
<html lang="es"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Buzón de mensajes</title><style>${ESTILO}</style></head><body><main>
<h1>Buzón de mensajes</h1>
<p>Lo que recibirían en su teléfono los destinatarios de guías sin ubicación. Aquí no sale nada afuera: abra un enlace y
confirme el lugar como lo harían ellos.</p>
${tarjetas.length > 0 ? `<ol>${tarjetas.join('\n')}</ol>` : '<p><strong>Todavía no hay mensajes.</strong> Cree una guía sin <code>lat</code>, <code>lng</code> ni <code>maps_url</code>.</p>'}
</main></body></html>`
