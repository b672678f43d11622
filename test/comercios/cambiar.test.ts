import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'

const environment = shareEnvironment()
const change = (comercio: string, body: object) => environment.asOperador('PATCH', `/comercios/${comercio}`, body)
const create = async () =>
  (await environment.asOperador('POST', '/comercios', { nombre: 'Tienda La Ceiba', pais: 'GT' })).body

describe('PATCH /operaciones/v1/comercios/{comercio}', () => {
  it('changes what it names and nothing else', async () => {
    let before = await create()
    const ritmos = { solicitudes: 10, guias: 2_000 }
    for (const cambio of [
      { pais: 'SV' },
      { estricto: true, ritmos },
      { nombre: 'Otra', estricto: false },
      { pais: null },
      { evidencia: { fotos_minimas: 10, firma: 'no', documento: 'obligatoria' } },
    ]) {
      const { status, body } = await change(before.comercio, cambio)
      expect([status, body]).toEqual([200, { ...before, ...cambio }])
      before = body
    }
    expect((await environment.asOperador('GET', '/comercios')).body.datos).toContainEqual(before)
  })

  it('changes one member of the evidence policy and leaves the others', async () => {
    const { comercio } = await create()
    const politicas = []
    for (const evidencia of [{ fotos_minimas: 2 }, { firma: 'opcional' }, { documento: 'no' }])
      politicas.push((await change(comercio, { evidencia })).body.evidencia)
    expect(politicas).toEqual([
      { fotos_minimas: 2, firma: 'obligatoria', documento: 'opcional' },
      { fotos_minimas: 2, firma: 'opcional', documento: 'opcional' },
      { fotos_minimas: 2, firma: 'opcional', documento: 'no' },
    ])
  })

  it('keeps the changes of all who change other members at the same time', async () => {
    const before = await create()
    const cambios = [{ nombre: 'Otra' }, { estricto: true }, { evidencia: { fotos_minimas: 2 } }]
    const client = await environment.db.pool.connect()
    try {
      await client.query('begin')
      await client.query('select from comercio where comercio = $1 for no key update', [before.comercio])
      const responses = cambios.map((cambio) => change(before.comercio, cambio))
      await waitUntil(async () => {
        const { rows } = await environment.db.pool.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows[0]!.n === cambios.length
      })
      await client.query('commit')
      for (const response of responses) expect((await response).status).toBe(200)
    } finally {
      client.release(true)
    }
    const { datos } = (await environment.asOperador('GET', '/comercios')).body
    const evidencia = { ...before.evidencia, fotos_minimas: 2 }
    expect(datos).toContainEqual({ ...before, nombre: 'Otra', estricto: true, evidencia })
  })

  it.each([
    [{}, ''],
    [{ pais: 'gt' }, '/pais'],
    [{ pais: '' }, '/pais'],
    [{ estricto: 'no' }, '/estricto'],
    [{ estricto: null }, '/estricto'],
    [{ ritmos: { solicitudes: 0, guias: 1 } }, '/ritmos/solicitudes'],
    [{ ritmos: { solicitudes: 1 } }, '/ritmos/guias'],
    [{ evidencia: {} }, '/evidencia'],
    [{ evidencia: { fotos_minimas: 0 } }, '/evidencia/fotos_minimas'],
    [{ evidencia: { fotos_minimas: 11 } }, '/evidencia/fotos_minimas'],
    [{ evidencia: { firma: 'si' } }, '/evidencia/firma'],
    [{ evidencia: { documento: true } }, '/evidencia/documento'],
    [{ evidencia: { fotos: 2 } }, '/evidencia/fotos'],
    [{ comercio: 'com_000000000000' }, '/comercio'],
  ])('refuses %o', async (cambio, field) => {
    const { comercio } = await create()
    const { status, body } = await change(comercio, cambio)
    expect([status, body.errores.map((fault: { campo: string }) => fault.campo)]).toEqual([422, [field]])
  })

  it('knows no other merchant', async () => {
    for (const comercio of ['com_000000000000', 'x'])
      expect((await change(comercio, { pais: 'GT' })).body.codigo).toBe('comercio_desconocido')
  })
})
