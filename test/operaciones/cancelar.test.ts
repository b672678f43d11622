import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const environment = shareEnvironment()
const { mover } = useGuias(environment)

const cancelar = (guia: string, body: unknown = { razon: 'El comercio llamó y ya no la enviará' }) =>
  environment.asOperador('POST', `/guias/${guia}/cancelar`, body)

describe('POST /operaciones/v1/guias/{guia}/cancelar', () => {
  it('cancels an accepted guide once, and its event says who and why', async () => {
    const { api, comercio } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const { status, body } = await cancelar(guia)
    expect([status, body.estado, body.secuencia, body.comercio]).toEqual([200, 'cancelado', 2, comercio])
    expect((await cancelar(guia, { razon: 'Otra vez' })).body).toMatchObject({ estado: 'cancelado', secuencia: 2 })
    const { eventos } = await api.guias.obtener(guia)
    expect(eventos.datos).toHaveLength(2)
    expect(eventos.datos[1]).toMatchObject({
      tipo: 'guia.cancelado',
      estado_anterior: 'aceptado',
      motivo: 'por_operador',
      descripcion: 'El comercio llamó y ya no la enviará',
    })
  })

  it('says in the webhook’s body who cancelled', async () => {
    const { api } = await environment.createComercio()
    const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/cancelada', tipos: ['guia.cancelado'] })
    const { guia } = await api.guias.crear(buildGuia())
    await cancelar(guia)
    const { cuerpo: body } = await api.webhooks.obtenerAviso(webhook, `avi_${webhook.slice(3)}_${guia}_2`)
    expect(JSON.parse(body!).datos.evento).toMatchObject({ tipo: 'guia.cancelado', motivo: 'por_operador' })
  })

  it('leaves a guide that its merchant cancelled as it is', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await api.guias.cancelar(guia)
    expect((await cancelar(guia)).status).toBe(200)
    const { eventos } = await api.guias.obtener(guia)
    expect(eventos.datos.map(({ tipo, motivo }) => [tipo, motivo])).toEqual([
      ['guia.aceptado', null],
      ['guia.cancelado', null],
    ])
  })

  it('returns 409 without states once a courier has the parcel', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await mover(guia, 'recolectado')
    const { status, body } = await cancelar(guia)
    expect([status, body.codigo, body.estado, body.transiciones]).toEqual([
      409,
      'transicion_invalida',
      'recolectado',
      [],
    ])
    expect((await api.guias.obtener(guia)).estado).toBe('recolectado')
  })

  it('returns 422 without a reason', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    expect((await cancelar(guia, {})).body.errores[0].campo).toBe('/razon')
    expect((await api.guias.obtener(guia)).estado).toBe('aceptado')
  })

  it('returns 404 for an unknown guide', async () => {
    const { status, body } = await cancelar(newGuideCode())
    expect([status, body.codigo]).toEqual([404, 'guia_desconocida'])
  })
})
