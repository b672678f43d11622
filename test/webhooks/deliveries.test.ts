import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Webhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { describe, expect, it } from 'vitest'
import { unleasedDeliveries } from '../../server/domain/webhooks/sending/due.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino, lote100, waitUntil } from '../factories.ts'
import { answerWith, type ReceivedWebhook, type TestReceiver, useReceivers } from './receiver.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()

type Nodo = { [key: string]: unknown }
const isNode = (value: unknown): value is Nodo => value !== null && typeof value === 'object' && !Array.isArray(value)
/** The contract's objects are open, for what may come; here they are closed, so that nothing is sent that it doesn't tell. */
function close(node: unknown, inAllOf = false): unknown {
  if (Array.isArray(node)) return node.map((child) => close(child, inAllOf))
  if (!isNode(node)) return node
  const closed: Nodo = {}
  for (const [key, value] of Object.entries(node)) {
    // Among properties any name may be a property's.
    if (key === 'properties')
      closed[key] = Object.fromEntries(Object.entries(value as Nodo).map(([name, child]) => [name, close(child)]))
    else closed[key] = close(value, key === 'allOf')
  }
  const closes = !inAllOf && ('properties' in node || 'allOf' in node)
  return closes && !('additionalProperties' in node) ? { ...closed, unevaluatedProperties: false } : closed
}
const contract = JSON.parse(
  readFileSync(new URL('../../server/generated/contract/comercios.json', import.meta.url), 'utf8'),
) as { components: { schemas: Nodo } }
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
for (const formato of ['telefono', 'enlace-de-mapa']) ajv.addFormat(formato, true)
ajv.addSchema({ components: { schemas: close(contract.components.schemas) } }, 'contrato')
const validate = (schema: 'AvisoDeGuia' | 'AvisoDePrueba', aviso: unknown) => {
  const isValid = ajv.validate(`contrato#/components/schemas/${schema}`, aviso)
  expect(isValid, `${ajv.errorsText()}\n${JSON.stringify(aviso, null, 1)}`).toBe(true)
}

type Datos = Partial<Parameters<Comercio['api']['webhooks']['crear']>[0]>
const registrar = ({ api }: Comercio, { url }: Pick<TestReceiver, 'url'>, more: Datos = {}) =>
  api.webhooks.crear({ url, ...more })
const scan = async (guia: string, body: object) => {
  const { status, body: evento } = await environment.asOperador('POST', `/guias/${guia}/eventos`, body)
  expect([body, status]).toEqual([body, 201])
  return evento as { id: string; tipo: string }
}
/** Nothing waits and nothing is under way. */
const waitUntilQuiet = () =>
  waitUntil(async () => {
    const { rows } = await environment.db.pool.query(`select from webhook_aviso where estado = 'pendiente' limit 1`)
    return rows.length === 0
  })

