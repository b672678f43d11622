import pg from 'pg'
import { newWebhookCode } from '../../server/domain/webhooks/webhook.ts'
import type { Modo } from '../../server/generated/contract/types/index.ts'
import type { BenchComercio, BenchInstallation } from './environment.ts'
import type { DeliveryDestination, DeliveryOrder } from './order.ts'
import type { PgbenchRun } from './pgbench.ts'

// The same guide in three forms: a request, a row that pgbench inserts, and a row of the seed. The columns and their
// sizes are equal.

let creadas = 0

/**
 * Returns the JSON of a valid guide with coordinates and an unused `external_ref`. Most phones differ, as in
 * production.
 */
export function buildGuiaJson(): string {
  const n = ++creadas
  const telefono = 50_000_000 + ((n * 7_919) % 9_000_000)
  return (
    `{"telefono":"+502${telefono}","destinatario":"María José Ajú","departamento":"Guatemala",` +
    '"municipio":"San Juan Sacatepéquez","direccion":"2a calle 3-45, zona 1","indicaciones":"Portón verde, frente a la tienda",' +
    '"contenido":"2 pares de zapatos","lat":14.71889,"lng":-90.64417,' +
    `"recogida":{"nombre":"Bodega Zona 12","lat":14.583611,"lng":-90.548611},"external_ref":"PEDIDO-${n}"}`
  )
}

/** Returns the JSON of a guide that the service refuses because of its phone. */
export const buildInvalidGuiaJson = (): string => buildGuiaJson().replace(/"telefono":"[^"]*"/, '"telefono":"123"')

/** Returns the JSON of a batch of `guias` valid guides. */
export const buildLoteJson = (guias: number): string =>
  `{"guias":[${Array.from({ length: guias }, buildGuiaJson).join(',')}]}`

/** SQL expressions for the columns that differ between rows. */
interface RowExpressions {
  comercio: string
  modo: string
  id: string
  guia: string
  ref: string
  telefono: string
  estado: string
  instant: string
}

const GUIA_COLUMNS = `comercio_id, modo, id, guia, external_ref, huellas, estado, estado_en, telefono, destinatario, departamento,
  municipio, direccion, indicaciones, contenido, lat, lng, maps_url, recogida, metadatos, ubicacion_estado,
  ubicacion_origen, ubicacion_lat, ubicacion_lng, advertencias, secuencia, creado_en, actualizado_en`

/** Returns JSON with a space after each colon, because pgbench reads `:14` as a variable. */
const enJson = (value: unknown) => JSON.stringify(value).replaceAll(':', ': ')
/**
 * Digests in the service's format: the key's name, and one digest per field. The digest of `maps_url` is empty, because
 * these guides have none.
 */
const DIGESTS = ['7f3a91c2', ...Array.from({ length: 11 }, (_, i) => (i === 9 ? '' : `Zk3vQ9xW${i % 10}LmT2pBc`))].join(
  ' ',
)
const RECOGIDA = enJson({ nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611, maps_url: null })

const guiaRowSql = ({ comercio, modo, id, guia, ref, telefono, estado, instant }: RowExpressions) =>
  `${comercio}, ${modo}, ${id}, ${guia}, ${ref}, '${DIGESTS}', ${estado}, ${instant}, ${telefono}, 'María José Ajú', 'Guatemala',
  'San Juan Sacatepéquez', '2a calle 3-45, zona 1', 'Portón verde, frente a la tienda', '2 pares de zapatos', 14.71889, -90.64417, null,
  '${RECOGIDA}'::jsonb, null, 'confirmada', 'coordenadas', 14.71889, -90.64417, '[]', 1, ${instant}, ${instant}`

/**
 * Expressions for a row made from a number below 2^40. Its id grows with the number, as a UUIDv7 grows with time. Its
 * code falls at a random position of its index.
 */
const deNumero = (k: string, comercio: string, modo: Modo = 'live'): RowExpressions => ({
  comercio,
  modo: `'${modo}'`,
  id: `('01990000' || lpad(to_hex(${k}), 24, '0'))::uuid`,
  guia: `reverse(lpad(to_hex(${k}), 12, '0'))`,
  ref: `'PEDIDO-' || ${k}`,
  telefono: `'+502' || (50000000 + ${k} * 7919 % 9000000)`,
  estado: `'aceptado'`,
  instant: 'now()',
})

