import pg from 'pg'
import { NEW_GUIA_COLUMNS, RECORDSET } from '../../server/domain/records/guiaFields.ts'
import { newWebhookCode } from '../../server/domain/webhooks/webhook.ts'
import type { Modo } from '../../server/generated/contract/types/index.ts'
import type { BenchComercio, BenchInstallation } from './environment.ts'
import type { DeliveryDestination, DeliveryOrder } from './order.ts'
import type { PgbenchRun } from './pgbench.ts'

// The same guide in three forms: a request, a row that pgbench inserts, and a row of the seed. The columns and their
// sizes are equal.

/** Members of the guide's request that all guides share. */
const SHARED_MEMBERS = {
  destinatario: 'María José Ajú',
  departamento: 'Guatemala',
  municipio: 'San Juan Sacatepéquez',
  direccion: '2a calle 3-45, zona 1',
  indicaciones: 'Portón verde, frente a la tienda',
  contenido: '2 pares de zapatos',
  lat: 14.71889,
  lng: -90.64417,
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
}
const SHARED_JSON = JSON.stringify(SHARED_MEMBERS).slice(1)

let creadas = 0

/**
 * Returns the JSON of a valid guide with coordinates and an unused `external_ref`. Most phones differ, as in
 * production.
 */
export function buildGuiaJson(): string {
  const n = ++creadas
  const telefono = 50_000_000 + ((n * 7_919) % 9_000_000)
  return `{"telefono":"+502${telefono}","external_ref":"PEDIDO-${n}",${SHARED_JSON}`
}

/** Returns the JSON of a guide that the service refuses because of its phone. */
export const buildInvalidGuiaJson = (): string => buildGuiaJson().replace(/"telefono":"[^"]*"/, '"telefono":"123"')

/** Returns the JSON of a batch of `guias` valid guides. */
export const buildLoteJson = (guias: number): string =>
  `{"guias":[${Array.from({ length: guias }, buildGuiaJson).join(',')}]}`

type NewColumn = (typeof NEW_GUIA_COLUMNS)[number]

/** SQL expressions for the columns that differ between rows. */
type RowExpressions = Record<
  'comercio_id' | 'modo' | 'id' | 'guia' | 'external_ref' | 'telefono' | 'estado' | 'creado_en',
  string
>

/**
 * Digests in the service's format: the key's name, and one digest per field. The digest of `maps_url` is empty, because
 * these guides have none.
 */
const DIGESTS = ['7f3a91c2', ...Array.from({ length: 11 }, (_, i) => (i === 9 ? '' : `Zk3vQ9xW${i % 10}LmT2pBc`))].join(
  ' ',
)

/** Columns of a new guide whose values all guides of the bench share. */
const SHARED_COLUMNS = {
  ...SHARED_MEMBERS,
  recogida: { ...SHARED_MEMBERS.recogida, maps_url: null },
  huellas: DIGESTS,
  maps_url: null,
  metadatos: null,
  ubicacion_estado: 'confirmada',
  ubicacion_origen: 'coordenadas',
  ubicacion_lat: SHARED_MEMBERS.lat,
  ubicacion_lng: SHARED_MEMBERS.lng,
  ubicacion_extra: null,
  advertencias: [],
} satisfies { [column in Exclude<NewColumn, keyof RowExpressions>]: unknown }

/** Returns JSON with a space after each colon, because pgbench reads `:14` as a variable. */
const toJson = (value: unknown) => JSON.stringify(value).replaceAll(':', ': ')

/** Returns a value as an SQL literal. PostgreSQL reads it as the type of its column. */
const literalOf = (value: unknown) =>
  value === null ? 'null' : `'${typeof value === 'object' ? toJson(value) : String(value)}'`

/** Returns `(columns) select values`, for an insertion of guides. @param values SQL by column */
const columnsAndValues = (values: Readonly<Record<string, string>>) =>
  `(${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')}`

