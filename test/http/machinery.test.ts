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
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
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
const entorno = useEnvironment({}, () => WHATSAPP)
const operaciones = readOperations(readDocument())
const conLlave = operaciones.filter(({ security: seguridad }) => seguridad && !seguridad.enCookie)
const conSesion = operaciones.filter(({ security: seguridad }) => seguridad?.enCookie)
// What wants the bytes as they came looks at their signature before anything else.
const conCuerpo = operaciones.filter(
  ({ tipos, streamed: enFlujo, raw: crudo }) => tipos.length > 0 && !enFlujo && !crudo,
)
const enFlujo = operaciones.filter((operacion) => operacion.streamed)

let comercio: Comercio
let movil: Mobile
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
let enlace: string
let etiquetas: string
/** Guides of their own for what others would leave in no state to be tried. */
const guias: Partial<Record<Operation['id'], string>> = {}
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  movil = await createMobile(entorno)
  personas = await openPersonas(entorno, conSesion)
  for (const operacion of conSesion)
    if (!isOfPersona(operacion)) sinUsar.set(operacion.id, await createMobile(entorno, movil))
  for (const { id, security: seguridad } of conLlave)
    if (seguridad!.scheme === 'llaveDeComercio') llavesSinUsar.set(id, await entorno.createLlave(comercio))
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
    guias[operacion] = await createFailedGuia(entorno, comercio)
  guias.simularAvance = (await comercio.api.guias.crear(buildGuia())).guia
  guias.reenviarSolicitud = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  const conOtroTelefono = buildGuiaWithoutDestino({ telefono: '+50232000001' })
  guias.reenviarSolicitudPorOperador = (await comercio.api.guias.crear(conOtroTelefono)).guia
  guias.simularUbicacion = (await comercio.api.guias.crear(buildGuiaWithoutDestino())).guia
  guias.obtenerPruebaDeEntrega = (await createDeliveredGuia(entorno, comercio)).guia
  guias.obtenerPruebaDeEntregaPorOperador = guias.obtenerPruebaDeEntrega
  guias.registrarEntrega = await createGuiaOnRoute(entorno, comercio)
  guias.subirArchivoDeReparto = await createGuiaOnRoute(entorno, comercio, movil.repartidor)
  guias.obtenerEtiqueta = (await comercio.api.guias.crear(buildGuia())).guia
  etiquetas = (await comercio.api.guias.etiqueta(guias.obtenerEtiqueta)).url.slice(entorno.url.length)
  foto = (await uploadArchivo(entorno, guias.registrarEntrega)).cuerpo.archivo
  llavePublica = (await entorno.operar('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'test' })).cuerpo.id
  operador = (await entorno.operar('POST', '/operadores', { nombre: 'x' })).cuerpo.operador
  llaveEfimera = (await entorno.operar('POST', `/operadores/${operador}/llaves`, {})).cuerpo.id
  otroRepartidor = (await createMobile(entorno)).repartidor
  operadorEfimero = (await entorno.operar('POST', '/operadores', { nombre: 'x' })).cuerpo.operador
  const { cuerpo: prueba } = await entorno.request(
    'GET',
    `/api/v1/guias/${guias.obtenerPruebaDeEntrega}/prueba-entrega`,
    {
      llave: comercio.llave,
    },
  )
  enlace = prueba.fotos[0].url.slice(entorno.url.length)
  ids.webhook = (await pedirWebhook('', { url: nuevaUrl() })).webhook
  efimero = (await pedirWebhook('', { url: nuevaUrl() })).webhook
  const { guia: otra } = await comercio.api.guias.crear(buildGuia())
  ids.aviso = `avi_${ids.webhook!.slice(3)}_${otra}_1`
  ids.recuperacion = (await pedirWebhook(`/${ids.webhook}/recuperar`, { desde: AYER })).recuperacion
})
const pedirWebhook = async (ruta: string, cuerpo: unknown) =>
  (await entorno.request('POST', `/api/v1/webhooks${ruta}`, { llave: comercio.llave, cuerpo })).cuerpo
let urls = 0
const nuevaUrl = () => `http://127.0.0.1:9/${++urls}`

