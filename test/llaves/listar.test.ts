import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { administrar } from './manage.ts'

const environment = shareEnvironment()
const { crearComercio, crearLlave } = administrar(environment)

describe('GET /operaciones/v1/comercios/{comercio}/llaves', () => {
  it('lists keys in pages', async () => {
    const { comercio } = await crearComercio()
    const ids = new Set([
      (await crearLlave(comercio)).id,
      (await crearLlave(comercio)).id,
      (await crearLlave(comercio)).id,
    ])
    const first = (await environment.asOperador('GET', `/comercios/${comercio}/llaves?limite=2`)).body
    const second = (
      await environment.asOperador('GET', `/comercios/${comercio}/llaves?cursor=${first.cursor_siguiente}`)
    ).body
    expect(new Set([...first.datos, ...second.datos].map((l) => l.id))).toEqual(ids)
    expect(second.cursor_siguiente).toBeNull()
  })

  it('pages through keys of the same instant without gaps', async () => {
    const { comercio } = await crearComercio()
    const ids: string[] = []
    for (const _round of [1, 2, 3]) ids.push((await crearLlave(comercio)).id)
    await environment.db.pool.query(
      `update llave set creado_en = '2026-01-01Z' where comercio_id = (select id from comercio where comercio = $1)`,
      [comercio],
    )
    const listed: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await environment.asOperador(
        'GET',
        `/comercios/${comercio}/llaves?limite=1${cursor && `&cursor=${cursor}`}`,
      )
      listed.push(...body.datos.map(({ id }: { id: string }) => id))
      cursor = body.cursor_siguiente
    }
    expect(listed).toEqual(ids.sort().reverse())
  })
})
