import { describe, expect, it } from 'vitest'
import type { Connections } from '../../server/data/connections.ts'
import { type Db, dynamicStatement } from '../../server/data/db.ts'
import { readLsn } from '../../server/data/lsn.ts'
import { Replica } from '../../server/data/replica.ts'
import { createLog } from '../../server/platform/log.ts'

it('orders positions of the log whose second part has fewer digits', () => {
  const posiciones = ['0/16B3748', '0/FFFFFFFF', '1/0', '1/9', '1/A0000000', '10/1']
  expect(posiciones.map(readLsn).toSorted((one, other) => (one < other ? -1 : 1))).toEqual(posiciones.map(readLsn))
  expect(readLsn('16/B374D848')).toBe(0x16_b374_d848n)
})

const DONDE = dynamicStatement<object, { de: string }>('central', 'select 1 as de', true)

/** A replica whose server, database and time do what the test says. The real ones: `startup/replica.test.ts`. */
function fresh() {
  const world = { now: 100_000, written: 1, replayedPosition: 1, fault: undefined as Error | undefined }
  const lsn = (number: number) => [{ lsn: `0/${number.toString(16)}` }]
  const connections = {
    queryScoped: async (_donde: unknown, { name }: { name: string }) => {
      if (world.fault) throw world.fault
      return { rows: name === DONDE.name ? [{ de: 'réplica' }] : lsn(world.replayedPosition) }
    },
  } as unknown as Connections
  const primary = {
    query: async ({ name }: { name: string }) => (name === DONDE.name ? [{ de: 'primaria' }] : lsn(world.written)),
  } as unknown as Db
  const replica = new Replica(primary, connections, createLog('silent'), () => world.now)
  /** Tells who answers now. A check of the delay ends in the background. */
  const quien = async () => {
    const [row] = await replica.query(DONDE)
    await new Promise(setImmediate)
    return row!.de
  }
  /** Lets that many seconds pass. The database writes in each of them, and each has a query. */
  const passTime = async (seconds: number) => {
    const seen: string[] = []
    for (let i = 0; i < seconds; i++) {
      world.now += 1_001
      world.written++
      seen.push(await quien())
    }
    return seen
  }
  return { world, quien, passTime }
}

describe('a replica', () => {
  it('is read after a check, and not beyond five seconds after the position that it has', async () => {
    const { world, quien, passTime } = fresh()
    expect([await quien(), await quien()]).toEqual(['primaria', 'réplica'])
    // It stands still while the database goes on.
    expect(await passTime(7)).toEqual([...Array(4).fill('réplica'), ...Array(3).fill('primaria')])
    world.replayedPosition = world.written
    expect(await passTime(2)).toEqual(['primaria', 'réplica'])
  })

  it('that fails is missed by no query, and is left alone for five seconds', async () => {
    const { world, quien, passTime } = fresh()
    await quien()
    world.fault = Object.assign(new Error('terminating connection'), { code: '57P01' })
    expect(await quien()).toBe('primaria')
    world.fault = undefined
    world.replayedPosition = 1_000_000
    expect(await passTime(4)).toEqual(Array(4).fill('primaria'))
    expect(await passTime(2)).toEqual(['primaria', 'réplica'])
  })

  it('passes on an error of the query itself', async () => {
    const { world, quien } = fresh()
    await quien()
    world.fault = Object.assign(new Error('division by zero'), { code: '22012' })
    await expect(quien()).rejects.toThrow('division by zero')
  })
})
