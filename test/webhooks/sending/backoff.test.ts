import { expect, it } from 'vitest'
import { bringAvisosForward } from '../../../server/domain/webhooks/sending/advance.ts'
import { HOUR_MS } from '../../../server/platform/time/units.ts'
import { buildGuia, waitUntil } from '../../factories.ts'
import { answerWith } from '../receiver.ts'
import { buildAvisoCode, useWebhooks, waitForAviso, waitForIntentos } from '../webhooks.ts'

const { environment, advance, createEndpoint: nuevo } = useWebhooks()
const ms = (text: string | null) => Date.parse(text!)

it('a clock that stepped back leaves histories in order, and nothing waits for it to catch up', async () => {
  environment.freezeClock()
  const { api, webhook, receptor } = await nuevo(answerWith(500))
  advance(HOUR_MS)
  const earlyGuia = (await api.guias.crear(buildGuia())).guia
  const key = buildAvisoCode(webhook, earlyGuia)
  const fallida = await waitForIntentos(api, webhook, key, 1)
  expect(ms(fallida.proximo_intento_en)).toBeGreaterThan(environment.clock().getTime() + 4_000)
  advance(-HOUR_MS)

  // What was put off by the clock ahead is due as soon as it would have been.
  receptor.responder = answerWith(204)
  await waitUntil(async () => {
    const { proximo_intento_en } = await api.webhooks.obtenerAviso(webhook, key)
    return ms(proximo_intento_en) < environment.clock().getTime() + 10_000
  })
  advance(10_000)
  expect(await waitForAviso(api, webhook, key, 2)).toMatchObject({ estado: 'entregado' })

  // The guide goes on behind its last date, and its webhooks leave at once.
  await environment.asOperador('POST', `/guias/${earlyGuia}/eventos`, { tipo: 'guia.nota', descripcion: 'Una nota' })
  await api.guias.cancelar(earlyGuia)
  const { datos } = await api.guias.eventos(earlyGuia)
  const registrados = datos.map(({ registrado_en }) => ms(registrado_en))
  expect(registrados).toEqual(registrados.toSorted((a, b) => a - b))
  const ocurridos = datos.map(({ ocurrido_en }) => ms(ocurrido_en))
  expect(ocurridos).toEqual(ocurridos.toSorted((a, b) => a - b))
  for (const { secuencia } of datos) await waitForAviso(api, webhook, buildAvisoCode(webhook, earlyGuia, secuencia))

  // What is new is dated by the clock as it is.
  const { guia, creado_en: createdAt } = await api.guias.crear(buildGuia())
  expect(ms(createdAt)).toBeLessThanOrEqual(environment.clock().getTime() + 1_000)
  await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))
})

it('a delivery attempted while the correction waits for the database keeps its due time', async () => {
  environment.freezeClock()
  const { api, webhook } = await nuevo(answerWith(500))
  const key = buildAvisoCode(webhook, (await api.guias.crear(buildGuia())).guia)
  const { proximo_intento_en } = await waitForIntentos(api, webhook, key, 1)
  // The first reading of the clock is from before the attempt.
  const lecturas = [new Date(environment.clock().getTime() - HOUR_MS)]
  await bringAvisosForward({
    db: environment.db.asRole('guias_trabajos'),
    clock: () => lecturas.shift() ?? environment.clock(),
  })
  expect(await api.webhooks.obtenerAviso(webhook, key)).toMatchObject({ intentos: 1, proximo_intento_en })
})
