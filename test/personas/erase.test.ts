import { describe, expect, it } from 'vitest'
import { eraseOldPersonas } from '../../server/domain/personas/erase.ts'
import { createLog } from '../../server/platform/log.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, RECOGIDA, readTestSettings } from '../factories.ts'

// Its own housekeeping does nothing meanwhile.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const eraseAfter = (days: number) =>
  eraseOldPersonas({
    db: environment.db,
    clock: () => new Date(environment.clock().getTime() + days * DAY_MS),
    log: createLog('silent'),
    settings: readTestSettings(),
  })
const PERSONAL_DATA = {
  destinatario: 'Ana Pérez',
  direccion: '5a avenida 10-20',
  indicaciones: 'Portón verde, preguntar por Ana',
  contenido: 'Medicinas de Ana',
}

describe('personal data', () => {
  it('go a year after the guide’s end, and a repeated creation still is the same one', async () => {
    const { api, id } = await environment.createComercio()
    const recogida = { ...RECOGIDA, contacto: 'Ana, bodega', telefono: '+50255550001', indicaciones: 'Portón' }
    const sentRequest = buildGuia({ ...PERSONAL_DATA, recogida, metadatos: { comprador: 'Ana Pérez' } })
    const { guia } = await api.guias.crear(sentRequest)
    const alive = await api.guias.crear(buildGuia(PERSONAL_DATA))
    await environment.asOperador('POST', `/guias/${guia}/eventos`, {
      tipo: 'guia.nota',
      descripcion: 'Ana no contesta',
      lat: 14.71,
      lng: -90.64,
    })
    await api.guias.cancelar(guia, { razon: 'Ana ya no lo quiere' })
    await eraseAfter(364)
    expect((await api.guias.obtener(guia)).destinatario).toBe('Ana Pérez')
    await eraseAfter(366)
    const borrada = await api.guias.obtener(guia)
    const nulos = [
      'telefono',
      'destinatario',
      'direccion',
      'indicaciones',
      'contenido',
      'lat',
      'lng',
      'maps_url',
    ] as const
    expect(nulos.map((field) => borrada[field])).toEqual(nulos.map(() => null))
    expect(borrada).toMatchObject({
      estado: 'cancelado',
      external_ref: sentRequest.external_ref,
      datos_borrados_en: expect.stringMatching(/Z$/),
    })
    const { rows } = await environment.db.pool.query(
      `select to_jsonb(g)::text as fila from guia g where comercio_id = $1 and guia = $2
       union all select to_jsonb(e)::text from evento e where comercio_id = $1 and guia = $2`,
      [id, guia],
    )
    expect(JSON.stringify(rows)).not.toMatch(/\bAna\b|Pérez|5a avenida|Portón|\+502|(?<!\d:)14\.71|90\.64/)
    expect(await api.guias.crear(sentRequest)).toMatchObject({
      guia,
      telefono: null,
      metadatos: {},
      advertencias: [{ codigo: 'ya_cancelada' }],
    })
    expect(await api.guias.obtener(alive.guia)).toMatchObject({ ...PERSONAL_DATA, datos_borrados_en: null })
  })

  it('include the reason for which a guide left without a confirmed place', async () => {
    const { api, id } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
    const forzar = { razon: 'Ana dijo por teléfono dónde vive' }
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta', forzar })
    const forzado = async () => {
      const { rows } = await environment.db.pool.query(
        'select datos from evento where comercio_id = $1 and guia = $2 and secuencia = 3',
        [id, guia],
      )
      return rows[0].datos
    }
    expect(await forzado()).toEqual({ forzado: forzar })
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_devolucion' })
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'devuelto' })
    await eraseAfter(366)
    expect((await api.guias.obtener(guia)).datos_borrados_en).not.toBeNull()
    expect(await forzado()).toEqual({})
  })

  it('are not written again by an event that comes after the erasure', async () => {
    const { api, id } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const ocurrido_en = environment.clock().toISOString()
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
    for (const estado of ['en_devolucion', 'devuelto'])
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })
    await eraseAfter(366)
    const registrar = (body: object) =>
      environment.asOperador('POST', `/guias/${guia}/eventos`, {
        descripcion: 'Ana no está',
        lat: 14.71,
        lng: -90.64,
        ...body,
      })
    const nota = await registrar({ tipo: 'guia.nota' })
    expect([nota.status, nota.body.codigo]).toEqual([409, 'datos_borrados'])
    const lateGuia = await registrar({ estado: 'en_bodega', ocurrido_en })
    expect([lateGuia.status, lateGuia.body.descripcion]).toEqual([201, 'Lectura recibida tarde'])
    const { rows } = await environment.db.pool.query(
      `select descripcion, lat from evento where comercio_id = $1 and guia = $2 and tipo = 'guia.escaneo_tardio'`,
      [id, guia],
    )
    expect(rows).toEqual([{ descripcion: null, lat: null }])
  })

  it('leave a proof to its own time, which still says what it signed', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await createDeliveredGuia(environment, comercio)
    await eraseAfter(366)
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'entregado', telefono: null })
    const prueba = await comercio.api.guias.pruebaEntrega(guia)
    expect(prueba.recibido_por.nombre).toBe('María López')
    // Afterwards the retention of places finds no place of the guide, which would tell it that the proof has one.
    expect(prueba).toMatchObject({ lat: null, lng: null, precision_m: null, distancia_m: null })
    const { rows } = await environment.db.pool.query(
      `select from archivo a join guia g on g.comercio_id = a.comercio_id and g.id = a.guia_id where g.guia = $1
         and a.lat is not null`,
      [guia],
    )
    expect(rows).toEqual([])
  })

  it('are found by the index of what is due', async () => {
    const { rows } = await environment.db.pool.query(`explain select from guia where datos_borrados_en is null
      and estado = any(array['entregado'::text, 'devuelto'::text, 'cancelado'::text]) and estado_en < now()
      order by estado_en limit 500`)
    expect(JSON.stringify(rows)).toContain('guia_por_olvidar_idx')
  })
})