const rutaDe = ({ id, path: ruta, parameters: parametros }: Operation) => {
  if (id === 'descargarArchivo') return enlace
  if (id === 'descargarEtiquetas') return etiquetas
  const consulta = parametros
    .filter((p) => p.in === 'query' && p.required)
    .map(
      (p) =>
        `${p.name}=${{ guia, departamento: 'GT-SA', tipo: 'foto', 'hub.mode': 'subscribe', 'hub.verify_token': 'acordada', 'hub.challenge': '1158201444' }[p.name] ?? 'x'}`,
    )
  const llena = personas
    .fillPath(ruta, id)
    .replace('{guia}', guias[id] ?? guia)
    .replace('{comercio}', comercio.comercio)
    .replace('{operador}', id === 'revocarOperador' ? operadorEfimero : operador)
    .replace('{llave}', id === 'revocarLlave' ? llaveEfimera : llavePublica)
    .replace('{repartidor}', otroRepartidor)
    // What deletes has something of its own to delete.
    .replace('{webhook}', id === 'eliminarWebhook' ? efimero : ids.webhook!)
    .replace(/\{(aviso|recuperacion)\}/g, (_m, nombre) => ids[nombre]!)
  return consulta.length > 0 ? `${llena}?${consulta.join('&')}` : llena
}
const llaveDe = ({ security: seguridad }: Operation) =>
  seguridad?.scheme === 'llaveDeOperacion' ? entorno.llaveDeOperacion : comercio.llave
type Pedido = NonNullable<Parameters<typeof entorno.request>[2]>
/** A request with what its operation wants to know who calls. */
const pedirA = (operacion: Operation, { cabeceras = {}, ...opciones }: Pedido = {}, mas = '', de = movil) =>
  entorno.request(operacion.method.toUpperCase(), rutaDe(operacion) + mas, {
    llave: llaveDe(operacion),
    ...opciones,
    cabeceras: { ...propias(operacion, de), ...cabeceras },
  })
const propias = (operacion: Operation, { cookie } = movil): Record<string, string> => ({
  ...(operacion.security?.enCookie ? { Cookie: isOfPersona(operacion) ? personas.cookie(operacion.id) : cookie } : {}),
  ...(operacion.needsSameOrigin ? { Origin: entorno.url } : {}),
})
const tabla = (lista: readonly Operation[]) => lista.map((operacion) => [operacion.id, operacion] as const)

