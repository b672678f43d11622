import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { nobody } from './webhooks.ts'

const environment = shareEnvironment()
const listar = (comercio: string, query = '') =>
  environment.asOperador('GET', `/comercios/${comercio}/webhooks${query}`)

describe('GET /operaciones/v1/comercios/{comercio}/webhooks', () => {
  it('lists a merchant’s own endpoints of a mode in pages, without secrets', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    const { secreto, ...first } = await one.api.webhooks.crear(nobody())
    const { webhook } = await one.api.webhooks.crear(nobody())
    await other.api.webhooks.crear(nobody())
    const primera = await listar(one.comercio, '?modo=test&limite=1')
    expect(primera.body.datos).toEqual([first])
    expect(JSON.stringify(primera.body)).not.toContain(secreto)
    const second = await listar(one.comercio, `?modo=test&limite=1&cursor=${primera.body.cursor_siguiente}`)
    expect([second.body.datos[0].webhook, second.body.cursor_siguiente]).toEqual([webhook, null])
    expect((await listar(one.comercio)).body.datos).toEqual([])
  })

  it('returns 404 for an unknown merchant', async () => {
    const { status, body } = await listar('com_NADIE')
    expect([status, body.codigo]).toEqual([404, 'comercio_desconocido'])
  })
})
