import { describe, expect, it } from 'vitest'
import { type Comercio, compartirEntorno } from '../entorno.ts'
import { hasta, unaGuia } from '../fabricas.ts'
import { contestar, type Receptor, usarReceptores } from './receptor.ts'

const entorno = compartirEntorno()
const nuevoReceptor = usarReceptores()

const lento =
  (ms: number): Receptor['responder'] =>
  (_recibido, res) =>
    void setTimeout(() => res.writeHead(204).end(), ms)

/** A merchant with as many endpoints as there may be, at a receiver that takes everything, but takes its time. */
async function pesado() {
  const comercio = await entorno.nuevoComercio()
  const receptor = await nuevoReceptor(lento(6_000))
  const webhooks: string[] = []
  for (let i = 0; i < 20; i++)
    webhooks.push((await comercio.api.webhooks.crear({ url: `${receptor.url}/${i}` })).webhook)
  return { comercio, receptor, webhooks }
}

/** How long each of a healthy merchant's deliveries takes, in milliseconds. */
async function medir(comercio: Comercio, receptor: Receptor, cuantas: number) {
  const demoras: number[] = []
  for (let i = 0; i < cuantas; i++) {
    const inicio = performance.now()
    const { guia } = await comercio.api.guias.crear(unaGuia())
    await hasta(async () => receptor.recibidos.find(({ id }) => id === `evt_${guia}_1`))
    demoras.push(performance.now() - inicio)
  }
  return demoras
}

describe('one merchant', () => {
  it('with 20 slow endpoints and a backlog for each holds up nobody else', async () => {
    const { comercio, receptor: lleno } = await pesado()
    await Promise.all(Array.from({ length: 60 }, () => comercio.api.guias.crear(unaGuia())))
    await hasta(async () => (lleno.recibidos.length >= 20 ? true : undefined))
    const vecino = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    await vecino.api.webhooks.crear({ url: receptor.url })
    const demoras = await medir(vecino, receptor, 20)
    expect(Math.max(...demoras)).toBeLessThan(2_000)
  })

  it('that asks for hundreds of tests gets one at a time of each endpoint, and holds up nobody', async () => {
    const { comercio, receptor: lleno, webhooks } = await pesado()
    const pruebas = await Promise.all(
      Array.from({ length: 200 }, (_, i) => comercio.api.webhooks.probar(webhooks[i % webhooks.length]!)),
    )
    // Asked at once, a few get past each other.
    expect(new Set(pruebas.map(({ entrega }) => entrega)).size).toBeLessThan(120)
    const vecino = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    await vecino.api.webhooks.crear({ url: receptor.url })
    expect(Math.max(...(await medir(vecino, receptor, 10)))).toBeLessThan(2_000)
    await hasta(async () => (lleno.recibidos.length > 0 ? true : undefined))
  })
})

describe('an endpoint that moved', () => {
  it('isn’t judged by what its old address answers afterwards', async () => {
    const { api } = await entorno.nuevoComercio()
    const viejo = await nuevoReceptor((_recibido, res) => void setTimeout(() => res.writeHead(410).end(), 1_500))
    const nuevo = await nuevoReceptor(contestar(204))
    const { webhook } = await api.webhooks.crear({ url: viejo.url })
    await api.guias.crear(unaGuia())
    await hasta(async () => viejo.recibidos[0])
    await api.webhooks.cambiar(webhook, { url: nuevo.url })
    await hasta(async () => ((await api.webhooks.entregas(webhook)).datos[0]!.ultimo_status === 410 ? true : undefined))
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'activo', motivo: null, fallas: null })
    await api.guias.crear(unaGuia())
    await hasta(async () => nuevo.recibidos[0])
  })
})

describe('a resend', () => {
  it('asked for again and again before it has left is one', async () => {
    const { api } = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    const { webhook } = await api.webhooks.crear({ url: receptor.url })
    await api.guias.crear(unaGuia())
    const { entrega } = await hasta(async () =>
      (await api.webhooks.entregas(webhook, { estado: 'entregada' })).datos.find(() => true),
    )
    for (let i = 0; i < 40; i++) await api.webhooks.reenviar(webhook, entrega)
    await hasta(async () =>
      (await api.webhooks.obtenerEntrega(webhook, entrega)).estado === 'entregada' ? true : undefined,
    )
    const { historial, intentos } = await api.webhooks.obtenerEntrega(webhook, entrega)
    expect(receptor.recibidos.length).toBeGreaterThan(1)
    // Every attempt that counts has a number of its own.
    const numeros = historial.filter(({ tardio }) => !tardio).map(({ numero }) => numero)
    expect(new Set(numeros).size).toBe(numeros.length)
    expect(intentos).toBe(numeros.length)
  })
})
