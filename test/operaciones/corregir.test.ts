import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()
const RAZON = 'El destinatario llamó y dio su número'

describe('PATCH /operaciones/v1/guias/{guia}', () => {
  it('corrects a guide of any merchant; the merchant reads the reason and who gave the place', async () => {
    const { api, comercio } = await environment.createComercio('live')
    const { guia } = await api.guias.crear(buildGuia())
    const { status, body } = await environment.asOperador('PATCH', `/guias/${guia}`, {
      telefono: '+52 55 1234 5678',
      lat: 14.72,
      lng: -90.64,
      razon: RAZON,
      secuencia: 1,
    })
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ comercio, telefono: '+525512345678', lat: 14.72, secuencia: 3 }),
    ])
    const { eventos, ubicacion } = await api.guias.obtener(guia)
    expect(ubicacion).toMatchObject({ origen: 'operador', lat: 14.72, lng: -90.64 })
    expect(eventos.datos.slice(1).map(({ tipo, descripcion }) => [tipo, descripcion])).toEqual([
      ['guia.corregida', RAZON],
      ['ubicacion.confirmada', RAZON],
    ])
  })

  it('reads a telephone without + only with its country', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const corregir = (body: object) => environment.asOperador('PATCH', `/guias/${guia}`, { ...body, razon: RAZON })
    const { status, body: cuerpo } = await corregir({ telefono: '9987 1234' })
    expect([status, cuerpo.errores[0].campo]).toEqual([422, '/telefono'])
    expect((await corregir({ telefono: '9987 1234', pais: 'HN' })).body.telefono).toBe('+50499871234')
  })

  it('reads the telephone of a pickup without + only with the country of the request', async () => {
    const { api, comercio } = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio}`, { pais: 'GT' })
    const { guia } = await api.guias.crear(buildGuia())
    const corregir = (body: object) => environment.asOperador('PATCH', `/guias/${guia}`, { ...body, razon: RAZON })
    const recogida = { telefono: '9987 1234' }
    const { status, body: cuerpo } = await corregir({ recogida })
    expect([status, cuerpo.errores]).toEqual([
      422,
      [expect.objectContaining({ campo: '/recogida/telefono', mensaje: expect.stringMatching(/o diga el pais$/) })],
    ])
    expect((await corregir({ recogida, pais: 'HN' })).body.recogida.telefono).toBe('+50499871234')
    expect((await corregir({ recogida: { telefono: '+502 5555 9876' }, pais: 'HN' })).body.recogida.telefono).toBe(
      '+50255559876',
    )
    const ambos = await corregir({ telefono: '3148 1676', recogida: { telefono: '5555 9877' }, pais: 'GT' })
    expect([ambos.body.telefono, ambos.body.recogida.telefono]).toEqual(['+50231481676', '+50255559877'])
    expect((await corregir({ recogida: { telefono: '55' }, pais: 'GT' })).body.errores[0].campo).toBe(
      '/recogida/telefono',
    )
  })

  it('warns of an implausible place, also in a strict account', async () => {
    const { api, comercio } = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio}`, { estricto: true })
    const { guia } = await api.guias.crear(buildGuia())
    const { status, body } = await environment.asOperador('PATCH', `/guias/${guia}`, { lat: 0, lng: 0, razon: RAZON })
    expect([status, body.advertencias.map(({ codigo }: { codigo: string }) => codigo)]).toEqual([
      200,
      ['coordenadas_en_cero'],
    ])
  })

  it('does it once for a key, and refuses the key of another correction', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const corregir = (contenido: string) =>
      environment.asOperador('PATCH', `/guias/${guia}`, { contenido, razon: RAZON, secuencia: 1 }, 'llamada-7')
    const [one, other] = [await corregir('Un libro'), await corregir('Un libro')]
    expect([one, other].map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
      [200, null],
      [200, 'true'],
    ])
    expect(other.body).toEqual(one.body)
    expect((await corregir('Dos libros')).body.codigo).toBe('idempotencia_en_conflicto')
  })

  it.each<[string, object, number, string]>([
    ['no reason', { telefono: '+50259871234' }, 422, 'validacion'],
    ['nothing to correct', { razon: RAZON }, 422, 'validacion'],
    ['another sequence', { destinatario: 'Luis', secuencia: 7, razon: RAZON }, 409, 'carrera_perdida'],
  ])('rejects %s', async (_description, body, status, codigo) => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const response = await environment.asOperador('PATCH', `/guias/${guia}`, body)
    expect([response.status, response.body.codigo]).toEqual([status, codigo])
  })

  it('returns 404 for an unknown guide and 409 once the courier is on the way', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta'])
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })
    const corregir = (codigo: string) =>
      environment.asOperador('PATCH', `/guias/${codigo}`, { direccion: 'Calle 2', razon: RAZON })
    const { status, body } = await corregir(guia)
    expect([status, body.codigo, body.estado]).toEqual([409, 'no_corregible', 'en_ruta'])
    expect((await corregir('7K3M9QX2A1B4')).status).toBe(404)
  })
})