/** Columns that the service sets for each new guide. */
const startValues = (instant: string) => ({ estado_en: instant, secuencia: '1', actualizado_en: instant })

const guiaRowSql = (row: RowExpressions) =>
  columnsAndValues({
    ...row,
    ...startValues(row.creado_en),
    ...Object.fromEntries(Object.entries(SHARED_COLUMNS).map(([column, value]) => [column, literalOf(value)])),
  })

/**
 * Expressions for a row made from a number below 2^40. Its id grows with the number, as a UUIDv7 grows with time. Its
 * code falls at a random position of its index.
 */
const byNumber = (k: string, comercio: string, modo: Modo = 'live'): RowExpressions => ({
  comercio_id: comercio,
  modo: `'${modo}'`,
  id: `('01990000' || lpad(to_hex(${k}), 24, '0'))::uuid`,
  guia: `reverse(lpad(to_hex(${k}), 12, '0'))`,
  external_ref: `'PEDIDO-' || ${k}`,
  telefono: `'+502' || (50000000 + ${k} * 7919 % 9000000)`,
  estado: `'aceptado'`,
  creado_en: 'now()',
})

const EVENTO = 'evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)'
/** Value that `server/domain/guias/writing.ts` writes to `foto` for such a guide. */
const FOTO = `'${toJson({
  intentos: 0,
  advertencias: [],
  ubicacion_estado: SHARED_COLUMNS.ubicacion_estado,
  ubicacion_origen: SHARED_COLUMNS.ubicacion_origen,
  ubicacion_lat: SHARED_COLUMNS.ubicacion_lat,
  ubicacion_lng: SHARED_COLUMNS.ubicacion_lng,
})}'::jsonb`

/** SQL expression for the merchant of a pgbench client: client n writes for merchant n. */
const comercioOfClient = (comercios: readonly BenchComercio[]) =>
  comercios.length === 1
    ? `'${comercios[0]!.id}'::uuid`
    : `('{${comercios.map(({ id }) => id).join(',')}}'::uuid[])[:client_id::int + 1]`

/** pgbench script that inserts one guide in a transaction of three inserts. */
export function buildCreateScript(comercios: readonly BenchComercio[]): string {
  const e = byNumber(':k::bigint', comercioOfClient(comercios))
  return `\\set n :n + 1
\\set k :base + :n * 64 + :client_id
begin;
insert into guia ${guiaRowSql(e)};
insert into guia_indice (guia, comercio_id, modo, id) values (${e.guia}, ${e.comercio_id}, 'live', ${e.id});
insert into ${EVENTO} values (${e.comercio_id}, 'live', ${e.id}, 1, ${e.guia}, 'guia.aceptado', 'aceptado', ${FOTO}, now(), now());
commit;
`
}

/**
 * JSON of a batch, in the service's format. The script replaces its ids, codes and references, so that one text serves
 * all batches.
 */
const buildLoteRowsJson = ({ id }: BenchComercio, guias: number) =>
  JSON.stringify(
    Array.from({ length: guias }, (_, i) => ({
      i,
      comercio_id: id,
      modo: 'live',
      id: '01990000-0000-7000-8000-000000000000',
      guia: '0000000000A0',
      external_ref: `PEDIDO-${2 ** 28 + i}`,
      telefono: `+502${50_000_000 + i * 7_919}`,
      ...SHARED_COLUMNS,
      creado_en: '2026-11-20T12:00:00.000Z',
    })),
  )

/**
 * pgbench script that inserts `guias` guides in one statement, from one JSON parameter and with ON CONFLICT, as the
 * service does. It leaves out row-level security and deliveries. The event's `foto` is a constant.
 */
