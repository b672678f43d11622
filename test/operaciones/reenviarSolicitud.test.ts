import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'

/** It has no workers: a message that is pending stays so. */
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
let seriesId = 0
const askedGuia = async () => {
  const comercio = await environment.createComercio()
  const { guia } = await comercio.api.guias.crear(
    buildGuiaWithoutDestino({ telefono: `+5023${String(5_000_000 + ++seriesId)}` }),
  )
  return { comercio, guia }
}
const reenviar = (guia: string, key?: string) =>
  environment.asOperador('POST', `/guias/${guia}/reenviar-solicitud`, undefined, key)
const mensajes = async (guia: string) => (await environment.asOperador('GET', `/mensajes?guia=${guia}`)).body.datos

describe('POST /operaciones/v1/guias/{guia}/reenviar-solicitud', () => {
  it('asks the recipient once more, once for each key, and the merchant’s audit record names the operator', async () => {
    const { comercio, guia } = await askedGuia()
    const { status, body } = await reenviar(guia, 'una')
    expect([status, body.comercio, body.ubicacion.solicitud]).toMatchObject([
      202,
      comercio.comercio,
      { estado: 'pendiente', numero: 2 },
    ])
    const other = await reenviar(guia, 'una')
    expect([other.status, other.headers.get('idempotent-replayed'), (await mensajes(guia)).length]).toEqual([
      202,
      'true',
      2,
    ])
    const lines = await waitUntil(async () => {
      const { datos } = (await environment.request('GET', '/api/v1/bitacora', { llave: comercio.llave })).body
      return datos.filter(({ accion }: { accion: string }) => accion === 'reenviarSolicitudPorOperador')
    })
    expect(lines).toMatchObject([{ quien: { tipo: 'operador' }, sobre: { tipo: 'guia', identificador: guia } }])
  })

  it('counts together with the merchant’s own requests', async () => {
    const { comercio, guia } = await askedGuia()
    await comercio.api.guias.reenviarSolicitud(guia)
    await reenviar(guia)
    await comercio.api.guias.reenviarSolicitud(guia)
    const { status, body } = await reenviar(guia)
    expect([status, body.codigo, (await mensajes(guia)).length]).toEqual([409, 'limite_de_solicitudes', 4])
  })

  it('refuses a confirmed place, a cancelled guide and an unknown one', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    expect((await reenviar(guia)).body.codigo).toBe('ubicacion_ya_confirmada')
    const cancelled = await askedGuia()
    await cancelled.comercio.api.guias.cancelar(cancelled.guia)
    expect((await reenviar(cancelled.guia)).body.codigo).toBe('ubicacion_cerrada')
    expect((await reenviar(newGuideCode())).status).toBe(404)
  })
})