const EVENTO = 'evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)'
/** Value that `server/domain/guias/writing.ts` writes to `foto` for such a guide. */
const FOTO = `'${enJson({
  intentos: 0,
  advertencias: [],
  ubicacion_estado: 'confirmada',
  ubicacion_origen: 'coordenadas',
  ubicacion_lat: 14.71889,
  ubicacion_lng: -90.64417,
})}'::jsonb`

/** SQL expression for the merchant of a pgbench client: client n writes for merchant n. */
const comercioOfClient = (comercios: readonly BenchComercio[]) =>
  comercios.length === 1
    ? `'${comercios[0]!.id}'::uuid`
    : `('{${comercios.map(({ id }) => id).join(',')}}'::uuid[])[:client_id::int + 1]`

/** pgbench script that inserts one guide in a transaction of three inserts. */
export function buildCreateScript(comercios: readonly BenchComercio[]): string {
  const e = deNumero(':k::bigint', comercioOfClient(comercios))
  return `\\set n :n + 1
\\set k :base + :n * 64 + :client_id
begin;
insert into guia (${GUIA_COLUMNS}) values (${guiaRowSql(e)});
insert into guia_indice (guia, comercio_id, modo, id) values (${e.guia}, ${e.comercio}, 'live', ${e.id});
insert into ${EVENTO} values (${e.comercio}, 'live', ${e.id}, 1, ${e.guia}, 'guia.aceptado', 'aceptado', ${FOTO}, now(), now());
commit;
`
}

/**
 * Columns of the service's own statement for a group (`server/domain/guias/writing.ts`), and a number `i` that makes the
 * keys of each row unique.
 */
const JSON_COLUMNS = `i int, comercio_id uuid, modo text, id uuid, guia text, external_ref text, huellas text, telefono text,
  destinatario text, departamento text, municipio text, direccion text, indicaciones text, contenido text, lat float8,
  lng float8, maps_url text, recogida jsonb, metadatos jsonb, ubicacion_estado text, ubicacion_origen text, ubicacion_lat float8,
  ubicacion_lng float8, ubicacion_extra jsonb, advertencias jsonb, creado_en timestamptz, mensaje_id uuid, enlace_corto_id uuid`

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
      huellas: DIGESTS,
      telefono: `+502${50_000_000 + i * 7_919}`,
      destinatario: 'María José Ajú',
      departamento: 'Guatemala',
      municipio: 'San Juan Sacatepéquez',
      direccion: '2a calle 3-45, zona 1',
      indicaciones: 'Portón verde, frente a la tienda',
      contenido: '2 pares de zapatos',
      lat: 14.71889,
      lng: -90.64417,
      recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611, maps_url: null },
      ubicacion_estado: 'confirmada',
      ubicacion_origen: 'coordenadas',
      ubicacion_lat: 14.71889,
      ubicacion_lng: -90.64417,
      advertencias: [],
      creado_en: '2026-11-20T12:00:00.000Z',
    })),
  )

/**
 * pgbench script that inserts `guias` guides in one statement, from one JSON parameter and with ON CONFLICT, as the
 * service does. It leaves out row-level security and deliveries. The event's `foto` is a constant.
 */
