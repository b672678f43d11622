// Behind PgBouncer in transaction mode, which gives each transaction another session, and whose older versions know no
// prepared statements.

import pg from 'pg'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY } from '../factories.ts'
import { PGBOUNCER, startPooler } from '../pooler.ts'
import { openReceiver } from '../webhooks/receiver.ts'

describe.skipIf(!PGBOUNCER)('behind a pooler', FULL_RUN_ONLY, () => {
  let pooler: Awaited<ReturnType<typeof startPooler>>
  const environment = useEnvironment({}, async (databaseUrl) => {
    pooler = await startPooler(inject('postgres'))
    return { DATABASE_POOLER_URL: pooler.url(databaseUrl), DATABASE_PREPARED: '0' }
  })
  afterAll(() => pooler?.stop())

  /** What a merchant's system does all day; the codes of the guides that it made. */
  async function runDay({ api }: Comercio): Promise<string[]> {
    const singles = await Promise.all(Array.from({ length: 10 }, () => api.guias.crear(buildGuia())))
    const lote = await api.guias.crearLote({ guias: Array.from({ length: 10 }, () => buildGuia()) })
    const ofLote = lote.resultados.flatMap((one) => (one.ok ? [one.guia] : []))
    const codigos = [...singles.map(({ guia }) => guia), ...ofLote]
    await Promise.all(codigos.map((guia) => api.guias.obtener(guia)))
    for (const estado of ['recolectado', 'en_ruta'] as const) await api.simulador.avanzar(codigos[0]!, { estado })
    return codigos
  }

  it('everybody sees what is his, and hears of it', async () => {
    const receptor = await openReceiver()
    const comercios = await Promise.all(Array.from({ length: 6 }, () => environment.createComercio()))
    for (const { api } of comercios) await api.webhooks.crear({ url: receptor.url })
    const hechas = await Promise.all(comercios.map(runDay))
    for (const [i, { api }] of comercios.entries()) {
      const seen = []
      for await (const { guia } of api.guias.listar()) seen.push(guia)
      expect(seen.sort()).toEqual(hechas[i]!.sort())
      const eventos = (await api.guias.obtener(hechas[i]![0]!)).eventos.datos
      expect(eventos.length).toBeGreaterThan(0)
    }
    await environment.waitForQuiet()
    // Each creation and each state, once.
    const receivedTypes = receptor.receivedWebhooks.map(({ json }) => json.tipo)
    expect(receivedTypes.filter((tipo) => tipo === 'guia.aceptado')).toHaveLength(6 * 20)
    expect(receivedTypes.filter((tipo) => tipo === 'guia.en_ruta')).toHaveLength(6)
    await receptor.close()
  })

  it('no session keeps the role and the merchant of an earlier request', async () => {
    const client = new pg.Client({ connectionString: pooler.url(environment.databaseUrl) })
    await client.connect()
    for (let i = 0; i < 20; i++) {
      const { rows } = await client.query(
        `select current_user = session_user as dueno, coalesce(current_setting('guias.comercios', true), '') as comercios`,
      )
      expect(rows).toEqual([{ dueno: true, comercios: '' }])
    }
    await client.end()
  })
})
