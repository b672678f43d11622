import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const environment = shareEnvironment()
const registrar = (guia: string, body: object, key?: string) =>
  environment.asOperador('POST', `/guias/${guia}/eventos`, body, key)
const fresh = async (body: ReturnType<typeof buildGuia> | ReturnType<typeof buildGuiaWithoutDestino> = buildGuia()) => {
  const { api } = await environment.createComercio()
  return { api, guia: (await api.guias.crear(body)).guia }
}
const hace = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

describe('POST /operaciones/v1/guias/{guia}/eventos', () => {
  it('moves a guide, and its merchant reads what happened', async () => {
    const { api, guia } = await fresh()
    const { status, body } = await registrar(guia, {
      estado: 'recolectado',
      descripcion: 'Recolectado en Bodega Zona 12',
      lat: 14.583611,
      lng: -90.548611,
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      id: `evt_${guia}_2`,
      tipo: 'guia.recolectado',
      estado: 'recolectado',
      estado_anterior: 'aceptado',
      secuencia: 2,
      aplicado: true,
    })
    const { eventos, ...now } = await api.guias.obtener(guia)
    expect(now).toMatchObject({ estado: 'recolectado', secuencia: 2 })
    const { aplicado: _aplicado, ...evento } = body
    expect(eventos.datos[1]).toEqual(evento)
  })

  it('counts attempts and says whether the merchant must act', async () => {
    const { api, guia } = await fresh()
    for (const estado of ['recolectado', 'en_ruta']) await registrar(guia, { estado })
    expect((await registrar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })).body).toMatchObject({
      numero_intento: 1,
      requiere_accion: false,
    })
    await registrar(guia, { estado: 'en_ruta' })
    expect((await registrar(guia, { estado: 'intento_fallido', motivo: 'direccion_incorrecta' })).body).toMatchObject({
      numero_intento: 2,
      requiere_accion: true,
    })
    expect((await api.guias.obtener(guia)).intentos).toBe(2)
  })

  it('refuses what the state machine doesn’t allow, with what it does', async () => {
    const { guia } = await fresh()
    const { status, body } = await registrar(guia, { estado: 'entregado' })
    expect([status, body.codigo, body.estado, body.transiciones]).toEqual([
      409,
      'transicion_invalida',
      'aceptado',
      ['recolectado'],
    ])
    expect((await registrar(guia, { estado: 'cancelado' })).body.codigo).toBe('transicion_invalida')
  })

  it('lets nobody out to a place that is not confirmed, unless forced with a reason', async () => {
    const { api, guia } = await fresh(buildGuiaWithoutDestino())
    await registrar(guia, { estado: 'recolectado' })
    const { status, body } = await registrar(guia, { estado: 'en_ruta' })
    expect([status, body.codigo]).toEqual([409, 'ubicacion_sin_confirmar'])
    const razon = 'El destinatario dio la dirección por teléfono'
    expect((await registrar(guia, { estado: 'en_ruta', forzar: { razon } })).body).toMatchObject({
      aplicado: true,
      forzado: { razon },
    })
    // The recipient may be asked meanwhile.
    const { datos } = await api.guias.eventos(guia)
    expect(datos.find(({ tipo }) => tipo === 'guia.en_ruta')).toMatchObject({ forzado: { razon } })
  })

  it('does not mark a departure as forced when the place is confirmed', async () => {
    const { guia } = await fresh()
    await registrar(guia, { estado: 'recolectado' })
    const { status, body } = await registrar(guia, { estado: 'en_ruta', forzar: { razon: 'Ya sabemos el lugar' } })
    expect([status, body.aplicado, body.forzado]).toEqual([201, true, null])
  })

  it('notes a late scan and never moves the guide back', async () => {
    const { api, guia } = await fresh()
    await registrar(guia, { estado: 'recolectado' })
    await registrar(guia, { estado: 'en_ruta' })
    const { status, body } = await registrar(guia, { estado: 'en_bodega', ocurrido_en: hace(30) })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      tipo: 'guia.escaneo_tardio',
      aplicado: false,
      estado: 'en_ruta',
      estado_reportado: 'en_bodega',
      secuencia: 4,
    })
    expect(await api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', secuencia: 4 })
    // The next state is measured against the present state's own time, not the scan's.
    expect((await registrar(guia, buildEstadoReport('entregado'))).status).toBe(201)
    expect((await registrar(guia, { estado: 'extraviado', ocurrido_en: hace(20) })).body).toMatchObject({
      aplicado: false,
      estado: 'entregado',
    })
  })

  it('takes a note without moving anything', async () => {
    const { api, guia } = await fresh()
    const { body } = await registrar(guia, { tipo: 'guia.nota', descripcion: 'Llamar antes' })
    expect(body).toMatchObject({
      tipo: 'guia.nota',
      estado: 'aceptado',
      estado_anterior: 'aceptado',
      descripcion: 'Llamar antes',
      aplicado: true,
    })
    expect(await api.guias.obtener(guia)).toMatchObject({ estado: 'aceptado', secuencia: 2 })
  })

  it('registers an event once per idempotency key', async () => {
    const { api, guia } = await fresh()
    const evento = { estado: 'recolectado' }
    const responses = await Promise.all(Array.from({ length: 5 }, () => registrar(guia, evento, 'lector-07-1')))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
    expect(new Set(responses.map(({ body }) => body.id))).toEqual(new Set([`evt_${guia}_2`]))
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(4)
    const other = await registrar(guia, { estado: 'en_bodega' }, 'lector-07-1')
    expect([other.status, other.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    expect((await api.guias.obtener(guia)).secuencia).toBe(2)
  })

  it('answers 409 to a repeated key when the master key of its digest is lost', async () => {
    const { api, guia } = await fresh()
    const evento = { estado: 'recolectado' }
    await registrar(guia, evento, 'lector-07-1')
    // As after the loss of the key that made the digest: no present key has its id.
    await environment.db.pool.query(
      `set session_replication_role = replica;
       update evento set huella = regexp_replace(huella, '^[^:]+', '00000000') where guia = '${guia}' and secuencia = 2;
       reset session_replication_role`,
    )
    const other = await registrar(guia, evento, 'lector-07-1')
    expect([other.status, other.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    expect((await api.guias.obtener(guia)).secuencia).toBe(2)
  })

  it.each<[string, object, string]>([
    [
      'the future',
      { estado: 'recolectado', ocurrido_en: new Date(Date.now() + 3_600_000).toISOString() },
      '/ocurrido_en',
    ],
    ['a reason of another state', { estado: 'intento_fallido', motivo: 'robo' }, '/motivo'],
    ['a reason where there is none', { estado: 'recolectado', motivo: 'otro' }, '/motivo'],
    ['force where there is nothing to force', { estado: 'recolectado', forzar: { razon: 'porque sí' } }, '/forzar'],
    ['both a state and a note', { estado: 'recolectado', tipo: 'guia.nota', descripcion: 'x' }, ''],
    ['a state and the kind of a note', { estado: 'recolectado', tipo: 'guia.nota' }, '/descripcion'],
    ['a time before time', { estado: 'recolectado', ocurrido_en: '0000-01-01T00:00:00+14:00' }, '/ocurrido_en'],
    ['a time after time', { estado: 'recolectado', ocurrido_en: '9999-12-31T23:59:59.999-23:59' }, '/ocurrido_en'],
    ['neither', { descripcion: 'x' }, ''],
    ['a note without words', { tipo: 'guia.nota' }, ''],
    ['a state that doesn’t exist', { estado: 'volando' }, '/estado'],
    ['half a position', { estado: 'recolectado', lat: 14 }, '/lng'],
    ['a day that doesn’t exist', { estado: 'recolectado', ocurrido_en: '2026-02-30T00:00:00Z' }, '/ocurrido_en'],
  ])('refuses %s', async (_description, evento, field) => {
    const { api, guia } = await fresh()
    const { status, body } = await registrar(guia, evento)
    expect([status, body.errores.map((e: { campo: string }) => e.campo)]).toEqual([
      422,
      expect.arrayContaining([field]),
    ])
    expect((await api.guias.obtener(guia)).secuencia).toBe(1)
  })

  it('accepts a clock up to five minutes ahead', async () => {
    const { guia } = await fresh()
    expect(
      (await registrar(guia, { estado: 'recolectado', ocurrido_en: new Date(Date.now() + 4 * 60_000).toISOString() }))
        .status,
    ).toBe(201)
  })

  it('applies a scan without an instant after one dated four minutes ahead', async () => {
    const { api, guia } = await fresh()
    const ocurrido_en = new Date(Date.now() + 4 * 60_000).toISOString()
    await registrar(guia, { estado: 'recolectado', ocurrido_en })
    const { status, body } = await registrar(guia, { estado: 'en_bodega' })
    expect([status, body]).toMatchObject([201, { aplicado: true, estado: 'en_bodega', ocurrido_en }])
    expect((await api.guias.obtener(guia)).estado).toBe('en_bodega')
  })

  it('writes every one of many simultaneous notes, without gaps', async () => {
    const { api, guia } = await fresh()
    const estados = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        registrar(guia, { tipo: 'guia.nota', descripcion: `nota ${i}` }).then((r) => r.status),
      ),
    )
    const createdCount = estados.filter((s) => s === 201).length
    // Who loses three races is told so; nothing is written by halves.
    expect(estados.every((s) => s === 201 || s === 409)).toBe(true)
    // In each round of the race one note wins, so at least the notes of three rounds are written.
    expect(createdCount).toBeGreaterThanOrEqual(3)
    const { datos } = await api.guias.eventos(guia, { limite: 100 })
    expect(datos.map((e) => e.secuencia)).toEqual(Array.from({ length: createdCount + 1 }, (_, i) => i + 1))
  })

  it('answers 404 to an unknown guide', async () => {
    expect((await registrar('000000000000', { estado: 'recolectado' })).body.codigo).toBe('guia_desconocida')
  })
})
