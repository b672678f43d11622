import { describe, expect, it } from 'vitest'
import { type GroupOwner, type GroupRequest, Groups } from '../../server/data/queue/groups.ts'

class BadDataError extends Error {}

interface Opciones {
  max?: number
  concurrency?: number
  fault?: (datos: readonly string[], single: boolean) => boolean
}

/** Groups whose work the test lets go on, and what each was given. */
function createGroups({ max: maximo = 10, concurrency: concurrent = 1, fault = () => false }: Opciones = {}) {
  const hechos: { owners: string; datos: string[]; single: boolean }[] = []
  const waiters: (() => void)[] = []
  let isReleased = false
  let now = 50_000
  const groups = new Groups<GroupOwner, string, string>(
    {
      max: maximo,
      concurrency: concurrent,
      groupKey: () => '',
      perform: async (requests: readonly GroupRequest<GroupOwner, string>[], single) => {
        const datos = requests.flatMap((requestData) => requestData.datos)
        hechos.push({ owners: requests.map(({ dueno: owner }) => owner.clave).join(''), datos, single })
        if (!isReleased) await new Promise<void>((resolve) => void waiters.push(resolve))
        if (fault(datos, single)) throw new BadDataError(datos.join())
        return datos.map((datum) => datum.toUpperCase())
      },
      isSingleOwnerError: (error) => error instanceof BadDataError,
    },
    () => now,
  )
  const request = (key: string, ...datos: string[]) => groups.request({ clave: key }, datos)
  const release = () => {
    isReleased = true
    for (const follow of waiters.splice(0)) follow()
  }
  const turno = () => new Promise((resolve) => setImmediate(resolve))
  const passTime = (ms: number) => (now += ms)
  return { deliveries: hechos, request, release, turno, passTime }
}

describe('work that is requested at the same time', () => {
  it('is done together, and each gets his own', async () => {
    const { deliveries: hechos, request, release, turno } = createGroups()
    const all = Promise.all([request('a', 'uno', 'dos'), request('b', 'tres'), request('a', 'cuatro')])
    await turno()
    release()
    expect(await all).toEqual([['UNO', 'DOS'], ['TRES'], ['CUATRO']])
    expect(hechos).toEqual([{ owners: 'aba', datos: ['uno', 'dos', 'tres', 'cuatro'], single: false }])
  })

  it('waits for nobody when it is alone', async () => {
    const { deliveries: hechos, request, release, turno } = createGroups()
    const one = request('a', 'uno')
    await turno()
    expect(hechos).toEqual([{ owners: 'a', datos: ['uno'], single: true }])
    release()
    expect(await one).toEqual(['UNO'])
  })

  it('keeps to what fits, one request of each owner in turn: a flood is in the others’ way with one', async () => {
    const { deliveries: hechos, request, release, turno } = createGroups({ max: 3 })
    const first = request('z', 'z')
    await turno()
    const flood = Array.from({ length: 7 }, (_, i) => request('a', `a${i}`))
    const neighbours = [request('b', 'b1'), request('c', 'c1'), request('b', 'b2')]
    await turno()
    release()
    await Promise.all([first, ...flood, ...neighbours])
    expect(hechos.map(({ owners: duenos }) => duenos)).toEqual(['z', 'abc', 'aba', 'aaa', 'a'])
  })

  it('is never split, and what doesn’t fit keeps its turn while smaller ones go along', async () => {
    const { deliveries: hechos, request, release, turno } = createGroups({ max: 3 })
    const first = request('z', 'z')
    await turno()
    const others = [request('a', 'a'), request('b', 'b1', 'b2', 'b3', 'b4'), request('c', 'c')]
    await turno()
    release()
    await Promise.all([first, ...others])
    expect(hechos.map(({ datos }) => datos.join(' '))).toEqual(['z', 'a c', 'b1 b2 b3 b4'])
  })

  it('is done owner by owner when one may be at fault, who then goes by himself', async () => {
    const {
      deliveries: hechos,
      request,
      release,
    } = createGroups({ fault: (datos, single) => !single && datos.includes('mala') })
    release()
    const concurrentResults = [request('a', 'mala'), request('b', 'buena'), request('c', 'buena')]
    expect(await Promise.all(concurrentResults)).toEqual([['MALA'], ['BUENA'], ['BUENA']])
    expect(hechos.map(({ owners: duenos, single }) => [duenos, single])).toEqual([
      ['abc', false],
      ['a', false],
      ['b', false],
      ['c', false],
      ['a', true],
    ])
  })

  it('is done apart for ten seconds for an owner at fault, and together with the others again then', async () => {
    const {
      deliveries: hechos,
      request,
      release,
      passTime,
    } = createGroups({ fault: (datos, single) => !single && datos.includes('mala') })
    release()
    await Promise.all([request('a', 'mala'), request('b', 'buena')])
    const concurrentResults = async () => {
      hechos.length = 0
      await Promise.all([request('a', 'buena'), request('b', 'buena'), request('c', 'buena')])
      return hechos.map(({ owners: duenos, single }) => `${duenos} ${single}`).sort()
    }
    expect(await concurrentResults()).toEqual(['a true', 'bc false'])
    passTime(9_999)
    expect(await concurrentResults()).toEqual(['a true', 'bc false'])
    passTime(1)
    expect(await concurrentResults()).toEqual(['abc false'])
  })

  it('fails for all when nobody is to blame', async () => {
    const {
      deliveries: hechos,
      request,
      release,
    } = createGroups({
      fault: () => {
        throw new Error('the database is away')
      },
    })
    release()
    const end = await Promise.allSettled([request('a', 'uno'), request('b', 'dos')])
    expect(end.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(hechos).toHaveLength(1)
  })
})
