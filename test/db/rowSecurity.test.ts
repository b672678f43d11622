import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { type Comercio, useEnvironment, withKey } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY } from '../factories.ts'
import { correctColumns } from '../guias/corregir.ts'
import { createMutants, type Mutant, watchForMutants } from './mutants.ts'

const environment = useEnvironment()
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString()
const readTableRows = async <Row>(sql: string, ...values: unknown[]) =>
  (await environment.db.pool.query(sql, values)).rows as Row[]

/** Tables of merchants: the column that says whose a row is. */
const tablesOfComercio = () =>
  readTableRows<{ tableName: string; columnName: string; hasRowSecurity: boolean }>(
    `select c.relname as "tableName", a.attname as "columnName", c.relrowsecurity as "hasRowSecurity" from pg_class c
     join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
       and (a.attname = 'comercio_id' or (c.relname, a.attname) = ('comercio', 'id'))
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  )

/** Runs as a role, for some merchants, and undoes it. */
async function asSpecified(
  dbRole: string,
  comercios: readonly string[] | undefined,
  sql: string,
): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: environment.databaseUrl })
  await client.connect()
  try {
    await client.query(`begin; set local role ${dbRole}`)
    if (comercios) await client.query(`set local guias.comercios = '{${comercios}}'`)
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

describe('the wall', () => {
  it('stands before every table of a merchant, which shows its rows and takes no others', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    for (const { api } of [one, other]) await api.guias.crear(buildGuiaWithoutDestino())
    const tables = await tablesOfComercio()
    expect(tables.length).toBeGreaterThan(18)
    expect(tables.filter(({ hasRowSecurity }) => !hasRowSecurity)).toEqual([])
    for (const { tableName, columnName } of tables) {
      // A merchant's requests have no right at all.
      if (['llave', 'nota', 'asignacion'].includes(tableName)) continue
      const { rows } = await asSpecified('guias_api', [one.id], `select distinct ${columnName} as de from ${tableName}`)
      expect(
        rows.filter(({ de: permissionOf }) => permissionOf !== one.id),
        tableName,
      ).toEqual([])
      const all = `select count(distinct ${columnName})::int as n from ${tableName}`
      const [ofTwo] = (await asSpecified('guias_api', [one.id, other.id], all)).rows
      const [ofAll] = (await asSpecified('guias_operacion', undefined, all)).rows
      expect(ofAll.n, tableName).toBeGreaterThanOrEqual(ofTwo.n)
      if (ofAll.n > 0)
        await expect(asSpecified('guias_api', undefined, all), tableName).rejects.toThrow('guias.comercios')
    }
    expect((await asSpecified('guias_api', [one.id], 'select from guia')).rowCount).toBe(1)
    expect((await asSpecified('guias_api', [one.id, other.id], 'select from guia')).rowCount).toBe(2)
    const move = `update guia set comercio_id = '${other.id}'`
    await expect(asSpecified('guias_api', [one.id], move)).rejects.toThrow('row-level security')
  })

  it('has roles that can do no more than their part', async () => {
    const roles = await readTableRows(
      `select rolname, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolcanlogin as puede from pg_roles
       where rolname ~ '^guias_(api|lectura|operacion|trabajos)$' order by 1`,
    )
    expect(roles).toEqual(
      ['guias_api', 'guias_lectura', 'guias_operacion', 'guias_trabajos'].map((roleName) => ({
        rolname: roleName,
        puede: false,
      })),
    )
    const permisos = await readTableRows<{ dbRole: string; tableName: string; kind: string[] }>(
      `select grantee as "dbRole", table_name as "tableName", array_agg(privilege_type::text order by privilege_type) as kind
       from information_schema.role_table_grants where table_schema = 'public' and grantee like 'guias\\_%' group by 1, 2`,
    )
    const permissionOf = (dbRole: string, table: string) =>
      permisos.find((permiso) => permiso.dbRole === dbRole && permiso.tableName === table)?.kind
    // A merchant's requests know nothing of keys and people, and delete nothing but an endpoint's secrets.
    for (const table of [
      'llave',
      'operador',
      'repartidor',
      'sesion_repartidor',
      'entrante',
      'nota',
      'asignacion',
      '_prisma_migrations',
    ])
      expect(permissionOf('guias_api', table), table).toBeUndefined()
    expect(
      permisos
        .filter(({ dbRole, kind }) => dbRole === 'guias_api' && kind.includes('DELETE'))
        .map(({ tableName }) => tableName),
    ).toEqual(['webhook_secreto'])
    expect(permisos.filter(({ dbRole, kind }) => dbRole === 'guias_lectura' && kind.join() !== 'SELECT')).toEqual([])
    for (const table of ['llave', 'repartidor', 'sesion_repartidor', 'webhook_secreto'])
      expect(permissionOf('guias_lectura', table), table).toBeUndefined()
    expect(permisos.filter(({ kind }) => kind.some((one) => /TRUNCATE|TRIGGER|REFERENCES/.test(one)))).toEqual([])
    for (const dbRole of ['guias_api', 'guias_operacion', 'guias_trabajos'])
      expect(permissionOf(dbRole, 'bitacora'), dbRole).toEqual(['INSERT', 'SELECT'])
    for (const table of ['eslabon', 'sello'])
      expect(permissionOf('guias_trabajos', table), table).toEqual(['INSERT', 'SELECT'])
  })
})

const CALLED_OPERATIONS = readOperations(readDocument()).filter(
  ({ security }) => security?.scheme === 'llaveDeComercio',
)
const CUERPOS = ({ guia, probada: guiaWithPrueba }: Record<string, string>): Record<string, unknown> => ({
  devolverGuia: { razon: 'x' },
  corregirGuia: { contenido: 'Un libro' },
  confirmarUbicacion: { lat: 14.71889, lng: -90.64417 },
  simularAvance: { estado: 'recolectado' },
  simularDecision: { eleccion: 'ninguna' },
  cambiarWebhook: { estado: 'activo' },
  recuperarAvisosDeWebhook: { desde: YESTERDAY },
  crearGuia: buildGuia(),
  crearLote: { guias: [buildGuia(), buildGuiaWithoutDestino()], recogida: buildGuia().recogida },
  crearWebhook: { url: 'http://127.0.0.1:9/otro' },
  rotarSecreto: { solapamiento_horas: 1 },
  crearEtiquetas: { guias: [guia, guiaWithPrueba] },
})

/** Something of everything. */
async function populate(comercio: Comercio): Promise<Record<string, string>> {
  const { webhook } = (
    await environment.request('POST', '/api/v1/webhooks', {
      llave: comercio.llave,
      body: { url: `http://127.0.0.1:9/${comercio.comercio}/suyo` },
      headers: withKey('webhook-suyo'),
    })
  ).body
  const referencia = `REF-${comercio.comercio}`
  const { guia } = await comercio.api.guias.crear({ ...buildGuia(), external_ref: referencia })
  // Nobody else asks that phone.
  const telefono = `+5023148${Math.floor(1_000 + 9_000 * Math.random())}`
  const askedGuia = (await comercio.api.guias.crear({ ...buildGuiaWithoutDestino(), telefono })).guia
  const guiaToSimulate = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  const { guia: guiaWithPrueba } = await createDeliveredGuia(environment, comercio)
  const undeliveredGuia = await createFailedGuia(environment, comercio)
  const guiaToReturn = await createFailedGuia(environment, comercio)
  const guiaToDecide = await createFailedGuia(environment, comercio)
  const { recuperacion } = (
    await environment.request('POST', `/api/v1/webhooks/${webhook}/recuperar`, {
      llave: comercio.llave,
      body: { desde: YESTERDAY },
    })
  ).body
  await environment.waitForQuiet()
  await readTableRows(
    `update webhook_aviso set estado = 'fallido', terminado_en = now() where webhook = '${webhook}' and secuencia = 2`,
  )
  await environment.request('PATCH', `/api/v1/webhooks/${webhook}`, {
    llave: comercio.llave,
    body: { estado: 'pausado' },
  })
  await correctColumns(environment.db, guia, { indicaciones: 'Otras' })
  return {
    guia,
    referencia,
    webhook,
    recuperacion,
    probada: guiaWithPrueba,
    preguntada: askedGuia,
    simulated: guiaToSimulate,
    sinEntregar: undeliveredGuia,
    porDevolver: guiaToReturn,
    porDecidir: guiaToDecide,
    aviso: `avi_${webhook.slice(3)}_${guia}_1`,
  }
}

