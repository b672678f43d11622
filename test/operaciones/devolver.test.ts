import { beforeAll, describe, expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { usarIntentos } from '../resoluciones/mover.ts'

const entorno = usarEntorno()
const { conIntento } = usarIntentos(entorno)
// The day does not change while the tests run.
beforeAll(() => entorno.detenerReloj())
const UTC_DE_GUATEMALA = -6
/** Today in Guatemala, by the service's clock. */
const _hoy = () => new Date(entorno.reloj().getTime() + UTC_DE_GUATEMALA * 3_600_000).toISOString().slice(0, 10)
const _PENDIENTE = { accion: null, fecha: null, franja: null, por: null }
const _RAZON = { razon: 'El cliente ya no lo quiere' }

describe('POST /operaciones/v1/guias/{guia}/devolver', () => {
  it('returns a parcel, for a reason of their own', async () => {
    const { guia, leer } = await conIntento()
    const { status, cuerpo } = await entorno.operar('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    expect([status, cuerpo.estado, cuerpo.resolucion.por]).toEqual([200, 'en_devolucion', 'operador'])
    expect((await leer()).eventos.datos.at(-1)).toMatchObject({ tipo: 'guia.en_devolucion', motivo: 'otro' })
  })
})
