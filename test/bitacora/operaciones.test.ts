import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type OperationId, readDocument } from '../../server/api/contract/contract.ts'
import type { BitacoraRow } from '../../server/domain/bitacora/bitacora.ts'
import {
  createDeliveredGuia,
  createFailedGuia,
  createFoto,
  createGuiaOnRoute,
  uploadArchivo,
} from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { createTelefono } from '../mensajeria/channel.ts'
import { createMobile, type Mobile, signInByMobile } from '../repartidores/phone.ts'
import { createPersonaScenes, type PersonaScene, toScene } from './ofPersonas.ts'

const environment = useEnvironment()
let comercio: Comercio
let phone: Mobile
let operador: string
beforeAll(async () => {
  comercio = await environment.createComercio()
  phone = await createMobile(environment)
  operador = (await environment.asOperador('GET', '/operadores')).body.datos[0].operador
})

const asOperador = (method: string, path: string, body?: unknown) => () => environment.asOperador(method, path, body)
const asComercio = (method: string, path: string, body?: unknown) => () =>
  environment.request(method, `/api/v1${path}`, { llave: comercio.llave, body })
const asPublic = (method: string, path: string, body?: unknown) => () => environment.request(method, path, { body })
const asRepartidor = (method: string, path: string, body?: unknown) => () => phone.request(method, path, body)

const createGuia = async () => (await comercio.api.guias.crear(buildGuia())).guia
/** Each to a telephone of its own: one telephone is asked five times a day at most. */
const guiaWithoutPlace = async () =>
  (await comercio.api.guias.crear(buildGuiaWithoutDestino({ telefono: `+${createTelefono()}` }))).guia
/** What a courier's phone says with everything that it sends. */
const lectura = (estado?: string) => ({
  ...(estado && { estado }),
  ocurrido_en: new Date().toISOString(),
  idempotencia: randomUUID(),
})
/** One that this courier carries. */
const createGuiaToDeliver = async () => {
  const guia = await createGuia()
  for (const estado of ['recolectado', 'en_ruta']) await phone.registrar(guia, lectura(estado))
  return guia
}
const createGuiaWithIntento = () => createFailedGuia(environment, comercio)
let urls = 0
const buildUrlBody = () => ({ url: `http://127.0.0.1:9/${++urls}` })
const createWebhook = async (): Promise<string> =>
  (await asComercio('POST', '/webhooks', buildUrlBody())()).body.webhook