/**
 * Gives a merchant rows with the keys of another's, wherever a key is a merchant's own: what a condition alone tells apart.
 * He gets as many endpoints as there may be, too, and the newest event; his others lie between the other's.
 */
async function clone(permissionOf: Comercio, recipient: Comercio): Promise<void> {
  const uniqueKeys = await readTableRows<{ tableName: string; columnName: string }>(
    `select i.indrelid::regclass::text as "tableName", a.attname as "columnName" from pg_index i
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indisunique and i.indnkeyatts = 1 and a.atttypid = 'uuid'::regtype`,
  )
  for (const { tableName } of await tablesOfComercio()) {
    if (['comercio', 'llave', 'bitacora'].includes(tableName)) continue
    const others = uniqueKeys
      .filter((uniqueKey) => uniqueKey.tableName === tableName)
      .map(({ columnName }) => `|| jsonb_build_object('${columnName}', gen_random_uuid())`)
    await readTableRows(
      `insert into ${tableName} select (jsonb_populate_record(t, jsonb_build_object('comercio_id', '${recipient.id}') ${others.join(' ')})).*
       from ${tableName} t where comercio_id = '${permissionOf.id}' on conflict do nothing`,
    )
  }
  await readTableRows(
    `insert into webhook select (jsonb_populate_record(w, jsonb_build_object('webhook', w.webhook || n, 'url', w.url || n))).*
     from webhook w, generate_series(1, 20) n where comercio_id = '${recipient.id}' and url like '%suyo'`,
  )
  // Whoever looks for the highest number finds his.
  for (const [table, number] of [
    ['mensaje', 'numero'],
    ['webhook_secreto', 'version'],
  ])
    await readTableRows(`update ${table} set ${number} = ${number} + 1 where comercio_id = '${recipient.id}'`)
  for (const { llave } of [permissionOf, recipient])
    await environment.request('POST', '/api/v1/guias', { llave, body: buildGuia() })
}

