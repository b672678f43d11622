import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Operation, readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { newLlave } from '../../server/domain/identities/llave.ts'
import { ALCANCES, ALCANCES_DE_OPERACION } from '../../server/generated/contract/vocabulary.ts'
import {
  createDeliveredGuia,
  createFailedGuia,
  createFoto,
  createGuiaOnRoute,
  uploadArchivo,
} from '../archivos/images.ts'
import { whileDatabaseIsClosed } from '../closedDatabase.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'
import { isOfPersona, openPersonas, PERSONA_BODIES } from './personas.ts'

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString()
/** A provider that nobody is asked to reach: test keys write to the mailbox. */
const WHATSAPP = {
  MESSAGING: 'whatsapp',
  WHATSAPP_BASE_URL: 'http://127.0.0.1:9',
  WHATSAPP_PHONE_NUMBER_ID: '1',
  WHATSAPP_TOKEN: 'x',
  WHATSAPP_APP_SECRET: 'secreto',
  WHATSAPP_VERIFY_TOKEN: 'acordada',
}
const environment = useEnvironment({}, () => WHATSAPP)
const operaciones = readOperations(readDocument())
const withLlave = operaciones.filter(({ security }) => security && !security.inCookie)
const withSesion = operaciones.filter(({ security }) => security?.inCookie)
// What wants the bytes as they came looks at their signature before anything else.
const withBody = operaciones.filter(({ tipos, streamed, raw }) => tipos.length > 0 && !streamed && !raw)
const streamed = operaciones.filter((operacion) => operacion.streamed)

