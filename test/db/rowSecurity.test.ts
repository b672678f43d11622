import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { type Comercio, conClave, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY } from '../factories.ts'
import { correctColumns } from '../guias/corregir.ts'
import { createMutants, type Mutant, watchForMutants } from './mutants.ts'

const entorno = useEnvironment()
const AYER = new Date(Date.now() - 86_400_000).toISOString()
const filas = async <Fila>(sql: string, ...valores: unknown[]) =>
  (await entorno.db.pool.query(sql, valores)).rows as Fila[]

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
  const cliente = new pg.Client({ connectionString: entorno.databaseUrl })
  await cliente.connect()
  try {
    await cliente.query(`begin; set local role ${rol}`)
    if (comercios) await cliente.query(`set local guias.comercios = '{${comercios}}'`)
    return await cliente.query(sql)
  } finally {
    await cliente.end()
  }
}

describe('the wall', () => {
  it('stands before every table of a merchant, which shows its rows and takes no others', async () => {
    const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
    for (const { api } of [uno, otro]) await api.guias.crear(buildGuiaWithoutDestino())
    const tablas = await tablasDeComercio()
    expect(tablas.length).toBeGreaterThan(18)
    expect(tablas.filter(({ rls }) => !rls)).toEqual([])
    for (const { tabla, columna } of tablas) {
      // A merchant's requests have no right at all.
      if (['llave', 'nota', 'asignacion'].includes(tabla)) continue
      const { rows } = await como('guias_api', [uno.id], `select distinct ${columna} as de from ${tabla}`)
      expect(
        rows.filter(({ de }) => de !== uno.id),
        tabla,
      ).toEqual([])
      const todas = `select count(distinct ${columna})::int as n from ${tabla}`
      const [deDos] = (await como('guias_api', [uno.id, otro.id], todas)).rows
      const [deTodos] = (await como('guias_operacion', undefined, todas)).rows
      expect(deTodos.n, tabla).toBeGreaterThanOrEqual(deDos.n)
      if (deTodos.n > 0) await expect(como('guias_api', undefined, todas), tabla).rejects.toThrow('guias.comercios')
    }
    expect((await como('guias_api', [uno.id], 'select from guia')).rowCount).toBe(1)
    expect((await como('guias_api', [uno.id, otro.id], 'select from guia')).rowCount).toBe(2)
    const mudar = `update guia set comercio_id = '${otro.id}'`
    await expect(como('guias_api', [uno.id], mudar)).rejects.toThrow('row-level security')
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
    const de = (rol: string, tabla: string) =>
      permisos.find((permiso) => permiso.rol === rol && permiso.tabla === tabla)?.que
    // A merchant's requests know nothing of keys and people, and delete nothing but an endpoint's secrets.
    for (const tabla of [
      'llave',
      'operador',
      'repartidor',
      'sesion_repartidor',
      'entrante',
      'nota',
      'asignacion',
      '_prisma_migrations',
    ])
      expect(de('guias_api', tabla), tabla).toBeUndefined()
    expect(
      permisos.filter(({ rol, que }) => rol === 'guias_api' && que.includes('DELETE')).map(({ tabla }) => tabla),
    ).toEqual(['webhook_secreto'])
    expect(permisos.filter(({ rol, que }) => rol === 'guias_lectura' && que.join() !== 'SELECT')).toEqual([])
    for (const tabla of ['llave', 'repartidor', 'sesion_repartidor', 'webhook_secreto'])
      expect(de('guias_lectura', tabla), tabla).toBeUndefined()
    expect(permisos.filter(({ que }) => que.some((uno) => /TRUNCATE|TRIGGER|REFERENCES/.test(uno)))).toEqual([])
    for (const rol of ['guias_api', 'guias_operacion', 'guias_trabajos'])
      expect(de(rol, 'bitacora'), rol).toEqual(['INSERT', 'SELECT'])
    for (const tabla of ['eslabon', 'sello']) expect(de('guias_trabajos', tabla), tabla).toEqual(['INSERT', 'SELECT'])
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
    await entorno.request('POST', '/api/v1/webhooks', {
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
  const { guia: probada } = await createDeliveredGuia(entorno, comercio)
  const sinEntregar = await createFailedGuia(entorno, comercio)
  const porDevolver = await createFailedGuia(entorno, comercio)
  const porDecidir = await createFailedGuia(entorno, comercio)
  const { recuperacion } = (
    await entorno.request('POST', `/api/v1/webhooks/${webhook}/recuperar`, {
      llave: comercio.llave,
      cuerpo: { desde: AYER },
    })
  ).cuerpo
  await entorno.waitForQuiet()
  await filas(
    `update webhook_aviso set estado = 'fallido', terminado_en = now() where webhook = '${webhook}' and secuencia = 2`,
  )
  await entorno.request('PATCH', `/api/v1/webhooks/${webhook}`, {
    llave: comercio.llave,
    cuerpo: { estado: 'pausado' },
  })
  await correctColumns(entorno.db, guia, { indicaciones: 'Otras' })
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
    const otras = unicas
      .filter((unica) => unica.tabla === tabla)
      .map(({ columna }) => `|| jsonb_build_object('${columna}', gen_random_uuid())`)
    await filas(
      `insert into ${tabla} select (jsonb_populate_record(t, jsonb_build_object('comercio_id', '${para.id}') ${otras.join(' ')})).*
       from ${tabla} t where comercio_id = '${de.id}' on conflict do nothing`,
    )
  }
  await filas(
    `insert into webhook select (jsonb_populate_record(w, jsonb_build_object('webhook', w.webhook || n, 'url', w.url || n))).*
     from webhook w, generate_series(1, 20) n where comercio_id = '${para.id}' and url like '%suyo'`,
  )
  // Whoever looks for the highest number finds his.
  for (const [tabla, numero] of [
    ['mensaje', 'numero'],
    ['webhook_secreto', 'version'],
  ])
    await filas(`update ${tabla} set ${numero} = ${numero} + 1 where comercio_id = '${para.id}'`)
  for (const { llave } of [de, para]) await entorno.request('POST', '/api/v1/guias', { llave, cuerpo: buildGuia() })
}

/** Calls every operation of merchants with their own or with somebody else's things; what destroys goes last. */
async function recorrer({ llave }: Comercio, ids: Record<string, string>) {
  const vistas: { operacion: string; status: number; cuerpo: unknown }[] = []
  const orden = ({ id, method: metodo }: (typeof LLAMADAS)[number]) => {
    // While the newest event is somebody else's.
    if (['cambiarWebhook', 'recuperarAvisosDeWebhook'].includes(id)) return 0
    return metodo === 'delete' || id === 'cancelarGuia' ? 2 : 1
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
  for (const { id, method: metodo, path: ruta } of llamadas) {
    const simulada = ruta.startsWith('/api/v1/simulador/')
    const guia = guiaDe[id] ?? (simulada ? ids.simulable! : ids.guia!)
    const camino = ruta.replace(/\{(\w+)\}/g, (_todo, nombre: string) => (nombre === 'guia' ? guia : ids[nombre]!))
    for (const consulta of CONSULTAS[id]?.(ids) ?? ['']) {
      const { status, cuerpo } = await entorno.request(metodo.toUpperCase(), camino + consulta, {
        llave,
        cuerpo: CUERPOS(ids)[id],
      })
      vistas.push({ operacion: id + consulta, status, cuerpo })
    }
  }
  return vistas
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
const sobra = ({ statement: sentencia, missing: falta }: Mutant) =>
  sentencia === 'bitacora.deComercio' ||
  (['guias.tomar', 'eventos.corregir'].includes(sentencia) && /^2: m(?:ensaje)?\./.test(falta)) ||
  (sentencia === 'intentos.deGuia' && falta.startsWith('2: r.')) ||
  (sentencia === 'simulador.acortarDecision' && /^[123]: /.test(falta)) ||
  (/webhook_aviso.*exists \(select from webhook w/s.test(sentencia) && falta.includes('w.comercio_id'))

describe('a statement that lost a condition', () => {
  it('leaks nothing behind the wall, and with the wall off it does', FULL_RUN_ONLY, async () => {
    const dueno = await entorno.nuevoComercio()
    const extrano = await entorno.nuevoComercio()
    // The oldest event is somebody else's, and so is the newest.
    await extrano.api.guias.crear(buildGuia())
    const ids = await poblar(dueno)
    await poblar(extrano)
    // From here on nothing changes but by what is asked.
    await entorno.reset({ WORKERS: '0' })
    await clonar(dueno, extrano)
    const tablas = (await tablasDeComercio()).filter(({ tabla }) => !['llave', 'bitacora'].includes(tabla))
    const digesto = (tabla: string, columna: string, de: string) =>
      `(select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from ${tabla} t where ${columna} = '${de}')`
    const porMutante = new Map<string, Mutant>()
    for (const [quien, otro] of [
      [dueno, extrano],
      [extrano, dueno],
    ] as const) {
      const ajeno = `select ${tablas.map(({ tabla, columna }) => digesto(tabla, columna, otro.id)).join(' || ')}`
      const soltar = watchForMutants(entorno.databaseUrl, quien.id, ajeno)
      const vistas = await recorrer(quien, ids)
      for (const [clave, mutante] of await soltar()) {
        const { differsBehindWall: conMuro, differsWithoutWall: sinMuro } = porMutante.get(clave) ?? {
          differsBehindWall: false,
          differsWithoutWall: false,
        }
        const juntos = {
          differsBehindWall: conMuro || mutante.differsBehindWall,
          differsWithoutWall: sinMuro || mutante.differsWithoutWall,
        }
        porMutante.set(clave, { ...mutante, ...juntos })
      }
      if (quien === dueno) expect(vistas.filter(({ status }) => status >= 400)).toEqual([])
    }
    const todos = [...porMutante.values()]
    expect(todos.length).toBeGreaterThan(50)
    expect(todos.filter(({ differsBehindWall: conMuro }) => conMuro)).toEqual([])
    expect(todos.filter((mutante) => !mutante.differsWithoutWall && !sobra(mutante))).toEqual([])
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