/** Calls every operation of merchants with their own or with somebody else's things; what destroys goes last. */
async function walk({ llave }: Comercio, ids: Record<string, string>) {
  const seen: { operacion: string; status: number; body: unknown }[] = []
  const command = ({ id, method }: (typeof CALLED_OPERATIONS)[number]) => {
    // While the newest event is somebody else's.
    if (['cambiarWebhook', 'recuperarAvisosDeWebhook'].includes(id)) return 0
    return method === 'delete' || id === 'cancelarGuia' ? 2 : 1
  }
  const calls = CALLED_OPERATIONS.toSorted((a, b) => command(a) - command(b))
  const guiaOf: Record<string, string> = {
    obtenerPruebaDeEntrega: ids.probada!,
    obtenerEtiqueta: ids.probada!,
    reenviarSolicitud: ids.preguntada!,
    listarIntentosDeGuia: ids.sinEntregar!,
    reintentarGuia: ids.sinEntregar!,
    devolverGuia: ids.porDevolver!,
    simularDecision: ids.porDecidir!,
  }
  for (const { id, method, path } of calls) {
    const simulada = path.startsWith('/api/v1/simulador/')
    const guia = guiaOf[id] ?? (simulada ? ids.simulated! : ids.guia!)
    const route = path.replace(/\{(\w+)\}/g, (_match, name: string) => (name === 'guia' ? guia : ids[name]!))
    for (const query of QUERIES[id]?.(ids) ?? ['']) {
      const { status, body } = await environment.request(method.toUpperCase(), route + query, {
        llave,
        body: CUERPOS(ids)[id],
      })
      seen.push({ operacion: id + query, status, body })
    }
  }
  return seen
}

