import { beforeAll, describe, expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { usarIntentos } from '../resoluciones/mover.ts'
import { fallaDeApi } from '../webhooks/webhooks.ts'

const entorno = usarEntorno()
const { conIntento } = usarIntentos(entorno)
// The day does not change while the tests run.
beforeAll(() => entorno.detenerReloj())
const UTC_DE_GUATEMALA = -6
/** Today in Guatemala, by the service's clock. */
const _hoy = () => new Date(entorno.reloj().getTime() + UTC_DE_GUATEMALA * 3_600_000).toISOString().slice(0, 10)
const _PENDIENTE = { accion: null, fecha: null, franja: null, por: null }
const RAZON = { razon: 'El cliente ya no lo quiere' }

describe('POST /operaciones/v1/guias/{guia}/reintentar', () => {
  it('decides with a reason, which the merchant reads', async () => {
    const { guia, leer, api } = await conIntento()
    const razon = 'El destinatario llamó'
    const { status, cuerpo } = await entorno.operar('POST', `/guias/${guia}/reintentar`, {
      razon,
      telefono: '+50259871234',
    })
    expect([status, cuerpo.resolucion.por, cuerpo.telefono, cuerpo.comercio]).toEqual([
      ...[200, 'operador', '+50259871234', expect.stringMatching(/^com_/)],
    ])
    expect((await leer()).eventos.datos.at(-1)).toMatchObject({ tipo: 'guia.resolucion_tomada', descripcion: razon })
    expect(await fallaDeApi(api.guias.devolver(guia, RAZON))).toMatchObject({
      message: expect.stringContaining('El servicio de mensajería ya decidió'),
    })
    expect((await entorno.operar('POST', `/guias/${guia}/devolver`, {})).status).toBe(422)
    expect((await entorno.operar('POST', `/guias/${guia}/devolver`, RAZON)).status).toBe(409)
  })
})
