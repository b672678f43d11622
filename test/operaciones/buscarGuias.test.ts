import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY } from '../factories.ts'

const FALLIDO = { estado: 'intento_fallido', motivo: 'destinatario_ausente' }
const environment = shareEnvironment()

describe('GET /operaciones/v1/guias', () => {
  it('finds the guides of all merchants and modes, and says whose they are', async () => {
    const one = await environment.createComercio()
    const other = await environment.createComercio('live')
    const telefono = '+50232963399'
    const [a, b] = [
      await one.api.guias.crear(buildGuia({ telefono })),
      await other.api.guias.crear(buildGuia({ telefono })),
    ]
    const search = async (query: string) =>
      (await environment.asOperador('GET', `/guias?${query}`)).body.datos.map(
        (g: { guia: string; comercio: string; modo: string }) => [g.guia, g.comercio, g.modo],
      )
    expect(await search(`telefono=${encodeURIComponent('+502 3296-3399')}`)).toEqual([
      [b.guia, other.comercio, 'live'],
      [a.guia, one.comercio, 'test'],
    ])
    expect(await search(`telefono=${encodeURIComponent(telefono)}&modo=test`)).toEqual([[a.guia, one.comercio, 'test']])
    expect(await search(`comercio=${other.comercio}`)).toEqual([[b.guia, other.comercio, 'live']])
    expect(await search(`external_ref=${a.external_ref}`)).toEqual([[a.guia, one.comercio, 'test']])
    expect(await search(`comercio=${one.comercio}&estado=cancelado`)).toEqual([])
    expect((await environment.asOperador('GET', '/guias?comercio=com_NADIE')).body.datos ?? 'sin datos').toEqual([])
    expect((await environment.asOperador('GET', '/guias?telefono=123')).body.errores[0].campo).toBe('telefono')
  })

  it('reads a telephone without + only with its country', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ telefono: '+50432963400' }))
    const search = async (query: string) => (await environment.asOperador('GET', `/guias?${query}`)).body
    const codigos = async (query: string) =>
      (await search(query)).datos.map((one: { guia: string }) => one.guia as string)
    expect(await codigos('telefono=3296%203400&pais=HN')).toEqual([guia])
    expect(await codigos('telefono=3296-3400&pais=GT')).toEqual([])
    expect(await codigos('telefono=%2B504%203296-3400&pais=GT')).toEqual([guia])
    for (const telefono of ['3296 3400', '+504 3296 3400'])
      expect((await search(`telefono=${telefono}`)).errores).toEqual([
        { campo: 'telefono', codigo: 'formato_invalido', mensaje: expect.stringMatching(/%2B.*o diga el pais$/) },
      ])
    expect((await search('telefono=55&pais=GT')).errores[0].mensaje).toMatch(/^le faltan dígitos/)
    expect((await search('pais=HN')).errores).toEqual([
      { campo: 'pais', codigo: 'incompatible', mensaje: expect.stringMatching(/^va con telefono/) },
    ])
    expect((await search('comercio=com_NADIE&telefono=32963400')).codigo).toBe('parametro_invalido')
  })

  it('finds guides by place, change, decision and metadata, of all merchants', async () => {
    const one = await environment.createComercio()
    const other = await environment.createComercio('live')
    const lote = `lote-${one.comercio}`
    const metadatos = { lote }
    const fallida = (await one.api.guias.crear(buildGuia({ metadatos }))).guia
    for (const step of [{ estado: 'recolectado' }, { estado: 'en_ruta' }, FALLIDO])
      await environment.asOperador('POST', `/guias/${fallida}/eventos`, step)
    const pending = (await one.api.guias.crear(buildGuiaWithoutDestino({ metadatos }))).guia
    const confirmed = (await other.api.guias.crear(buildGuia({ metadatos: { lote, canal: 'web' } }))).guia
    const search = async (query: string) => {
      const { body } = await environment.asOperador('GET', `/guias?metadatos[lote]=${lote}&${query}`)
      return body.datos?.map((one: { guia: string }) => one.guia) ?? body
    }
    expect(await search('')).toEqual([confirmed, pending, fallida])
    expect(await search('metadatos[canal]=web')).toEqual([confirmed])
    expect(await search('ubicacion=solicitada&ubicacion=vencida')).toEqual([pending])
    expect(await search('ubicacion=confirmada&modo=live')).toEqual([confirmed])
    expect(await search('decision=pendiente')).toEqual([fallida])
    expect(await search('decision=aplicada&decision=superada')).toEqual([])
    expect(await search('estado=aceptado')).toEqual([confirmed, pending])
    expect(await search(`estado=aceptado&comercio=${one.comercio}`)).toEqual([pending])
    expect(await search(`comercio=${one.comercio}&modo=test`)).toEqual([pending, fallida])
    const { actualizado_en } = await one.api.guias.obtener(fallida)
    expect(await search(`actualizado_desde=${actualizado_en}`)).toContain(fallida)
    expect(await search('actualizado_desde=2099-01-01T00:00:00Z')).toEqual([])
  })

  it('merges the modes and states of a merchant, newest first', async () => {
    const comercio = await environment.createComercio()
    const llave = await environment.createLlave(comercio, { modo: 'live' })
    const created: string[] = []
    for (const caller of [comercio.llave, llave, comercio.llave, llave])
      created.unshift(
        (await environment.request('POST', '/api/v1/guias', { llave: caller, body: buildGuia() })).body.guia,
      )
    await comercio.api.guias.cancelar(created[1]!)
    const search = async (query: string) =>
      (await environment.asOperador('GET', `/guias?comercio=${comercio.comercio}&${query}`)).body
    const codigos = ({ datos }: { datos: { guia: string }[] }) => datos.map(({ guia }) => guia)
    expect(codigos(await search(''))).toEqual(created)
    expect(codigos(await search('estado=cancelado&estado=aceptado'))).toEqual(created)
    expect(codigos(await search('estado=cancelado'))).toEqual([created[1]])
    const first = await search('limite=3&ubicacion=confirmada')
    expect(codigos(first)).toEqual(created.slice(0, 3))
    const second = await search(`limite=3&ubicacion=confirmada&cursor=${first.cursor_siguiente}`)
    expect([codigos(second), second.cursor_siguiente]).toEqual([created.slice(3), null])
  })

  it('pages over everything', FULL_RUN_ONLY, async () => {
    const { api } = await environment.createComercio()
    await api.guias.crearLote({ guias: Array.from({ length: 7 }, () => buildGuia()) })
    const seen = new Set<string>()
    let count = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await environment.asOperador('GET', `/guias?limite=3${cursor ? `&cursor=${cursor}` : ''}`)
      for (const { guia } of body.datos) seen.add(guia)
      count += body.datos.length
      cursor = body.cursor_siguiente
    }
    const { rows } = await environment.db.pool.query('select count(*)::int as n from guia')
    expect([seen.size, count]).toEqual([rows[0].n, rows[0].n])
  })
})