const QUERIES: Record<string, (ids: Record<string, string>) => string[]> = {
  listarGuias: ({ referencia }) => ['', '?estado=aceptado', `?external_ref=${referencia}`],
  listarEventos: () => ['', '?tipo=guia.aceptado'],
  listarMunicipios: () => ['?departamento=Guatemala'],
  // The second call is a repetition, which reads the secret.
  rotarSecreto: () => ['', ''],
  listarAvisosDeWebhook: () => ['', '?estado=fallido', '?estado=pendiente'],
}

/**
 * What shows nothing of anybody without this condition, either: it holds another, asks only whether an endpoint stands
 * or whether an event was undone, or is about messages, of which the guide that is corrected or decided has none.
 */
const surplus = ({ statement: sql, missing }: Mutant) =>
  sql === 'bitacora.ofComercio' ||
  (['guias.lockGuia', 'eventos.correct'].includes(sql) && /^2: m(?:ensaje)?\./.test(missing)) ||
  (sql === 'intentos.intentos' && missing.startsWith('2: r.')) ||
  (sql === 'simulador.shortenDecision' && /^[123]: /.test(missing)) ||
  (/webhook_aviso.*exists \(select from webhook w/s.test(sql) && missing.includes('w.comercio_id'))

describe('a statement that lost a condition', () => {
  it('leaks nothing behind the wall, and with the wall off it does', FULL_RUN_ONLY, async () => {
    const owner = await environment.createComercio()
    const foreignComercio = await environment.createComercio()
    // The oldest event is somebody else's, and so is the newest.
    await foreignComercio.api.guias.crear(buildGuia())
    const ids = await populate(owner)
    await populate(foreignComercio)
    // From here on nothing changes but by what is asked.
    await environment.reset({ WORKERS: '0' })
    await clone(owner, foreignComercio)
    const tables = (await tablesOfComercio()).filter(({ tableName }) => !['llave', 'bitacora'].includes(tableName))
    const digestSql = (table: string, column: string, permissionOf: string) =>
      `(select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from ${table} t where ${column} = '${permissionOf}')`
    const byMutant = new Map<string, Mutant>()
    for (const [caller, other] of [
      [owner, foreignComercio],
      [foreignComercio, owner],
    ] as const) {
      const foreign = `select ${tables.map(({ tableName, columnName }) => digestSql(tableName, columnName, other.id)).join(' || ')}`
      const release = watchForMutants(environment.databaseUrl, caller.id, foreign)
      const seen = await walk(caller, ids)
      for (const [key, mutant] of await release()) {
        const { differsBehindWall, differsWithoutWall } = byMutant.get(key) ?? {
          differsBehindWall: false,
          differsWithoutWall: false,
        }
        const combinedFlags = {
          differsBehindWall: differsBehindWall || mutant.differsBehindWall,
          differsWithoutWall: differsWithoutWall || mutant.differsWithoutWall,
        }
        byMutant.set(key, { ...mutant, ...combinedFlags })
      }
      if (caller === owner) expect(seen.filter(({ status }) => status >= 400)).toEqual([])
    }
    const all = [...byMutant.values()]
    expect(all.length).toBeGreaterThan(50)
    expect(all.filter(({ differsBehindWall }) => differsBehindWall)).toEqual([])
    expect(all.filter((mutant) => !mutant.differsWithoutWall && !surplus(mutant))).toEqual([])
  })

  it('is made by taking one condition at a time', () => {
    expect(
      createMutants('select from a join b on b.comercio_id = a.comercio_id where a.comercio_id = $1 and x = 1'),
    ).toEqual([
      { missing: 'b.comercio_id = a.comercio_id', text: expect.stringContaining('on true where a.comercio_id = $1') },
      { missing: 'a.comercio_id = $1', text: expect.stringContaining('where ($1::uuid is null or true) and x = 1') },
    ])
  })
})
