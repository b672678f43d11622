import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { buildAvisoCode, nobody } from './webhooks.ts'

const environment = shareEnvironment()

const obtener = (comercio: string, webhook: string, aviso: string) =>
  environment.asOperador('GET', `/comercios/${comercio}/webhooks/${webhook}/avisos/${aviso}`)

describe('GET /operaciones/v1/comercios/{comercio}/webhooks/{webhook}/avisos/{aviso}', () => {
  it('gives what the merchant gets, and the merchant sees in its record that it was looked at', async () => {
    const { api, comercio, llave } = await environment.createComercio()
    const { webhook } = await api.webhooks.crear({ ...nobody(), tipos: ['guia.cancelado'] })
    const { guia } = await api.guias.crear(buildGuia())
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    await api.guias.cancelar(guia)
    const aviso = buildAvisoCode(webhook, guia, 2)
    const { status, body } = await obtener(comercio, webhook, aviso)
    expect([status, body]).toEqual([200, await api.webhooks.obtenerAviso(webhook, aviso)])
    expect(JSON.parse(body.cuerpo).datos.guia.guia).toBe(guia)
    const lines = async () =>
      (await environment.request('GET', '/api/v1/bitacora', { llave })).body.datos.map(
        ({ accion, sobre }: { accion: string; sobre: { identificador: string } | null }) => [
          accion,
          sobre?.identificador,
        ],
      )
    await expect.poll(lines).toContainEqual(['obtenerAvisoDeComercio', aviso])
  })

  it('returns 404 for an unknown delivery, and for another merchant’s', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    const { webhook } = await one.api.webhooks.crear(nobody())
    const { guia } = await one.api.guias.crear(buildGuia())
    const ninguna = await obtener(one.comercio, webhook, buildAvisoCode(webhook, guia, 9))
    expect([ninguna.status, ninguna.body.codigo]).toEqual([404, 'aviso_desconocido'])
    expect((await obtener(other.comercio, webhook, buildAvisoCode(webhook, guia))).status).toBe(404)
  })
})
