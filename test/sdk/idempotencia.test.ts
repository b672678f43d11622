import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Guias } from '@guias/sdk'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Comercio, conClave, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

/** The service sends nothing, so nothing changes but by what a test asks. */
const entorno = useEnvironment({}, () => ({ WORKERS: '0' }))

/** Number of answers to the next POSTs that are lost, after the service did what they ask for. */
let perdidas = 0
const proxy = createServer(async (req, res) => {
  const trozos: Buffer[] = []
  for await (const trozo of req) trozos.push(trozo)
  const { authorization = '', 'content-type': tipo = '', 'idempotency-key': clave } = req.headers
  const respuesta = await fetch(`${entorno.url}${req.url}`, {
    method: req.method!,
    headers: { authorization, ...(tipo && { 'content-type': tipo }), ...conClave(clave as string | undefined) },
    body: trozos.length > 0 ? Buffer.concat(trozos) : null,
  })
  const cuerpo = await respuesta.text()
  if (req.method === 'POST' && perdidas-- > 0) return res.destroy()
  res.writeHead(respuesta.status, Object.fromEntries(respuesta.headers)).end(cuerpo)
})
let comercio: Comercio
let api: Guias
beforeAll(() => new Promise<void>((listo) => proxy.listen(0, '127.0.0.1', listo)))
afterAll(() => proxy.close())
beforeEach(async () => {
  perdidas = 0
  comercio = await entorno.nuevoComercio()
  api = new Guias({ llave: comercio.llave, baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` })
})

let serie = 0
const url = () => `http://127.0.0.1:9/${++serie}`
const contar = async (tabla: string) =>
  (await entorno.db.pool.query(`select count(*)::int as n from ${tabla} where comercio_id = $1`, [comercio.id])).rows[0]
    .n
const enviar = () => entorno.db.pool.query(`update webhook_aviso set estado = 'entregado', terminado_en = now()`)
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
      const suyo = await webhook()
      return () => api.webhooks.rotarSecreto(suyo)
    },
  ],
])('%s: a lost answer comes again with the same secret, and exactly one %s exists', async (_, tabla, preparar) => {
  const pedir = await preparar()
  const antes = await contar(tabla)
  perdidas = 2
  const { datos, repetida } = await pedir().conRespuesta()
  expect(repetida).toBe(true)
  expect(await contar(tabla)).toBe(antes + 1)
  // The secret that came is the one that signs.
  expect(datos.secretos[0]!.version).toBe(tabla === 'webhook' ? 1 : 2)
  expect(datos.secreto).toMatch(/^whsec_/)
  expect((await comercio.api.webhooks.obtener(datos.webhook)).secretos).toEqual(datos.secretos)
})

it('probar, reenviar, recuperar: a lost answer causes nothing twice', async () => {
  const suyo = await webhook()
  const { guia } = await comercio.api.guias.crear(buildGuia())
  await enviar()
  const entregas = await contar('webhook_aviso')
  perdidas = 1
  const probada = await api.webhooks.probar(suyo).conRespuesta()
  expect([probada.repetida, probada.datos.causa]).toEqual([true, 'prueba'])
  expect(await contar('webhook_aviso')).toBe(entregas + 1)
  await enviar()
  perdidas = 1
  const reenviada = await api.webhooks.reenviar(suyo, `avi_${suyo.slice(3)}_${guia}_1`).conRespuesta()
  expect([reenviada.repetida, reenviada.datos.causa]).toEqual([true, 'manual'])
  perdidas = 1
  const desde = new Date(entorno.clock().getTime() - 60_000)
  const recuperada = await api.webhooks.recuperar(suyo, { desde: desde.toISOString() }).conRespuesta()
  expect([recuperada.repetida, recuperada.datos.estado]).toEqual([true, 'en_curso'])
  expect(await contar('recuperacion')).toBe(1)
})

it('reenviarSolicitud, avanzar: a lost answer causes nothing twice', async () => {
  const preguntada = await comercio.api.guias.crear(buildGuiaWithoutDestino({ telefono: '+50237654321' }))
  perdidas = 2
  const pedida = await api.guias.reenviarSolicitud(preguntada.guia).conRespuesta()
  expect([pedida.repetida, pedida.datos.guia]).toEqual([true, preguntada.guia])
  expect(await contar('mensaje')).toBe(2)
  const { guia } = await comercio.api.guias.crear(buildGuia())
  perdidas = 2
  const avanzada = await api.simulador.avanzar(guia, { estado: 'recolectado' }).conRespuesta()
  expect([avanzada.repetida, avanzada.datos.estado, avanzada.datos.secuencia]).toEqual([true, 'recolectado', 2])
})

it('crear, crearLote: a lost answer creates no guide twice, with a reference or without', async () => {
  const { external_ref: _, ...guia } = buildGuia()
  for (const datos of [guia, buildGuia()]) {
    const antes = await contar('guia')
    perdidas = 2
    const creada = await api.guias.crear(datos).conRespuesta()
    expect([creada.repetida, creada.status]).toEqual([true, datos === guia ? 201 : 200])
    expect(await contar('guia')).toBe(antes + 1)
    perdidas = 2
    const { datos: lote } = await api.guias.crearLote({ guias: [datos, guia] }).conRespuesta()
    expect(lote.resultados.map(({ ok }) => ok)).toEqual([true, true])
    expect(await contar('guia')).toBe(antes + (datos === guia ? 3 : 2))
  }
})

it('two calls without a key of the caller are two requests', async () => {
  const suyo = await webhook()
  const una = await api.webhooks.rotarSecreto(suyo)
  const otra = await api.webhooks.rotarSecreto(suyo)
  expect(una.secreto).not.toBe(otra.secreto)
})

it('a call with the caller’s key is repeated by another process', async () => {
  const suyo = await webhook()
  const opciones = { claveDeIdempotencia: 'rotacion-2026-11' }
  const una = await api.webhooks.rotarSecreto(suyo, undefined, opciones)
  const otroProceso = new Guias({ llave: comercio.llave, baseUrl: entorno.url })
  const otra = await otroProceso.webhooks.rotarSecreto(suyo, undefined, opciones).conRespuesta()
  expect([otra.repetida, otra.datos.secreto]).toEqual([true, una.secreto])
})
