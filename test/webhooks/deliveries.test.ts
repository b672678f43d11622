import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Webhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { describe, expect, it } from 'vitest'
import { unleasedDeliveries } from '../../server/domain/webhooks/sending/due.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino, hasta, lote100 } from '../factories.ts'
import { answerWith, type ReceivedWebhook, type TestReceiver, useReceivers } from './receiver.ts'

const entorno = useEnvironment()
const nuevoReceptor = useReceivers()

type Nodo = { [clave: string]: unknown }
const esNodo = (valor: unknown): valor is Nodo => valor !== null && typeof valor === 'object' && !Array.isArray(valor)
/** The contract's objects are open, for what may come; here they are closed, so that nothing is sent that it doesn't tell. */
function cerrar(nodo: unknown, enAllOf = false): unknown {
  if (Array.isArray(nodo)) return nodo.map((hijo) => cerrar(hijo, enAllOf))
  if (!esNodo(nodo)) return nodo
  const copia: Nodo = {}
  for (const [clave, valor] of Object.entries(nodo)) {
    // Among properties any name may be a property's.
    if (clave === 'properties')
      copia[clave] = Object.fromEntries(Object.entries(valor as Nodo).map(([nombre, hijo]) => [nombre, cerrar(hijo)]))
    else copia[clave] = cerrar(valor, clave === 'allOf')
  }
  const cierra = !enAllOf && ('properties' in nodo || 'allOf' in nodo)
  return cierra && !('additionalProperties' in nodo) ? { ...copia, unevaluatedProperties: false } : copia
}
const contrato = JSON.parse(
  readFileSync(new URL('../../server/generated/contract/comercios.json', import.meta.url), 'utf8'),
) as { components: { schemas: Nodo } }
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
for (const formato of ['telefono', 'enlace-de-mapa']) ajv.addFormat(formato, true)
ajv.addSchema({ components: { schemas: cerrar(contrato.components.schemas) } }, 'contrato')
const validar = (esquema: 'AvisoDeGuia' | 'AvisoDePrueba', aviso: unknown) => {
  const valido = ajv.validate(`contrato#/components/schemas/${esquema}`, aviso)
  expect(valido, `${ajv.errorsText()}\n${JSON.stringify(aviso, null, 1)}`).toBe(true)
}

type Datos = Partial<Parameters<Comercio['api']['webhooks']['crear']>[0]>
const registrar = ({ api }: Comercio, { url }: Pick<TestReceiver, 'url'>, mas: Datos = {}) =>
  api.webhooks.crear({ url, ...mas })
const escanear = async (guia: string, cuerpo: object) => {
  const { status, cuerpo: evento } = await entorno.operar('POST', `/guias/${guia}/eventos`, cuerpo)
  expect([cuerpo, status]).toEqual([cuerpo, 201])
  return evento as { id: string; tipo: string }
}
/** Nothing waits and nothing is under way. */
const quieto = () =>
  hasta(async () => {
    const { rows } = await entorno.db.pool.query(`select from webhook_aviso where estado = 'pendiente' limit 1`)
    return rows.length === 0
  })

describe('a webhook', () => {
  it('reaches its receiver, signed so that two independent libraries agree', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    const { secreto } = await registrar(comercio, receptor)
    const { url_rastreo: _, zona_horaria: __, ...guia } = await comercio.api.guias.crear(buildGuia())
    const recibido = await hasta(async () => receptor.receivedWebhooks[0])
    expect(recibido.json).toMatchObject({
      id: `evt_${guia.guia}_1`,
      tipo: 'guia.aceptado',
      datos: { guia, evento: { secuencia: 1 } },
    })
    const cabeceras = recibido.cabeceras as Record<string, string>
    expect(new Webhook(secreto).verify(recibido.cuerpo, cabeceras)).toEqual(recibido.json)
    expect(new Svix(secreto).verify(recibido.cuerpo, cabeceras)).toEqual(recibido.json)
    expect(() => new Webhook(secreto).verify(`${recibido.cuerpo} `, cabeceras)).toThrow()
    await hasta(async () =>
      (await unleasedDeliveries({ db: entorno.db, clock: () => new Date() })) === 0 ? true : undefined,
    )
  })

  it('is tried again until it is taken, with the same id and body', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor(answerWith(500, {}, 'ay'))
    const { webhook } = await registrar(comercio, receptor)
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const clave = `avi_${webhook.slice(3)}_${guia}_1`
    await hasta(async () => (await comercio.api.webhooks.obtenerAviso(webhook, clave)).intentos === 1)
    receptor.responder = answerWith(204)
    entorno.advance(8_000)
    await hasta(async () => receptor.receivedWebhooks[1])
    expect(receptor.receivedWebhooks[1]!.cuerpo).toBe(receptor.receivedWebhooks[0]!.cuerpo)
    const entrega = await hasta(async () => {
      const leida = await comercio.api.webhooks.obtenerAviso(webhook, clave)
      return leida.estado === 'entregado' && leida
    })
    expect(entrega).toMatchObject({
      intentos: 2,
      ultimo_estado_http: 204,
      historial: [
        { numero: 2, estado_http: 204, error: null },
        { numero: 1, estado_http: 500, error: 'http', respuesta: { cuerpo: '', cuerpo_truncado: true } },
      ],
    })
  })
})