let comercio: Comercio
let phone: Mobile
let personas: Awaited<ReturnType<typeof openPersonas>>
/** Sessions that nobody has looked at: what needs the database only for the session must not find it remembered. */
const unusedEntries = new Map<Operation['id'], Mobile>()
/** Of merchants' operations: what needs the database only for the key must not find the key remembered. */
const unusedLlaves = new Map<Operation['id'], string>()
let guia: string
let llavePublica: string
let operador: string
let ephemeralLlave: string
let ephemeralOperador: string
/** One whose sessions nobody needs. */
let otherRepartidor: string
const ids: Record<string, string> = {}
let ephemeralWebhook: string
let foto: string
/** Links that are good, as paths. */
let link: string
let etiquetas: string
/** Guides of their own for what others would leave in no state to be tried. */
const guias: Partial<Record<Operation['id'], string>> = {}
beforeAll(async () => {
  comercio = await environment.createComercio()
  phone = await createMobile(environment)
  personas = await openPersonas(environment, withSesion)
  for (const operacion of withSesion)
    if (!isOfPersona(operacion)) unusedEntries.set(operacion.id, await createMobile(environment, phone))
  for (const { id, security } of withLlave)
    if (security!.scheme === 'llaveDeComercio') unusedLlaves.set(id, await environment.createLlave(comercio))
  guia = (await comercio.api.guias.crear(buildGuia())).guia
  guias.confirmarUbicacionPorOperador = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  guias.corregirGuiaPorOperador = (await comercio.api.guias.crear(buildGuia())).guia
  guias.corregirGuia = (await comercio.api.guias.crear(buildGuia())).guia
  for (const operacion of [
    'reintentarGuia',
    'devolverGuia',
    'simularDecision',
    'reintentarGuiaPorOperador',
    'devolverGuiaPorOperador',
    'rectificarGuia',
  ] as const)
    guias[operacion] = await createFailedGuia(environment, comercio)
  guias.simularAvance = (await comercio.api.guias.crear(buildGuia())).guia
  guias.reenviarSolicitud = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  const withOtherTelefono = buildGuiaWithoutDestino({ telefono: '+50232000001' })
  guias.reenviarSolicitudPorOperador = (await comercio.api.guias.crear(withOtherTelefono)).guia
  guias.simularUbicacion = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  guias.obtenerPruebaDeEntrega = (await createDeliveredGuia(environment, comercio)).guia
  guias.obtenerPruebaDeEntregaPorOperador = guias.obtenerPruebaDeEntrega
  guias.registrarEntrega = await createGuiaOnRoute(environment, comercio)
  guias.subirArchivoDeReparto = await createGuiaOnRoute(environment, comercio, phone.repartidor)
  guias.obtenerEtiqueta = (await comercio.api.guias.crear(buildGuia())).guia
  etiquetas = (await comercio.api.guias.etiqueta(guias.obtenerEtiqueta)).url.slice(environment.url.length)
  foto = (await uploadArchivo(environment, guias.registrarEntrega)).body.archivo
  llavePublica = (await environment.asOperador('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'test' })).body
    .id
  operador = (await environment.asOperador('POST', '/operadores', { nombre: 'x' })).body.operador
  ephemeralLlave = (await environment.asOperador('POST', `/operadores/${operador}/llaves`, {})).body.id
  otherRepartidor = (await createMobile(environment)).repartidor
  ephemeralOperador = (await environment.asOperador('POST', '/operadores', { nombre: 'x' })).body.operador
  const { body: prueba } = await environment.request(
    'GET',
    `/api/v1/guias/${guias.obtenerPruebaDeEntrega}/prueba-entrega`,
    {
      llave: comercio.llave,
    },
  )
  link = prueba.fotos[0].url.slice(environment.url.length)
  ids.webhook = (await pedirWebhook('', { url: createUrl() })).webhook
  ephemeralWebhook = (await pedirWebhook('', { url: createUrl() })).webhook
  const { guia: other } = await comercio.api.guias.crear(buildGuia())
  ids.aviso = `avi_${ids.webhook!.slice(3)}_${other}_1`
  ids.recuperacion = (await pedirWebhook(`/${ids.webhook}/recuperar`, { desde: YESTERDAY })).recuperacion
})
const pedirWebhook = async (path: string, body: unknown) =>
  (await environment.request('POST', `/api/v1/webhooks${path}`, { llave: comercio.llave, body })).body
let urls = 0
const createUrl = () => `http://127.0.0.1:9/${++urls}`

const pathOf = ({ id, path, parameters }: Operation) => {
  if (id === 'descargarArchivo') return link
  if (id === 'descargarEtiquetas') return etiquetas
  const query = parameters
    .filter((p) => p.in === 'query' && p.required)
    .map(
      (p) =>
        `${p.name}=${{ guia, departamento: 'GT-SA', tipo: 'foto', estado: 'en_bodega', 'hub.mode': 'subscribe', 'hub.verify_token': 'acordada', 'hub.challenge': '1158201444' }[p.name] ?? 'x'}`,
    )
  const filledText = personas
    .fillPath(path, id)
    .replace('{guia}', guias[id] ?? guia)
    .replace('{comercio}', comercio.comercio)
    .replace('{operador}', id === 'revocarOperador' ? ephemeralOperador : operador)
    .replace('{llave}', id === 'revocarLlave' ? ephemeralLlave : llavePublica)
    .replace('{repartidor}', otherRepartidor)
    // What deletes has something of its own to delete.
    .replace('{webhook}', id === 'eliminarWebhook' ? ephemeralWebhook : ids.webhook!)
    .replace(/\{(aviso|recuperacion)\}/g, (_m, name) => ids[name]!)
  return query.length > 0 ? `${filledText}?${query.join('&')}` : filledText
}
const llaveOf = ({ security }: Operation) =>
  security?.scheme === 'llaveDeOperacion' ? environment.llaveDeOperacion : comercio.llave
type RequestInput = NonNullable<Parameters<typeof environment.request>[2]>
/** A request with what its operation wants to know who calls. */
const pedirA = (operacion: Operation, { headers = {}, ...options }: RequestInput = {}, more = '', mobile = phone) =>
  environment.request(operacion.method.toUpperCase(), pathOf(operacion) + more, {
    llave: llaveOf(operacion),
    ...options,
    headers: { ...credentialsOf(operacion, mobile), ...headers },
  })
const credentialsOf = (operacion: Operation, { cookie } = phone): Record<string, string> => ({
  ...(operacion.security?.inCookie ? { Cookie: isOfPersona(operacion) ? personas.cookie(operacion.id) : cookie } : {}),
  ...(operacion.needsSameOrigin ? { Origin: environment.url } : {}),
})
const table = (list: readonly Operation[]) => list.map((operacion) => [operacion.id, operacion] as const)

describe('the machinery answers the same for every operation', () => {
  it.each(table(withLlave))('%s: 401 with WWW-Authenticate without a good key', async (_id, operacion) => {
    const { llave: foreign } = newLlave('test')
    const crossedLlave =
      operacion.security?.scheme === 'llaveDeOperacion' ? comercio.llave : environment.llaveDeOperacion
    const headers: Record<string, string>[] = [
      {},
      { Authorization: 'Bearer' },
      { Authorization: 'Bearer x' },
      { Authorization: `Basic ${comercio.llave}` },
      { Authorization: `Bearer ${foreign}` },
      { Authorization: `Bearer ${crossedLlave}` },
      { Authorization: `Bearer ${llaveOf(operacion)} ${llaveOf(operacion)}` },
    ]
    for (const presentedHeaders of headers) {
      // No content type and an unreadable body: authentication comes first.
      const options = operacion.tipos.length > 0 ? { raw: '{' } : {}
      const response = await environment.request(operacion.method.toUpperCase(), pathOf(operacion), {
        headers: presentedHeaders,
        ...options,
      })
      expect([presentedHeaders.Authorization, response.status, response.body.codigo]).toEqual([
        presentedHeaders.Authorization,
        401,
        'no_autenticado',
      ])
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it.each(table(withSesion))('%s: 401 without a good session', async (_id, operacion) => {
    const { Cookie: _cookie, ...origen } = credentialsOf(operacion)
    const presentedHeaderSets: Record<string, string>[] = [
      {},
      { Cookie: `${isOfPersona(operacion) ? 'guias_sesion' : 'guias_repartidor'}=${'A'.repeat(43)}` },
      { Authorization: `Bearer ${environment.llaveDeOperacion}` },
      { Authorization: `Bearer ${comercio.llave}` },
    ]
    for (const presentedHeaders of presentedHeaderSets) {
      // No content type and an unreadable body: authentication comes first.
      const { status, body, headers } = await environment.request(operacion.method.toUpperCase(), pathOf(operacion), {
        headers: { ...origen, ...presentedHeaders },
        ...(operacion.tipos.length > 0 ? { raw: '{' } : {}),
      })
      expect([presentedHeaders, status, body.codigo]).toEqual([presentedHeaders, 401, 'sesion_invalida'])
      expect(headers.get('www-authenticate')).toMatch(/^Cookie/)
    }
  })

  it.each(table(withLlave.filter(({ security }) => security!.alcances.length > 0)))(
    '%s: 403 exactly without its scope',
    async (_id, operacion) => {
      const exigidos = operacion.security!.alcances
      const suitableLlave = await llaveWith(operacion, (alcance) => exigidos.includes(alcance))
      const caseWithout = await llaveWith(operacion, (alcance) => !exigidos.includes(alcance))
      const good = await buildGoodBody(operacion)
      const request = (llave: string) => pedirA(operacion, { llave, ...good })
      const refusal = await request(caseWithout)
      expect([refusal.status, refusal.body.codigo]).toEqual([403, 'alcance_insuficiente'])
      expect((await request(suitableLlave)).status).toBeLessThan(300)
    },
  )

  it.each(table(withLlave.filter(({ security }) => security!.alcances.length > 0)))(
    '%s: 403 without its scope, for any body and parameters',
    async (_id, operacion) => {
      const [tipo] = operacion.tipos
      const json = (raw: string): RequestInput => ({ raw, headers: { 'Content-Type': tipo! } })
      const badCases: [label: string, request: RequestInput, query?: string][] = [
        ['an unknown parameter', {}, `${pathOf(operacion).includes('?') ? '&' : '?'}nadie=1`],
      ]
      if (tipo !== undefined)
        badCases.push(
          ['no body', {}],
          ['an unknown member', json('{"__nada":1}')],
          ['a list', json('[]')],
          ['unreadable JSON', json('{')],
          ['another type', { raw: '{}', headers: { 'Content-Type': 'text/html' } }],
          ['a compressed body', { raw: '{}', headers: { 'Content-Type': tipo, 'Content-Encoding': 'gzip' } }],
          ['a body over the limit', json(' '.repeat(operacion.limite + 1))],
        )
      const llave = await llaveWith(operacion, (alcance) => !operacion.security!.alcances.includes(alcance))
      for (const [kind, requestData, query] of badCases) {
        const { status, body } = await pedirA(operacion, { llave, ...requestData }, query)
        expect([kind, status, body.codigo]).toEqual([kind, 403, 'alcance_insuficiente'])
      }
    },
  )

  it.each(table(withLlave.filter(({ security }) => security!.scheme === 'llaveDeOperacion')))(
    '%s: has one scope, and each other alone is a 403',
    async (_id, operacion) => {
      const [exigido, ...more] = operacion.security!.alcances
      expect([ALCANCES_DE_OPERACION, more]).toEqual([expect.arrayContaining([exigido]), []])
      for (const one of ALCANCES_DE_OPERACION.filter((alcance) => alcance !== exigido)) {
        const llave = await llaveWith(operacion, (alcance) => alcance === one)
        const { status, body } = await pedirA(operacion, { llave, ...(await buildGoodBody(operacion)) })
        expect([one, status, body.codigo, body.mensaje]).toEqual([
          one,
          403,
          'alcance_insuficiente',
          expect.stringContaining(` ${exigido} `),
        ])
      }
    },
  )

  it.each(table(operaciones))('%s: 405 with Allow for other methods, HEAD on GET', async (_id, operacion) => {
    const allowedMethods = operaciones
      .filter(({ path }) => path === operacion.path)
      .map(({ method }) => method.toUpperCase())
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'GET'].filter((m) => !allowedMethods.includes(m))) {
      const { status, body, headers } = await environment.request(method, pathOf(operacion), {
        llave: llaveOf(operacion),
      })
      expect([method, status, body.codigo]).toEqual([method, 405, 'metodo_no_permitido'])
      expect(
        headers
          .get('allow')!
          .split(', ')
          .filter((m) => m !== 'HEAD')
          .sort(),
      ).toEqual([...allowedMethods].sort())
    }
    if (operacion.method === 'get') {
      // What nobody has opened is drawn for no HEAD, and so has no length.
      if (operacion.id === 'descargarEtiquetas') await fetch(environment.url + etiquetas)
      const head = await fetch(environment.url + pathOf(operacion), {
        method: 'HEAD',
        headers: { Authorization: `Bearer ${llaveOf(operacion)}`, ...credentialsOf(operacion) },
      })
      expect([head.status, await head.text()]).toEqual([200, ''])
      expect(Number(head.headers.get('content-length'))).toBeGreaterThan(2)
    }
  })

  it.each(table(operaciones.filter(({ conditional: isConditional }) => isConditional)))(
    '%s: 304 for a client that has the current version, and the whole answer for others',
    async (_id, operacion) => {
      // A delivery may be tried in between.
      await waitUntil(async () => {
        const whole = await pedirA(operacion)
        const etag = whole.headers.get('etag')!
        expect([whole.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{43}"$/)])
        const same = await pedirA(operacion, { headers: { 'If-None-Match': etag } })
        if (same.status === 200) return false
        expect([same.status, same.headers.get('etag'), same.body]).toEqual([304, etag, undefined])
        return true
      })
      expect((await pedirA(operacion, { headers: { 'If-None-Match': '"otra"' } })).status).toBe(200)
    },
  )

  it.each(table(withBody))(
    '%s: 413, 415, 400 and 422 for a body that is too large, of another type, unreadable or wrong',
    async (_id, operacion) => {
      const request = (raw: string, tipo = 'application/json', more: Record<string, string> = {}) =>
        pedirA(operacion, { raw, headers: { 'Content-Type': tipo, ...more } })
      expect((await request(' '.repeat(operacion.limite + 1))).body.codigo).toBe('cuerpo_demasiado_grande')
      for (const tipo of [
        'text/plain',
        'application/xml',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonp',
        'application/json; charset=latin1',
      ]) {
        expect([tipo, (await request('{}', tipo)).body.codigo]).toEqual([tipo, 'tipo_no_admitido'])
      }
      expect((await request('{}', 'application/json', { 'Content-Encoding': 'gzip' })).body.codigo).toBe(
        'tipo_no_admitido',
      )
      for (const bad of [
        '{',
        '{"a":1,"a":2}',
        '{"__proto__":{}}',
        '[1e999]',
        '"\\ud800"',
        '{"a":"\\u0000"}',
        '['.repeat(100_000),
        '{} {}',
        'nul',
      ]) {
        const { status, body } = await request(bad)
        expect([bad.slice(0, 20), status, body.codigo]).toEqual([bad.slice(0, 20), 400, 'json_invalido'])
        expect(body.mensaje).toMatch(/línea \d+, columna \d+/)
      }
      const bad = await request('{"__nada":1}')
      expect([bad.status, bad.body.codigo]).toEqual([422, 'validacion'])
      expect((await request('[]')).status).toBe(422)
      expect((await request('null')).status).toBe(422)
      // A decision is taken once, and the test before took it.
      if (operacion.id === 'reintentarGuia') guias.reintentarGuia = await createFailedGuia(environment, comercio)
      const emptyEntry = await pedirA(operacion)
      if (operacion.bodyRequired)
        expect([emptyEntry.status, emptyEntry.body.errores]).toEqual([
          422,
          [{ campo: '', codigo: 'requerido', mensaje: 'falta el cuerpo: un objeto JSON' }],
        ])
      else expect(emptyEntry.status).toBeLessThan(300)
    },
  )

  it.each(table(operaciones.filter(({ raw }) => raw)))(
    '%s: 413 and 415 before the signature is looked at, 403 without it, 400 for what is signed and unreadable',
    async (_id, operacion) => {
      const request = (raw: string, more: Record<string, string> = {}) =>
        environment.request(operacion.method.toUpperCase(), pathOf(operacion), {
          raw,
          headers: { 'Content-Type': 'application/json', ...more },
        })
      expect((await request(' '.repeat(operacion.limite + 1))).body.codigo).toBe('cuerpo_demasiado_grande')
      expect((await request('{}', { 'Content-Type': 'text/plain' })).body.codigo).toBe('tipo_no_admitido')
      expect((await request('{}')).body.codigo).toBe('firma_invalida')
      expect((await request('{}', firmar(operacion, {}))).status).toBe(200)
      const sello = createHmac('sha256', WHATSAPP.WHATSAPP_APP_SECRET).update('{').digest('hex')
      expect((await request('{', { 'X-Hub-Signature-256': `sha256=${sello}` })).body.codigo).toBe('json_invalido')
    },
  )

  it.each(table(streamed))(
    '%s: 413, 415 and 400 for a stream that is too large, of another type, or with an unknown parameter',
    async (_id, operacion) => {
      const request = (
        raw: string | ReadableStream,
        tipo = operacion.tipos[0]!,
        more: Record<string, string> = {},
        path = '',
      ) => pedirA(operacion, { raw, headers: { 'Content-Type': tipo, ...more } }, path)
      expect((await request(' '.repeat(operacion.limite + 1))).body.codigo).toBe('cuerpo_demasiado_grande')
      for (const tipo of [
        'application/json',
        'text/html',
        'image/svg+xml',
        'image/gif',
        'multipart/form-data; boundary=x',
      ])
        expect([tipo, (await request('x', tipo)).body.codigo]).toEqual([tipo, 'tipo_no_admitido'])
      expect((await request('x', operacion.tipos[0], { 'Content-Encoding': 'gzip' })).body.codigo).toBe(
        'tipo_no_admitido',
      )
      expect((await request('x', operacion.tipos[0], {}, '&nadie=1')).body.codigo).toBe('parametro_invalido')
      // Nothing at all is not a body.
      expect((await request('')).status).toBe(422)
    },
  )

  it.each(table(operaciones.filter(({ tipos, method }) => tipos.length === 0 && method === 'get')))(
    '%s: 400 for an unknown parameter',
    async (_id, operacion) => {
      const more = pathOf(operacion).includes('?') ? '&' : '?'
      const { status, body } = await pedirA(operacion, {}, `${more}nadie=1`)
      if (operacion.rechazo) return expect([status, body.codigo, body.errores]).toEqual([403, operacion.rechazo, []])
      expect([status, body.codigo, body.errores[0].campo]).toEqual([400, 'parametro_invalido', 'nadie'])
    },
  )

  it.each(table(operaciones.filter(({ tipos, method }) => tipos.length === 0 && method !== 'get')))(
    '%s: 400 for an unknown parameter',
    async (_id, operacion) => {
      expect((await pedirA(operacion, {}, '?nadie=1')).status).toBe(400)
    },
  )

  it.each(table(operaciones))('%s: 503 with Retry-After while the database is away', async (_id, operacion) => {
    // These say that the process is alive, and what was agreed on with a provider.
    if (['comprobarVida', 'verificarWhatsapp'].includes(operacion.id)) return
    const name = new URL(environment.databaseUrl).pathname.slice(1)
    const llave = unusedLlaves.get(operacion.id) ?? llaveOf(operacion)
    await whileDatabaseIsClosed(name, async () => {
      const body = bodyOf(operacion)
      const response = await pedirA(
        operacion,
        { llave, body, headers: firmar(operacion, body) },
        '',
        unusedEntries.get(operacion.id),
      )
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
    })
  })
})

const firmar = ({ raw }: Operation, body: unknown): Record<string, string> => {
  const sello = createHmac('sha256', WHATSAPP.WHATSAPP_APP_SECRET).update(JSON.stringify(body) ?? '')
  return raw ? { 'X-Hub-Signature-256': `sha256=${sello.digest('hex')}` } : {}
}

const CUERPOS: Partial<Record<Operation['id'], () => unknown>> = {
  crearGuia: buildGuia,
  crearLote: () => ({ guias: [buildGuia()] }),
  corregirGuia: () => ({ contenido: 'Un libro' }),
  corregirGuiaPorOperador: () => ({ contenido: 'Un libro', razon: 'x' }),
  reintentarGuia: () => ({}),
  reintentarGuiaPorOperador: () => ({ razon: 'x' }),
  devolverGuia: () => ({ razon: 'x' }),
  devolverGuiaPorOperador: () => ({ razon: 'x' }),
  rectificarGuia: () => ({ razon: 'x', secuencia: 5 }),
  cancelarGuiaPorOperador: () => ({ razon: 'x' }),
  crearNota: () => ({ texto: 'x' }),
  asignarGuias: () => ({ guias: [guia], repartidor: phone.repartidor }),
  retirarAsignaciones: () => ({ guias: [guia] }),
  confirmarUbicacion: () => ({ lat: 14.71889, lng: -90.64417 }),
  confirmarUbicacionPorOperador: () => ({ lat: 14.71889, lng: -90.64417, razon: 'x' }),
  simularAvance: () => ({ estado: 'recolectado' }),
  simularDecision: () => ({ eleccion: 'otro_dia' }),
  registrarEntrega: () => ({ recibido_por: { nombre: 'María' }, fotos: [foto] }),
  registrarEvento: () => ({ tipo: 'guia.nota', descripcion: 'x' }),
  registrarEventosDeReparto: () => ({ eventos: [{ guia, evento: { estado: 'recolectado', idempotencia: 'x' } }] }),
  crearEtiquetas: () => ({ guias: [guias.obtenerEtiqueta] }),
  cambiarComercio: () => ({ nombre: 'x' }),
  crearComercio: () => ({ nombre: 'x' }),
  crearLlave: () => ({ modo: 'test' }),
  crearLlaveDeOperador: () => ({ alcances: ['administrar'] }),
  crearOperador: () => ({ nombre: 'x' }),
  crearRepartidor: () => ({ nombre: 'x' }),
  ...PERSONA_BODIES,
  elegirMembresia: () => ({ membresia: personas.membresiaDe('elegirMembresia') }),
  abrirSesion: () => ({ codigo: phone.codigo }),
  crearWebhook: () => ({ url: createUrl() }),
  cambiarWebhook: () => ({ descripcion: 'x' }),
  recuperarAvisosDeWebhook: () => ({ desde: YESTERDAY, ensayo: true }),
  verificarPrueba: () => ({ sha256: '0'.repeat(64) }),
}
/** A body that the operation accepts, if it takes one. */
const bodyOf = ({ id, tipos, streamed }: Operation) =>
  CUERPOS[id]?.() ?? (tipos.length > 0 && !streamed ? {} : undefined)

/** That body, or a stream's. */
const buildGoodBody = async (operacion: Operation): Promise<RequestInput> =>
  operacion.streamed
    ? { raw: new Uint8Array(await createFoto()), headers: { 'Content-Type': 'image/jpeg' } }
    : { body: bodyOf(operacion) }

/** A key of the operation's kind, of those scopes. */
const llaveWith = ({ security }: Operation, isSuitable: (alcance: string) => boolean) =>
  security!.scheme === 'llaveDeOperacion'
    ? environment.createOperacionLlave(ALCANCES_DE_OPERACION.filter(isSuitable))
    : environment.createLlave(comercio, { alcances: ALCANCES.filter(isSuitable) })