describe('a webhook', () => {
  it('reaches its receiver, signed so that two independent libraries agree', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    const { secreto } = await registrar(comercio, receptor)
    const { url_rastreo: _, zona_horaria: __, ...guia } = await comercio.api.guias.crear(buildGuia())
    const received = await waitUntil(async () => receptor.receivedWebhooks[0])
    expect(received.json).toMatchObject({
      id: `evt_${guia.guia}_1`,
      tipo: 'guia.aceptado',
      datos: { guia, evento: { secuencia: 1 } },
    })
    const headers = received.headers as Record<string, string>
    expect(new Webhook(secreto).verify(received.body, headers)).toEqual(received.json)
    expect(new Svix(secreto).verify(received.body, headers)).toEqual(received.json)
    expect(() => new Webhook(secreto).verify(`${received.body} `, headers)).toThrow()
    await waitUntil(async () =>
      (await unleasedDeliveries({ db: environment.db, clock: () => new Date() })) === 0 ? true : undefined,
    )
  })

  it('is tried again until it is taken, with the same id and body', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver(answerWith(500, {}, 'ay'))
    const { webhook } = await registrar(comercio, receptor)
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const key = `avi_${webhook.slice(3)}_${guia}_1`
    await waitUntil(async () => (await comercio.api.webhooks.obtenerAviso(webhook, key)).intentos === 1)
    receptor.responder = answerWith(204)
    environment.advance(8_000)
    await waitUntil(async () => receptor.receivedWebhooks[1])
    expect(receptor.receivedWebhooks[1]!.body).toBe(receptor.receivedWebhooks[0]!.body)
    const entrega = await waitUntil(async () => {
      const read = await comercio.api.webhooks.obtenerAviso(webhook, key)
      return read.estado === 'entregado' && read
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
class Journal {
  readonly fotos = new Map<string, { tipo: string; guia: unknown; evento: unknown }>()
  readonly #comercio: Comercio
  /** Latest decision of each guide. */
  readonly #decisiones = new Map<string, unknown>()
  constructor(comercio: Comercio) {
    this.#comercio = comercio
  }
  async record(guia: string) {
    // A webhook has nothing that depends on the service's settings.
    const read = await this.#comercio.api.guias.obtener(guia, { limite: 100 })
    const { eventos, url_rastreo: _, zona_horaria: __, ...foto } = read
    const fresh = eventos.datos.filter(({ id }) => !this.fotos.has(id))
    const last = fresh.at(-1)!
    // A failed attempt is followed by its decision in one transaction, so nobody can read the guide in between.
    const intento = fresh.slice(0, -1)
    expect(intento.map(({ tipo }) => tipo)).toEqual(
      last.tipo === 'guia.decision_pendiente' ? ['guia.intento_fallido'] : [],
    )
    const before = { decision: this.#decisiones.get(guia) ?? null }
    for (const evento of intento)
      this.fotos.set(evento.id, {
        tipo: evento.tipo,
        guia: { ...foto, ...before, secuencia: evento.secuencia },
        evento,
      })
    this.fotos.set(last.id, { tipo: last.tipo, guia: foto, evento: last })
    this.#decisiones.set(guia, foto.decision)
  }
  check(recibidos: readonly ReceivedWebhook[]) {
    for (const { id, json } of recibidos) {
      validate('AvisoDeGuia', json)
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
async function runLifecycle(comercio: Comercio, journal: Journal) {
  const { api } = comercio
  const hace = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const fresh = async () => {
    const { guia } = await api.guias.crear(buildGuia())
    await journal.record(guia)
    return guia
  }
  const steps = async (guia: string, ...cuerpos: object[]) => {
    for (const body of cuerpos) {
      await scan(guia, body)
      await journal.record(guia)
    }
  }
  const a = await fresh()
  await steps(
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
  await steps(await fresh(), { estado: 'recolectado' }, { estado: 'en_ruta' }, buildEstadoReport('entregado'))
  await steps(await fresh(), { estado: 'recolectado' }, { estado: 'extraviado' })
  const d = await fresh()
  await api.guias.cancelar(d)
  await journal.record(d)
  // Its request for the place follows by itself: what was between is what creation answered.
  const { guia: e, url_rastreo: _, zona_horaria: __, ...rest } = await api.guias.crear(buildGuiaWithoutDestino())
  await waitUntil(async () => (await api.guias.obtener(e)).secuencia === 2)
  const { datos } = await api.guias.eventos(e)
  journal.fotos.set(datos[0]!.id, { tipo: 'guia.aceptado', guia: { guia: e, ...rest }, evento: datos[0] })
  await journal.record(e)
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
].map((name) => `guia.${name}`)

describe('every event', () => {
  it('is delivered once, with its guide as it was then, and as the contract says', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await registrar(comercio, receptor)
    const journal = new Journal(comercio)
    await runLifecycle(comercio, journal)
    expect(new Set([...journal.fotos.values()].map(({ tipo }) => tipo))).toEqual(
      new Set([...TIPOS, 'ubicacion.solicitada']),
    )
    await waitUntil(async () => receptor.receivedWebhooks.length >= journal.fotos.size)
    await waitUntilQuiet()
    await environment.waitForQuiet()
    expect(receptor.receivedWebhooks.map(({ id }) => id).sort()).toEqual([...journal.fotos.keys()].sort())
    journal.check(receptor.receivedWebhooks)
    for (const { id, json, headers } of receptor.receivedWebhooks) {
      expect([headers['webhook-id'], json.datos.evento.id]).toEqual([id, id])
      expect([headers['content-type'], headers['transfer-encoding']]).toEqual(['application/json', undefined])
    }
  })

  it('that is tried again later tells of its guide as it was then, all the same', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver(answerWith(500))
    const { webhook } = await registrar(comercio, receptor)
    const journal = new Journal(comercio)
    await runLifecycle(comercio, journal)
    // The first ones were tried in vain, the others wait behind them.
    await waitUntil(async () => receptor.receivedWebhooks.length >= 3)
    await comercio.api.webhooks.cambiar(webhook, { estado: 'pausado' })
    await environment.waitForQuiet()
    const fallidos = receptor.receivedWebhooks.splice(0)
    receptor.responder = answerWith(204)
    environment.advance(10 * 60_000)
    await comercio.api.webhooks.cambiar(webhook, { estado: 'activo' })
    await waitUntil(async () => receptor.receivedWebhooks.length >= journal.fotos.size)
    await waitUntilQuiet()
    await environment.waitForQuiet()
    expect(receptor.receivedWebhooks.map((one) => one.id).sort()).toEqual([...journal.fotos.keys()].sort())
    journal.check([...fallidos, ...receptor.receivedWebhooks])
    for (const { id: evento, body } of fallidos)
      expect(receptor.receivedWebhooks.find((one) => one.id === evento)!.body).toBe(body)
  })

  it('that the endpoint itself causes is as the contract says, too', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    const { webhook, secreto } = await registrar(comercio, receptor, { descripcion: 'Señal de Ñuño ✓' })
    const { evento } = await comercio.api.webhooks.probar(webhook)
    await waitUntil(async () => receptor.receivedWebhooks.length > 0)
    await waitUntilQuiet()
    await environment.waitForQuiet()
    expect(receptor.receivedWebhooks).toHaveLength(1)
    const [{ json, body, headers }] = receptor.receivedWebhooks as [ReceivedWebhook]
    validate('AvisoDePrueba', json)
    expect(json).toMatchObject({ id: evento, tipo: 'webhook.prueba' })
    expect(json.datos.webhook).toEqual(await comercio.api.webhooks.obtener(webhook))
    expect(body).not.toContain(secreto.slice(6))
    expect(headers['webhook-id']).toBe(evento)
  })
})

describe('batches', () => {
  it('with 100 guides for 3 endpoints make 300 deliveries, even when they are sent repeatedly', async () => {
    const comercio = await environment.createComercio()
    const receivers = await Promise.all([openReceiver(), openReceiver(), openReceiver()])
    for (const receptor of receivers) await registrar(comercio, receptor, { tipos: ['guia.*'] })
    const lote = lote100()
    const { resultados } = await comercio.api.guias.crearLote(lote)
    const expectedItems = resultados.map((result) => `evt_${'guia' in result ? result.guia : ''}_1`).sort()
    expect(new Set(expectedItems).size).toBe(100)
    const count = async () => {
      const { rows } = await environment.db.pool.query(
        'select estado, count(*)::int as n from webhook_aviso where comercio_id = $1 group by estado',
        [comercio.id],
      )
      return rows
    }
    await waitUntilQuiet()
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
    await waitUntilQuiet()
    await environment.waitForQuiet()
    expect(await count()).toEqual([{ estado: 'entregado', n: 300 }])
    for (const { receivedWebhooks: recibidos } of receivers)
      expect(recibidos.map(({ id }) => id).sort()).toEqual(expectedItems)
  })

  it('and single guides replayed at once are one event, and one delivery', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await registrar(comercio, receptor)
    const guia = buildGuia()
    const created = await Promise.all(Array.from({ length: 20 }, () => comercio.api.guias.crear(guia)))
    const codigo = created[0]!.guia
    const collect = () =>
      environment.asOperador('POST', `/guias/${codigo}/eventos`, { estado: 'recolectado' }, 'lector-07-1')
    await Promise.all(Array.from({ length: 10 }, collect))
    // A refused step sends nothing.
    expect((await environment.asOperador('POST', `/guias/${codigo}/eventos`, { estado: 'devuelto' })).status).toBe(409)
    await waitUntilQuiet()
    await environment.waitForQuiet()
    expect(receptor.receivedWebhooks.map(({ id }) => id).sort()).toEqual([`evt_${codigo}_1`, `evt_${codigo}_2`])
  })
})