const createLlave = async (): Promise<string> =>
  (await asOperador('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'test' })()).body.id
const createRepartidor = async () => (await asOperador('POST', '/repartidores', { nombre: 'Otro' })()).body
const createOperador = async (): Promise<string> =>
  (await asOperador('POST', '/operadores', { nombre: 'x' })()).body.operador
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString()
const anAviso = async () => {
  const webhook = await createWebhook()
  return { webhook, aviso: `avi_${webhook.slice(3)}_${await createGuia()}_1` }
}
const createPrueba = async () => {
  const { guia } = await createDeliveredGuia(environment, comercio)
  return (await asComercio('GET', `/guias/${guia}/prueba-entrega`)()).body
}
const aboutComercio = () => comercio.comercio

const SCENES: Record<OperationId, PersonaScene> = {
  // Of operators
  buscarEnBitacora: async () => toScene(asOperador('GET', '/bitacora')),
  buscarGuias: async () => toScene(asOperador('GET', `/guias?comercio=${comercio.comercio}`), aboutComercio()),
  cambiarComercio: async () =>
    toScene(
      asOperador('PATCH', `/comercios/${comercio.comercio}`, { estricto: false, nombre: 'Ceiba' }),
      aboutComercio(),
    ),
  cancelarGuiaPorOperador: async () =>
    toScene(asOperador('POST', `/guias/${await createGuia()}/cancelar`, { razon: 'Llamó el comercio' })),
  confirmarUbicacionPorOperador: async () =>
    toScene(
      asOperador('POST', `/guias/${await guiaWithoutPlace()}/ubicacion`, {
        lat: 14.71889,
        lng: -90.64417,
        razon: 'Llamó el destinatario',
      }),
    ),
  consultarGuia: async () => {
    const guia = await createGuia()
    return toScene(asOperador('GET', `/guias/${guia}`), guia)
  },
  encontrarGuias: async () => toScene(asOperador('GET', '/busqueda?texto=maria')),
  listarWebhooksDeComercio: async () =>
    toScene(asOperador('GET', `/comercios/${comercio.comercio}/webhooks?modo=test`), aboutComercio()),
  listarWebhooksConFallas: async () => toScene(asOperador('GET', '/webhooks')),
  listarDecisionesNoPreguntadas: async () => toScene(asOperador('GET', '/decisiones/no-preguntadas')),
  contarGuiasPorMunicipio: async () => toScene(asOperador('GET', '/asignaciones/municipios?estado=en_bodega')),
  listarAvisosDeComercio: async () => {
    const webhook = await createWebhook()
    return toScene(asOperador('GET', `/comercios/${comercio.comercio}/webhooks/${webhook}/avisos`), webhook)
  },
  obtenerAvisoDeComercio: async () => {
    const { webhook, aviso } = await anAviso()
    return toScene(asOperador('GET', `/comercios/${comercio.comercio}/webhooks/${webhook}/avisos/${aviso}`), aviso)
  },
  reenviarAvisoDeComercio: async () => {
    const { webhook, aviso } = await anAviso()
    const path = `/comercios/${comercio.comercio}/webhooks/${webhook}/avisos/${aviso}/reenviar`
    return toScene(asOperador('POST', path), aviso)
  },
  crearNota: async () => {
    const guia = await createGuia()
    return toScene(asOperador('POST', `/guias/${guia}/notas`, { texto: 'Llamó' }), guia)
  },
  listarNotas: async () => {
    const guia = await createGuia()
    return toScene(asOperador('GET', `/guias/${guia}/notas`), guia)
  },
  crearComercio: async () => toScene(asOperador('POST', '/comercios', { nombre: 'Ana Pérez', pais: 'GT' })),
  crearLlave: async () => toScene(asOperador('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'test' })),
  crearLlaveDeOperador: async () =>
    toScene(asOperador('POST', `/operadores/${operador}/llaves`, { alcances: ['ver'] })),
  crearOperador: async () => toScene(asOperador('POST', '/operadores', { nombre: 'Ana Pérez' })),
  crearRepartidor: async () =>
    toScene(asOperador('POST', '/repartidores', { nombre: 'Ana Pérez', telefono: '+50255551234' })),
  desactivarRepartidor: async () => {
    const { repartidor } = await createRepartidor()
    return toScene(asOperador('POST', `/repartidores/${repartidor}/desactivar`), repartidor)
  },
  listarComercios: async () => toScene(asOperador('GET', '/comercios')),
  obtenerComercio: async () => toScene(asOperador('GET', `/comercios/${comercio.comercio}`)),
  listarLlaves: async () => toScene(asOperador('GET', `/comercios/${comercio.comercio}/llaves`)),
  listarLlavesDeOperador: async () => toScene(asOperador('GET', `/operadores/${operador}/llaves`)),
  listarMensajes: async () => {
    const guia = await guiaWithoutPlace()
    return toScene(asOperador('GET', `/mensajes?guia=${guia}`), guia)
  },
  listarOperadores: async () => toScene(asOperador('GET', '/operadores')),
  listarRepartidores: async () => toScene(asOperador('GET', '/repartidores')),
  asignarGuias: async () => {
    const guia = await createGuia()
    const { repartidor } = await createRepartidor()
    return toScene(asOperador('POST', '/asignaciones', { guias: [guia], repartidor }), guia)
  },
  retirarAsignaciones: async () => {
    const guia = await createGuia()
    const { repartidor } = await createRepartidor()
    await environment.asOperador('POST', '/asignaciones', { guias: [guia], repartidor })
    return toScene(asOperador('POST', '/asignaciones/retirar', { guias: [guia] }), guia)
  },
  listarAsignaciones: async () => {
    const { repartidor } = await createRepartidor()
    return toScene(asOperador('GET', `/asignaciones?repartidor=${repartidor}`), repartidor)
  },
  listarReparto: async () => toScene(asOperador('GET', '/reparto')),
  listarGuiasDeRepartidor: async () => {
    const { repartidor } = await createRepartidor()
    return toScene(asOperador('GET', `/repartidores/${repartidor}/guias`), repartidor)
  },
  listarGuiasDetenidas: async () => toScene(asOperador('GET', '/detenidas')),
  obtenerJornada: async () => toScene(asOperador('GET', '/jornada')),
  obtenerServicio: async () => toScene(asOperador('GET', '/servicio')),
  registrarEntrega: async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const fotos = [(await uploadArchivo(environment, guia)).body.archivo]
    return toScene(
      asOperador('POST', `/guias/${guia}/entrega`, { recibido_por: { nombre: 'x', relacion: 'familiar' }, fotos }),
    )
  },
  registrarEvento: async () =>
    toScene(asOperador('POST', `/guias/${await createGuia()}/eventos`, { estado: 'recolectado' })),
  renovarCodigo: async () => {
    const { repartidor } = await createRepartidor()
    return toScene(asOperador('POST', `/repartidores/${repartidor}/codigo`), repartidor)
  },
  revocarLlave: async () => {
    const llave = await createLlave()
    return toScene(asOperador('POST', `/llaves/${llave}/revocar`), llave)
  },
  revocarOperador: async () => {
    const other = await createOperador()
    return toScene(asOperador('POST', `/operadores/${other}/revocar`), other)
  },
  rotarLlave: async () => {
    const llave = await createLlave()
    return toScene(asOperador('POST', `/llaves/${llave}/rotar`, { solapamiento_horas: 1 }), llave)
  },
  subirArchivo: async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    return toScene(() => uploadArchivo(environment, guia))
  },
  corregirGuiaPorOperador: async () =>
    toScene(asOperador('PATCH', `/guias/${await createGuia()}`, { contenido: 'Un libro', razon: 'Llamó' })),
  reintentarGuiaPorOperador: async () =>
    toScene(asOperador('POST', `/guias/${await createGuiaWithIntento()}/reintentar`, { razon: 'Llamó' })),
  devolverGuiaPorOperador: async () =>
    toScene(asOperador('POST', `/guias/${await createGuiaWithIntento()}/devolver`, { razon: 'Dañado' })),
  rectificarGuia: async () => {
    const guia = await createGuiaWithIntento()
    const { secuencia } = await comercio.api.guias.obtener(guia)
    return toScene(asOperador('POST', `/guias/${guia}/rectificar`, { razon: 'Era otro paquete', secuencia }))
  },
  ...createPersonaScenes(environment),
  obtenerPruebaDeEntregaPorOperador: async () => {
    const { guia } = await createDeliveredGuia(environment, comercio)
    return toScene(asOperador('GET', `/guias/${guia}/prueba-entrega`), guia)
  },
  listarPruebasRectificadas: async () => {
    const guia = await createGuia()
    return toScene(asOperador('GET', `/guias/${guia}/pruebas-rectificadas`), guia)
  },
  listarIntentosPorOperador: async () => {
    const guia = await createGuia()
    return toScene(asOperador('GET', `/guias/${guia}/intentos`), guia)
  },
  reenviarSolicitudPorOperador: async () => {
    const guia = await guiaWithoutPlace()
    await environment.waitForQuiet(comercio)
    return toScene(asOperador('POST', `/guias/${guia}/reenviar-solicitud`), guia)
  },
  // Of merchants
  cambiarWebhook: async () => {
    const webhook = await createWebhook()
    const cambio = { estado: 'pausado', url: 'http://127.0.0.1:9/secreto-en-la-ruta', descripcion: 'la de Ana' }
    return toScene(asComercio('PATCH', `/webhooks/${webhook}`, cambio), webhook)
  },
  cancelarGuia: async () => toScene(asComercio('POST', `/guias/${await createGuia()}/cancelar`)),
  confirmarUbicacion: async () =>
    toScene(asComercio('POST', `/guias/${await guiaWithoutPlace()}/ubicacion`, { lat: 14.71889, lng: -90.64417 })),
  crearEtiquetas: async () => toScene(asComercio('POST', '/etiquetas', { guias: [await createGuia()] })),
  crearGuia: async () => toScene(asComercio('POST', '/guias', buildGuia())),
  crearLote: async () => toScene(asComercio('POST', '/guias/bulk', { guias: [buildGuia(), buildGuia()] })),
  crearWebhook: async () => toScene(asComercio('POST', '/webhooks', buildUrlBody())),
  eliminarWebhook: async () => {
    const webhook = await createWebhook()
    return toScene(asComercio('DELETE', `/webhooks/${webhook}`), webhook)
  },
  listarBitacora: async () => toScene(asComercio('GET', '/bitacora')),
  listarClavesPublicas: async () => toScene(asPublic('GET', '/.well-known/jwks.json')),
  listarDepartamentos: async () => toScene(asComercio('GET', '/catalogo/departamentos')),
  listarAvisosDeWebhook: async () => toScene(asComercio('GET', `/webhooks/${await createWebhook()}/avisos`)),
  listarEventos: async () => toScene(asComercio('GET', '/eventos')),
  listarEventosDeGuia: async () => toScene(asComercio('GET', `/guias/${await createGuia()}/eventos`)),
  listarGuias: async () => toScene(asComercio('GET', '/guias')),
  listarIntentosDeGuia: async () => toScene(asComercio('GET', `/guias/${await createGuia()}/intentos`)),
  listarMunicipios: async () => toScene(asComercio('GET', '/catalogo/municipios?departamento=GT-SA')),
  listarWebhooks: async () => toScene(asComercio('GET', '/webhooks')),
  obtenerCuenta: async () => toScene(asComercio('GET', '/cuenta')),
  obtenerAvisoDeWebhook: async () => {
    const { webhook, aviso } = await anAviso()
    return toScene(asComercio('GET', `/webhooks/${webhook}/avisos/${aviso}`))
  },
  obtenerEtiqueta: async () => toScene(asComercio('GET', `/guias/${await createGuia()}/etiqueta`)),
  obtenerGuia: async () => toScene(asComercio('GET', `/guias/${await createGuia()}`)),
  obtenerPruebaDeEntrega: async () =>
    toScene(asComercio('GET', `/guias/${(await createPrueba()).guia}/prueba-entrega`)),
  obtenerRecuperacion: async () => {
    const webhook = await createWebhook()
    const { body } = await asComercio('POST', `/webhooks/${webhook}/recuperar`, { desde: YESTERDAY })()
    return toScene(asComercio('GET', `/webhooks/${webhook}/recuperaciones/${body.recuperacion}`))
  },
  obtenerWebhook: async () => toScene(asComercio('GET', `/webhooks/${await createWebhook()}`)),
  probarWebhook: async () => {
    const webhook = await createWebhook()
    return toScene(asComercio('POST', `/webhooks/${webhook}/probar`), webhook)
  },
  recuperarAvisosDeWebhook: async () => {
    const webhook = await createWebhook()
    return toScene(asComercio('POST', `/webhooks/${webhook}/recuperar`, { desde: YESTERDAY }), webhook)
  },
  reenviarAvisoDeWebhook: async () => {
    const { webhook, aviso } = await anAviso()
    return toScene(asComercio('POST', `/webhooks/${webhook}/avisos/${aviso}/reenviar`), aviso)
  },
  reenviarSolicitud: async () => {
    const guia = await guiaWithoutPlace()
    await environment.waitForQuiet(comercio)
    return toScene(asComercio('POST', `/guias/${guia}/reenviar-solicitud`))
  },
  rotarSecreto: async () => {
    const webhook = await createWebhook()
    return toScene(asComercio('POST', `/webhooks/${webhook}/rotar-secreto`, { solapamiento_horas: 1 }), webhook)
  },
  simularAvance: async () =>
    toScene(asComercio('POST', `/simulador/guias/${await createGuia()}/avanzar`, { estado: 'recolectado' })),
  simularUbicacion: async () =>
    toScene(asComercio('POST', `/simulador/guias/${await guiaWithoutPlace()}/confirmar-ubicacion`, {})),
  simularDecision: async () =>
    toScene(asComercio('POST', `/simulador/guias/${await createGuiaWithIntento()}/decidir`, { eleccion: 'otro_dia' })),
  corregirGuia: async () => toScene(asComercio('PATCH', `/guias/${await createGuia()}`, { contenido: 'Un libro' })),
  reintentarGuia: async () => toScene(asComercio('POST', `/guias/${await createGuiaWithIntento()}/reintentar`, {})),
  devolverGuia: async () =>
    toScene(asComercio('POST', `/guias/${await createGuiaWithIntento()}/devolver`, { razon: 'No lo quiere' })),
  // Of couriers
  abrirSesion: async () => {
    const { codigo } = await createRepartidor()
    return toScene(() => signInByMobile(environment, codigo))
  },
  cerrarSesion: async () => {
    const other = await createMobile(environment)
    return toScene(() => other.request('DELETE', '/sesion'))
  },
  listarGuiasDeReparto: async () => toScene(asRepartidor('GET', `/guias?guia=${await createGuiaToDeliver()}`)),
  obtenerGuiaDeReparto: async () => toScene(asRepartidor('GET', `/guias/${await createGuiaToDeliver()}`)),
  obtenerSesion: async () => toScene(asRepartidor('GET', '/sesion')),
  registrarEntregaDeReparto: async () => {
    const guia = await createGuiaToDeliver()
    const fotos = [(await phone.upload(guia, 'foto', await createFoto())).body.archivo]
    const receivedBy = { nombre: 'x', relacion: 'familiar' }
    return toScene(asRepartidor('POST', `/guias/${guia}/entrega`, { ...lectura(), recibido_por: receivedBy, fotos }))
  },
  registrarEventoDeReparto: async () =>
    toScene(asRepartidor('POST', `/guias/${await createGuia()}/eventos`, lectura('recolectado'))),
  registrarEventosDeReparto: async () =>
    toScene(
      asRepartidor('POST', '/eventos', { eventos: [{ guia: await createGuia(), evento: lectura('recolectado') }] }),
    ),
  subirArchivoDeReparto: async () => {
    const guia = await createGuiaToDeliver()
    const foto = await createFoto()
    return toScene(() => phone.upload(guia, 'foto', foto))
  },
  // Of anybody
  comprobarDisponibilidad: async () => toScene(asPublic('GET', '/readyz')),
  comprobarVida: async () => toScene(asPublic('GET', '/healthz')),
  descargarArchivo: async () => {
    const { fotos } = await createPrueba()
    return toScene(() => fetch(fotos[0].url))
  },
  descargarEtiquetas: async () => {
    const { url } = await comercio.api.guias.etiqueta(await createGuia())
    return toScene(() => fetch(url))
  },
  recibirDeWhatsapp: async () => toScene(asPublic('POST', '/proveedores/whatsapp', {})),
  verificarPrueba: async () =>
    toScene(asPublic('POST', `/verificar/${await createGuia()}/comprobar`, { sha256: '0'.repeat(64) })),
  verificarWhatsapp: async () => toScene(asPublic('GET', '/proveedores/whatsapp')),
}
/** No provider is set up here: whoever asks in its name is refused. */
const RECHAZADAS = ['recibirDeWhatsapp', 'verificarWhatsapp']

/** Of each operation, what its contract says that it leaves in the record. */
const DECLARED_TEXTS = Object.values(readDocument().paths).flatMap((byMethod) =>
  Object.values(byMethod)
    .filter((operacion) => operacion.operationId)
    .map((operacion) => [operacion.operationId, (operacion as { 'x-bitacora'?: string })['x-bitacora']] as const),
)

/** Who does what in these scenes. */
function autor(id: OperationId): Pick<BitacoraRow, 'quien_tipo'> {
  if (['abrirSesion', 'cerrarSesion'].includes(id)) return { quien_tipo: 'repartidor' }
  if (
    /[rn]SesionDePersona|Passkey|Totp$|CodigosDeRecuperacion|ConSegundoFactor|aceptarInvitacion|cerrarSesionPorCodigo|elegirMembresia|cambiarCorreo|probarPresencia|^(dar|rechazar|retirar)Aprobacion/.test(
      id,
    )
  )
    return { quien_tipo: 'persona' }
  return { quien_tipo: /(?:Webhook|Secreto)(?!s?(?:DeComercio|ConFallas))/.test(id) ? 'llave' : 'operador' }
}

interface View {
  status: number
  sobre: string | undefined
  lineas: BitacoraRow[]
}
const seen = new Map<OperationId, View>()

/** A millisecond in which nothing happened: what was written before it is older, and what comes is younger. */
async function waitForBoundary(): Promise<Date> {
  const now = Date.now()
  while (Date.now() <= now + 1) await new Promise((resolve) => setImmediate(resolve))
  return new Date(now + 1)
}

/** Does every scene, one after the other, and reads what was written while each was asked for. */
async function verTodas() {
  const intervals: { id: OperationId; status: number; sobre: string | undefined; desde: Date; hasta: Date }[] = []
  for (const [id] of DECLARED_TEXTS) {
    const { request, sobre } = await SCENES[id]()
    const desde = await waitForBoundary()
    const { status } = await request()
    intervals.push({ id, status, sobre, desde, hasta: await waitForBoundary() })
  }
  // A look is written within half a second, in its turn: once the last one is there, so are those before.
  await environment.asOperador('GET', '/guias?limite=1')
  const all = await waitUntil(async () => {
    const { rows } = await environment.db.pool.query<BitacoraRow>('select * from bitacora order by id')
    return rows.at(-1)?.accion === 'buscarGuias' && rows
  })
  for (const { id, status, sobre, desde, hasta: end } of intervals) {
    const lines = all.filter(({ creado_en: createdAt }) => createdAt > desde && createdAt <= end)
    seen.set(id, { status, sobre, lineas: lines })
  }
}

describe('every operation', () => {
  beforeAll(verTodas)

  it('says what it leaves in the record', () => {
    const values = ['cambio', 'consulta', 'ajena', 'evento', 'nada']
    expect(DECLARED_TEXTS.filter(([, message]) => !values.includes(message ?? ''))).toEqual([])
    expect(DECLARED_TEXTS.map(([id]) => id).sort()).toEqual(Object.keys(SCENES).sort())
  })

  it.each(DECLARED_TEXTS)('%s leaves what it says: %s', (id, message) => {
    const { status, sobre, lineas: lines } = seen.get(id)!
    if (!RECHAZADAS.includes(id)) expect(status).toBeLessThan(300)
    if (message !== 'cambio' && message !== 'consulta') return expect(lines).toEqual([])
    expect(lines).toHaveLength(1)
    const [line] = lines
    expect(line).toMatchObject({ accion: id, ...autor(id), red: '127.0.0.0/24' })
    expect(line!.linea).toMatch(/^bit_[0-9A-Z]{12}$/)
    expect(line!.id_solicitud).toMatch(/^[0-9a-f-]{36}$/)
    if (sobre !== undefined) expect(line!.sobre).toBe(sobre)
    // Neither personal data nor secrets, whoever writes it.
    expect(JSON.stringify(line)).not.toMatch(/\bAna\b|Pérez|5025555|secreto-en|Ceiba|guia_test_|whsec_/)
  })
})

it('the audit record keeps the request id of the caller unchanged', async () => {
  const { status, body } = await environment.request('POST', '/operaciones/v1/operadores', {
    llave: environment.llaveDeOperacion,
    body: { nombre: 'x' },
    headers: { 'X-Request-Id': 'consola' },
  })
  expect(status).toBe(201)
  const line = await environment.db.prisma.bitacora.findFirstOrThrow({ where: { sobre: body.operador } })
  expect(line).toMatchObject({ id_solicitud: 'consola', quien_tipo: 'operador', red: '127.0.0.0/24' })
})
