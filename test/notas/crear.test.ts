import { describe, expect, it } from 'vitest'
import { eraseOldPersonas } from '../../server/domain/personas/erase.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia } from '../factories.ts'
import { buildMensajeDeps } from '../mensajeria/channel.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const anotar = (guia: string, body: unknown, key?: string) =>
  environment.asOperador('POST', `/guias/${guia}/notas`, body, key)
const notasOf = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}/notas`)).body.datos
const count = async (guia: string) =>
  (
    await environment.db.pool.query(
      `select count(*)::int as n from nota n join guia g on g.comercio_id = n.comercio_id and g.id = n.guia_id
       where g.guia = $1`,
      [guia],
    )
  ).rows[0].n

describe('POST /operaciones/v1/guias/{guia}/notas', () => {
  it('writes a note with its author, which the merchant does not read', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const { status, body } = await anotar(guia, { texto: 'Llamó la destinataria.\nPasa el jueves.' })
    expect([status, body]).toEqual([
      201,
      {
        nota: expect.stringMatching(/^not_[0-9A-Z]{12}$/),
        guia,
        texto: 'Llamó la destinataria.\nPasa el jueves.',
        autor: { autor: expect.stringMatching(/^op_/), nombre: expect.any(String) },
        creado_en: expect.stringMatching(/Z$/),
      },
    ])
    expect(await notasOf(guia)).toEqual([body])
    const { eventos, secuencia } = await api.guias.obtener(guia)
    expect([secuencia, eventos.datos.length]).toEqual([1, 1])
  })

  it('names the person of a session, until the person is erased', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const ana = await createTestPersona(environment, { alcances: ['ver', 'operar'] })
    const { body } = await ana.request('POST', `/operaciones/v1/guias/${guia}/notas`, { texto: 'Llamó' })
    expect(body.autor).toEqual({ autor: ana.persona, nombre: expect.any(String) })
    await environment.asOperador('DELETE', `/personas/${ana.persona}`)
    expect((await notasOf(guia))[0].autor).toEqual({ autor: ana.persona, nombre: null })
  })

  it('does the work of a repeated request once', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const sentRequest = { texto: 'Llamó' }
    const first = await anotar(guia, sentRequest, 'nota-1')
    const repetition = await anotar(guia, sentRequest, 'nota-1')
    expect([repetition.status, repetition.body]).toEqual([201, first.body])
    expect(repetition.headers.get('idempotent-replayed')).toBe('true')
    const other = await anotar(guia, { texto: 'No llamó' }, 'nota-1')
    expect([other.status, other.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    expect(await count(guia)).toBe(1)
  })

  it('is erased with the guide’s personal data, and refused afterwards', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await anotar(guia, { texto: 'Llamó doña Ana' })
    await api.guias.cancelar(guia)
    const clock = () => new Date(environment.clock().getTime() + 366 * 86_400_000)
    await eraseOldPersonas({ ...buildMensajeDeps(environment), clock })
    expect(await count(guia)).toBe(0)
    const { status, body } = await anotar(guia, { texto: 'Llamó doña Ana' })
    expect([status, body.codigo]).toEqual([409, 'datos_borrados'])
    expect(await count(guia)).toBe(0)
  })

  it('returns 422 without words, and 404 for an unknown guide', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    for (const text of ['', ' \n', 'x'.repeat(1_001)])
      expect((await anotar(guia, { texto: text })).body.errores[0].campo).toBe('/texto')
    expect((await anotar(newGuideCode(), { texto: 'x' })).status).toBe(404)
  })
})
