import { ErrorConflicto, ErrorNoEncontrado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { hasta, sinDestino, unaGuia } from '../fabricas.ts'

const entorno = compartirEntorno()

const mover = async (guia: string, ...estados: string[]) => {
  for (const estado of estados) {
    const { status } = await entorno.operar('POST', `/guias/${guia}/eventos`, { estado })
    expect([estado, status]).toEqual([estado, 201])
  }
}

describe('GET /api/v1/guias/{guia}', () => {
  it('gives the guide and its history, oldest first, in pages', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    await mover(guia, 'recolectado', 'en_bodega', 'en_ruta', 'entregado')
    const primera = await api.guias.obtener(guia, { limite: 2 })
    expect(primera).toMatchObject({ estado: 'entregado', secuencia: 5 })
    expect(primera.eventos.datos.map((e) => e.estado)).toEqual(['aceptado', 'recolectado'])
    const segunda = await api.guias.obtener(guia, { limite: 100, cursor: primera.eventos.cursor_siguiente! })
    expect(segunda.eventos.datos.map((e) => [e.estado_anterior, e.estado])).toEqual([
      ['recolectado', 'en_bodega'],
      ['en_bodega', 'en_ruta'],
      ['en_ruta', 'entregado'],
    ])
    expect(segunda.eventos.cursor_siguiente).toBeNull()
    // The history alone is the same page, and takes the same cursor.
    expect((await api.guias.eventos(guia, { limite: 100, cursor: primera.eventos.cursor_siguiente! })).datos).toEqual(
      segunda.eventos.datos,
    )
  })

  it('takes the code as people type it', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    const escrito = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`
      .toLowerCase()
      .replaceAll('0', 'o')
      .replaceAll('1', 'l')
    expect((await api.guias.obtener(escrito)).guia).toBe(guia)
  })

  it.each(['000000000000', '7K3M9QX2A1BB', 'x', '¿?', '%00', '../guias', 'a'.repeat(64), 'A'.repeat(5_000)])(
    'answers 404 to %s',
    async (codigo) => {
      const { api } = await entorno.nuevoComercio()
      await expect(api.guias.obtener(codigo)).rejects.toBeInstanceOf(ErrorNoEncontrado)
    },
  )
})

describe('GET /api/v1/guias', () => {
  it('pages newest first, without doubles or gaps while guides are created', async () => {
    const { api } = await entorno.nuevoComercio()
    const creadas: string[] = []
    for (let i = 0; i < 25; i++) creadas.push((await api.guias.crear(unaGuia())).guia)
    const leidas: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const pagina = await api.guias.listar({ limite: leidas.length % 2 === 0 ? 4 : 3, ...(cursor ? { cursor } : {}) })
      leidas.push(...pagina.datos.map(({ guia }) => guia))
      cursor = pagina.cursor_siguiente
      await api.guias.crear(unaGuia())
    }
    expect(leidas).toEqual(creadas.reverse())
  })

  it('filters by states, reference and dates, which add up', async () => {
    const { api } = await entorno.nuevoComercio()
    const [a, b, c] = [
      await api.guias.crear(unaGuia()),
      await api.guias.crear(unaGuia()),
      await api.guias.crear(unaGuia()),
    ]
    await mover(b.guia, 'recolectado')
    await api.guias.cancelar(c.guia)
    const codigos = async (filtros: Parameters<typeof api.guias.listar>[0]) =>
      (await api.guias.listar(filtros)).datos.map(({ guia }) => guia)
    expect(await codigos({ estado: ['recolectado', 'cancelado'] })).toEqual([c.guia, b.guia])
    expect(await codigos({ estado: ['aceptado'] })).toEqual([a.guia])
    expect(await codigos({ external_ref: b.external_ref! })).toEqual([b.guia])
    expect(await codigos({ external_ref: b.external_ref!, estado: ['cancelado'] })).toEqual([])
    expect(await codigos({ creado_desde: b.creado_en })).toContain(b.guia)
    expect(await codigos({ creado_hasta: b.creado_en })).not.toContain(b.guia)
    expect(await codigos({ creado_desde: '2020-01-01T00:00:00-06:00', creado_hasta: '2020-02-01T00:00:00Z' })).toEqual(
      [],
    )
    const todas: string[] = []
    for await (const guia of api.guias.listar({ limite: 1, estado: ['recolectado', 'cancelado', 'aceptado'] }))
      todas.push(guia.guia)
    expect(todas).toEqual([c.guia, b.guia, a.guia])
  })

  it.each(['Infinity', '1e999', '1e1', '0x10', '+5', ' 5', '5.0', '-0', 'NaN', '101', '0', ''])(
    'refuses limite=%s',
    async (limite) => {
      const { llave } = await entorno.nuevoComercio()
      const { status, cuerpo } = await entorno.pedir('GET', `/api/v1/guias?limite=${encodeURIComponent(limite)}`, {
        llave,
      })
      expect([status, cuerpo.errores.map((e: { campo: string }) => e.campo)]).toEqual([400, ['limite']])
    },
  )

  it('takes no brackets for arrays', async () => {
    const { llave } = await entorno.nuevoComercio()
    const { status, cuerpo } = await entorno.pedir('GET', '/api/v1/guias?estado[]=aceptado', { llave })
    expect([status, cuerpo.errores[0].campo]).toEqual([400, 'estado[]'])
  })

  it('names every fault of its parameters', async () => {
    const { llave } = await entorno.nuevoComercio()
    const { status, cuerpo } = await entorno.pedir(
      'GET',
      '/api/v1/guias?limite=0&estado=volando&creado_desde=ayer&pagina=2',
      { llave },
    )
    expect(status).toBe(400)
    expect(cuerpo.codigo).toBe('parametro_invalido')
    expect(cuerpo.errores.map((e: { campo: string }) => e.campo).sort()).toEqual([
      'creado_desde',
      'estado',
      'limite',
      'pagina',
    ])
  })
})

describe('cursors', () => {
  it('are worthless once altered, or for another merchant, mode, operation or filter', async () => {
    const comercio = await entorno.nuevoComercio()
    const otro = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(unaGuia())
    await comercio.api.guias.crear(unaGuia())
    await mover(guia, 'recolectado')
    const { cursor_siguiente: cursor } = await comercio.api.guias.listar({ limite: 1 })
    const { eventos } = await comercio.api.guias.obtener(guia, { limite: 1 })
    const flujo = await comercio.api.eventos.listar({ limite: 1 })
    const pedir = async (ruta: string, llave: string, c: string) =>
      (await entorno.pedir('GET', `${ruta}${ruta.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(c)}`, { llave }))
        .cuerpo
    expect((await pedir('/api/v1/guias', comercio.llave, cursor!)).datos).toHaveLength(1)
    for (let i = 0; i < cursor!.length; i++) {
      const alterado = cursor!.slice(0, i) + (cursor![i] === 'A' ? 'B' : 'A') + cursor!.slice(i + 1)
      expect((await pedir('/api/v1/guias', comercio.llave, alterado)).codigo).toBe('cursor_invalido')
    }
    const enVivo = await entorno.nuevaLlave(comercio, { modo: 'live' })
    for (const [ruta, llave, c] of [
      ['/api/v1/guias', otro.llave, cursor],
      ['/api/v1/guias', enVivo, cursor],
      ['/api/v1/guias?estado=aceptado', comercio.llave, cursor],
      ['/api/v1/eventos', comercio.llave, cursor],
      ['/api/v1/guias', comercio.llave, flujo.cursor_siguiente],
      [`/api/v1/guias/${guia}/eventos`, comercio.llave, cursor],
      ['/api/v1/guias', comercio.llave, eventos.cursor_siguiente],
      ['/api/v1/guias', comercio.llave, 'AAAA'],
    ] as const) {
      expect([ruta, (await pedir(ruta, llave, c!)).codigo]).toEqual([ruta, 'cursor_invalido'])
    }
    // The page size is no filter.
    expect((await pedir('/api/v1/guias?limite=7', comercio.llave, cursor!)).datos).toHaveLength(1)
  })
})

describe('POST /api/v1/guias/{guia}/cancelar', () => {
  it('cancels an accepted guide, once, with the merchant’s words', async () => {
    const { api, comercio } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    expect(await api.guias.cancelar(guia, { descripcion: 'El cliente canceló el pedido' })).toMatchObject({
      estado: 'cancelado',
      secuencia: 2,
    })
    expect(await api.guias.cancelar(guia)).toMatchObject({ estado: 'cancelado', secuencia: 2 })
    const { eventos } = await api.guias.obtener(guia)
    expect(eventos.datos[1]).toMatchObject({
      tipo: 'guia.cancelado',
      estado_anterior: 'aceptado',
      descripcion: 'El cliente canceló el pedido',
    })
    expect(JSON.stringify(eventos)).not.toContain(comercio)
  })

  it('refuses once the courier has it, and says what is possible', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    await mover(guia, 'recolectado')
    const error = (await api.guias.cancelar(guia).catch((e: unknown) => e)) as ErrorConflicto
    expect(error).toBeInstanceOf(ErrorConflicto)
    expect([error.codigo, error.transiciones]).toEqual([
      'transicion_invalida',
      ['en_bodega', 'en_transito', 'en_ruta', 'en_devolucion', 'extraviado'],
    ])
  })

  it('refuses an unknown field of its body', async () => {
    const { llave, api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    expect(
      (await entorno.pedir('POST', `/api/v1/guias/${guia}/cancelar`, { llave, cuerpo: { motivo: 'x' } })).status,
    ).toBe(422)
  })

  it('has one winner against a collection, 100 times', async () => {
    const { api } = await entorno.nuevoComercio()
    const { resultados } = await api.guias.crearLote({ guias: Array.from({ length: 100 }, () => unaGuia()) })
    for (const { guia } of resultados as { guia: string }[]) {
      const [cancelada, recolectada] = await Promise.all([
        api.guias.cancelar(guia).then(
          () => true,
          () => false,
        ),
        entorno
          .operar('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
          .then(({ status }) => status === 201),
      ])
      expect([cancelada, recolectada].filter(Boolean)).toHaveLength(1)
      const { estado, secuencia, eventos } = await api.guias.obtener(guia)
      expect([estado, secuencia, eventos.datos.length]).toEqual([cancelada ? 'cancelado' : 'recolectado', 2, 2])
    }
  })
})

describe('GET /api/v1/eventos', () => {
  it('gives every event once, in order per guide, and a cursor to come back with', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    const otra = await api.guias.crear(sinDestino())
    await hasta(async () => (await api.guias.obtener(otra.guia)).secuencia === 2)
    await mover(guia, 'recolectado', 'en_ruta')
    const vistos: string[] = []
    let cursor: string | undefined
    do {
      const pagina = await api.eventos.listar({ limite: 2, ...(cursor ? { cursor } : {}) })
      vistos.push(...pagina.datos.map(({ id }) => id))
      if (pagina.datos.length === 0) break
      cursor = pagina.cursor_siguiente
    } while (cursor)
    expect([...vistos].sort()).toEqual(
      [`evt_${guia}_1`, `evt_${guia}_2`, `evt_${guia}_3`, `evt_${otra.guia}_1`, `evt_${otra.guia}_2`].sort(),
    )
    expect(vistos.filter((id) => id.includes(guia))).toEqual([`evt_${guia}_1`, `evt_${guia}_2`, `evt_${guia}_3`])
    await mover(guia, 'entregado')
    const nuevos = await api.eventos.listar({ cursor: cursor! })
    expect(nuevos.datos.map(({ tipo }) => tipo)).toEqual(['guia.entregado'])
  })

  it('never skips what commits late', async () => {
    const { api, id } = await entorno.nuevoComercio()
    const tardia = await api.guias.crear(unaGuia())
    const { cursor_siguiente: antes } = await api.eventos.listar()
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
