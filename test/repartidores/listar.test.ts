import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { useRepartidorSignUps } from './phone.ts'

const environment = shareEnvironment()
const { create } = useRepartidorSignUps(environment)

describe('couriers, for operators', () => {
  it('are listed newest first, page by page', async () => {
    const names = ['Ana', 'Beto', 'Chus']
    for (const nombre of names) await create({ nombre })
    const first = await environment.asOperador('GET', '/repartidores?limite=2')
    const second = await environment.asOperador('GET', `/repartidores?limite=1&cursor=${first.body.cursor_siguiente}`)
    expect([...first.body.datos, ...second.body.datos].map(({ nombre }) => nombre)).toEqual(names.reverse())
  })
})