/** What a merchant would have read right after each event. */
class Diario {
  readonly fotos = new Map<string, { tipo: string; guia: unknown; evento: unknown }>()
  readonly #comercio: Comercio
  /** Latest decision of each guide. */
  readonly #decisiones = new Map<string, unknown>()
  constructor(comercio: Comercio) {
    this.#comercio = comercio
  }
  async record(guia: string) {
    // A webhook has nothing that depends on the service's settings.
    const leida = await this.#comercio.api.guias.obtener(guia, { limite: 100 })
    const { eventos, url_rastreo: _, zona_horaria: __, ...foto } = leida
    const nuevos = eventos.datos.filter(({ id }) => !this.fotos.has(id))
    const ultimo = nuevos.at(-1)!
    // A failed attempt is followed by its decision in one transaction, so nobody can read the guide in between.
    const intento = nuevos.slice(0, -1)
    expect(intento.map(({ tipo }) => tipo)).toEqual(
      ultimo.tipo === 'guia.decision_pendiente' ? ['guia.intento_fallido'] : [],
    )
    const antes = { decision: this.#decisiones.get(guia) ?? null }
    for (const evento of intento)
      this.fotos.set(evento.id, { tipo: evento.tipo, guia: { ...foto, ...antes, secuencia: evento.secuencia }, evento })
    this.fotos.set(ultimo.id, { tipo: ultimo.tipo, guia: foto, evento: ultimo })
    this.#decisiones.set(guia, foto.decision)
  }
  check(recibidos: readonly ReceivedWebhook[]) {
    for (const { id, json } of recibidos) {
      validar('AvisoDeGuia', json)
      const { tipo, guia, evento } = this.fotos.get(id)!
      expect(json).toEqual({
        id,
        tipo,
        creado_en: (evento as { registrado_en: string }).registrado_en,
        datos: { guia, evento },
      })
    }
  }
}

/** Everything that can happen to a guide, by operators and its merchant. */
async function vivir(comercio: Comercio, diario: Diario) {
  const { api } = comercio
  const hace = (minutos: number) => new Date(Date.now() - minutos * 60_000).toISOString()
  const nueva = async () => {
    const { guia } = await api.guias.crear(buildGuia())
    await diario.record(guia)
    return guia
  }
  const pasos = async (guia: string, ...cuerpos: object[]) => {
    for (const cuerpo of cuerpos) {
      await escanear(guia, cuerpo)
      await diario.record(guia)
    }
  }
  const a = await nueva()
  await pasos(
    a,
    { estado: 'recolectado' },
    { estado: 'en_bodega', lat: 14.583611, lng: -90.548611 },
    { estado: 'en_transito' },
    { estado: 'en_ruta' },
    { estado: 'intento_fallido', motivo: 'destinatario_ausente' },
    { tipo: 'guia.nota', descripcion: 'Llamar antes; «Ñandú» ✓' },
    { estado: 'en_ruta' },
    { estado: 'intento_fallido', motivo: 'direccion_incorrecta' },
    { estado: 'en_bodega', ocurrido_en: hace(30) },
    { estado: 'en_devolucion' },
    { estado: 'devuelto' },
  )
  await pasos(await nueva(), { estado: 'recolectado' }, { estado: 'en_ruta' }, buildEstadoReport('entregado'))
  await pasos(await nueva(), { estado: 'recolectado' }, { estado: 'extraviado' })
  const d = await nueva()
  await api.guias.cancelar(d)
  await diario.record(d)
  // Its request for the place follows by itself: what was between is what creation answered.
  const { guia: e, url_rastreo: _, zona_horaria: __, ...resto } = await api.guias.crear(buildGuiaWithoutDestino())
  await hasta(async () => (await api.guias.obtener(e)).secuencia === 2)
  const { datos } = await api.guias.eventos(e)
  diario.fotos.set(datos[0]!.id, { tipo: 'guia.aceptado', guia: { guia: e, ...resto }, evento: datos[0] })
  await diario.record(e)
}

const TIPOS = [
  'aceptado',
  'recolectado',
  'en_bodega',
  'en_transito',
  'en_ruta',
  'intento_fallido',
  'entregado',
  'en_devolucion',
  'devuelto',
  'extraviado',
  'cancelado',
  'nota',
  'escaneo_tardio',
  'decision_pendiente',
].map((nombre) => `guia.${nombre}`)

describe('every event', () => {
  it('is delivered once, with its guide as it was then, and as the contract says', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    await registrar(comercio, receptor)
    const diario = new Diario(comercio)
    await vivir(comercio, diario)
    expect(new Set([...diario.fotos.values()].map(({ tipo }) => tipo))).toEqual(
      new Set([...TIPOS, 'ubicacion.solicitada']),
    )
    await hasta(async () => receptor.receivedWebhooks.length >= diario.fotos.size)
    await quieto()
    await entorno.waitForQuiet()
    expect(receptor.receivedWebhooks.map(({ id }) => id).sort()).toEqual([...diario.fotos.keys()].sort())
    diario.check(receptor.receivedWebhooks)
    for (const { id, json, cabeceras } of receptor.receivedWebhooks) {
      expect([cabeceras['webhook-id'], json.datos.evento.id]).toEqual([id, id])
      expect([cabeceras['content-type'], cabeceras['transfer-encoding']]).toEqual(['application/json', undefined])
    }
  })

  it('that is tried again later tells of its guide as it was then, all the same', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor(answerWith(500))
    const { webhook } = await registrar(comercio, receptor)
    const diario = new Diario(comercio)
    await vivir(comercio, diario)
    // The first ones were tried in vain, the others wait behind them.
    await hasta(async () => receptor.receivedWebhooks.length >= 3)
    await comercio.api.webhooks.cambiar(webhook, { estado: 'pausado' })
    await entorno.waitForQuiet()
    const fallidos = receptor.receivedWebhooks.splice(0)
    receptor.responder = answerWith(204)
    entorno.advance(10 * 60_000)
    await comercio.api.webhooks.cambiar(webhook, { estado: 'activo' })
    await hasta(async () => receptor.receivedWebhooks.length >= diario.fotos.size)
    await quieto()
    await entorno.waitForQuiet()
    expect(receptor.receivedWebhooks.map((uno) => uno.id).sort()).toEqual([...diario.fotos.keys()].sort())
    diario.check([...fallidos, ...receptor.receivedWebhooks])
    for (const { id: evento, cuerpo } of fallidos)
      expect(receptor.receivedWebhooks.find((uno) => uno.id === evento)!.cuerpo).toBe(cuerpo)
  })