export function buildLoteScript(comercio: BenchComercio, guias: number): Pick<PgbenchRun, 'script' | 'texts'> {
  const { id, guia, external_ref, estado, creado_en } = byNumber('k', 'comercio_id')
  const inserted = columnsAndValues({
    ...Object.fromEntries(NEW_GUIA_COLUMNS.map((column) => [column, column])),
    ...{ id, guia, external_ref, estado, creado_en },
    ...startValues(creado_en),
  })
  const script = `\\set n :n + 1
\\set k :base + (:n * 64 + :client_id) * ${guias}
with x as materialized (
  select *, :k::bigint + i as k from json_to_recordset(:guias::json)
    as x(i int, ${RECORDSET}, mensaje_id uuid, enlace_corto_id uuid)
), g as (
  insert into guia as n ${inserted} from x
  on conflict (comercio_id, modo, external_ref) do nothing
  returning n.comercio_id, n.modo, n.id, n.guia, n.external_ref, n.creado_en
), i as (insert into guia_indice (guia, comercio_id, modo, id) select guia, comercio_id, modo, id from g)
insert into ${EVENTO} select comercio_id, modo, id, 1, guia, 'guia.aceptado', 'aceptado', ${FOTO}, creado_en, creado_en from g;
`
  return { script, texts: { guias: buildLoteRowsJson(comercio, guias) } }
}

/** pgbench script that runs the two reads of the guide detail for a random guide. */
export const buildDetailScript = (comercio: BenchComercio, guias: number): string => `\\set k random(1, ${guias})
select g.*, c.comercio from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id join comercio c on c.id = g.comercio_id where i.guia = ${seededCodeSql(':k::bigint')} and i.comercio_id = '${comercio.id}' and i.modo = 'live' \\gset
select * from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :id and secuencia > 0 order by secuencia limit 26;
`

/**
 * SQL expression for a valid public code of a number below 16^6: its last six hexadecimal digits and the check
 * character.
 */
export const seededCodeSql = (n: string) =>
  `upper(lpad(to_hex(${n}), 11, '0')) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (${[21, 19, 17, 15, 13, 11]
    .map((weight, i) => `${n} / ${16 ** i} % 16 * ${weight}`)
    .join(' + ')})::int % 32, 1)`

/** Returns up to `count` codes of guides of any merchant, in random order. */
export async function readRandomGuias({ pool }: BenchInstallation['db'], count: number): Promise<string[]> {
  const sql = 'select guia from guia_indice order by random() limit $1'
  const { rows } = await pool.query<{ guia: string }>(sql, [count])
  return rows.map(({ guia }) => guia)
}

/** Rare states of the seed: about one guide in `countRare(guias)` is in each; all others are `aceptado`. */
export const RARE_ESTADOS = ['devuelto', 'extraviado'] as const
const countRare = (guias: number) => Math.max(1, Math.floor(guias / 200))

const SEED_START_MS = Date.UTC(2026, 0, 1)

/** Rows that {@link seedGuias} inserts. */
export interface Seed {
  comercio: BenchComercio
  /** Number of the first row. Default: 1. */
  desde?: number
  /** Last row. */
  hasta: number
  /** Events per guide; also inserts the rows of `guia_indice`. 0 inserts only `guia`, which is all that lists read. */
  eventos?: number
}

/** Guides per seeding transaction: few, so that it resembles the service's own transactions. */
const GUIAS_PER_TRANSACTION = 500

/** Inserts a link of the audit chain that ends at the last event. */
const INSERT_LAST_LINK = `insert into eslabon (registro, numero, xid, lineas, claves, huellas, hash, creado_en)
  select 'evento', 1 + (select count(*)::int from eslabon where registro = 'evento'), xid, 1,
    uuid_send(guia_id) || int4send(secuencia), '\\x00', '\\x00', now()
  from evento order by xid desc, guia_id desc, secuencia desc limit 1
  on conflict (registro, numero) do nothing`

/**
 * Inserts a merchant's guides in the state in which the service leaves them. Then runs VACUUM (ANALYZE) and CHECKPOINT.
 */
