import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const environment = shareEnvironment()
const confirmar = (guia: string, body: object) => environment.asOperador('POST', `/guias/${guia}/ubicacion`, body)
const LUGAR = { lat: 14.70811, lng: -90.50042, referencia: 'Portón verde' }
const RAZON = 'El destinatario lo dijo por teléfono'
const fresh = async (
  body: ReturnType<typeof buildGuia> | ReturnType<typeof buildGuiaWithoutDestino> = buildGuiaWithoutDestino(),
) => {
  const { api, comercio } = await environment.createComercio()
  return { api, comercio, guia: (await api.guias.crear(body)).guia }
}

describe('POST /operaciones/v1/guias/{guia}/ubicacion', () => {
  it('confirms the place with the operator as its origin; the merchant reads the reason', async () => {
    const { api, comercio, guia } = await fresh()
    const { status, body } = await confirmar(guia, { ...LUGAR, razon: RAZON })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      guia,
      comercio,
      repartidor: null,
      ubicacion: { estado: 'confirmada', origen: 'operador', ...LUGAR },
    })
    const read = await api.guias.obtener(guia)
    // The request to the recipient ends a moment later.
    expect({ ...read.ubicacion, solicitud: null }).toEqual({ ...body.ubicacion, solicitud: null })
    expect(read.eventos.datos.at(-1)).toMatchObject({
      tipo: 'ubicacion.confirmada',
      descripcion: RAZON,
      lat: LUGAR.lat,
      lng: LUGAR.lng,
    })
  })

  it('changes nothing when the same place is confirmed again', async () => {
    const { guia } = await fresh()
    const { body: first } = await confirmar(guia, { ...LUGAR, razon: RAZON })
    const { status, body } = await confirmar(guia, { ...LUGAR, razon: 'Otra razón' })
    expect([status, body.secuencia, body.ubicacion.confirmado_en]).toEqual([
      200,
      first.secuencia,
      first.ubicacion.confirmado_en,
    ])
  })

  it('corrects a place that the merchant gave, also from a map link', async () => {
    const { api, guia } = await fresh(buildGuia())
    const { body } = await confirmar(guia, {
      maps_url: `https://www.google.com/maps?q=${LUGAR.lat},${LUGAR.lng}`,
      razon: RAZON,
    })
    expect(body.ubicacion).toMatchObject({ origen: 'operador', lat: LUGAR.lat, lng: LUGAR.lng })
    expect((await api.guias.obtener(guia)).ubicacion).toEqual(body.ubicacion)
  })

  it('returns 409 once the courier is on the way to a confirmed place', async () => {
    const { guia } = await fresh(buildGuia())
    for (const estado of ['recolectado', 'en_ruta'])
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })
    const { status, body } = await confirmar(guia, { ...LUGAR, razon: RAZON })
    expect([status, body.codigo, body.estado]).toEqual([409, 'ubicacion_cerrada', 'en_ruta'])
  })

  it('returns 422 for a place without a reason, a reason without a place, and half a place', async () => {
    const { guia } = await fresh()
    for (const [body, field] of [
      [LUGAR, '/razon'],
      [{ razon: RAZON }, ''],
      [{ lat: LUGAR.lat, razon: RAZON }, ''],
      [{ lat: LUGAR.lat, lng: 181, razon: RAZON }, '/lng'],
      [{ ...LUGAR, razon: ' ' }, '/razon'],
    ] as [object, string][]) {
      const { status, body: problema } = await confirmar(guia, body)
      expect([body, status, problema.errores[0].campo]).toEqual([body, 422, field])
    }
  })

  it('returns 404 for a guide that nobody has', async () => {
    expect((await confirmar('2Q9ZT4C7XK0Y', { ...LUGAR, razon: RAZON })).status).toBe(404)
  })
})
