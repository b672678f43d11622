import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { nadie } from './webhooks.ts'

const entorno = shareEnvironment()
const listar = (comercio: string, consulta = '') => entorno.operar('GET', `/comercios/${comercio}/webhooks${consulta}`)

describe('GET /operaciones/v1/comercios/{comercio}/webhooks', () => {
  it('lists a merchant’s own endpoints of a mode in pages, without secrets', async () => {
    const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
    const { secreto, ...primero } = await uno.api.webhooks.crear(nadie())
    const { webhook } = await uno.api.webhooks.crear(nadie())
    await otro.api.webhooks.crear(nadie())
    const primera = await listar(uno.comercio, '?modo=test&limite=1')
    expect(primera.cuerpo.datos).toEqual([primero])
    expect(JSON.stringify(primera.cuerpo)).not.toContain(secreto)
    const segunda = await listar(uno.comercio, `?modo=test&limite=1&cursor=${primera.cuerpo.cursor_siguiente}`)
    expect([segunda.cuerpo.datos[0].webhook, segunda.cuerpo.cursor_siguiente]).toEqual([webhook, null])
    expect((await listar(uno.comercio)).cuerpo.datos).toEqual([])
  })

  it('returns 404 for an unknown merchant', async () => {
    const { status, cuerpo } = await listar('com_NADIE')
    expect([status, cuerpo.codigo]).toEqual([404, 'comercio_desconocido'])
  })
})
