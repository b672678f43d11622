import { expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { cleanUpNow } from './prune.ts'
import { answerWith, useReceivers } from './receiver.ts'

// Its own housekeeping does nothing meanwhile.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const openReceiver = useReceivers()

it('housekeeping deletes a batch of what is old at a time, and says whether there is more', async () => {
  const { api, comercio } = await environment.createComercio()
  const { webhook } = await api.webhooks.crear({ url: (await openReceiver(answerWith(204))).url })
  const add = (days: number, count: number, terminadas = days) =>
    environment.db.pool.query(
      `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en,
         creado_en, terminado_en)
       select c.id, 'test', $2, gen_random_uuid(), 1, 'evt_x_1', 'guia.aceptado', 'entregado', 'automatica', now(),
         now() - make_interval(days => $3), now() - make_interval(days => $5)
       from comercio c, generate_series(1, $4) where c.comercio = $1`,
      [comercio, webhook, days, count, terminadas],
    )
  await add(400, 4_100)
  await add(1, 4)
  await add(400, 3, 1) // old deliveries that ended yesterday
  const remaining = async () => {
    const { rows } = await environment.db.pool.query(
      `select count(*)::int n from webhook_aviso where webhook = $1 and secuencia = 1`,
      [webhook],
    )
    return rows[0].n
  }
  const seen = []
  for (let time = 0; time < 3; time++) seen.push([await cleanUpNow(environment), await remaining()])
  expect(seen).toEqual([
    [true, 2_107],
    [true, 107],
    [false, 7],
  ])
})

it('housekeeping ends the waiting deliveries of a disabled endpoint, and neither its tests nor its resends', async () => {
  const { api } = await environment.createComercio()
  const { webhook } = await api.webhooks.crear({ url: (await openReceiver(answerWith(204))).url })
  const [wait, sentRequest] = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
  const entregaOf = ({ guia }: { guia: string }) => `avi_${webhook.slice(3)}_${guia}_1`
  await api.webhooks.reenviar(webhook, entregaOf(sentRequest))
  const { aviso: prueba } = await api.webhooks.probar(webhook)
  await environment.db.pool.query(`update webhook set estado = 'deshabilitado' where webhook = $1`, [webhook])
  await cleanUpNow(environment)
  const estados = await Promise.all(
    [entregaOf(wait), entregaOf(sentRequest), prueba].map((one) => api.webhooks.obtenerAviso(webhook, one)),
  )
  expect(estados.map(({ estado, ultimo_error }) => [estado, ultimo_error])).toEqual([
    ['fallido', 'webhook_deshabilitado'],
    ['pendiente', null],
    ['pendiente', null],
  ])
})
