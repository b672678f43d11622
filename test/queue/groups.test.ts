import { describe, expect, it } from 'vitest'
import { type GroupOwner, type GroupRequest, Groups } from '../../server/data/queue/groups.ts'

class Mala extends Error {}

interface Opciones {
  max?: number
  concurrency?: number
  falla?: (datos: readonly string[], solo: boolean) => boolean
}

/** Groups whose work the test lets go on, and what each was given. */
function nuevo({ max: maximo = 10, concurrency: aLaVez = 1, falla = () => false }: Opciones = {}) {
  const hechos: { owners: string; datos: string[]; solo: boolean }[] = []
  const esperan: (() => void)[] = []
  let suelto = false
  let now = 50_000
  const grupos = new Groups<GroupOwner, string, string>(
    {
      max: maximo,
      concurrency: aLaVez,
      groupKey: () => '',
      perform: async (pedidos: readonly GroupRequest<GroupOwner, string>[], solo) => {
        const datos = pedidos.flatMap((pedido) => pedido.datos)
        hechos.push({ owners: pedidos.map(({ dueno }) => dueno.clave).join(''), datos, solo })
        if (!suelto) await new Promise<void>((resolve) => void esperan.push(resolve))
        if (falla(datos, solo)) throw new Mala(datos.join())
        return datos.map((dato) => dato.toUpperCase())
      },
      isSingleOwnerError: (error) => error instanceof Mala,
    },
    () => now,
  )
  const request = (clave: string, ...datos: string[]) => grupos.request({ clave }, datos)
  const release = () => {
    suelto = true
    for (const seguir of esperan.splice(0)) seguir()
  }
  const turno = () => new Promise((resolve) => setImmediate(resolve))
  const pasar = (ms: number) => (now += ms)
  return { deliveries: hechos, request, release, turno, pasar }
}

describe('work that is requested at the same time', () => {
  it('is done together, and each gets his own', async () => {
    const { deliveries: hechos, request, release, turno } = nuevo()
    const all = Promise.all([request('a', 'uno', 'dos'), request('b', 'tres'), request('a', 'cuatro')])
    await turno()
    release()
    expect(await all).toEqual([['UNO', 'DOS'], ['TRES'], ['CUATRO']])
    expect(hechos).toEqual([{ owners: 'aba', datos: ['uno', 'dos', 'tres', 'cuatro'], solo: false }])
  })

  it('waits for nobody when it is alone', async () => {
    const { deliveries: hechos, request, release, turno } = nuevo()
    const one = request('a', 'uno')
    await turno()
    expect(hechos).toEqual([{ owners: 'a', datos: ['uno'], solo: true }])
    release()
    expect(await one).toEqual(['UNO'])
  })

  it('keeps to what fits, one request of each owner in turn: a flood is in the others’ way with one', async () => {
    const { deliveries: hechos, request, release, turno } = nuevo({ max: 3 })
    const first = request('z', 'z')
    await turno()
    const riada = Array.from({ length: 7 }, (_, i) => request('a', `a${i}`))
    const vecinas = [request('b', 'b1'), request('c', 'c1'), request('b', 'b2')]
    await turno()
    release()
    await Promise.all([first, ...riada, ...vecinas])
    expect(hechos.map(({ owners: duenos }) => duenos)).toEqual(['z', 'abc', 'aba', 'aaa', 'a'])
  })

  it('is never split, and what doesn’t fit keeps its turn while smaller ones go along', async () => {
    const { deliveries: hechos, request, release, turno } = nuevo({ max: 3 })
    const first = request('z', 'z')
    await turno()
    const others = [request('a', 'a'), request('b', 'b1', 'b2', 'b3', 'b4'), request('c', 'c')]
    await turno()
    release()
    await Promise.all([first, ...others])
    expect(hechos.map(({ datos }) => datos.join(' '))).toEqual(['z', 'a c', 'b1 b2 b3 b4'])
  })

  it('is done owner by owner when one may be at fault, who then goes by himself', async () => {
    const { deliveries: hechos, request, release } = nuevo({ falla: (datos, solo) => !solo && datos.includes('mala') })
    release()
    const juntas = [request('a', 'mala'), request('b', 'buena'), request('c', 'buena')]
    expect(await Promise.all(juntas)).toEqual([['MALA'], ['BUENA'], ['BUENA']])
    expect(hechos.map(({ owners: duenos, solo }) => [duenos, solo])).toEqual([
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
      pasar,
    } = nuevo({ falla: (datos, solo) => !solo && datos.includes('mala') })
    release()
    await Promise.all([request('a', 'mala'), request('b', 'buena')])
    const juntas = async () => {
      hechos.length = 0
      await Promise.all([request('a', 'buena'), request('b', 'buena'), request('c', 'buena')])
      return hechos.map(({ owners: duenos, solo }) => `${duenos} ${solo}`).sort()
    }
    expect(await juntas()).toEqual(['a true', 'bc false'])
    pasar(9_999)
    expect(await juntas()).toEqual(['a true', 'bc false'])
    pasar(1)
    expect(await juntas()).toEqual(['abc false'])
  })

  it('fails for all when nobody is to blame', async () => {
    const {
      deliveries: hechos,
      request,
      release,
    } = nuevo({
      falla: () => {
        throw new Error('the database is away')
      },
    })
    release()
    const end = await Promise.allSettled([request('a', 'uno'), request('b', 'dos')])
    expect(end.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(hechos).toHaveLength(1)
  })
})
