import { describe, expect, it } from 'vitest'
import { STATEMENTS } from '../../server/data/db.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, EN_POSTGRES, waitUntil } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const environment = shareEnvironment()
const { mover } = useGuias(environment)

describe('GET /api/v1/eventos', () => {
  it('gives every event once, in order per guide, and a cursor to come back with', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const other = await api.guias.crear(buildGuiaWithoutDestino())
    await waitUntil(async () => (await api.guias.obtener(other.guia)).secuencia === 2)
    await mover(guia, 'recolectado', 'en_ruta')
    const seen: string[] = []
    let cursor: string | undefined
    // A transaction of anybody's, on the whole server, hides what came after it as long as it is open.
    await waitUntil(async () => {
      const page = await api.eventos.listar({ limite: 2, ...(cursor ? { cursor } : {}) })
      seen.push(...page.datos.map(({ id }) => id))
      cursor = page.cursor_siguiente
      return page.datos.length === 0 && seen.length >= 5
    })
    expect([...seen].sort()).toEqual(
      [`evt_${guia}_1`, `evt_${guia}_2`, `evt_${guia}_3`, `evt_${other.guia}_1`, `evt_${other.guia}_2`].sort(),
    )
    expect(seen.filter((id) => id.includes(guia))).toEqual([`evt_${guia}_1`, `evt_${guia}_2`, `evt_${guia}_3`])
    await mover(guia, 'entregado')
    const newEventos = await waitUntil(async () => {
      const page = await api.eventos.listar({ cursor: cursor! })
      return page.datos.length > 0 && page
    })
    expect(newEventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.entregado'])
  })

  it('never skips what commits late', EN_POSTGRES, async () => {
    const { api, id } = await environment.createComercio()
    const lateGuia = await api.guias.crear(buildGuia())
    const { cursor_siguiente: before } = await waitUntil(async () => {
      const page = await api.eventos.listar()
      return page.datos.length === 1 && page
    })
    const slow = await environment.db.pool.connect()
    try {
      // A transaction writes its event and stays open while others come and go.
      await slow.query('begin')
      await slow.query(
        `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
         select comercio_id, modo, id, 2, guia, 'guia.nota', estado, '{}', now(), now() from guia where guia = $1`,
        [lateGuia.guia],
      )
      const after = await api.guias.crear(buildGuia())
      const meanwhilePage = await api.eventos.listar({ cursor: before })
      expect(meanwhilePage.datos).toEqual([])
      await slow.query('commit')
      const laterPage = await waitUntil(async () => {
        const page = await api.eventos.listar({ cursor: meanwhilePage.cursor_siguiente })
        return page.datos.length === 2 && page
      })
      expect(laterPage.datos.map((e) => e.id)).toEqual([`evt_${lateGuia.guia}_2`, `evt_${after.guia}_1`])
    } finally {
      slow.release()
    }
    expect(id).toBeTruthy()
  })

  it('begins now after what a transaction still under way holds back', EN_POSTGRES, async () => {
    const { api } = await environment.createComercio()
    const slow = await environment.db.pool.connect()
    try {
      await slow.query('begin')
      const lateGuia = await api.guias.crear(buildGuia())
      await slow.query(
        `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
         select comercio_id, modo, id, 2, guia, 'guia.nota', estado, '{}', now(), now() from guia where guia = $1`,
        [lateGuia.guia],
      )
      const old = await api.guias.crear(buildGuia())
      const { cursor_siguiente: now } = await api.eventos.listar({ desde: 'ahora', limite: 1 })
      const newGuias = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
      await slow.query('commit')
      // What was there is left out, what was committed afterwards is not, page by page.
      const ids: string[] = []
      let cursor = now
      await waitUntil(async () => {
        const page = await api.eventos.listar({ cursor, limite: 1 })
        ids.push(...page.datos.map(({ id }) => id))
        cursor = page.cursor_siguiente
        return ids.length === 3
      })
      expect(ids).toEqual([`evt_${lateGuia.guia}_2`, ...newGuias.map(({ guia }) => `evt_${guia}_1`)])
      expect(ids).not.toContain(`evt_${old.guia}_1`)
      expect((await api.eventos.listar({ cursor })).datos).toEqual([])
    } finally {
      slow.release()
    }
  })

  it('gives some types, families or one guide, and the same cursor serves every filter', async () => {
    const { api } = await environment.createComercio()
    const one = await api.guias.crear(buildGuia())
    const other = await api.guias.crear(buildGuia())
    await mover(one.guia, 'recolectado', 'en_ruta')
    await mover(other.guia, 'recolectado')
    await waitUntil(async () => (await api.eventos.listar()).datos.length === 5)
    const ids = async (filters: Parameters<typeof api.eventos.listar>[0]) => {
      const seen: string[] = []
      for await (const evento of api.eventos.listar({ limite: 1, ...filters })) seen.push(evento.id)
      return seen
    }
    expect(await ids({ tipo: ['guia.en_ruta', 'guia.recolectado'] })).toEqual([
      `evt_${one.guia}_2`,
      `evt_${one.guia}_3`,
      `evt_${other.guia}_2`,
    ])
    expect(await ids({ tipo: ['ubicacion.*'] })).toEqual([])
    expect(await ids({ tipo: ['guia.*'] })).toEqual(await ids({}))
    expect(await ids({ guia: one.guia.toLowerCase() })).toEqual([1, 2, 3].map((n) => `evt_${one.guia}_${n}`))
    expect(await ids({ guia: one.guia, tipo: ['guia.aceptado'] })).toEqual([`evt_${one.guia}_1`])
    const foreign = await (await environment.createComercio()).api.guias.crear(buildGuia())
    expect(await ids({ guia: foreign.guia })).toEqual([])
    const { cursor_siguiente } = await api.eventos.listar({ limite: 1, tipo: ['guia.en_ruta'] })
    expect(await ids({ cursor: cursor_siguiente })).toEqual([`evt_${other.guia}_2`])
    await expect(api.eventos.listar({ tipo: ['guia.perdida' as never] })).rejects.toMatchObject({
      codigo: 'parametro_invalido',
      errores: [{ campo: 'tipo', mensaje: expect.stringContaining('guia.entregado') }],
    })
  })

  it('refuses a reference where a code belongs, also beside a cursor, and names external_ref', async () => {
    const { api } = await environment.createComercio()
    const { external_ref } = await api.guias.crear(buildGuia())
    const { cursor_siguiente } = await api.eventos.listar()
    for (const filters of [{}, { cursor: cursor_siguiente }])
      await expect(api.eventos.listar({ guia: external_ref!, ...filters })).rejects.toMatchObject({
        estadoHttp: 400,
        codigo: 'parametro_invalido',
        errores: [{ campo: 'guia', mensaje: expect.stringMatching(`filtro external_ref, «${external_ref}»`) }],
      })
  })

  it('begins now or at an instant, and a cursor goes before that', async () => {
    const { api } = await environment.createComercio()
    expect((await api.eventos.listar({ desde: 'ahora' })).datos).toEqual([])
    const old = await api.guias.crear(buildGuia())
    const fresh = await api.guias.crear(buildGuia())
    const { datos } = await waitUntil(async () => {
      const page = await api.eventos.listar()
      return page.datos.length === 2 && page
    })
    // As if it had been registered a day ago.
    await environment.db.pool.query('update evento set registrado_en = $2 where guia = $1', [
      old.guia,
      new Date(Date.now() - 24 * 3_600_000),
    ])
    const ids = (page: { datos: { id: string }[] }) => page.datos.map(({ id }) => id)
    const desde = datos.find(({ guia }) => guia === fresh.guia)!.registrado_en
    const page = await api.eventos.listar({ desde })
    expect(ids(page)).toEqual([`evt_${fresh.guia}_1`])
    const nextMillisecond = new Date(Date.parse(desde) + 1).toISOString()
    expect(ids(await api.eventos.listar({ desde: nextMillisecond, tipo: ['guia.*'] }))).toEqual([])
    expect(ids(await api.eventos.listar({ desde: nextMillisecond, guia: fresh.guia }))).toEqual([])
    expect(ids(await api.eventos.listar({ desde: '2026-01-01T00:00:00Z' }))).toEqual(ids({ datos }))

    const now = await api.eventos.listar({ desde: 'ahora' })
    expect(now.datos).toEqual([])
    const last = await api.guias.crear(buildGuia())
    const laterPage = await waitUntil(async () => {
      const more = await api.eventos.listar({ desde: 'ahora', cursor: now.cursor_siguiente })
      return more.datos.length > 0 && more
    })
    expect(laterPage.datos).toMatchObject([{ id: `evt_${last.guia}_1`, external_ref: last.external_ref }])
    await expect(api.eventos.listar({ desde: 'ayer' })).rejects.toMatchObject({
      codigo: 'parametro_invalido',
      errores: [{ campo: 'desde', mensaje: expect.stringContaining('«ahora»') }],
    })
  })

  it('begins with an event whose process has a clock ahead of the others', async () => {
    const { api, id } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    for (let i = 0; i < 3; i++) await api.guias.crear(buildGuia())
    await waitUntil(async () => (await api.eventos.listar()).datos.length === 4)
    const hour = Date.now() - 3_600_000
    await environment.db.pool.query(
      'update evento set registrado_en = case when guia = $2 then $3 else $4 end::timestamptz where comercio_id = $1',
      [id, guia, new Date(hour + 30_000), new Date(hour)],
    )
    const { datos } = await api.eventos.listar({ desde: new Date(hour + 10_000).toISOString() })
    expect(datos.map((evento) => evento.id)).toEqual([`evt_${guia}_1`])
  })

  it('reads a rare type, one guide and the beginning without walking over the others', EN_POSTGRES, async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ external_ref: `FLUJO-${process.pid}` }))
    await environment.db.pool.query(
      `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
       select comercio_id, modo, id, n, guia, case n when 15000 then 'guia.extraviado' else 'guia.nota' end, estado, '{}',
         creado_en, creado_en from guia, generate_series(2, 20000) n where guia = $1`,
      [guia],
    )
    const other = await api.guias.crear(buildGuia())
    // What autovacuum does within a minute; PostgreSQL 15 takes another index until it knows that a merchant has many.
    await environment.db.pool.query('analyze evento')
    const extraviado = await waitUntil(async () => (await api.eventos.listar({ tipo: ['guia.extraviado'] })).datos[0])
    expect(extraviado.id).toBe(`evt_${guia}_15000`)
    const { rows } = await environment.db.pool.query('select comercio_id, modo from guia where guia = $1', [guia])
    const values = { ...rows[0], xid: '0', guia_id: '00000000-0000-0000-0000-000000000000', secuencia: 0, count: 25 }
    const countRows = async (name: string, more: Record<string, unknown>) => {
      const { text, parameters } = STATEMENTS.get(name)!
      const parameterValues: Record<string, unknown> = { ...values, desde: new Date(0), ...more }
      const plan = await environment.db.pool.query(
        `explain (analyze, buffers, format json) ${text}`,
        parameters.map((one) => parameterValues[one] ?? null),
      )
      const { Plan } = plan.rows[0]['QUERY PLAN'][0]
      return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
    }
    expect(await countRows('eventos.feedByType', { tipos: ['guia.extraviado'] })).toBeLessThan(60)
    expect(await countRows('eventos.feedOfGuia', { guia: other.guia, tipos: null })).toBeLessThan(60)
    expect(await countRows('eventos.startFromTime', {})).toBeLessThan(400)
    expect(await countRows('eventos.feedEnd', {})).toBeLessThan(20)
  })

  it('shows a merchant its own events only', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    await one.api.guias.crear(buildGuia())
    expect((await other.api.eventos.listar()).datos).toEqual([])
  })
})
