import { describe, expect, it } from 'vitest'
import { buildGuia, buildGuiaWithoutDestino, lote100, waitUntil } from '../../factories.ts'
import { answerWith, holdAnswers, type TestReceiver } from '../receiver.ts'
import { buildAvisoCode, useWebhooks, waitForAviso } from '../webhooks.ts'

const { advance, createEndpoint: nuevo } = useWebhooks()

const ofGuia = ({ receivedWebhooks }: TestReceiver, guia: string) =>
  receivedWebhooks.filter(({ json }) => json.datos.guia.guia === guia).map(({ json }) => json.datos.evento.secuencia)

describe('the order of a guide’s events at an endpoint', () => {
  it('is theirs, however many come at once', async () => {
    const { api, receptor } = await nuevo()
    const guias = await Promise.all(Array.from({ length: 20 }, () => api.guias.crear(buildGuia())))
    await Promise.all(
      guias.map(async ({ guia }) => {
        for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const)
          await api.simulador.avanzar(guia, { estado })
      }),
    )
    await waitUntil(async () => receptor.receivedWebhooks.length >= 80)
    for (const { guia } of guias) expect(ofGuia(receptor, guia)).toEqual([1, 2, 3, 4])
  })

  it('one waits for the one before it, and for no other guide’s', async () => {
    const answerHolder = holdAnswers()
    const { api, receptor } = await nuevo(answerHolder.responder)
    const { guia } = await api.guias.crear(buildGuia())
    await waitUntil(async () => ofGuia(receptor, guia).length === 1)
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const { guia: other } = await api.guias.crear(buildGuia())
    await waitUntil(async () => ofGuia(receptor, other).length === 1)
    expect(ofGuia(receptor, guia)).toEqual([1])
    answerHolder.release()
    await waitUntil(async () => ofGuia(receptor, guia).length === 2)
    expect(ofGuia(receptor, guia)).toEqual([1, 2])
  })

  it('is not kept where one fails: what comes after it doesn’t wait for its retry', async () => {
    const { api, receptor, webhook } = await nuevo()
    receptor.responder = ({ json }, res) => {
      const first = json.datos.evento.secuencia === 1 && ofGuia(receptor, json.datos.guia.guia).length === 1
      answerWith(first ? 500 : 204)(undefined as never, res)
    }
    const { guia } = await api.guias.crear(buildGuia())
    await waitUntil(async () => ofGuia(receptor, guia).length === 1)
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    await waitForAviso(api, webhook, buildAvisoCode(webhook, guia, 2))
    advance(6_000)
    await waitForAviso(api, webhook, buildAvisoCode(webhook, guia, 1), 2)
    expect(ofGuia(receptor, guia)).toEqual([1, 2, 1])
  })
})

describe('a delivery that is handed over without another read', () => {
  it('has the very bytes that are read afterwards', async () => {
    const { api, receptor, webhook } = await nuevo()
    const variants = [
      buildGuia(),
      buildGuiaWithoutDestino(),
      { ...buildGuiaWithoutDestino(), maps_url: 'https://www.google.com/maps?q=14.6349,-90.5069' },
      { ...buildGuia(), lat: 15.123456789, lng: -91.1, municipio: 'No existe', contenido: 'ñ "x" \\ \u2028 €' },
      { ...buildGuia(), recogida: { maps_url: 'https://maps.google.com/?q=14.5,-90.5', nombre: 'Bodega' } },
      ...lote100().guias.slice(0, 20),
    ]
    for (const guia of variants) {
      const [result] = (await api.guias.crearLote({ ...lote100(), guias: [guia as never] })).resultados
      if (!result?.ok) throw new Error(JSON.stringify(result))
      const entrega = await waitForAviso(api, webhook, buildAvisoCode(webhook, result.guia))
      expect(receptor.receivedWebhooks.find(({ id }) => id === entrega.evento)?.body).toBe(entrega.cuerpo)
    }
  })
})
