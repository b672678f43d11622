import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'

const entorno = shareEnvironment()
const cambiar = (comercio: string, cuerpo: object) => entorno.operar('PATCH', `/comercios/${comercio}`, cuerpo)
const crear = async () => (await entorno.operar('POST', '/comercios', { nombre: 'Tienda La Ceiba', pais: 'GT' })).cuerpo

describe('PATCH /operaciones/v1/comercios/{comercio}', () => {
  it('changes what it names and nothing else', async () => {
    let antes = await crear()
    const ritmos = { solicitudes: 10, guias: 2_000 }
    for (const cambio of [
      { pais: 'SV' },
      { estricto: true, ritmos },
      { nombre: 'Otra', estricto: false },
      { pais: null },
      { evidencia: { fotos_minimas: 10, firma: 'no', documento: 'obligatoria' } },
    ]) {
      const { status, cuerpo } = await cambiar(antes.comercio, cambio)
      expect([status, cuerpo]).toEqual([200, { ...antes, ...cambio }])
      antes = cuerpo
    }
    expect((await entorno.operar('GET', '/comercios')).cuerpo.datos).toContainEqual(antes)
  })

  it('changes one member of the evidence policy and leaves the others', async () => {
    const { comercio } = await crear()
    const politicas = []
    for (const evidencia of [{ fotos_minimas: 2 }, { firma: 'opcional' }, { documento: 'no' }])
      politicas.push((await cambiar(comercio, { evidencia })).cuerpo.evidencia)
    expect(politicas).toEqual([
      { fotos_minimas: 2, firma: 'obligatoria', documento: 'opcional' },
      { fotos_minimas: 2, firma: 'opcional', documento: 'opcional' },
      { fotos_minimas: 2, firma: 'opcional', documento: 'no' },
    ])
  })

  it('keeps the changes of all who change other members at the same time', async () => {
    const antes = await crear()
    const cambios = [{ nombre: 'Otra' }, { estricto: true }, { evidencia: { fotos_minimas: 2 } }]
    const cliente = await entorno.db.pool.connect()
    try {
      await cliente.query('begin')
      await cliente.query('select from comercio where comercio = $1 for no key update', [antes.comercio])
      const respuestas = cambios.map((cambio) => cambiar(antes.comercio, cambio))
      await hasta(async () => {
        const { rows } = await entorno.db.pool.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows[0]!.n === cambios.length
      })
      await cliente.query('commit')
      for (const respuesta of respuestas) expect((await respuesta).status).toBe(200)
    } finally {
      cliente.release(true)
    }
    const { datos } = (await entorno.operar('GET', '/comercios')).cuerpo
    const evidencia = { ...antes.evidencia, fotos_minimas: 2 }
    expect(datos).toContainEqual({ ...antes, nombre: 'Otra', estricto: true, evidencia })
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
  ])('refuses %o', async (cambio, campo) => {
    const { comercio } = await crear()
    const { status, cuerpo } = await cambiar(comercio, cambio)
    expect([status, cuerpo.errores.map((falla: { campo: string }) => falla.campo)]).toEqual([422, [campo]])
  })

  it('knows no other merchant', async () => {
    for (const comercio of ['com_000000000000', 'x'])
      expect((await cambiar(comercio, { pais: 'GT' })).cuerpo.codigo).toBe('comercio_desconocido')
  })
})
