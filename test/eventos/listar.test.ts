import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { hasta, sinDestino, unaGuia } from '../fabricas.ts'
import { usarGuias } from '../guias/mover.ts'

const entorno = compartirEntorno()
const { mover } = usarGuias(entorno)

describe('GET /api/v1/eventos', () => {
  it('gives every event once, in order per guide, and a cursor to come back with', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    const otra = await api.guias.crear(sinDestino())
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

  it('never skips what commits late', async () => {
    const { api, id } = await entorno.nuevoComercio()
    const tardia = await api.guias.crear(unaGuia())
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
      const despues = await api.guias.crear(unaGuia())
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

  it('shows a merchant its own events only', async () => {
    const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
    await uno.api.guias.crear(unaGuia())
    expect((await otro.api.eventos.listar()).datos).toEqual([])
  })
})
