import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from './move.ts'

const environment = shareEnvironment()
const { mover } = useGuias(environment)

describe('GET /api/v1/guias', () => {
  it('pages newest first, without doubles or gaps while guides are created', async () => {
    const { api } = await environment.createComercio()
    const created: string[] = []
    for (let i = 0; i < 25; i++) created.push((await api.guias.crear(buildGuia())).guia)
    const listed: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await api.guias.listar({ limite: listed.length % 2 === 0 ? 4 : 3, ...(cursor ? { cursor } : {}) })
      listed.push(...page.datos.map(({ guia }) => guia))
      cursor = page.cursor_siguiente
      await api.guias.crear(buildGuia())
    }
    expect(listed).toEqual(created.reverse())
  })

  it('filters by states, reference and dates, which add up', async () => {
    const { api } = await environment.createComercio()
    const [a, b, c] = [
      await api.guias.crear(buildGuia()),
      await api.guias.crear(buildGuia()),
      await api.guias.crear(buildGuia()),
    ]
    await mover(b.guia, 'recolectado')
    await api.guias.cancelar(c.guia)
    const codigos = async (filters: Parameters<typeof api.guias.listar>[0]) =>
      (await api.guias.listar(filters)).datos.map(({ guia }) => guia)
    expect(await codigos({ estado: ['recolectado', 'cancelado'] })).toEqual([c.guia, b.guia])
    expect(await codigos({ estado: ['aceptado'] })).toEqual([a.guia])
    expect(await codigos({ external_ref: b.external_ref! })).toEqual([b.guia])
    expect(await codigos({ external_ref: b.external_ref!, estado: ['cancelado'] })).toEqual([])
    expect(await codigos({ creado_desde: b.creado_en })).toContain(b.guia)
    expect(await codigos({ creado_hasta: b.creado_en })).not.toContain(b.guia)
    expect(await codigos({ creado_desde: '2020-01-01T00:00:00-06:00', creado_hasta: '2020-02-01T00:00:00Z' })).toEqual(
      [],
    )
    const all: string[] = []
    for await (const guia of api.guias.listar({ limite: 1, estado: ['recolectado', 'cancelado', 'aceptado'] }))
      all.push(guia.guia)
    expect(all).toEqual([c.guia, b.guia, a.guia])
  })

  it('finds a guide by its reference in NFD', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ external_ref: 'PEDIDÓ-1'.normalize('NFC') }))
    const { datos } = await api.guias.listar({ external_ref: 'PEDIDÓ-1'.normalize('NFD') })
    expect(datos.map((one) => one.guia)).toEqual([guia])
  })

  it.each(['Infinity', '1e999', '1e1', '0x10', '+5', ' 5', '5.0', '-0', 'NaN', '101', '0', ''])(
    'refuses limite=%s',
    async (limite) => {
      const { llave } = await environment.createComercio()
      const { status, body } = await environment.request('GET', `/api/v1/guias?limite=${encodeURIComponent(limite)}`, {
        llave,
      })
      expect([status, body.errores.map((e: { campo: string }) => e.campo)]).toEqual([400, ['limite']])
    },
  )

  it('takes no brackets for arrays', async () => {
    const { llave } = await environment.createComercio()
    const { status, body } = await environment.request('GET', '/api/v1/guias?estado[]=aceptado', { llave })
    expect([status, body.errores[0].campo]).toEqual([400, 'estado[]'])
  })

  it('names every fault of its parameters', async () => {
    const { llave } = await environment.createComercio()
    const { status, body } = await environment.request(
      'GET',
      '/api/v1/guias?limite=0&estado=volando&creado_desde=ayer&pagina=2',
      { llave },
    )
    expect(status).toBe(400)
    expect(body.codigo).toBe('parametro_invalido')
    expect(body.errores.map((e: { campo: string }) => e.campo).sort()).toEqual([
      'creado_desde',
      'estado',
      'limite',
      'pagina',
    ])
  })
})
