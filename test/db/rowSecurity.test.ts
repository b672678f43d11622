import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { type Comercio, conClave, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY } from '../factories.ts'
import { correctColumns } from '../guias/corregir.ts'
import { createMutants, type Mutant, watchForMutants } from './mutants.ts'

const environment = useEnvironment()
const AYER = new Date(Date.now() - 86_400_000).toISOString()
const filas = async <Fila>(sql: string, ...values: unknown[]) =>
  (await environment.db.pool.query(sql, values)).rows as Fila[]

/** Tables of merchants: the column that says whose a row is. */
const tablasDeComercio = () =>
  filas<{ tabla: string; columna: string; rls: boolean }>(
    `select c.relname as tabla, a.attname as columna, c.relrowsecurity as rls from pg_class c
     join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
       and (a.attname = 'comercio_id' or (c.relname, a.attname) = ('comercio', 'id'))
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  )

/** Runs as a role, for some merchants, and undoes it. */
async function como(rol: string, comercios: readonly string[] | undefined, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: environment.databaseUrl })
  await client.connect()
  try {
    await client.query(`begin; set local role ${rol}`)
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
    const tables = await tablasDeComercio()
    expect(tables.length).toBeGreaterThan(18)
    expect(tables.filter(({ rls }) => !rls)).toEqual([])
    for (const { tabla, columna } of tables) {
      // A merchant's requests have no right at all.
      if (['llave', 'nota', 'asignacion'].includes(tabla)) continue
      const { rows } = await como('guias_api', [one.id], `select distinct ${columna} as de from ${tabla}`)
      expect(
        rows.filter(({ de }) => de !== one.id),
        tabla,
      ).toEqual([])
      const all = `select count(distinct ${columna})::int as n from ${tabla}`
      const [deDos] = (await como('guias_api', [one.id, other.id], all)).rows
      const [deTodos] = (await como('guias_operacion', undefined, all)).rows
      expect(deTodos.n, tabla).toBeGreaterThanOrEqual(deDos.n)
      if (deTodos.n > 0) await expect(como('guias_api', undefined, all), tabla).rejects.toThrow('guias.comercios')
    }
    expect((await como('guias_api', [one.id], 'select from guia')).rowCount).toBe(1)
    expect((await como('guias_api', [one.id, other.id], 'select from guia')).rowCount).toBe(2)
    const mudar = `update guia set comercio_id = '${other.id}'`
    await expect(como('guias_api', [one.id], mudar)).rejects.toThrow('row-level security')
  })

  it('has roles that can do no more than their part', async () => {
    const roles = await filas(
      `select rolname, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolcanlogin as puede from pg_roles
       where rolname ~ '^guias_(api|lectura|operacion|trabajos)$' order by 1`,
    )
    expect(roles).toEqual(
      ['guias_api', 'guias_lectura', 'guias_operacion', 'guias_trabajos'].map((rolname) => ({ rolname, puede: false })),
    )
    const permisos = await filas<{ rol: string; tabla: string; que: string[] }>(
      `select grantee as rol, table_name as tabla, array_agg(privilege_type::text order by privilege_type) as que
       from information_schema.role_table_grants where table_schema = 'public' and grantee like 'guias\\_%' group by 1, 2`,
    )
    const de = (rol: string, table: string) =>
      permisos.find((permiso) => permiso.rol === rol && permiso.tabla === table)?.que
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
      expect(de('guias_api', table), table).toBeUndefined()
    expect(
      permisos.filter(({ rol, que }) => rol === 'guias_api' && que.includes('DELETE')).map(({ tabla }) => tabla),
    ).toEqual(['webhook_secreto'])
    expect(permisos.filter(({ rol, que }) => rol === 'guias_lectura' && que.join() !== 'SELECT')).toEqual([])
    for (const table of ['llave', 'repartidor', 'sesion_repartidor', 'webhook_secreto'])
      expect(de('guias_lectura', table), table).toBeUndefined()
    expect(permisos.filter(({ que }) => que.some((one) => /TRUNCATE|TRIGGER|REFERENCES/.test(one)))).toEqual([])
    for (const rol of ['guias_api', 'guias_operacion', 'guias_trabajos'])
      expect(de(rol, 'bitacora'), rol).toEqual(['INSERT', 'SELECT'])
    for (const table of ['eslabon', 'sello']) expect(de('guias_trabajos', table), table).toEqual(['INSERT', 'SELECT'])
  })
})

const LLAMADAS = readOperations(readDocument()).filter(
  ({ security: seguridad }) => seguridad?.scheme === 'llaveDeComercio',
)
const CUERPOS = ({ guia, probada }: Record<string, string>): Record<string, unknown> => ({
  devolverGuia: { razon: 'x' },
  corregirGuia: { contenido: 'Un libro' },
  confirmarUbicacion: { lat: 14.71889, lng: -90.64417 },
  simularAvance: { estado: 'recolectado' },
  simularDecision: { eleccion: 'ninguna' },
  cambiarWebhook: { estado: 'activo' },
  recuperarAvisosDeWebhook: { desde: AYER },
  crearGuia: buildGuia(),
  crearLote: { guias: [buildGuia(), buildGuiaWithoutDestino()], recogida: buildGuia().recogida },
  crearWebhook: { url: 'http://127.0.0.1:9/otro' },
  rotarSecreto: { solapamiento_horas: 1 },
  crearEtiquetas: { guias: [guia, probada] },
})

/** Something of everything. */
async function poblar(comercio: Comercio): Promise<Record<string, string>> {
  const { webhook } = (
    await environment.request('POST', '/api/v1/webhooks', {
      llave: comercio.llave,
      cuerpo: { url: `http://127.0.0.1:9/${comercio.comercio}/suyo` },
      cabeceras: conClave('webhook-suyo'),
    })
  ).cuerpo
  const referencia = `REF-${comercio.comercio}`
  const { guia } = await comercio.api.guias.crear({ ...buildGuia(), external_ref: referencia })
  // Nobody else asks that phone.
  const telefono = `+5023148${Math.floor(1_000 + 9_000 * Math.random())}`
  const preguntada = (await comercio.api.guias.crear({ ...buildGuiaWithoutDestino(), telefono })).guia
  const simulable = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  const { guia: probada } = await createDeliveredGuia(environment, comercio)
  const sinEntregar = await createFailedGuia(environment, comercio)
  const porDevolver = await createFailedGuia(environment, comercio)
  const porDecidir = await createFailedGuia(environment, comercio)
  const { recuperacion } = (
    await environment.request('POST', `/api/v1/webhooks/${webhook}/recuperar`, {
      llave: comercio.llave,
      cuerpo: { desde: AYER },
    })
  ).cuerpo
  await environment.waitForQuiet()
  await filas(
    `update webhook_aviso set estado = 'fallido', terminado_en = now() where webhook = '${webhook}' and secuencia = 2`,
  )
  await environment.request('PATCH', `/api/v1/webhooks/${webhook}`, {
    llave: comercio.llave,
    cuerpo: { estado: 'pausado' },
  })
  await correctColumns(environment.db, guia, { indicaciones: 'Otras' })
  return {
    guia,
    referencia,
    webhook,
    recuperacion,
    probada,
    preguntada,
    simulable,
    sinEntregar,
    porDevolver,
    porDecidir,
    aviso: `avi_${webhook.slice(3)}_${guia}_1`,
  }
}

