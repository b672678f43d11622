import { describe, expect, it } from 'vitest'
import { COLA_DE_ARRIENDOS } from '../../server/webhooks/arriendos.ts'
import { COMPLETO, hasta, unaGuia } from '../fabricas.ts'
import { retener } from './receptor.ts'
import { entregaDe, terminada, usarWebhooks } from './webhooks.ts'

const { entorno, nuevo } = usarWebhooks()

describe('a service that loses its lease in the middle of an exchange', COMPLETO, () => {
  it('takes it again and sends nothing twice', async () => {
    const retenedor = retener()
    const { api, webhook, receptor } = await nuevo(retenedor.responder)
    const { guia } = await api.guias.crear(unaGuia())
    await hasta(async () => receptor.recibidos.length === 1)
    const { pool } = entorno.db
    const arriendos = async () =>
      (await pool.query<{ id: string }>('select id from pgboss.job where name = $1', [COLA_DE_ARRIENDOS])).rows
    const [antes] = await arriendos()
    await pool.query('delete from pgboss.job')
    await hasta(async () => (await arriendos()).some(({ id }) => id !== antes!.id))
    await api.guias.crear(unaGuia())
    await hasta(async () => receptor.recibidos.length === 2)
    retenedor.soltar()
    const entrega = await terminada(api, webhook, entregaDe(webhook, guia))
    expect([entrega.estado, entrega.intentos, receptor.recibidos.length]).toEqual(['entregada', 1, 2])
  })
})