describe('the machinery answers the same for every operation', () => {
  it.each(tabla(conLlave))('%s: 401 with WWW-Authenticate without a good key', async (_id, operacion) => {
    const { llave: ajena } = newLlave('test')
    const cruzada = operacion.security?.scheme === 'llaveDeOperacion' ? comercio.llave : entorno.llaveDeOperacion
    const cabeceras: Record<string, string>[] = [
      {},
      { Authorization: 'Bearer' },
      { Authorization: 'Bearer x' },
      { Authorization: `Basic ${comercio.llave}` },
      { Authorization: `Bearer ${ajena}` },
      { Authorization: `Bearer ${cruzada}` },
      { Authorization: `Bearer ${llaveDe(operacion)} ${llaveDe(operacion)}` },
    ]
    for (const presentada of cabeceras) {
      // No content type and an unreadable body: authentication comes first.
      const opciones = operacion.tipos.length > 0 ? { raw: '{' } : {}
      const respuesta = await entorno.request(operacion.method.toUpperCase(), rutaDe(operacion), {
        cabeceras: presentada,
        ...opciones,
      })
      expect([presentada.Authorization, respuesta.status, respuesta.cuerpo.codigo]).toEqual([
        presentada.Authorization,
        401,
        'no_autenticado',
      ])
      expect(respuesta.cabeceras.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it.each(tabla(conSesion))('%s: 401 without a good session', async (_id, operacion) => {
    const { Cookie: _cookie, ...origen } = propias(operacion)
    const presentadas: Record<string, string>[] = [
      {},
      { Cookie: `${isOfPersona(operacion) ? 'guias_sesion' : 'guias_repartidor'}=${'A'.repeat(43)}` },
      { Authorization: `Bearer ${entorno.llaveDeOperacion}` },
      { Authorization: `Bearer ${comercio.llave}` },
    ]
    for (const presentada of presentadas) {
      // No content type and an unreadable body: authentication comes first.
      const { status, cuerpo, cabeceras } = await entorno.request(operacion.method.toUpperCase(), rutaDe(operacion), {
        cabeceras: { ...origen, ...presentada },
        ...(operacion.tipos.length > 0 ? { raw: '{' } : {}),
      })
      expect([presentada, status, cuerpo.codigo]).toEqual([presentada, 401, 'sesion_invalida'])
      expect(cabeceras.get('www-authenticate')).toMatch(/^Cookie/)
    }
  })

  it.each(tabla(conLlave.filter(({ security: seguridad }) => seguridad!.alcances.length > 0)))(
    '%s: 403 exactly without its scope',
    async (_id, operacion) => {
      const exigidos = operacion.security!.alcances
      const con = await llaveCon(operacion, (alcance) => exigidos.includes(alcance))
      const sin = await llaveCon(operacion, (alcance) => !exigidos.includes(alcance))
      const bueno = await cuerpoBueno(operacion)
      const pedir = (llave: string) => pedirA(operacion, { llave, ...bueno })
      const negada = await pedir(sin)
      expect([negada.status, negada.cuerpo.codigo]).toEqual([403, 'alcance_insuficiente'])
      expect((await pedir(con)).status).toBeLessThan(300)
    },
  )

  it.each(tabla(conLlave.filter(({ security: seguridad }) => seguridad!.alcances.length > 0)))(
    '%s: 403 without its scope, for any body and parameters',
    async (_id, operacion) => {
      const [tipo] = operacion.tipos
      const json = (crudo: string): Pedido => ({ raw: crudo, cabeceras: { 'Content-Type': tipo! } })
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
      for (const [que, pedido, consulta] of malas) {
        const { status, cuerpo } = await pedirA(operacion, { llave, ...pedido }, consulta)
        expect([que, status, cuerpo.codigo]).toEqual([que, 403, 'alcance_insuficiente'])
      }
    },
  )

  it.each(tabla(conLlave.filter(({ security: seguridad }) => seguridad!.scheme === 'llaveDeOperacion')))(
    '%s: has one scope, and each other alone is a 403',
    async (_id, operacion) => {
      const [exigido, ...mas] = operacion.security!.alcances
      expect([ALCANCES_DE_OPERACION, mas]).toEqual([expect.arrayContaining([exigido]), []])
      for (const uno of ALCANCES_DE_OPERACION.filter((alcance) => alcance !== exigido)) {
        const llave = await llaveCon(operacion, (alcance) => alcance === uno)
        const { status, cuerpo } = await pedirA(operacion, { llave, ...(await cuerpoBueno(operacion)) })
        expect([uno, status, cuerpo.codigo, cuerpo.mensaje]).toEqual([
          uno,
          403,
          'alcance_insuficiente',
          expect.stringContaining(` ${exigido} `),
        ])
      }
    },
  )

  it.each(tabla(operaciones))('%s: 405 with Allow for other methods, HEAD on GET', async (_id, operacion) => {
    const suyos = operaciones
      .filter(({ path: ruta }) => ruta === operacion.path)
      .map(({ method: metodo }) => metodo.toUpperCase())
    for (const metodo of ['PUT', 'PATCH', 'DELETE', 'POST', 'GET'].filter((m) => !suyos.includes(m))) {
      const { status, cuerpo, cabeceras } = await entorno.request(metodo, rutaDe(operacion), {
        llave: llaveDe(operacion),
      })
      expect([metodo, status, cuerpo.codigo]).toEqual([metodo, 405, 'metodo_no_permitido'])
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
      if (operacion.id === 'descargarEtiquetas') await fetch(entorno.url + etiquetas)
      const cabeza = await fetch(entorno.url + rutaDe(operacion), {
        method: 'HEAD',
        headers: { Authorization: `Bearer ${llaveDe(operacion)}`, ...propias(operacion) },
      })
      expect([cabeza.status, await cabeza.text()]).toEqual([200, ''])
      expect(Number(cabeza.headers.get('content-length'))).toBeGreaterThan(2)
    }
  })

  it.each(tabla(operaciones.filter(({ conditional: condicional }) => condicional)))(
    '%s: 304 for a client that has the current version, and the whole answer for others',
    async (_id, operacion) => {
      // A delivery may be tried in between.
      await hasta(async () => {
        const entera = await pedirA(operacion)
        const etag = entera.cabeceras.get('etag')!
        expect([entera.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{43}"$/)])
        const igual = await pedirA(operacion, { cabeceras: { 'If-None-Match': etag } })
        if (igual.status === 200) return false
        expect([igual.status, igual.cabeceras.get('etag'), igual.cuerpo]).toEqual([304, etag, undefined])
        return true
      })
      expect((await pedirA(operacion, { cabeceras: { 'If-None-Match': '"otra"' } })).status).toBe(200)
    },
  )

  it.each(tabla(conCuerpo))(
    '%s: 413, 415, 400 and 422 for a body that is too large, of another type, unreadable or wrong',
    async (_id, operacion) => {
      const pedir = (crudo: string, tipo = 'application/json', mas: Record<string, string> = {}) =>
        pedirA(operacion, { raw: crudo, cabeceras: { 'Content-Type': tipo, ...mas } })
      expect((await pedir(' '.repeat(operacion.limite + 1))).cuerpo.codigo).toBe('cuerpo_demasiado_grande')
      for (const tipo of [
        'text/plain',
        'application/xml',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonp',
        'application/json; charset=latin1',
      ]) {
        expect([tipo, (await pedir('{}', tipo)).cuerpo.codigo]).toEqual([tipo, 'tipo_no_admitido'])
      }
      expect((await pedir('{}', 'application/json', { 'Content-Encoding': 'gzip' })).cuerpo.codigo).toBe(
        'tipo_no_admitido',
      )
      for (const malo of [
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
        const { status, cuerpo } = await pedir(malo)
        expect([malo.slice(0, 20), status, cuerpo.codigo]).toEqual([malo.slice(0, 20), 400, 'json_invalido'])
        expect(cuerpo.mensaje).toMatch(/línea \d+, columna \d+/)
      }
      const mal = await pedir('{"__nada":1}')
      expect([mal.status, mal.cuerpo.codigo]).toEqual([422, 'validacion'])
      expect((await pedir('[]')).status).toBe(422)
      expect((await pedir('null')).status).toBe(422)
      // A decision is taken once, and the test before took it.
      if (operacion.id === 'reintentarGuia') guias.reintentarGuia = await createFailedGuia(entorno, comercio)
      const vacio = await pedirA(operacion)
      if (operacion.bodyRequired)
        expect([vacio.status, vacio.cuerpo.errores]).toEqual([
          422,
          [{ campo: '', codigo: 'requerido', mensaje: 'falta el cuerpo: un objeto JSON' }],
        ])
      else expect(vacio.status).toBeLessThan(300)
    },
  )

  it.each(tabla(operaciones.filter(({ raw: crudo }) => crudo)))(
    '%s: 413 and 415 before the signature is looked at, 403 without it, 400 for what is signed and unreadable',
    async (_id, operacion) => {
      const pedir = (crudo: string, mas: Record<string, string> = {}) =>
        entorno.request(operacion.method.toUpperCase(), rutaDe(operacion), {
          raw: crudo,
          cabeceras: { 'Content-Type': 'application/json', ...mas },
        })
      expect((await pedir(' '.repeat(operacion.limite + 1))).cuerpo.codigo).toBe('cuerpo_demasiado_grande')
      expect((await pedir('{}', { 'Content-Type': 'text/plain' })).cuerpo.codigo).toBe('tipo_no_admitido')
      expect((await pedir('{}')).cuerpo.codigo).toBe('firma_invalida')
      expect((await pedir('{}', firmar(operacion, {}))).status).toBe(200)
      const sello = createHmac('sha256', WHATSAPP.WHATSAPP_APP_SECRET).update('{').digest('hex')
      expect((await pedir('{', { 'X-Hub-Signature-256': `sha256=${sello}` })).cuerpo.codigo).toBe('json_invalido')
    },
  )

  it.each(tabla(enFlujo))(
    '%s: 413, 415 and 400 for a stream that is too large, of another type, or with an unknown parameter',
    async (_id, operacion) => {
      const pedir = (
        crudo: string | ReadableStream,
        tipo = operacion.tipos[0]!,
        mas: Record<string, string> = {},
        ruta = '',
      ) => pedirA(operacion, { raw: crudo, cabeceras: { 'Content-Type': tipo, ...mas } }, ruta)
      expect((await pedir(' '.repeat(operacion.limite + 1))).cuerpo.codigo).toBe('cuerpo_demasiado_grande')
      for (const tipo of [
        'application/json',
        'text/html',
        'image/svg+xml',
        'image/gif',
        'multipart/form-data; boundary=x',
      ])
        expect([tipo, (await pedir('x', tipo)).cuerpo.codigo]).toEqual([tipo, 'tipo_no_admitido'])
      expect((await pedir('x', operacion.tipos[0], { 'Content-Encoding': 'gzip' })).cuerpo.codigo).toBe(
        'tipo_no_admitido',
      )
      expect((await pedir('x', operacion.tipos[0], {}, '&nadie=1')).cuerpo.codigo).toBe('parametro_invalido')
      // Nothing at all is not a body.
      expect((await pedir('')).status).toBe(422)
    },
  )

  it.each(tabla(operaciones.filter(({ tipos, method: metodo }) => tipos.length === 0 && metodo === 'get')))(
    '%s: 400 for an unknown parameter',
    async (_id, operacion) => {
      const mas = rutaDe(operacion).includes('?') ? '&' : '?'
      const { status, cuerpo } = await pedirA(operacion, {}, `${mas}nadie=1`)
      if (operacion.rechazo)
        return expect([status, cuerpo.codigo, cuerpo.errores]).toEqual([403, operacion.rechazo, []])
      expect([status, cuerpo.codigo, cuerpo.errores[0].campo]).toEqual([400, 'parametro_invalido', 'nadie'])
    },
  )

  it.each(tabla(operaciones.filter(({ tipos, method: metodo }) => tipos.length === 0 && metodo !== 'get')))(
    '%s: 400 for an unknown parameter',
    async (_id, operacion) => {
      expect((await pedirA(operacion, {}, '?nadie=1')).status).toBe(400)
    },
  )

  it.each(tabla(operaciones))('%s: 503 with Retry-After while the database is away', async (_id, operacion) => {
    // These say that the process is alive, and what was agreed on with a provider.
    if (['comprobarVida', 'verificarWhatsapp'].includes(operacion.id)) return
    const nombre = new URL(entorno.databaseUrl).pathname.slice(1)
    const llave = llavesSinUsar.get(operacion.id) ?? llaveDe(operacion)
    await whileDatabaseIsClosed(nombre, async () => {
      const cuerpo = cuerpoDe(operacion)
      const respuesta = await pedirA(
        operacion,
        { llave, cuerpo, cabeceras: firmar(operacion, cuerpo) },
        '',
        sinUsar.get(operacion.id),
      )
      expect([respuesta.status, respuesta.cabeceras.get('retry-after')]).toEqual([503, '2'])
    })
  })
})

const firmar = ({ raw: crudo }: Operation, cuerpo: unknown): Record<string, string> => {
  const sello = createHmac('sha256', WHATSAPP.WHATSAPP_APP_SECRET).update(JSON.stringify(cuerpo) ?? '')
  return crudo ? { 'X-Hub-Signature-256': `sha256=${sello.digest('hex')}` } : {}
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
  asignarGuias: () => ({ guias: [guia], repartidor: movil.repartidor }),
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
  abrirSesion: () => ({ codigo: movil.codigo }),
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
    ? entorno.createOperacionLlave(ALCANCES_DE_OPERACION.filter(sirve))
    : entorno.createLlave(comercio, { alcances: ALCANCES.filter(sirve) })
