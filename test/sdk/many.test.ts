import { spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turno } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  type AvanceDeMuchas,
  ErrorAbortado,
  ErrorConflicto,
  ErrorGuias,
  ErrorValidacion,
  type GuiaIndividual,
  type GuiaParaCrear,
  Guias,
  type OpcionesDeMuchas,
  type ResultadoDeMuchas,
} from '@guias/sdk'
import { ErrorDeHoja, guiaDeFila, leerHoja } from '@guias/sdk/hoja'
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, RECOGIDA, waitUntil } from '../factories.ts'

const environment = shareEnvironment()

/** A server of batches in front of nothing, which does with each what it is told. */
interface Enviado {
  guias: GuiaParaCrear[]
  bytes: number
}
type Answer = (sent: Enviado) => object | number | Promise<object | number>
let enviados: Enviado[] = []
let concurrent = { now: 0, tope: 0 }
let answer: Answer
let baseUrl = ''
const server = createServer(async (req, res) => {
  concurrent.now++
  concurrent.tope = Math.max(concurrent.tope, concurrent.now)
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const sent = { guias: JSON.parse(body.toString()).guias as GuiaParaCrear[], bytes: body.length }
  enviados.push(sent)
  const reply = await answer(sent)
  concurrent.now--
  const [status, datos] = typeof reply === 'number' ? [reply, { codigo: 'x', mensaje: 'No.' }] : [200, reply]
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(datos))
})
const allCreated: Answer = ({ guias }) => ({
  ok: true,
  creadas: guias.length,
  repetidas: 0,
  fallidas: 0,
  advertencias: [],
  resultados: guias.map((guia, indice) => ({
    indice,
    ok: true,
    guia: `G-${guia.external_ref}`,
    estado: 'aceptado',
    external_ref: guia.external_ref,
    repetida: false,
    advertencias: [],
  })),
})
beforeAll(async () => {
  await new Promise<void>((listo) => server.listen(0, '127.0.0.1', listo))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  enviados = []
  concurrent = { now: 0, tope: 0 }
  answer = allCreated
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const client = () => new Guias({ llave: 'guia_test_abc', baseUrl, reintentos: 0 })
const buildNumberedGuias = (n: number, more: object = {}) =>
  Array.from({ length: n }, (_, i) => ({ telefono: '+50231481676', external_ref: `R-${i}`, ...more }) as GuiaIndividual)
const all = async <T>(iterable: AsyncIterable<T>) => {
  const seen: T[] = []
  for await (const one of iterable) seen.push(one)
  return seen
}
/** Whatever needs nothing from outside has happened. */
const turns = async () => {
  for (let i = 0; i < 20; i++) await turno()
}

describe('crearMuchas, on the running server', () => {
  it('says of each what became of it, in the caller’s own terms', async () => {
    const { api } = await environment.createComercio()
    const entradas: GuiaParaCrear[] = Array.from({ length: 230 }, () => {
      const { recogida: _, ...guia } = buildGuia()
      return guia
    })
    entradas[7] = { ...entradas[7]!, telefono: '12' }
    entradas[150] = { ...entradas[3]!, municipio: 'Mixco' }
    entradas[151] = { ...entradas[3]! }
    const avances: AvanceDeMuchas[] = []
    const creation = api.guias.crearMuchas(entradas, {
      recogida: RECOGIDA,
      concurrencia: 1,
      alAvanzar: (avance) => avances.push(avance),
    })
    const results = await all(creation)
    expect(results.map(({ posicion }) => posicion)).toEqual(entradas.map((_, i) => i))
    expect(results.every(({ entrada, posicion }) => entrada === entradas[posicion])).toBe(true)
    const [bad, other, same] = [results[7]!, results[150]!, results[151]!]
    expect(!bad.ok && bad.error).toBeInstanceOf(ErrorValidacion)
    expect(!bad.ok && [bad.pasajera, (bad.error as ErrorValidacion).errores[0]?.campo]).toEqual([false, '/telefono'])
    expect(!other.ok && other.error).toBeInstanceOf(ErrorConflicto)
    expect(same).toMatchObject({ ok: true, repetida: true, guia: results[3]!.ok && results[3]!.guia })
    expect(avances).toEqual([
      { leidas: 100, creadas: 99, repetidas: 0, fallidas: 1, total: 230 },
      { leidas: 200, creadas: 197, repetidas: 1, fallidas: 2, total: 230 },
      { leidas: 230, creadas: 227, repetidas: 1, fallidas: 2, total: 230 },
    ])
    expect(creation.avance).toEqual(avances[2])

    // Nothing to try again as it is; corrected, it is the caller's own object.
    expect(await all(creation.reintentarFallidas())).toEqual([])
    entradas[7]!.telefono = '+50231481676'
    const corregidas = await all(creation.reintentarFallidas({ todas: true }))
    expect(corregidas.map(({ ok, posicion }) => [ok, posicion])).toEqual([
      [true, 7],
      [false, 150],
    ])
  })

  it('doubles nothing when the process is killed in the middle and run again', FULL_RUN_ONLY, async () => {
    const { api, llave } = await environment.createComercio()
    const guia = JSON.stringify(buildGuia({ external_ref: 'X' }))
    const program = `
      import { Guias } from '@guias/sdk'
      const api = new Guias({ llave: process.env.LLAVE, baseUrl: process.env.URL_DE_GUIAS })
      function* pedidos() { for (let i = 0; i < 1200; i++) yield { ...${guia}, external_ref: 'P-' + i } }
      let repetidas = 0
      for await (const r of api.guias.crearMuchas(pedidos(), { tamano: 50, concurrencia: 3 })) {
        if (!r.ok) throw r.error
        if (r.repetida) repetidas++
        if (r.posicion % 50 === 0) console.log(r.posicion)
      }
      console.log('fin', repetidas)`
    const runCommand = () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        env: { PATH: process.env.PATH, LLAVE: llave, URL_DE_GUIAS: environment.url, ...CHILD_ENVIRONMENT },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
      return { child, output: () => output, fin: once(child, 'close') }
    }
    const first = runCommand()
    await waitUntil(async () => /^[1-9]\d\d$/m.test(first.output()))
    first.child.kill('SIGKILL')
    await first.fin
    expect(first.output()).not.toContain('fin')

    const second = runCommand()
    expect(await second.fin).toEqual([0, null])
    const repetidas = Number(/fin (\d+)/.exec(second.output())?.[1])
    expect(repetidas).toBeGreaterThan(0)
    expect(repetidas).toBeLessThan(1200)
    const referencias = (await all(api.guias.listar({ limite: 100 }))).map(({ external_ref }) => external_ref)
    expect(referencias).toHaveLength(1200)
    expect(new Set(referencias).size).toBe(1200)
  })

  it('keeps a batch of large guides below what the service takes', async () => {
    const { api } = await environment.createComercio()
    // 20 KB each, of two bytes a letter: 100 of them are more than 2 MB.
    const grandes = buildNumberedGuias(120, {
      departamento: 'Guatemala',
      municipio: 'Mixco',
      recogida: RECOGIDA,
      indicaciones: 'ñ'.repeat(10_000),
    })
    const results = await all(api.guias.crearMuchas(grandes))
    // Too long a text, each of them: what matters is that none failed for the size of its batch.
    expect(results).toHaveLength(120)
    expect(new Set(results.map((r) => !r.ok && r.error.name))).toEqual(new Set(['ErrorValidacion']))
  })
})

describe('crearMuchas', () => {
  it('sends by hundreds or by what is said, and no more than fits', async () => {
    await all(client().guias.crearMuchas(buildNumberedGuias(250)))
    expect(enviados.map(({ guias }) => guias.length)).toEqual([100, 100, 50])
    enviados = []
    await all(client().guias.crearMuchas(buildNumberedGuias(7), { tamano: 3, recogida: RECOGIDA }))
    expect(enviados.map(({ guias }) => guias.length)).toEqual([3, 3, 1])
    enviados = []
    const inOrder = { concurrencia: 1 } // two at a time arrive in any
    await all(client().guias.crearMuchas(buildNumberedGuias(100, { indicaciones: 'ñ'.repeat(30_000) }), inOrder))
    expect(enviados.length).toBeGreaterThan(3)
    expect(Math.max(...enviados.map(({ bytes }) => bytes))).toBeLessThan(2_000_000)
    expect(enviados.flatMap(({ guias }) => guias.map((guia) => guia.external_ref))).toEqual(
      buildNumberedGuias(100).map(({ external_ref }) => external_ref),
    )
  })

  it('divides what somebody in between finds too large', async () => {
    answer = (sent) => (sent.guias.length > 30 ? 413 : allCreated(sent))
    const results = await all(client().guias.crearMuchas(buildNumberedGuias(100)))
    expect(results.map((r) => r.ok && [r.posicion, r.guia])).toEqual(
      buildNumberedGuias(100).map((guia, i) => [i, `G-${guia.external_ref}`]),
    )
    answer = () => 413
    expect((await all(client().guias.crearMuchas(buildNumberedGuias(3)))).map((r) => !r.ok && r.error.name)).toEqual(
      Array(3).fill('ErrorCuerpo'),
    )
  })

  it('has at most so many under way, and reads no further ahead than that', async () => {
    // Three at a time while there are as many: none is answered before the third has come.
    let heldResponses: (() => void)[] = []
    answer = async (sent) => {
      await new Promise<void>((listo) => {
        heldResponses.push(listo)
        if (heldResponses.length < 3 && enviados.length < 100) return
        for (const release of heldResponses) release()
        heldResponses = []
      })
      return allCreated(sent)
    }
    let readCount = 0
    async function* source() {
      for (const guia of buildNumberedGuias(1_000)) {
        readCount++
        yield guia
      }
    }
    let tomadas = 0
    for await (const _ of client().guias.crearMuchas(source(), { tamano: 10, concurrencia: 3 })) {
      tomadas++
      if (tomadas % 50 === 0) await turns()
      expect(readCount - tomadas).toBeLessThanOrEqual(10 * 4)
    }
    expect([tomadas, readCount, concurrent.tope]).toEqual([1_000, 1_000, 3])
  })

  it('nothing is missing: a request that fails is a failure of each of its guides', async () => {
    let n = 0
    answer = (sent) => (n++ === 1 ? 503 : allCreated(sent))
    const creation = client().guias.crearMuchas(buildNumberedGuias(25), { tamano: 10, concurrencia: 1 })
    const results = await all(creation)
    expect(results.map(({ ok }) => (ok ? 1 : 0)).join('')).toBe('1111111111000000000011111')
    const fallidas = results.filter((r) => !r.ok)
    expect(fallidas.every(({ error, pasajera: isTransient }) => error.name === 'ErrorServicio' && isTransient)).toBe(
      true,
    )
    expect(creation.avance).toEqual({ leidas: 25, creadas: 15, repetidas: 0, fallidas: 10, total: 25 })

    const other = creation.reintentarFallidas()
    expect((await all(other)).map((r) => r.ok && [r.posicion, r.guia])).toEqual(
      Array.from({ length: 10 }, (_, i) => [10 + i, `G-R-${10 + i}`]),
    )
    expect(other.avance).toEqual({ leidas: 10, creadas: 10, repetidas: 0, fallidas: 0, total: 10 })
  })

  it('nor one of which the answer says nothing', async () => {
    answer = ({ guias }) => ({ ...(allCreated({ guias: guias.slice(1), bytes: 0 }) as object) })
    const results = await all(client().guias.crearMuchas(buildNumberedGuias(3)))
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false])
    expect(!results[2]!.ok && results[2]!.error.message).toContain('no dijo')
  })

  it('refuses a guide without a reference, alone', async () => {
    const [withReference, caseWithout] = [
      buildNumberedGuias(2)[0]!,
      { ...buildNumberedGuias(1)[0]!, external_ref: undefined } as unknown as GuiaParaCrear,
    ]
    const emptyCase = { ...withReference, external_ref: '' }
    const results = await all(client().guias.crearMuchas([caseWithout, withReference, null as never, emptyCase]))
    expect(results.map(({ ok }) => ok)).toEqual([false, true, false, false])
    for (const r of [results[0]!, results[3]!]) expect(!r.ok && r.error.message).toContain('ponga su número de pedido')
    expect(enviados.map(({ guias }) => guias)).toEqual([[withReference]])
  })

  it('makes the guide of what is none', async () => {
    interface RequestInput {
      numero: number
      tel: string
    }
    const requests: RequestInput[] = [1, 2, 3].map((number) => ({ numero: number, tel: '+50231481676' }))
    const creation = client().guias.crearMuchas(requests, {
      aGuia: ({ numero: number, tel }) => {
        if (number === 2) throw new Error('sin dirección')
        return { telefono: tel, departamento: 'Guatemala', municipio: 'Mixco', external_ref: `P-${number}` }
      },
    })
    const results = await all(creation)
    expect(results.map((r) => [r.entrada.numero, r.ok ? r.guia : r.error.message])).toEqual([
      [1, 'G-P-1'],
      [2, 'aGuia lanzó Error: sin dirección'],
      [3, 'G-P-3'],
    ])
    expect(results[1]!.entrada).toBe(requests[1])
    expect(Object.keys(enviados[0]!.guias[0]!)).not.toContain('numero')
    // @ts-expect-error: these are no guides
    const badCases = () => client().guias.crearMuchas(requests)
    expect(badCases).toBeInstanceOf(Function)
  })

  it('says of a damaged row its fault alone, and no word about JSON', async () => {
    const csv = 'telefono,departamento,municipio,external_ref\n31481676,Guatemala,Mixco,A\n3.1E+07,Guatemala,Mixco,B\n'
    const { filas: readTableRows } = await leerHoja(new TextEncoder().encode(csv))
    const [good, bad] = await all(client().guias.crearMuchas(readTableRows, { aGuia: guiaDeFila }))
    expect(good!.ok).toBe(true)
    if (bad!.ok) throw new Error('the damaged row was sent')
    expect(bad!.error.message).toMatch(/^fila 3: telefono: es un número abreviado/)
    expect(bad!.error.cause).toBeInstanceOf(ErrorDeHoja)
  })

  it('takes each as it was when it was read, and what cannot be written fails alone', async () => {
    function* source() {
      const one = { ...buildNumberedGuias(1)[0]! }
      for (const external_ref of ['A', 'B', 'C']) yield Object.assign(one, { external_ref })
    }
    expect((await all(client().guias.crearMuchas(source()))).map((r) => r.ok && r.guia)).toEqual(['G-A', 'G-B', 'G-C'])
    const cycle: Record<string, unknown> = { external_ref: 'Z' }
    cycle.ciclo = cycle
    const [bad, good] = await all(client().guias.crearMuchas([cycle as never, buildNumberedGuias(1)[0]!]))
    expect([bad!.ok, good!.ok]).toEqual([false, true])
    expect(!bad!.ok && bad!.error.message).toMatch(/^La guía no se puede escribir como JSON: /)
  })

  it('gives what is done while the source makes wait', async () => {
    let release = () => {}
    const wait = new Promise<void>((listo) => {
      release = listo
    })
    async function* source() {
      yield* buildNumberedGuias(2)
      await wait
    }
    const traversal = client().guias.crearMuchas(source(), { tamano: 1 })[Symbol.asyncIterator]()
    expect(await traversal.next()).toMatchObject({ value: { posicion: 0, ok: true } })
    expect(await traversal.next()).toMatchObject({ value: { posicion: 1, ok: true } })
    release()
    expect(await traversal.next()).toEqual({ done: true, value: undefined })
  })

  it('a source that fails: first what it gave, then its error', async () => {
    async function* source() {
      yield* buildNumberedGuias(15)
      throw new Error('se acabó el disco')
    }
    const seen: unknown[] = []
    const fault = (async () => {
      for await (const { posicion } of client().guias.crearMuchas(source(), { tamano: 10 })) seen.push(posicion)
    })()
    await expect(fault).rejects.toThrow('se acabó el disco')
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('aborted while the source makes wait: what was not sent gives no result', async () => {
    const cut = new AbortController()
    let readCount = 0
    async function* source() {
      for (const guia of buildNumberedGuias(5)) {
        readCount++
        yield guia
      }
      setImmediate(() => cut.abort('ya no'))
      await new Promise(() => {})
    }
    const results: ResultadoDeMuchas<GuiaParaCrear>[] = []
    const error = await (async () => {
      for await (const r of client().guias.crearMuchas(source(), { tamano: 2, signal: cut.signal, concurrencia: 1 }))
        results.push(r)
    })().catch((causa) => causa)
    expect(error).toBeInstanceOf(ErrorAbortado)
    expect(error.cause).toBe('ya no')
    expect([results.length, readCount]).toEqual([4, 5])
  })

  it('aborted in mid-request: its guides are told of', async () => {
    const cut = new AbortController()
    answer = () => {
      cut.abort()
      return new Promise(() => {})
    }
    const results: ResultadoDeMuchas<GuiaParaCrear>[] = []
    const walk = async () => {
      for await (const r of client().guias.crearMuchas(buildNumberedGuias(3), { signal: cut.signal })) results.push(r)
    }
    await expect(walk()).rejects.toBeInstanceOf(ErrorAbortado)
    expect(results.map((r) => !r.ok && [r.error.name, r.pasajera])).toEqual(Array(3).fill(['ErrorAbortado', true]))
  })

  it('listens to its own signal, so that many creations may share one', async () => {
    const cut = new AbortController()
    const listenerCounts = new Set<number>()
    const count = () => listenerCounts.add(getEventListeners(cut.signal, 'abort').length)
    const responder = answer
    answer = (...args) => {
      count()
      return responder(...args)
    }
    function* source() {
      for (const guia of buildNumberedGuias(4)) {
        count()
        yield guia
      }
    }
    const create = () => all(client().guias.crearMuchas(source(), { tamano: 2, signal: cut.signal }))
    expect((await Promise.all(Array.from({ length: 12 }, create))).flat().every(({ ok }) => ok)).toBe(true)
    count()
    expect([...listenerCounts]).toEqual([0])
  })

  it('left early: the source is closed and no more is read', async () => {
    let cerrada = false
    let readCount = 0
    function* source() {
      try {
        for (const guia of buildNumberedGuias(1_000)) {
          readCount++
          yield guia
        }
      } finally {
        cerrada = true
      }
    }
    for await (const { posicion } of client().guias.crearMuchas(source(), { tamano: 10 })) if (posicion === 5) break
    await waitUntil(async () => cerrada)
    expect(readCount).toBeLessThanOrEqual(40)
  })

  it('is of one use, looks at its options, and survives a callback that throws', async () => {
    const creation = client().guias.crearMuchas(new Set(buildNumberedGuias(2)), {
      alAvanzar: () => {
        throw new Error('no')
      },
    })
    expect(await all(creation)).toHaveLength(2)
    expect(creation.avance.total).toBe(2)
    await expect(all(creation)).rejects.toThrow('una sola vez')
    expect(await all(client().guias.crearMuchas([]))).toEqual([])
    for (const [options, dice] of [
      [{ tamano: 101 }, 'tamano'],
      [{ tamano: 1.5 }, 'tamano'],
      [{ concurrencia: 0 }, 'concurrencia'],
    ] as [OpcionesDeMuchas, string][]) {
      expect(() => client().guias.crearMuchas([], options)).toThrow(dice)
    }
    expect(() => client().guias.crearMuchas(undefined as never)).toThrow(ErrorGuias)
  })

  it('keeps the type of what it was given (this compiles)', () => {
    type RequestInput = GuiaParaCrear & { tableRow: number }
    const creation = client().guias.crearMuchas([] as RequestInput[])
    expectTypeOf(creation).toExtend<AsyncIterable<ResultadoDeMuchas<RequestInput>>>()
    const read = (r: ResultadoDeMuchas<RequestInput>) => (r.ok ? r.guia : `${r.entrada.tableRow}: ${r.error.message}`)
    expectTypeOf(read).returns.toEqualTypeOf<string>()
  })
})
