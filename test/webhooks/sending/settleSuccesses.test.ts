import { describe, expect, it } from 'vitest'
import { Connections } from '../../../server/data/connections.ts'
import { type Db, queryWith } from '../../../server/data/db.ts'
import { readDue } from '../../../server/domain/webhooks/sending/due.ts'
import type { AttemptResult } from '../../../server/domain/webhooks/sending/settleAttempts.ts'
import { settleSuccesses } from '../../../server/domain/webhooks/sending/settleSuccesses.ts'
import { useEnvironment } from '../../environment.ts'
import { buildMensajeDeps } from '../../mensajeria/channel.ts'
import { nobody } from '../webhooks.ts'

/** A service that sends nothing. */
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))

describe('settling what went well', () => {
  it('reads its own deliveries alone, though it was planned when there were hardly any others', async () => {
    const { api, id } = await environment.createComercio()
    const { webhook } = await api.webhooks.crear(nobody())
    const vecino = await api.webhooks.crear(nobody())
    const pool = new Connections(environment.databaseUrl, 1, 'prueba')
    const query = queryWith(pool)
    const key = { comercio_id: id, modo: 'test', webhook } as const
    const add = (webhook: string, count: number, estado = 'pendiente') =>
      pool.query(
        `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, datos, creado_en)
         select $1, 'test', $2, gen_random_uuid(), 0, 'evt_' || gen_random_uuid() || '_0', 'webhook.prueba', $4, 'automatica', now(), '{}', now()
         from generate_series(1, $3::int)`,
        [id, webhook, count, estado],
      )
    /** Rows of deliveries. */
    const countReadRowsSoFar = async (): Promise<number> => {
      await pool.query('select pg_stat_force_next_flush()')
      const { rows } = await pool.query(
        `select (seq_tup_read + idx_tup_fetch)::int as filas from pg_stat_user_tables where relname = 'webhook_aviso'`,
      )
      return rows[0].filas
    }
    const settle = async () => {
      await add(webhook, 20)
      const [dueAvisos] = await readDue(buildMensajeDeps(environment), [{ ...key, count: 20, salvo: [] }], new Date())
      const results = dueAvisos!.map(
        ({ aviso: entrega }, n) =>
          ({
            id: `${n}`,
            aviso: entrega,
            url: '',
            secretos: [1],
            iniciado_en: new Date(),
            respuesta: { status: 204 },
          }) as never as AttemptResult,
      )
      const before = await countReadRowsSoFar()
      expect(await settleSuccesses({ query, pool: {} } as Db, results, new Date())).toEqual([])
      return (await countReadRowsSoFar()) - before
    }
    try {
      await add(webhook, 300, 'entregado')
      await pool.query('analyze webhook_aviso')
      // From the sixth time on PostgreSQL keeps the plan.
      for (let n = 0; n < 7; n++) await settle()
      await add(vecino.webhook, 20_000)
      expect(await settle()).toBeLessThan(2_000)
    } finally {
      await pool.end()
    }
  })
})