/**
 * Gives a merchant rows with the keys of another's, wherever a key is a merchant's own: what a condition alone tells apart.
 * He gets as many endpoints as there may be, too, and the newest event; his others lie between the other's.
 */
async function clonar(de: Comercio, para: Comercio): Promise<void> {
  const unicas = await filas<{ tabla: string; columna: string }>(
    `select i.indrelid::regclass::text as tabla, a.attname as columna from pg_index i
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indisunique and i.indnkeyatts = 1 and a.atttypid = 'uuid'::regtype`,
  )
  for (const { tabla } of await tablasDeComercio()) {
    if (['comercio', 'llave', 'bitacora'].includes(tabla)) continue
    const others = unicas
      .filter((unica) => unica.tabla === tabla)
      .map(({ columna }) => `|| jsonb_build_object('${columna}', gen_random_uuid())`)
    await filas(
      `insert into ${tabla} select (jsonb_populate_record(t, jsonb_build_object('comercio_id', '${para.id}') ${others.join(' ')})).*
       from ${tabla} t where comercio_id = '${de.id}' on conflict do nothing`,
    )
  }
  await filas(
    `insert into webhook select (jsonb_populate_record(w, jsonb_build_object('webhook', w.webhook || n, 'url', w.url || n))).*
     from webhook w, generate_series(1, 20) n where comercio_id = '${para.id}' and url like '%suyo'`,
  )
  // Whoever looks for the highest number finds his.
  for (const [table, number] of [
    ['mensaje', 'numero'],
    ['webhook_secreto', 'version'],
  ])
    await filas(`update ${table} set ${number} = ${number} + 1 where comercio_id = '${para.id}'`)
  for (const { llave } of [de, para]) await environment.request('POST', '/api/v1/guias', { llave, cuerpo: buildGuia() })
}