  it('that the endpoint itself causes is as the contract says, too', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    const { webhook, secreto } = await registrar(comercio, receptor, { descripcion: 'Señal de Ñuño ✓' })
    const { evento } = await comercio.api.webhooks.probar(webhook)
    await hasta(async () => receptor.receivedWebhooks.length > 0)
    await quieto()
    await entorno.waitForQuiet()
    expect(receptor.receivedWebhooks).toHaveLength(1)
    const [{ json, cuerpo, cabeceras }] = receptor.receivedWebhooks as [ReceivedWebhook]
    validar('AvisoDePrueba', json)
    expect(json).toMatchObject({ id: evento, tipo: 'webhook.prueba' })
    expect(json.datos.webhook).toEqual(await comercio.api.webhooks.obtener(webhook))
    expect(cuerpo).not.toContain(secreto.slice(6))
    expect(cabeceras['webhook-id']).toBe(evento)
  })
})

describe('batches', () => {
  it('with 100 guides for 3 endpoints make 300 deliveries, even when they are sent repeatedly', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptores = await Promise.all([nuevoReceptor(), nuevoReceptor(), nuevoReceptor()])
    for (const receptor of receptores) await registrar(comercio, receptor, { tipos: ['guia.*'] })
    const lote = lote100()
    const { resultados } = await comercio.api.guias.crearLote(lote)
    const esperados = resultados.map((resultado) => `evt_${'guia' in resultado ? resultado.guia : ''}_1`).sort()
    expect(new Set(esperados).size).toBe(100)
    const contar = async () => {
      const { rows } = await entorno.db.pool.query(
        'select estado, count(*)::int as n from webhook_aviso where comercio_id = $1 group by estado',
        [comercio.id],
      )
      return rows
    }
    await quieto()
    // The same again, whole, in part and one by one, in turn and at once.
    await comercio.api.guias.crearLote(lote)
    await Promise.all([
      comercio.api.guias.crearLote({ ...lote, guias: lote.guias.slice(0, 50) }),
      comercio.api.guias.crearLote(lote),
      ...Array.from({ length: 5 }, () =>
        comercio.api.guias.crear({ recogida: lote.recogida!, ...lote.guias[0]! } as Parameters<
          typeof comercio.api.guias.crear
        >[0]),
      ),
    ])
    await quieto()
    await entorno.waitForQuiet()
    expect(await contar()).toEqual([{ estado: 'entregado', n: 300 }])
    for (const { receivedWebhooks: recibidos } of receptores)
      expect(recibidos.map(({ id }) => id).sort()).toEqual(esperados)
  })

  it('and single guides replayed at once are one event, and one delivery', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    await registrar(comercio, receptor)
    const guia = buildGuia()
    const creadas = await Promise.all(Array.from({ length: 20 }, () => comercio.api.guias.crear(guia)))
    const codigo = creadas[0]!.guia
    const recoger = () => entorno.operar('POST', `/guias/${codigo}/eventos`, { estado: 'recolectado' }, 'lector-07-1')
    await Promise.all(Array.from({ length: 10 }, recoger))
    // A refused step sends nothing.
    expect((await entorno.operar('POST', `/guias/${codigo}/eventos`, { estado: 'devuelto' })).status).toBe(409)
    await quieto()
    await entorno.waitForQuiet()
    expect(receptor.receivedWebhooks.map(({ id }) => id).sort()).toEqual([`evt_${codigo}_1`, `evt_${codigo}_2`])
  })
})
