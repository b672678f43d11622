import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY } from '../factories.ts'

const FALLIDO = { estado: 'intento_fallido', motivo: 'destinatario_ausente' }
const entorno = shareEnvironment()

describe('GET /operaciones/v1/guias', () => {
  it('finds the guides of all merchants and modes, and says whose they are', async () => {
    const uno = await entorno.nuevoComercio()
    const otro = await entorno.nuevoComercio('live')
    const telefono = '+50232963399'
    const [a, b] = [
      await uno.api.guias.crear(buildGuia({ telefono })),
      await otro.api.guias.crear(buildGuia({ telefono })),
    ]
    const buscar = async (consulta: string) =>
      (await entorno.operar('GET', `/guias?${consulta}`)).cuerpo.datos.map(
        (g: { guia: string; comercio: string; modo: string }) => [g.guia, g.comercio, g.modo],
      )
    expect(await buscar(`telefono=${encodeURIComponent('+502 3296-3399')}`)).toEqual([
      [b.guia, otro.comercio, 'live'],
      [a.guia, uno.comercio, 'test'],
    ])
    expect(await buscar(`telefono=${encodeURIComponent(telefono)}&modo=test`)).toEqual([[a.guia, uno.comercio, 'test']])
    expect(await buscar(`comercio=${otro.comercio}`)).toEqual([[b.guia, otro.comercio, 'live']])
    expect(await buscar(`external_ref=${a.external_ref}`)).toEqual([[a.guia, uno.comercio, 'test']])
    expect(await buscar(`comercio=${uno.comercio}&estado=cancelado`)).toEqual([])
    expect((await entorno.operar('GET', '/guias?comercio=com_NADIE')).cuerpo.datos ?? 'sin datos').toEqual([])
    expect((await entorno.operar('GET', '/guias?telefono=123')).cuerpo.errores[0].campo).toBe('telefono')
  })

  it('reads a telephone without + only with its country', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia({ telefono: '+50432963400' }))
    const buscar = async (consulta: string) => (await entorno.operar('GET', `/guias?${consulta}`)).cuerpo
    const codigos = async (consulta: string) =>
      (await buscar(consulta)).datos.map((una: { guia: string }) => una.guia as string)
    expect(await codigos('telefono=3296%203400&pais=HN')).toEqual([guia])
    expect(await codigos('telefono=3296-3400&pais=GT')).toEqual([])
    expect(await codigos('telefono=%2B504%203296-3400&pais=GT')).toEqual([guia])
    for (const telefono of ['3296 3400', '+504 3296 3400'])
      expect((await buscar(`telefono=${telefono}`)).errores).toEqual([
        { campo: 'telefono', codigo: 'formato_invalido', mensaje: expect.stringMatching(/%2B.*o diga el pais$/) },
      ])
    expect((await buscar('telefono=55&pais=GT')).errores[0].mensaje).toMatch(/^le faltan dígitos/)
    expect((await buscar('pais=HN')).errores).toEqual([
      { campo: 'pais', codigo: 'incompatible', mensaje: expect.stringMatching(/^va con telefono/) },
    ])
    expect((await buscar('comercio=com_NADIE&telefono=32963400')).codigo).toBe('parametro_invalido')
  })

  it('finds guides by place, change, decision and metadata, of all merchants', async () => {
    const uno = await entorno.nuevoComercio()
    const otro = await entorno.nuevoComercio('live')
    const lote = `lote-${uno.comercio}`
    const metadatos = { lote }
    const fallida = (await uno.api.guias.crear(buildGuia({ metadatos }))).guia
    for (const paso of [{ estado: 'recolectado' }, { estado: 'en_ruta' }, FALLIDO])
      await entorno.operar('POST', `/guias/${fallida}/eventos`, paso)
    const pendiente = (await uno.api.guias.crear(buildGuiaWithoutDestino({ metadatos }))).guia
    const confirmada = (await otro.api.guias.crear(buildGuia({ metadatos: { lote, canal: 'web' } }))).guia
    const buscar = async (consulta: string) => {
      const { cuerpo } = await entorno.operar('GET', `/guias?metadatos[lote]=${lote}&${consulta}`)
      return cuerpo.datos?.map((una: { guia: string }) => una.guia) ?? cuerpo
    }
    expect(await buscar('')).toEqual([confirmada, pendiente, fallida])
    expect(await buscar('metadatos[canal]=web')).toEqual([confirmada])
    expect(await buscar('ubicacion=solicitada&ubicacion=vencida')).toEqual([pendiente])
    expect(await buscar('ubicacion=confirmada&modo=live')).toEqual([confirmada])
    expect(await buscar('decision=pendiente')).toEqual([fallida])
    expect(await buscar('decision=aplicada&decision=superada')).toEqual([])
    expect(await buscar('estado=aceptado')).toEqual([confirmada, pendiente])
    expect(await buscar(`estado=aceptado&comercio=${uno.comercio}`)).toEqual([pendiente])
    expect(await buscar(`comercio=${uno.comercio}&modo=test`)).toEqual([pendiente, fallida])
    const { actualizado_en } = await uno.api.guias.obtener(fallida)
    expect(await buscar(`actualizado_desde=${actualizado_en}`)).toContain(fallida)
    expect(await buscar('actualizado_desde=2099-01-01T00:00:00Z')).toEqual([])
  })

  it('merges the modes and states of a merchant, newest first', async () => {
    const comercio = await entorno.nuevoComercio()
    const llave = await entorno.createLlave(comercio, { modo: 'live' })
    const creadas: string[] = []
    for (const de of [comercio.llave, llave, comercio.llave, llave])
      creadas.unshift((await entorno.request('POST', '/api/v1/guias', { llave: de, cuerpo: buildGuia() })).cuerpo.guia)
    await comercio.api.guias.cancelar(creadas[1]!)
    const buscar = async (consulta: string) =>
      (await entorno.operar('GET', `/guias?comercio=${comercio.comercio}&${consulta}`)).cuerpo
    const codigos = ({ datos }: { datos: { guia: string }[] }) => datos.map(({ guia }) => guia)
    expect(codigos(await buscar(''))).toEqual(creadas)
    expect(codigos(await buscar('estado=cancelado&estado=aceptado'))).toEqual(creadas)
    expect(codigos(await buscar('estado=cancelado'))).toEqual([creadas[1]])
    const primera = await buscar('limite=3&ubicacion=confirmada')
    expect(codigos(primera)).toEqual(creadas.slice(0, 3))
    const segunda = await buscar(`limite=3&ubicacion=confirmada&cursor=${primera.cursor_siguiente}`)
    expect([codigos(segunda), segunda.cursor_siguiente]).toEqual([creadas.slice(3), null])
  })

  it('pages over everything', FULL_RUN_ONLY, async () => {
    const { api } = await entorno.nuevoComercio()
    await api.guias.crearLote({ guias: Array.from({ length: 7 }, () => buildGuia()) })
    const vistas = new Set<string>()
    let cuantas = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { cuerpo } = await entorno.operar('GET', `/guias?limite=3${cursor ? `&cursor=${cursor}` : ''}`)
      for (const { guia } of cuerpo.datos) vistas.add(guia)
      cuantas += cuerpo.datos.length
      cursor = cuerpo.cursor_siguiente
    }
    const { rows } = await entorno.db.pool.query('select count(*)::int as n from guia')
    expect([vistas.size, cuantas]).toEqual([rows[0].n, rows[0].n])
  })
})
