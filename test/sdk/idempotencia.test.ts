import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Guias } from '@guias/sdk'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Comercio, useEnvironment, withKey } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

/** The service sends nothing, so nothing changes but by what a test asks. */
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))

/** Number of answers to the next POSTs that are lost, after the service did what they ask for. */
let lostCount = 0
const proxy = createServer(async (req, res) => {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  const { authorization = '', 'content-type': tipo = '', 'idempotency-key': key } = req.headers
  const response = await fetch(`${environment.url}${req.url}`, {
    method: req.method!,
    headers: { authorization, ...(tipo && { 'content-type': tipo }), ...withKey(key as string | undefined) },
    body: chunks.length > 0 ? Buffer.concat(chunks) : null,
  })
  const body = await response.text()
  if (req.method === 'POST' && lostCount-- > 0) return res.destroy()
  res.writeHead(response.status, Object.fromEntries(response.headers)).end(body)
})
let comercio: Comercio
let api: Guias
beforeAll(() => new Promise<void>((listo) => proxy.listen(0, '127.0.0.1', listo)))
afterAll(() => proxy.close())
beforeEach(async () => {
  lostCount = 0
  comercio = await environment.createComercio()
  api = new Guias({ llave: comercio.llave, baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` })
})

let seriesId = 0
const url = () => `http://127.0.0.1:9/${++seriesId}`
const count = async (table: string) =>
  (await environment.db.pool.query(`select count(*)::int as n from ${table} where comercio_id = $1`, [comercio.id]))
    .rows[0].n
const send = () => environment.db.pool.query(`update webhook_aviso set estado = 'entregado', terminado_en = now()`)
const webhook = async () => (await comercio.api.webhooks.crear({ url: url() })).webhook

it.each<[string, string, () => Promise<() => ReturnType<Guias['webhooks']['crear']>>]>([
  [
    'crear',
    'webhook',
    async () => {
      const datos = { url: url() }
      return () => api.webhooks.crear(datos)
    },
  ],
  [
    'rotarSecreto',
    'webhook_secreto',
    async () => {
      const ownWebhook = await webhook()
      return () => api.webhooks.rotarSecreto(ownWebhook)
    },
  ],
])('%s: a lost answer comes again with the same secret, and exactly one %s exists', async (_, table, prepare) => {
  const request = await prepare()
  const before = await count(table)
  lostCount = 2
  const { datos, repetida } = await request().conRespuesta()
  expect(repetida).toBe(true)
  expect(await count(table)).toBe(before + 1)
  // The secret that came is the one that signs.
  expect(datos.secretos[0]!.version).toBe(table === 'webhook' ? 1 : 2)
  expect(datos.secreto).toMatch(/^whsec_/)
  expect((await comercio.api.webhooks.obtener(datos.webhook)).secretos).toEqual(datos.secretos)
})

it('probar, reenviar, recuperar: a lost answer causes nothing twice', async () => {
  const ownWebhook = await webhook()
  const { guia } = await comercio.api.guias.crear(buildGuia())
  await send()
  const entregas = await count('webhook_aviso')
  lostCount = 1
  const guiaWithPrueba = await api.webhooks.probar(ownWebhook).conRespuesta()
  expect([guiaWithPrueba.repetida, guiaWithPrueba.datos.causa]).toEqual([true, 'prueba'])
  expect(await count('webhook_aviso')).toBe(entregas + 1)
  await send()
  lostCount = 1
  const resentAviso = await api.webhooks.reenviar(ownWebhook, `avi_${ownWebhook.slice(3)}_${guia}_1`).conRespuesta()
  expect([resentAviso.repetida, resentAviso.datos.causa]).toEqual([true, 'manual'])
  lostCount = 1
  const from = new Date(environment.clock().getTime() - 60_000)
  const recovery = await api.webhooks.recuperar(ownWebhook, { desde: from.toISOString() }).conRespuesta()
  expect([recovery.repetida, recovery.datos.estado]).toEqual([true, 'en_curso'])
  expect(await count('recuperacion')).toBe(1)
})

it('reenviarSolicitud, avanzar: a lost answer causes nothing twice', async () => {
  const askedGuia = await comercio.api.guias.crear(buildGuiaWithoutDestino({ telefono: '+50237654321' }))
  lostCount = 2
  const sentRequest = await api.guias.reenviarSolicitud(askedGuia.guia).conRespuesta()
  expect([sentRequest.repetida, sentRequest.datos.guia]).toEqual([true, askedGuia.guia])
  expect(await count('mensaje')).toBe(2)
  const { guia } = await comercio.api.guias.crear(buildGuia())
  lostCount = 2
  const advancedResponse = await api.simulador.avanzar(guia, { estado: 'recolectado' }).conRespuesta()
  expect([advancedResponse.repetida, advancedResponse.datos.estado, advancedResponse.datos.secuencia]).toEqual([
    true,
    'recolectado',
    2,
  ])
})

it('crear, crearLote: a lost answer creates no guide twice, with a reference or without', async () => {
  const { external_ref: _, ...guia } = buildGuia()
  for (const datos of [guia, buildGuia()]) {
    const before = await count('guia')
    lostCount = 2
    const created = await api.guias.crear(datos).conRespuesta()
    expect([created.repetida, created.estadoHttp]).toEqual([true, datos === guia ? 201 : 200])
    expect(await count('guia')).toBe(before + 1)
    lostCount = 2
    const { datos: lote } = await api.guias.crearLote({ guias: [datos, guia] }).conRespuesta()
    expect(lote.resultados.map(({ ok }) => ok)).toEqual([true, true])
    expect(await count('guia')).toBe(before + (datos === guia ? 3 : 2))
  }
})

it('two calls without a key of the caller are two requests', async () => {
  const ownWebhook = await webhook()
  const one = await api.webhooks.rotarSecreto(ownWebhook)
  const other = await api.webhooks.rotarSecreto(ownWebhook)
  expect(one.secreto).not.toBe(other.secreto)
})

it('a call with the caller’s key is repeated by another process', async () => {
  const ownWebhook = await webhook()
  const options = { claveDeIdempotencia: 'rotacion-2026-11' }
  const one = await api.webhooks.rotarSecreto(ownWebhook, undefined, options)
  const startOtherProcess = new Guias({ llave: comercio.llave, baseUrl: environment.url })
  const other = await startOtherProcess.webhooks.rotarSecreto(ownWebhook, undefined, options).conRespuesta()
  expect([other.repetida, other.datos.secreto]).toEqual([true, one.secreto])
})