export function buildLoteScript(comercio: BenchComercio, guias: number): Pick<PgbenchRun, 'script' | 'texts'> {
  const { id, guia, ref } = deNumero('k', 'comercio_id')
  const script = `\\set n :n + 1
\\set k :base + (:n * 64 + :client_id) * ${guias}
with x as materialized (
  select *, :k::bigint + i as k from json_to_recordset(:guias::json) as x(${JSON_COLUMNS})
), g as (
  insert into guia as n (${GUIA_COLUMNS}) select comercio_id, modo, ${id}, ${guia}, ${ref}, huellas, 'aceptado', now(), telefono,
    destinatario, departamento, municipio, direccion, indicaciones, contenido, lat, lng, maps_url, recogida, metadatos, ubicacion_estado,
    ubicacion_origen, ubicacion_lat, ubicacion_lng, advertencias, 1, now(), now() from x
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
    ...deNumero('n', `'${comercio.id}'::uuid`),
    id: `(lpad(to_hex(${SEED_START_MS} + n * 100), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || substr(md5(n::text), 1, 15))::uuid`,
    guia: seededCodeSql('n'),
    ref: `'SIEMBRA-' || n`,
    estado: `case n % ${countRare(hasta)} when 0 then '${RARE_ESTADOS[0]}' when 1 then '${RARE_ESTADOS[1]}' else 'aceptado' end`,
    instant: `to_timestamp((${SEED_START_MS} + n * 100) / 1000.0)`,
  }
  try {
    // Skips the checks of foreign keys, because the referenced rows exist.
    await client.query('set session_replication_role = replica')
    for (let first = desde; first <= hasta; first += GUIAS_PER_TRANSACTION) {
      const n = `generate_series(${first}::bigint, ${Math.min(hasta, first + GUIAS_PER_TRANSACTION - 1)}) n`
      await client.query(`insert into guia (${GUIA_COLUMNS}) select ${guiaRowSql(e)} from ${n}`)
      if (eventos === 0) continue
      await client.query(
        `insert into guia_indice (guia, comercio_id, modo, id) select ${e.guia}, ${e.comercio}, 'live', ${e.id} from ${n}`,
      )
      await client.query(
        `insert into ${EVENTO} select ${e.comercio}, 'live', ${e.id}, s, ${e.guia}, case s when 1 then 'guia.aceptado' else 'guia.recolectado' end,
         case s when 1 then 'aceptado' else 'recolectado' end, ${FOTO}, ${e.instant}, ${e.instant} from ${n}, generate_series(1, ${eventos}) s order by n, s`,
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
  cabeceras: { date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
  cuerpo: '',
  cuerpo_truncado: false,
})

/** Next unused number for {@link deNumero}. Starts at 2^30, far above the references (`PEDIDO-n`) of the load. */
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
  const e = deNumero('k', 'd.comercio', 'test')
  const rowSource = `generate_series(${first}::bigint, ${ultima}) k join unnest($1::uuid[], $2::text[])
    with ordinality d(comercio, webhook, n) on d.n = 1 + k % ${destinations.length}`
  const values = [destinations.map(({ comercio }) => comercio.id), destinations.map(({ webhook }) => webhook)]
  try {
    await client.query('begin')
    // Skips the checks of foreign keys, because the referenced rows exist.
    await client.query('set local session_replication_role = replica')
    for (const insertion of [
      `guia (${GUIA_COLUMNS}) select ${guiaRowSql(e)}`,
      `guia_indice (guia, comercio_id, modo, id) select ${e.guia}, ${e.comercio}, ${e.modo}, ${e.id}`,
      `${EVENTO} select ${e.comercio}, ${e.modo}, ${e.id}, 1, ${e.guia}, 'guia.aceptado', 'aceptado', ${FOTO}, now(), now()`,
      `webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, creado_en)
       select ${e.comercio}, ${e.modo}, d.webhook, ${e.id}, 1, 'evt_' || ${e.guia} || '_1', 'guia.aceptado', 'pendiente',
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
      cuerpo: example.replaceAll('GUIA_EJEMPLO', guia),
    }
  })
}

/**
 * Inserts the rows of one guide in one statement, as the service does. `$1` is the number of the guide, `$2` its
 * merchant.
 */
export const INSERT_GUIA = (() => {
  const e = deNumero('$1::bigint', '$2::uuid', 'test')
  return `with g as (
     insert into guia (${GUIA_COLUMNS}) values (${guiaRowSql(e)}) returning comercio_id, modo, id, guia, creado_en
   ), i as (insert into guia_indice (guia, comercio_id, modo, id) select guia, comercio_id, modo, id from g)
   insert into ${EVENTO} select comercio_id, modo, id, 1, guia, 'guia.aceptado', 'aceptado', ${FOTO}, creado_en, creado_en from g`
})()