export async function seedGuias(url: string, seed: Seed): Promise<void> {
  const { comercio, desde = 1, hasta, eventos = 0 } = seed
  const client = new pg.Client(url)
  await client.connect()
  const e: RowExpressions = {
    ...byNumber('n', `'${comercio.id}'::uuid`),
    id: `(lpad(to_hex(${SEED_START_MS} + n * 100), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || substr(md5(n::text), 1, 15))::uuid`,
    guia: seededCodeSql('n'),
    external_ref: `'SIEMBRA-' || n`,
    estado: `case n % ${countRare(hasta)} when 0 then '${RARE_ESTADOS[0]}' when 1 then '${RARE_ESTADOS[1]}' else 'aceptado' end`,
    creado_en: `to_timestamp((${SEED_START_MS} + n * 100) / 1000.0)`,
  }
  try {
    // Skips the checks of foreign keys, because the referenced rows exist.
    await client.query('set session_replication_role = replica')
    for (let first = desde; first <= hasta; first += GUIAS_PER_TRANSACTION) {
      const n = `generate_series(${first}::bigint, ${Math.min(hasta, first + GUIAS_PER_TRANSACTION - 1)}) n`
      await client.query(`insert into guia ${guiaRowSql(e)} from ${n}`)
      if (eventos === 0) continue
      await client.query(
        `insert into guia_indice (guia, comercio_id, modo, id) select ${e.guia}, ${e.comercio_id}, 'live', ${e.id} from ${n}`,
      )
      await client.query(
        `insert into ${EVENTO} select ${e.comercio_id}, 'live', ${e.id}, s, ${e.guia}, case s when 1 then 'guia.aceptado' else 'guia.recolectado' end,
         case s when 1 then 'aceptado' else 'recolectado' end, ${FOTO}, ${e.creado_en}, ${e.creado_en} from ${n}, generate_series(1, ${eventos}) s order by n, s`,
      )
    }
    // In production the audit chain already covers these events. The loop retries while a running service inserts the
    // same link.
    while (eventos > 0 && (await client.query(INSERT_LAST_LINK)).rowCount === 0);
    await client.query('vacuum (analyze) guia, guia_indice, evento')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

/**
 * Inserts recent deliveries of `count` seeded guides that succeeded at the first attempt, to a new endpoint.
 * @returns the code of the endpoint
 */
export async function seedFinishedEntregas(url: string, comercio: BenchComercio, count: number): Promise<string> {
  const webhook = newWebhookCode()
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(
      `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, comprobado_en, creado_en, actualizado_en)
       values ($1, 'live', $2, 'https://tienda.ejemplo.com/guias', '{*}', 'activo', now(), now(), now(), now())`,
      [comercio.id, webhook],
    )
    await client.query(
      `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, intento,
         intentos, proximo_en, ultimo_status, exito, creado_en, terminado_en)
       select comercio_id, modo, $2, guia_id, secuencia, 'evt_' || guia || '_1', tipo, 'entregado', 'automatica', 1, 1,
         momento, 204, $3, momento, momento
       from (select *, now() - n * interval '1 second' as momento from (
         select *, row_number() over (order by guia_id) as n from evento where comercio_id = $1 and secuencia = 1) e) e
       where n <= $4`,
      [comercio.id, webhook, SUCCESS_JSON, count],
    )
    await client.query('vacuum (analyze) webhook_aviso')
  } finally {
    await client.end()
  }
  return webhook
}

/** Attempt as `server/domain/webhooks/sending/settleSuccesses.ts` stores it for an endpoint that answers without a body. */
const SUCCESS_JSON = JSON.stringify({
  id: '01990000-0000-7000-8000-000000000000',
  causa: 'automatica',
  iniciado_en: '2026-01-01T00:00:00.000Z',
  url: 'https://tienda.ejemplo.com/guias',
  ip: '8.8.8.8',
  secretos: [1],
  status: 204,
  dns_ms: 0.1,
  conexion_ms: 4.2,
  tls_ms: 8.1,
  primer_byte_ms: 20.4,
  total_ms: 20.6,
  headers: { date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
  body: '',
  cuerpo_truncado: false,
})

/** Next unused number for {@link byNumber}. Starts at 2^30, far above the references (`PEDIDO-n`) of the load. */
let nextNumber = 2 ** 30
const takeNumbers = (count: number) => {
  const first = nextNumber
  nextNumber += count
  return { first, ultima: nextNumber - 1 }
}

/**
 * Inserts `count` pending deliveries, one for each new guide, over the endpoints in turn. The receiver sees a
 * different id for each. They appear with one commit, already analyzed, so that a worker finds all of them at once.
 */
export async function seedWebhookAvisos(
  url: string,
  destinations: readonly DeliveryDestination[],
  count: number,
): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const { first, ultima } = takeNumbers(count)
  const e = byNumber('k', 'd.comercio', 'test')
  const rowSource = `generate_series(${first}::bigint, ${ultima}) k join unnest($1::uuid[], $2::text[])
    with ordinality d(comercio, webhook, n) on d.n = 1 + k % ${destinations.length}`
  const values = [destinations.map(({ comercio }) => comercio.id), destinations.map(({ webhook }) => webhook)]
  try {
    await client.query('begin')
    // Skips the checks of foreign keys, because the referenced rows exist.
    await client.query('set local session_replication_role = replica')
    for (const insertion of [
      `guia ${guiaRowSql(e)}`,
      `guia_indice (guia, comercio_id, modo, id) select ${e.guia}, ${e.comercio_id}, ${e.modo}, ${e.id}`,
      `${EVENTO} select ${e.comercio_id}, ${e.modo}, ${e.id}, 1, ${e.guia}, 'guia.aceptado', 'aceptado', ${FOTO}, now(), now()`,
      `webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, creado_en)
       select ${e.comercio_id}, ${e.modo}, d.webhook, ${e.id}, 1, 'evt_' || ${e.guia} || '_1', 'guia.aceptado', 'pendiente',
         'automatica', now(), now()`,
    ])
      await client.query(`insert into ${insertion} from ${rowSource}`, values)
    await client.query('analyze guia, guia_indice, evento, webhook_aviso')
    await client.query('commit')
  } finally {
    await client.end()
  }
}

/**
 * Returns the requests that a reference sends instead: `count` bodies of the same size, to the same endpoints, with
 * unique ids.
 */
export function buildOrders(destinations: readonly DeliveryDestination[], count: number): DeliveryOrder[] {
  const { first } = takeNumbers(count)
  return Array.from({ length: count }, (_, i) => {
    const { comercio, webhook, url, clave, example } = destinations[i % destinations.length]!
    const hex = (first + i).toString(16).padStart(12, '0')
    const guia = [...hex].reverse().join('')
    return {
      numero: first + i,
      comercio_id: comercio.id,
      modo: comercio.modo,
      webhook,
      guia_id: `01990000-0000-0000-0000-${hex}`,
      secuencia: 1,
      evento: `evt_${guia}_1`,
      url,
      clave: clave.toString('base64'),
      body: example.replaceAll('GUIA_EJEMPLO', guia),
    }
  })
}

/**
 * Inserts the rows of one guide in one statement, as the service does. `$1` is the number of the guide, `$2` its
 * merchant.
 */
export const INSERT_GUIA = (() => {
  const e = byNumber('$1::bigint', '$2::uuid', 'test')
  return `with g as (
     insert into guia ${guiaRowSql(e)} returning comercio_id, modo, id, guia, creado_en
   ), i as (insert into guia_indice (guia, comercio_id, modo, id) select guia, comercio_id, modo, id from g)
   insert into ${EVENTO} select comercio_id, modo, id, 1, guia, 'guia.aceptado', 'aceptado', ${FOTO}, creado_en, creado_en from g`
})()