/** Calls every operation of merchants with their own or with somebody else's things; what destroys goes last. */
async function recorrer({ llave }: Comercio, ids: Record<string, string>) {
  const seen: { operacion: string; status: number; cuerpo: unknown }[] = []
  const orden = ({ id, method }: (typeof LLAMADAS)[number]) => {
    // While the newest event is somebody else's.
    if (['cambiarWebhook', 'recuperarAvisosDeWebhook'].includes(id)) return 0
    return method === 'delete' || id === 'cancelarGuia' ? 2 : 1
  }
  const llamadas = LLAMADAS.toSorted((a, b) => orden(a) - orden(b))
  const guiaDe: Record<string, string> = {
    obtenerPruebaDeEntrega: ids.probada!,
    obtenerEtiqueta: ids.probada!,
    reenviarSolicitud: ids.preguntada!,
    listarIntentosDeGuia: ids.sinEntregar!,
    reintentarGuia: ids.sinEntregar!,
    devolverGuia: ids.porDevolver!,
    simularDecision: ids.porDecidir!,
  }
  for (const { id, method, path } of llamadas) {
    const simulada = path.startsWith('/api/v1/simulador/')
    const guia = guiaDe[id] ?? (simulada ? ids.simulable! : ids.guia!)
    const camino = path.replace(/\{(\w+)\}/g, (_todo, name: string) => (name === 'guia' ? guia : ids[name]!))
    for (const query of CONSULTAS[id]?.(ids) ?? ['']) {
      const { status, cuerpo } = await environment.request(method.toUpperCase(), camino + query, {
        llave,
        cuerpo: CUERPOS(ids)[id],
      })
      seen.push({ operacion: id + query, status, cuerpo })
    }
  }
  return seen
}

const CONSULTAS: Record<string, (ids: Record<string, string>) => string[]> = {
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
const sobra = ({ statement: sql, missing }: Mutant) =>
  sql === 'bitacora.ofComercio' ||
  (['guias.lockGuia', 'eventos.correct'].includes(sql) && /^2: m(?:ensaje)?\./.test(missing)) ||
  (sql === 'intentos.intentos' && missing.startsWith('2: r.')) ||
  (sql === 'simulador.shortenDecision' && /^[123]: /.test(missing)) ||
  (/webhook_aviso.*exists \(select from webhook w/s.test(sql) && missing.includes('w.comercio_id'))

describe('a statement that lost a condition', () => {
  it('leaks nothing behind the wall, and with the wall off it does', FULL_RUN_ONLY, async () => {
    const dueno = await environment.createComercio()
    const extrano = await environment.createComercio()
    // The oldest event is somebody else's, and so is the newest.
    await extrano.api.guias.crear(buildGuia())
    const ids = await poblar(dueno)
    await poblar(extrano)
    // From here on nothing changes but by what is asked.
    await environment.reset({ WORKERS: '0' })
    await clonar(dueno, extrano)
    const tables = (await tablasDeComercio()).filter(({ tabla }) => !['llave', 'bitacora'].includes(tabla))
    const digesto = (table: string, column: string, de: string) =>
      `(select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from ${table} t where ${column} = '${de}')`
    const porMutante = new Map<string, Mutant>()
    for (const [caller, other] of [
      [dueno, extrano],
      [extrano, dueno],
    ] as const) {
      const foreign = `select ${tables.map(({ tabla, columna }) => digesto(tabla, columna, other.id)).join(' || ')}`
      const release = watchForMutants(environment.databaseUrl, caller.id, foreign)
      const seen = await recorrer(caller, ids)
      for (const [key, mutante] of await release()) {
        const { differsBehindWall: conMuro, differsWithoutWall: sinMuro } = porMutante.get(key) ?? {
          differsBehindWall: false,
          differsWithoutWall: false,
        }
        const juntos = {
          differsBehindWall: conMuro || mutante.differsBehindWall,
          differsWithoutWall: sinMuro || mutante.differsWithoutWall,
        }
        porMutante.set(key, { ...mutante, ...juntos })
      }
      if (caller === dueno) expect(seen.filter(({ status }) => status >= 400)).toEqual([])
    }
    const all = [...porMutante.values()]
    expect(all.length).toBeGreaterThan(50)
    expect(all.filter(({ differsBehindWall: conMuro }) => conMuro)).toEqual([])
    expect(all.filter((mutante) => !mutante.differsWithoutWall && !sobra(mutante))).toEqual([])
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
