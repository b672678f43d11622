import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString()
const environment = useEnvironment()
// Every route of merchants that names something, whatever the contract adds later.
const withId = readOperations(readDocument()).filter(
  ({ security, path }) => security?.scheme === 'llaveDeComercio' && path.includes('{'),
)
/** Bodies that their operation accepts. */
const CUERPOS: Record<string, unknown> = {
  devolverGuia: { razon: 'x' },
  corregirGuia: { contenido: 'Un libro' },
  confirmarUbicacion: { lat: 14.71889, lng: -90.64417 },
  simularAvance: { estado: 'recolectado' },
  simularDecision: { eleccion: 'otro_dia' },
  cambiarWebhook: { descripcion: 'Tienda' },
  recuperarAvisosDeWebhook: { desde: YESTERDAY, ensayo: true },
}
// What destroys goes last: the others still need their thing.
withId.sort((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'))

let owner: Comercio
let foreignComercio: Comercio
const ids: Record<string, string> = {}
/** One that nobody has cancelled when its turn comes, and whose recipient is still asked. */
let guiaToSimulate: string
/** One that has a proof. */
let guiaWithPrueba: string
/** One whose recipient hasn't answered. */
let askedGuia: string
/** Those whose delivery failed. */
let guiaToRetry: string
let guiaToReturn: string
let guiaToDecide: string
beforeAll(async () => {
  owner = await environment.createComercio()
  foreignComercio = await environment.createComercio()
  const { webhook } = await request('', { url: 'http://127.0.0.1:9/nadie' })
  ids.webhook = webhook
  const guia = await owner.api.guias.crear(buildGuia())
  ids.guia = guia.guia
  askedGuia = (await owner.api.guias.crear(buildGuiaWithoutDestino())).guia
  guiaWithPrueba = (await createDeliveredGuia(environment, owner)).guia
  guiaToRetry = await createFailedGuia(environment, owner)
  guiaToReturn = await createFailedGuia(environment, owner)
  guiaToDecide = await createFailedGuia(environment, owner)
  guiaToSimulate = (await owner.api.guias.crear(buildGuiaWithoutDestino())).guia
  ids.aviso = `avi_${webhook.slice(3)}_${guia.guia}_1`
  ids.recuperacion = (await request(`/${webhook}/recuperar`, { desde: YESTERDAY })).recuperacion
})
const request = async (path: string, body: unknown, method = 'POST') =>
  (await environment.request(method, `/api/v1/webhooks${path}`, { llave: owner.llave, body })).body

/** Everything that is stored, so that "changes nothing" is not a figure of speech. */
const foto = async () => {
  const { rows } =
    await environment.db.pool.query(`select (select json_agg(g order by id) from guia g) g, (select json_agg(e order by guia_id, secuencia) from evento e) e,
    (select json_agg(m order by id) from mensaje m) m, (select json_agg(w order by webhook) from webhook w) w,
    (select json_agg(s order by webhook, version) from webhook_secreto s) s, (select json_agg(n order by guia_id, secuencia) from webhook_aviso n) n,
    (select json_agg(r) from recuperacion r) r, (select json_agg(k order by creado_en, idempotencia) from clave_idempotencia k) k, (select json_agg(a order by archivo) from archivo a) a,
    (select json_agg(i order by archivo) from archivo_indice i) i, (select json_agg(p) from prueba_entrega p) p`)
  return JSON.stringify(rows)
}

/** The same, once nothing is under way: what changes from here on is somebody's doing. */
const waitUntilQuiet = async () => {
  await request(`/${ids.webhook}`, { estado: 'pausado' }, 'PATCH')
  await environment.waitForQuiet()
  return foto()
}

describe('another merchant’s things', () => {
  it('has routes to try', () => {
    expect(withId.length).toBeGreaterThan(2)
    // A new kind of id needs its own thing to try here.
    for (const { path } of withId) for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(ids).toHaveProperty(name!)
  })

  it.each(withId.map((operacion) => [operacion.id, operacion] as const))(
    '%s: 404, the same as unknown, and nothing changes',
    async (operacion, { method, path }) => {
      const body = CUERPOS[operacion]
      const simulada = path.startsWith('/api/v1/simulador/')
      const guiaOfOperacion: Record<string, string> = {
        obtenerPruebaDeEntrega: guiaWithPrueba,
        // Nobody cancels it.
        obtenerEtiqueta: guiaWithPrueba,
        reenviarSolicitud: askedGuia,
        reintentarGuia: guiaToRetry,
        devolverGuia: guiaToReturn,
        simularDecision: guiaToDecide,
      }
      const idOf = (name: string) =>
        name === 'guia' ? (guiaOfOperacion[operacion] ?? (simulada ? guiaToSimulate : ids.guia!)) : ids[name]!
      const request = async (llave: string, id: (name: string) => string) => {
        const {
          status,
          body: response,
          headers,
        } = await environment.request(
          method.toUpperCase(),
          path.replace(/\{(\w+)\}/g, (_m, name) => id(name)),
          { llave, body },
        )
        const { id_solicitud: _1, ...rest } = response
        const visibleNames = [...headers.keys()]
          .filter((name) => !['date', 'x-request-id', 'ratelimit'].includes(name))
          .map((name) => [name, headers.get(name)])
        return { status, rest, visibles: visibleNames }
      }
      const before = await waitUntilQuiet()
      const unknownGuia = await request(foreignComercio.llave, () => '000000000000')
      expect(unknownGuia.status).toBe(404)
      expect(await request(foreignComercio.llave, idOf)).toEqual(unknownGuia)
      // The owner's key of the other mode is a stranger too.
      const realOne = await environment.createLlave(owner, { modo: 'live' })
      const inOtherMode = await request(realOne, idOf)
      if (simulada) expect([inOtherMode.status, inOtherMode.rest.codigo]).toEqual([403, 'solo_en_test'])
      expect(inOtherMode).toEqual(simulada ? await request(realOne, () => '000000000000') : unknownGuia)
      // The message tells how a code is written, which needs no look at what there is.
      const bad = await request(foreignComercio.llave, () => 'no-es-nada')
      expect([bad.status, bad.rest.codigo]).toEqual([404, unknownGuia.rest.codigo])
      expect(await foto()).toBe(before)
      expect(
        (
          await environment.request(
            method.toUpperCase(),
            path.replace(/\{(\w+)\}/g, (_m, name) => idOf(name)),
            { llave: owner.llave, body },
          )
        ).status,
      ).toBeLessThan(300)
    },
  )

  it('are in no list of mine', async () => {
    const { api } = foreignComercio
    expect((await api.guias.listar()).datos).toEqual([])
    expect(
      (await api.guias.listar({ external_ref: (await owner.api.guias.obtener(ids.guia!)).external_ref! })).datos,
    ).toEqual([])
    expect((await api.eventos.listar()).datos).toEqual([])
  })
})

/** Tables whose rows belong to merchants. */
const DE_COMERCIOS = [
  'guia',
  'evento',
  'mensaje',
  'enlace_corto',
  'telefono_anterior',
  'archivo',
  'prueba_entrega',
  'prueba_intento',
  'prueba_borrada',
  'webhook',
  'webhook_secreto',
  'webhook_aviso',
  'webhook_intento',
  'recuperacion',
  'clave_idempotencia',
  'busqueda',
  'nota',
  'asignacion',
]

describe('the schema', () => {
  it('keys every table of a merchant by the merchant first', async () => {
    const exceptions = [
      'comercio',
      'operador',
      'llave',
      'repartidor',
      'sesion_repartidor',
      '_prisma_migrations',
      // Look-ups for those who know no merchant, and what came in before anybody knew whose it is.
      'guia_indice',
      'archivo_indice',
      'enlace_ubicacion',
      'entrante',
      // Persons belong to several merchants or to none; so do their mails.
      'persona',
      'membresia',
      'invitacion',
      'codigo_de_entrada',
      'sesion_persona',
      'correo',
      'aprobacion',
      'passkey',
      'reto_de_passkey',
      'segundo_factor',
      'codigo_de_recuperacion',
      'entrada_a_medias',
      'cambio_de_correo',
      // Where rows lie in parts: the same, the parts, and lines of the audit record that wait to be collected.
      'dueno',
      'parte',
      'bitacora_de_parte',
      // The service's own: its keys, its processes that send webhooks, with the jobs that they hold, and how far the search has come.
      'clave_publica',
      'webhook_bomba',
      'webhook_arriendo',
      'busqueda_avance',
      'olvido',
      // Of operators, too; a merchant's lines are found by comercio_id.
      'bitacora',
      'eslabon',
      'sello',
    ]
    const { rows } = await environment.db.pool.query<{ tabla: string; tipo: string; columnas: string[] }>(`
      select c.conrelid::regclass::text tabla, c.contype::text tipo,
        array(select a.attname::text from unnest(c.conkey) with ordinality k(n, i) join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.n order by i) columnas
      from pg_constraint c join pg_class t on t.oid = c.conrelid
      where c.contype in ('p', 'u', 'f') and t.relnamespace = 'public'::regnamespace and t.relkind = 'r'`)
    const comercioTables = rows.filter(({ tabla: tableName }) => !exceptions.includes(tableName))
    expect(new Set(comercioTables.map(({ tabla: tableName }) => tableName))).toEqual(new Set(DE_COMERCIOS))
    expect(comercioTables.filter(({ columnas: columns }) => columns[0] !== 'comercio_id')).toEqual([])
  })

  it('reads no table of a merchant without naming the merchant', async () => {
    const { readFileSync, globSync } = await import('node:fs')
    const lectura = new RegExp(`\`([^\`]*\\b(?:from|update|into|join) (?:${DE_COMERCIOS.join('|')})\\b[^\`]*)\``, 'g')
    const statements = globSync('server/**/*.ts', { exclude: (name) => name.includes('generated') }).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(lectura)].map(([, sql]) => [file, sql!]),
    )
    expect(statements.length).toBeGreaterThan(5)
    // Named exceptions: the operator's list and metrics, the feeder and the housekeeping, which work for all merchants.
    const crossComercioFiles = [
      'server/domain/guias/list.ts',
      // An operator searches the guides of all merchants.
      'server/domain/busqueda/busqueda.ts',
      // The counts of the day, and of what each courier carries, are of all merchants.
      'server/domain/operaciones/obtenerJornada.ts',
      'server/domain/operaciones/contarGuiasPorMunicipio.ts',
      'server/domain/operaciones/listarDecisionesNoPreguntadas.ts',
      // The office's open pages are told of changes of all merchants.
      'server/data/newEvents.ts',
      // The order of events is one of all merchants.
      'server/data/eventOrder.ts',
      'server/domain/repartidores/listarReparto.ts',
      // So are the assignments of a day.
      'server/domain/operaciones/listarAsignaciones.ts',
      // A courier finishes guides of several merchants.
      'server/domain/repartidores/guia.ts',
      'server/domain/mensajeria/due.ts',
      'server/domain/mensajeria/mailbox.ts',
      'server/domain/mensajeria/phoneQuota.ts',
      'server/domain/measures.ts',
      // The sweep compares all rows with all files of the storage.
      'server/domain/archivos/sweep.ts',
      'server/domain/webhooks/advanceRecovery.ts',
      'server/domain/webhooks/sweeper.ts',
      // What waits for an instant that a clock which stepped back puts too far away.
      'server/domain/pruebasEntrega/makePdf.ts',
      'server/domain/ubicacion/resolveLinks.ts',
      // On Citus, what waits for an endpoint that nobody holds, and how many messages one telephone got of everybody.
      'server/domain/webhooks/sending/due.ts',
      'server/domain/ubicacion/resend.ts',
    ]
    expect(
      statements.filter(([file, sql]) => !sql!.includes('comercio_id') && !crossComercioFiles.includes(file!)),
    ).toEqual([])
  })
})
