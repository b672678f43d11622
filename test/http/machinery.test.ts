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

const AYER = new Date(Date.now() - 86_400_000).toISOString()
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
const conLlave = operaciones.filter(({ security: seguridad }) => seguridad && !seguridad.enCookie)
const conSesion = operaciones.filter(({ security: seguridad }) => seguridad?.enCookie)
// What wants the bytes as they came looks at their signature before anything else.
const conCuerpo = operaciones.filter(({ tipos, streamed: enFlujo, raw }) => tipos.length > 0 && !enFlujo && !raw)
const enFlujo = operaciones.filter((operacion) => operacion.streamed)

let comercio: Comercio
let phone: Mobile
let personas: Awaited<ReturnType<typeof openPersonas>>
/** Sessions that nobody has looked at: what needs the database only for the session must not find it remembered. */
const sinUsar = new Map<Operation['id'], Mobile>()
/** Of merchants' operations: what needs the database only for the key must not find the key remembered. */
const llavesSinUsar = new Map<Operation['id'], string>()
let guia: string
let llavePublica: string
let operador: string
let llaveEfimera: string
let operadorEfimero: string
/** One whose sessions nobody needs. */
let otroRepartidor: string
const ids: Record<string, string> = {}
let efimero: string
let foto: string
/** Links that are good, as paths. */
let link: string
let etiquetas: string
/** Guides of their own for what others would leave in no state to be tried. */
const guias: Partial<Record<Operation['id'], string>> = {}
beforeAll(async () => {
  comercio = await environment.createComercio()
  phone = await createMobile(environment)
  personas = await openPersonas(environment, conSesion)
  for (const operacion of conSesion)
    if (!isOfPersona(operacion)) sinUsar.set(operacion.id, await createMobile(environment, phone))
  for (const { id, security: seguridad } of conLlave)
    if (seguridad!.scheme === 'llaveDeComercio') llavesSinUsar.set(id, await environment.createLlave(comercio))
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
  const conOtroTelefono = buildGuiaWithoutDestino({ telefono: '+50232000001' })
  guias.reenviarSolicitudPorOperador = (await comercio.api.guias.crear(conOtroTelefono)).guia
  guias.simularUbicacion = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  guias.obtenerPruebaDeEntrega = (await createDeliveredGuia(environment, comercio)).guia
  guias.obtenerPruebaDeEntregaPorOperador = guias.obtenerPruebaDeEntrega
  guias.registrarEntrega = await createGuiaOnRoute(environment, comercio)
  guias.subirArchivoDeReparto = await createGuiaOnRoute(environment, comercio, phone.repartidor)
  guias.obtenerEtiqueta = (await comercio.api.guias.crear(buildGuia())).guia
  etiquetas = (await comercio.api.guias.etiqueta(guias.obtenerEtiqueta)).url.slice(environment.url.length)
  foto = (await uploadArchivo(environment, guias.registrarEntrega)).cuerpo.archivo
  llavePublica = (await environment.operar('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'test' })).cuerpo
    .id
  operador = (await environment.operar('POST', '/operadores', { nombre: 'x' })).cuerpo.operador
  llaveEfimera = (await environment.operar('POST', `/operadores/${operador}/llaves`, {})).cuerpo.id
  otroRepartidor = (await createMobile(environment)).repartidor
  operadorEfimero = (await environment.operar('POST', '/operadores', { nombre: 'x' })).cuerpo.operador
  const { cuerpo: prueba } = await environment.request(
    'GET',
    `/api/v1/guias/${guias.obtenerPruebaDeEntrega}/prueba-entrega`,
    {
      llave: comercio.llave,
    },
  )
  link = prueba.fotos[0].url.slice(environment.url.length)
  ids.webhook = (await pedirWebhook('', { url: nuevaUrl() })).webhook
  efimero = (await pedirWebhook('', { url: nuevaUrl() })).webhook
  const { guia: other } = await comercio.api.guias.crear(buildGuia())
  ids.aviso = `avi_${ids.webhook!.slice(3)}_${other}_1`
  ids.recuperacion = (await pedirWebhook(`/${ids.webhook}/recuperar`, { desde: AYER })).recuperacion
})
const pedirWebhook = async (path: string, cuerpo: unknown) =>
  (await environment.request('POST', `/api/v1/webhooks${path}`, { llave: comercio.llave, cuerpo })).cuerpo
let urls = 0
const nuevaUrl = () => `http://127.0.0.1:9/${++urls}`

const rutaDe = ({ id, path, parameters }: Operation) => {
  if (id === 'descargarArchivo') return link
  if (id === 'descargarEtiquetas') return etiquetas
  const query = parameters
    .filter((p) => p.in === 'query' && p.required)
    .map(
      (p) =>
        `${p.name}=${{ guia, departamento: 'GT-SA', tipo: 'foto', 'hub.mode': 'subscribe', 'hub.verify_token': 'acordada', 'hub.challenge': '1158201444' }[p.name] ?? 'x'}`,
    )
  const llena = personas
    .fillPath(path, id)
    .replace('{guia}', guias[id] ?? guia)
    .replace('{comercio}', comercio.comercio)
    .replace('{operador}', id === 'revocarOperador' ? operadorEfimero : operador)
    .replace('{llave}', id === 'revocarLlave' ? llaveEfimera : llavePublica)
    .replace('{repartidor}', otroRepartidor)
    // What deletes has something of its own to delete.
    .replace('{webhook}', id === 'eliminarWebhook' ? efimero : ids.webhook!)
    .replace(/\{(aviso|recuperacion)\}/g, (_m, name) => ids[name]!)
  return query.length > 0 ? `${llena}?${query.join('&')}` : llena
}
const llaveDe = ({ security: seguridad }: Operation) =>
  seguridad?.scheme === 'llaveDeOperacion' ? environment.llaveDeOperacion : comercio.llave
type Pedido = NonNullable<Parameters<typeof environment.request>[2]>
/** A request with what its operation wants to know who calls. */
const pedirA = (operacion: Operation, { cabeceras = {}, ...options }: Pedido = {}, more = '', de = phone) =>
  environment.request(operacion.method.toUpperCase(), rutaDe(operacion) + more, {
    llave: llaveDe(operacion),
    ...options,
    cabeceras: { ...propias(operacion, de), ...cabeceras },
  })
const propias = (operacion: Operation, { cookie } = phone): Record<string, string> => ({
  ...(operacion.security?.enCookie ? { Cookie: isOfPersona(operacion) ? personas.cookie(operacion.id) : cookie } : {}),
  ...(operacion.needsSameOrigin ? { Origin: environment.url } : {}),
})
const table = (list: readonly Operation[]) => list.map((operacion) => [operacion.id, operacion] as const)

describe('the machinery answers the same for every operation', () => {
  it.each(table(conLlave))('%s: 401 with WWW-Authenticate without a good key', async (_id, operacion) => {
    const { llave: foreign } = newLlave('test')
    const cruzada = operacion.security?.scheme === 'llaveDeOperacion' ? comercio.llave : environment.llaveDeOperacion
    const headers: Record<string, string>[] = [
      {},
      { Authorization: 'Bearer' },
      { Authorization: 'Bearer x' },
      { Authorization: `Basic ${comercio.llave}` },
      { Authorization: `Bearer ${foreign}` },
      { Authorization: `Bearer ${cruzada}` },
      { Authorization: `Bearer ${llaveDe(operacion)} ${llaveDe(operacion)}` },
    ]
    for (const presentada of headers) {
      // No content type and an unreadable body: authentication comes first.
      const options = operacion.tipos.length > 0 ? { raw: '{' } : {}
      const response = await environment.request(operacion.method.toUpperCase(), rutaDe(operacion), {
        cabeceras: presentada,
        ...options,
      })
      expect([presentada.Authorization, response.status, response.cuerpo.codigo]).toEqual([
        presentada.Authorization,
        401,
        'no_autenticado',
      ])
      expect(response.cabeceras.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it.each(table(conSesion))('%s: 401 without a good session', async (_id, operacion) => {
    const { Cookie: _cookie, ...origen } = propias(operacion)
    const presentadas: Record<string, string>[] = [
      {},
      { Cookie: `${isOfPersona(operacion) ? 'guias_sesion' : 'guias_repartidor'}=${'A'.repeat(43)}` },
      { Authorization: `Bearer ${environment.llaveDeOperacion}` },
      { Authorization: `Bearer ${comercio.llave}` },
    ]
    for (const presentada of presentadas) {
      // No content type and an unreadable body: authentication comes first.
      const { status, cuerpo, cabeceras } = await environment.request(
        operacion.method.toUpperCase(),
        rutaDe(operacion),
        {
          cabeceras: { ...origen, ...presentada },
          ...(operacion.tipos.length > 0 ? { raw: '{' } : {}),
        },
      )
      expect([presentada, status, cuerpo.codigo]).toEqual([presentada, 401, 'sesion_invalida'])
      expect(cabeceras.get('www-authenticate')).toMatch(/^Cookie/)
    }
  })

  it.each(table(conLlave.filter(({ security: seguridad }) => seguridad!.alcances.length > 0)))(
    '%s: 403 exactly without its scope',
    async (_id, operacion) => {
      const exigidos = operacion.security!.alcances
      const con = await llaveCon(operacion, (alcance) => exigidos.includes(alcance))
      const sin = await llaveCon(operacion, (alcance) => !exigidos.includes(alcance))
      const good = await cuerpoBueno(operacion)
      const request = (llave: string) => pedirA(operacion, { llave, ...good })
      const negada = await request(sin)
      expect([negada.status, negada.cuerpo.codigo]).toEqual([403, 'alcance_insuficiente'])
      expect((await request(con)).status).toBeLessThan(300)
    },
  )

  it.each(table(conLlave.filter(({ security: seguridad }) => seguridad!.alcances.length > 0)))(
    '%s: 403 without its scope, for any body and parameters',
    async (_id, operacion) => {
      const [tipo] = operacion.tipos
      const json = (raw: string): Pedido => ({ raw, cabeceras: { 'Content-Type': tipo! } })
      const malas: [que: string, pedido: Pedido, consulta?: string][] = [
        ['an unknown parameter', {}, `${rutaDe(operacion).includes('?') ? '&' : '?'}nadie=1`],
      ]
      if (tipo !== undefined)
        malas.push(
          ['no body', {}],
          ['an unknown member', json('{"__nada":1}')],
          ['a list', json('[]')],
          ['unreadable JSON', json('{')],
          ['another type', { raw: '{}', cabeceras: { 'Content-Type': 'text/html' } }],
          ['a compressed body', { raw: '{}', cabeceras: { 'Content-Type': tipo, 'Content-Encoding': 'gzip' } }],
          ['a body over the limit', json(' '.repeat(operacion.limite + 1))],
        )
      const llave = await llaveCon(operacion, (alcance) => !operacion.security!.alcances.includes(alcance))
      for (const [que, pedido, query] of malas) {
        const { status, cuerpo } = await pedirA(operacion, { llave, ...pedido }, query)
        expect([que, status, cuerpo.codigo]).toEqual([que, 403, 'alcance_insuficiente'])
      }
    },
  )

  it.each(table(conLlave.filter(({ security: seguridad }) => seguridad!.scheme === 'llaveDeOperacion')))(
    '%s: has one scope, and each other alone is a 403',
    async (_id, operacion) => {
      const [exigido, ...more] = operacion.security!.alcances
      expect([ALCANCES_DE_OPERACION, more]).toEqual([expect.arrayContaining([exigido]), []])
      for (const one of ALCANCES_DE_OPERACION.filter((alcance) => alcance !== exigido)) {
        const llave = await llaveCon(operacion, (alcance) => alcance === one)
        const { status, cuerpo } = await pedirA(operacion, { llave, ...(await cuerpoBueno(operacion)) })
        expect([one, status, cuerpo.codigo, cuerpo.mensaje]).toEqual([
          one,
          403,
          'alcance_insuficiente',
          expect.stringContaining(` ${exigido} `),
        ])
      }
    },
  )

  it.each(table(operaciones))('%s: 405 with Allow for other methods, HEAD on GET', async (_id, operacion) => {
    const suyos = operaciones.filter(({ path }) => path === operacion.path).map(({ method }) => method.toUpperCase())
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'GET'].filter((m) => !suyos.includes(m))) {
      const { status, cuerpo, cabeceras } = await environment.request(method, rutaDe(operacion), {
        llave: llaveDe(operacion),
      })
      expect([method, status, cuerpo.codigo]).toEqual([method, 405, 'metodo_no_permitido'])
      expect(
        cabeceras
          .get('allow')!
          .split(', ')
          .filter((m) => m !== 'HEAD')
          .sort(),
      ).toEqual([...suyos].sort())
    }
    if (operacion.method === 'get') {
      // What nobody has opened is drawn for no HEAD, and so has no length.
      if (operacion.id === 'descargarEtiquetas') await fetch(environment.url + etiquetas)
      const head = await fetch(environment.url + rutaDe(operacion), {
        method: 'HEAD',
        headers: { Authorization: `Bearer ${llaveDe(operacion)}`, ...propias(operacion) },
      })
      expect([head.status, await head.text()]).toEqual([200, ''])
      expect(Number(head.headers.get('content-length'))).toBeGreaterThan(2)
    }
  })

  it.each(table(operaciones.filter(({ conditional: condicional }) => condicional)))(
    '%s: 304 for a client that has the current version, and the whole answer for others',
    async (_id, operacion) => {
      // A delivery may be tried in between.
      await waitUntil(async () => {
        const entera = await pedirA(operacion)
        const etag = entera.cabeceras.get('etag')!
        expect([entera.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{43}"$/)])
        const same = await pedirA(operacion, { cabeceras: { 'If-None-Match': etag } })
        if (same.status === 200) return false
        expect([same.status, same.cabeceras.get('etag'), same.cuerpo]).toEqual([304, etag, undefined])
        return true
      })
      expect((await pedirA(operacion, { cabeceras: { 'If-None-Match': '"otra"' } })).status).toBe(200)
    },
  )

  it.each(table(conCuerpo))(
    '%s: 413, 415, 400 and 422 for a body that is too large, of another type, unreadable or wrong',
    async (_id, operacion) => {
      const request = (raw: string, tipo = 'application/json', more: Record<string, string> = {}) =>
        pedirA(operacion, { raw, cabeceras: { 'Content-Type': tipo, ...more } })
      expect((await request(' '.repeat(operacion.limite + 1))).cuerpo.codigo).toBe('cuerpo_demasiado_grande')
      for (const tipo of [
        'text/plain',
        'application/xml',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonp',
        'application/json; charset=latin1',
      ]) {
        expect([tipo, (await request('{}', tipo)).cuerpo.codigo]).toEqual([tipo, 'tipo_no_admitido'])
      }
      expect((await request('{}', 'application/json', { 'Content-Encoding': 'gzip' })).cuerpo.codigo).toBe(
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
        const { status, cuerpo } = await request(bad)
        expect([bad.slice(0, 20), status, cuerpo.codigo]).toEqual([bad.slice(0, 20), 400, 'json_invalido'])
        expect(cuerpo.mensaje).toMatch(/línea \d+, columna \d+/)
      }
      const bad = await request('{"__nada":1}')
      expect([bad.status, bad.cuerpo.codigo]).toEqual([422, 'validacion'])
      expect((await request('[]')).status).toBe(422)
      expect((await request('null')).status).toBe(422)
      // A decision is taken once, and the test before took it.
      if (operacion.id === 'reintentarGuia') guias.reintentarGuia = await createFailedGuia(environment, comercio)
      const vacio = await pedirA(operacion)
      if (operacion.bodyRequired)
        expect([vacio.status, vacio.cuerpo.errores]).toEqual([
          422,
          [{ campo: '', codigo: 'requerido', mensaje: 'falta el cuerpo: un objeto JSON' }],
        ])
      else expect(vacio.status).toBeLessThan(300)
    },
  )

  it.each(table(operaciones.filter(({ raw }) => raw)))(
    '%s: 413 and 415 before the signature is looked at, 403 without it, 400 for what is signed and unreadable',
    async (_id, operacion) => {
      const request = (raw: string, more: Record<string, string> = {}) =>
        environment.request(operacion.method.toUpperCase(), rutaDe(operacion), {
          raw,
          cabeceras: { 'Content-Type': 'application/json', ...more },
        })
      expect((await request(' '.repeat(operacion.limite + 1))).cuerpo.codigo).toBe('cuerpo_demasiado_grande')
      expect((await request('{}', { 'Content-Type': 'text/plain' })).cuerpo.codigo).toBe('tipo_no_admitido')
      expect((await request('{}')).cuerpo.codigo).toBe('firma_invalida')
      expect((await request('{}', firmar(operacion, {}))).status).toBe(200)
      const sello = createHmac('sha256', WHATSAPP.WHATSAPP_APP_SECRET).update('{').digest('hex')
      expect((await request('{', { 'X-Hub-Signature-256': `sha256=${sello}` })).cuerpo.codigo).toBe('json_invalido')
    },
  )

  it.each(table(enFlujo))(
    '%s: 413, 415 and 400 for a stream that is too large, of another type, or with an unknown parameter',
    async (_id, operacion) => {
      const request = (
        raw: string | ReadableStream,
        tipo = operacion.tipos[0]!,
        more: Record<string, string> = {},
        path = '',
      ) => pedirA(operacion, { raw, cabeceras: { 'Content-Type': tipo, ...more } }, path)
      expect((await request(' '.repeat(operacion.limite + 1))).cuerpo.codigo).toBe('cuerpo_demasiado_grande')
      for (const tipo of [
        'application/json',
        'text/html',
        'image/svg+xml',
        'image/gif',
        'multipart/form-data; boundary=x',
      ])
        expect([tipo, (await request('x', tipo)).cuerpo.codigo]).toEqual([tipo, 'tipo_no_admitido'])
      expect((await request('x', operacion.tipos[0], { 'Content-Encoding': 'gzip' })).cuerpo.codigo).toBe(
        'tipo_no_admitido',
      )
      expect((await request('x', operacion.tipos[0], {}, '&nadie=1')).cuerpo.codigo).toBe('parametro_invalido')
      // Nothing at all is not a body.
      expect((await request('')).status).toBe(422)
    },
  )

  it.each(table(operaciones.filter(({ tipos, method }) => tipos.length === 0 && method === 'get')))(
    '%s: 400 for an unknown parameter',
    async (_id, operacion) => {
      const more = rutaDe(operacion).includes('?') ? '&' : '?'
      const { status, cuerpo } = await pedirA(operacion, {}, `${more}nadie=1`)
      if (operacion.rechazo)
        return expect([status, cuerpo.codigo, cuerpo.errores]).toEqual([403, operacion.rechazo, []])
      expect([status, cuerpo.codigo, cuerpo.errores[0].campo]).toEqual([400, 'parametro_invalido', 'nadie'])
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
    const llave = llavesSinUsar.get(operacion.id) ?? llaveDe(operacion)
    await whileDatabaseIsClosed(name, async () => {
      const cuerpo = cuerpoDe(operacion)
      const response = await pedirA(
        operacion,
        { llave, cuerpo, cabeceras: firmar(operacion, cuerpo) },
        '',
        sinUsar.get(operacion.id),
      )
      expect([response.status, response.cabeceras.get('retry-after')]).toEqual([503, '2'])
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
  crearWebhook: () => ({ url: nuevaUrl() }),
  cambiarWebhook: () => ({ descripcion: 'x' }),
  recuperarAvisosDeWebhook: () => ({ desde: AYER, ensayo: true }),
  verificarPrueba: () => ({ sha256: '0'.repeat(64) }),
}
/** A body that the operation accepts, if it takes one. */
const cuerpoDe = ({ id, tipos, streamed: enFlujo }: Operation) =>
  CUERPOS[id]?.() ?? (tipos.length > 0 && !enFlujo ? {} : undefined)

/** That body, or a stream's. */
const cuerpoBueno = async (operacion: Operation): Promise<Pedido> =>
  operacion.streamed
    ? { raw: new Uint8Array(await createFoto()), cabeceras: { 'Content-Type': 'image/jpeg' } }
    : { cuerpo: cuerpoDe(operacion) }

/** A key of the operation's kind, of those scopes. */
const llaveCon = ({ security: seguridad }: Operation, sirve: (alcance: string) => boolean) =>
  seguridad!.scheme === 'llaveDeOperacion'
    ? environment.createOperacionLlave(ALCANCES_DE_OPERACION.filter(sirve))
    : environment.createLlave(comercio, { alcances: ALCANCES.filter(sirve) })
