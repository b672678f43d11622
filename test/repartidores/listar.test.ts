import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { useRepartidorSignUps } from './phone.ts'

const entorno = shareEnvironment()
const { create: crear } = useRepartidorSignUps(entorno)

describe('couriers, for operators', () => {
  it('are listed newest first, page by page', async () => {
    const nombres = ['Ana', 'Beto', 'Chus']
    for (const nombre of nombres) await crear({ nombre })
    const primera = await entorno.operar('GET', '/repartidores?limite=2')
    const segunda = await entorno.operar('GET', `/repartidores?limite=1&cursor=${primera.cuerpo.cursor_siguiente}`)
    expect([...primera.cuerpo.datos, ...segunda.cuerpo.datos].map(({ nombre }) => nombre)).toEqual(nombres.reverse())
  })
})
