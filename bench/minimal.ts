/**
 * Reference program for pages: a bare server on pg. It reads the rows of a page and answers with them as JSON, without
 * keys, security, cursors, validation or presentation. Reads DATABASE_URL and PORT; its argument is the merchant's id.
 */
import pg from 'pg'
import { EVENTO_COLUMNS } from '../server/domain/eventos/evento.ts'
import { AVISO_COLUMNS } from '../server/domain/webhooks/delivery.ts'
import { serveAsChild } from './harness/child.ts'

const comercio = process.argv[2]
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 8 })
pool.on('error', () => {})

// The limit is part of the text and not a parameter, so that PostgreSQL plans the prepared statement for this limit.
const eventos = (rowLimit: number) => ({
  name: `eventos ${rowLimit}`,
  text: `select ${EVENTO_COLUMNS}, guia_id, xid::text as lugar from evento where comercio_id = $1 and modo = 'live'
     and xid < pg_snapshot_xmin(pg_current_snapshot()) order by evento.xid, guia_id, secuencia limit ${rowLimit}`,
  values: [comercio],
})
const entregas = (webhook: string, rowLimit: number) => ({
  name: `entregas ${rowLimit}`,
  text: `select ${AVISO_COLUMNS}, e.guia_id from webhook_aviso e where comercio_id = $1 and modo = 'live'
     and webhook = $2 order by e.creado_en desc, e.guia_id desc, e.secuencia desc limit ${rowLimit}`,
  values: [comercio, webhook],
})

serveAsChild(
  async ({ url = '' }, res) => {
    if (url === '/readyz') return void res.end('{}')
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const limit = Number(searchParams.get('limite'))
    const webhook = /^\/api\/v1\/webhooks\/(\w+)\/avisos$/.exec(pathname)?.[1]
    // One extra row tells if a next page exists. The event feed has no end, so it needs no extra row.
    const { rows } = await pool.query(webhook ? entregas(webhook, limit + 1) : eventos(limit))
    const body = JSON.stringify({ datos: rows.slice(0, limit), cursor_siguiente: null })
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
    res.writeHead(200, headers).end(body)
  },
  () => pool.end(),
)
