import { describe, expect, it } from 'vitest'
import { STATEMENTS } from '../../server/data/db.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, EN_POSTGRES, hasta } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const entorno = shareEnvironment()
const { mover } = useGuias(entorno)

describe('GET /api/v1/eventos', () => {
  it('gives every event once, in order per guide, and a cursor to come back with', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const otra = await api.guias.crear(buildGuiaWithoutDestino())
    await hasta(async () => (await api.guias.obtener(otra.guia)).secuencia === 2)
    await mover(guia, 'recolectado', 'en_ruta')
    const vistos: string[] = []
    let cursor: string | undefined
    // A transaction of anybody's, on the whole server, hides what came after it as long as it is open.
    await hasta(async () => {
      const pagina = await api.eventos.listar({ limite: 2, ...(cursor ? { cursor } : {}) })
      vistos.push(...pagina.datos.map(({ id }) => id))
      cursor = pagina.cursor_siguiente
      return pagina.datos.length === 0 && vistos.length >= 5
    })
    expect([...vistos].sort()).toEqual(
      [`evt_${guia}_1`, `evt_${guia}_2`, `evt_${guia}_3`, `evt_${otra.guia}_1`, `evt_${otra.guia}_2`].sort(),
    )
    expect(vistos.filter((id) => id.includes(guia))).toEqual([`evt_${guia}_1`, `evt_${guia}_2`, `evt_${guia}_3`])
    await mover(guia, 'entregado')
    const nuevos = await hasta(async () => {
      const pagina = await api.eventos.listar({ cursor: cursor! })
      return pagina.datos.length > 0 && pagina
    })
    expect(nuevos.datos.map(({ tipo }) => tipo)).toEqual(['guia.entregado'])
  })

  it('never skips what commits late', EN_POSTGRES, async () => {
    const { api, id } = await entorno.nuevoComercio()
    const tardia = await api.guias.crear(buildGuia())
    const { cursor_siguiente: antes } = await hasta(async () => {
      const pagina = await api.eventos.listar()
      return pagina.datos.length === 1 && pagina
    })
    const lento = await entorno.db.pool.connect()
    try {
      // A transaction writes its event and stays open while others come and go.
      await lento.query('begin')
      await lento.query(
        `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
         select comercio_id, modo, id, 2, guia, 'guia.nota', estado, '{}', now(), now() from guia where guia = $1`,
        [tardia.guia],
      )
      const despues = await api.guias.crear(buildGuia())
      const mientras = await api.eventos.listar({ cursor: antes })
      expect(mientras.datos).toEqual([])
      await lento.query('commit')
      const luego = await hasta(async () => {
        const pagina = await api.eventos.listar({ cursor: mientras.cursor_siguiente })
        return pagina.datos.length === 2 && pagina
      })
      expect(luego.datos.map((e) => e.id)).toEqual([`evt_${tardia.guia}_2`, `evt_${despues.guia}_1`])
    } finally {
      lento.release()
    }
    expect(id).toBeTruthy()
  })

  it('begins now after what a transaction still under way holds back', EN_POSTGRES, async () => {
    const { api } = await entorno.nuevoComercio()
    const lento = await entorno.db.pool.connect()
    try {
      await lento.query('begin')
      const tardia = await api.guias.crear(buildGuia())
      await lento.query(
        `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
         select comercio_id, modo, id, 2, guia, 'guia.nota', estado, '{}', now(), now() from guia where guia = $1`,
        [tardia.guia],
      )
      const vieja = await api.guias.crear(buildGuia())
      const { cursor_siguiente: ahora } = await api.eventos.listar({ desde: 'ahora', limite: 1 })
      const nuevas = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
      await lento.query('commit')
      // What was there is left out, what was committed afterwards is not, page by page.
      const ids: string[] = []
      let cursor = ahora
      await hasta(async () => {
        const pagina = await api.eventos.listar({ cursor, limite: 1 })
        ids.push(...pagina.datos.map(({ id }) => id))
        cursor = pagina.cursor_siguiente
        return ids.length === 3
      })
      expect(ids).toEqual([`evt_${tardia.guia}_2`, ...nuevas.map(({ guia }) => `evt_${guia}_1`)])
      expect(ids).not.toContain(`evt_${vieja.guia}_1`)
      expect((await api.eventos.listar({ cursor })).datos).toEqual([])
    } finally {
      lento.release()
    }
  })

  it('gives some types, families or one guide, and the same cursor serves every filter', async () => {
    const { api } = await entorno.nuevoComercio()
    const uno = await api.guias.crear(buildGuia())
    const otro = await api.guias.crear(buildGuia())
    await mover(uno.guia, 'recolectado', 'en_ruta')
    await mover(otro.guia, 'recolectado')
    await hasta(async () => (await api.eventos.listar()).datos.length === 5)
    const ids = async (filtros: Parameters<typeof api.eventos.listar>[0]) => {
      const vistos: string[] = []
      for await (const evento of api.eventos.listar({ limite: 1, ...filtros })) vistos.push(evento.id)
      return vistos
    }
    expect(await ids({ tipo: ['guia.en_ruta', 'guia.recolectado'] })).toEqual([
      `evt_${uno.guia}_2`,
      `evt_${uno.guia}_3`,
      `evt_${otro.guia}_2`,
    ])
    expect(await ids({ tipo: ['ubicacion.*'] })).toEqual([])
    expect(await ids({ tipo: ['guia.*'] })).toEqual(await ids({}))
    expect(await ids({ guia: uno.guia.toLowerCase() })).toEqual([1, 2, 3].map((n) => `evt_${uno.guia}_${n}`))
    expect(await ids({ guia: uno.guia, tipo: ['guia.aceptado'] })).toEqual([`evt_${uno.guia}_1`])
    const ajeno = await (await entorno.nuevoComercio()).api.guias.crear(buildGuia())
    expect(await ids({ guia: ajeno.guia })).toEqual([])
    const { cursor_siguiente } = await api.eventos.listar({ limite: 1, tipo: ['guia.en_ruta'] })
    expect(await ids({ cursor: cursor_siguiente })).toEqual([`evt_${otro.guia}_2`])
    await expect(api.eventos.listar({ tipo: ['guia.perdida' as never] })).rejects.toMatchObject({
      codigo: 'parametro_invalido',
      errores: [{ campo: 'tipo', mensaje: expect.stringContaining('guia.entregado') }],
    })
  })

  it('refuses a reference where a code belongs, also beside a cursor, and names external_ref', async () => {
    const { api } = await entorno.nuevoComercio()
    const { external_ref } = await api.guias.crear(buildGuia())
    const { cursor_siguiente } = await api.eventos.listar()
    for (const filtros of [{}, { cursor: cursor_siguiente }])
      await expect(api.eventos.listar({ guia: external_ref!, ...filtros })).rejects.toMatchObject({
        status: 400,
        codigo: 'parametro_invalido',
        errores: [{ campo: 'guia', mensaje: expect.stringMatching(`filtro external_ref, «${external_ref}»`) }],
      })
  })

  it('begins now or at an instant, and a cursor goes before that', async () => {
    const { api } = await entorno.nuevoComercio()
    expect((await api.eventos.listar({ desde: 'ahora' })).datos).toEqual([])
    const vieja = await api.guias.crear(buildGuia())
    const nueva = await api.guias.crear(buildGuia())
    const { datos } = await hasta(async () => {
      const pagina = await api.eventos.listar()
      return pagina.datos.length === 2 && pagina
    })
    // As if it had been registered a day ago.
    await entorno.db.pool.query('update evento set registrado_en = $2 where guia = $1', [
      vieja.guia,
      new Date(Date.now() - 24 * 3_600_000),
    ])
    const ids = (pagina: { datos: { id: string }[] }) => pagina.datos.map(({ id }) => id)
    const desde = datos.find(({ guia }) => guia === nueva.guia)!.registrado_en
    const pagina = await api.eventos.listar({ desde })
    expect(ids(pagina)).toEqual([`evt_${nueva.guia}_1`])
    const milisegundo = new Date(Date.parse(desde) + 1).toISOString()
    expect(ids(await api.eventos.listar({ desde: milisegundo, tipo: ['guia.*'] }))).toEqual([])
    expect(ids(await api.eventos.listar({ desde: milisegundo, guia: nueva.guia }))).toEqual([])
    expect(ids(await api.eventos.listar({ desde: '2026-01-01T00:00:00Z' }))).toEqual(ids({ datos }))

    const ahora = await api.eventos.listar({ desde: 'ahora' })
    expect(ahora.datos).toEqual([])
    const ultima = await api.guias.crear(buildGuia())
    const luego = await hasta(async () => {
      const mas = await api.eventos.listar({ desde: 'ahora', cursor: ahora.cursor_siguiente })
      return mas.datos.length > 0 && mas
    })
    expect(luego.datos).toMatchObject([{ id: `evt_${ultima.guia}_1`, external_ref: ultima.external_ref }])
    await expect(api.eventos.listar({ desde: 'ayer' })).rejects.toMatchObject({
      codigo: 'parametro_invalido',
      errores: [{ campo: 'desde', mensaje: expect.stringContaining('«ahora»') }],
    })
  })

  it('begins with an event whose process has a clock ahead of the others', async () => {
    const { api, id } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    for (let i = 0; i < 3; i++) await api.guias.crear(buildGuia())
    await hasta(async () => (await api.eventos.listar()).datos.length === 4)
    const hora = Date.now() - 3_600_000
    await entorno.db.pool.query(
      'update evento set registrado_en = case when guia = $2 then $3 else $4 end::timestamptz where comercio_id = $1',
      [id, guia, new Date(hora + 30_000), new Date(hora)],
    )
    const { datos } = await api.eventos.listar({ desde: new Date(hora + 10_000).toISOString() })
    expect(datos.map((evento) => evento.id)).toEqual([`evt_${guia}_1`])
  })

  it('reads a rare type, one guide and the beginning without walking over the others', EN_POSTGRES, async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia({ external_ref: `FLUJO-${process.pid}` }))
    await entorno.db.pool.query(
      `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
       select comercio_id, modo, id, n, guia, case n when 15000 then 'guia.extraviado' else 'guia.nota' end, estado, '{}',
         creado_en, creado_en from guia, generate_series(2, 20000) n where guia = $1`,
      [guia],
    )
    const otra = await api.guias.crear(buildGuia())
    // What autovacuum does within a minute; PostgreSQL 15 takes another index until it knows that a merchant has many.
    await entorno.db.pool.query('analyze evento')
    const extraviado = await hasta(async () => (await api.eventos.listar({ tipo: ['guia.extraviado'] })).datos[0])
    expect(extraviado.id).toBe(`evt_${guia}_15000`)
    const { rows } = await entorno.db.pool.query('select comercio_id, modo from guia where guia = $1', [guia])
    const valores = { ...rows[0], xid: '0', guia_id: '00000000-0000-0000-0000-000000000000', secuencia: 0, count: 25 }
    const leidas = async (nombre: string, mas: Record<string, unknown>) => {
      const { text, parameters: parametros } = STATEMENTS.get(nombre)!
      const dados: Record<string, unknown> = { ...valores, desde: new Date(0), ...mas }
      const plan = await entorno.db.pool.query(
        `explain (analyze, buffers, format json) ${text}`,
        parametros.map((uno) => dados[uno] ?? null),
      )
      const { Plan } = plan.rows[0]['QUERY PLAN'][0]
      return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
    }
    expect(await leidas('eventos.flujoDeTipos', { tipos: ['guia.extraviado'] })).toBeLessThan(60)
    expect(await leidas('eventos.flujoDeGuia', { guia: otra.guia, tipos: null })).toBeLessThan(60)
    expect(await leidas('eventos.comienzoDesde', {})).toBeLessThan(400)
    expect(await leidas('eventos.final', {})).toBeLessThan(20)
  })

  it('shows a merchant its own events only', async () => {
    const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
    await uno.api.guias.crear(buildGuia())
    expect((await otro.api.eventos.listar()).datos).toEqual([])
  })
})
