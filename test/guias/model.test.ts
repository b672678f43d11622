import type { Estado, GuiaIndividual } from '@guias/sdk'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const environment = shareEnvironment()
/** 1,000 in full (`MODELO=1000 npx vitest run test/guias/model.test.ts`); CI makes fewer. */
const RUN_COUNT = Number(process.env.MODELO ?? 60)

interface ExpectedGuia {
  body: GuiaIndividual
  guia: string
  estado: Estado
  confirmada: boolean
}
type Model = ExpectedGuia[]
type Real = Comercio
type Command = fc.AsyncCommand<Model, Real>

const pickOne = (model: Model, i: number) => model[i % model.length]!

class Crear implements Command {
  readonly hasDestino: boolean
  constructor(hasDestino: boolean) {
    this.hasDestino = hasDestino
  }
  check = () => true
  async run(model: Model, { api }: Real) {
    const body = this.hasDestino ? buildGuia() : buildGuiaWithoutDestino()
    const { guia, estado, secuencia } = await api.guias.crear(body)
    expect([estado, secuencia]).toEqual(['aceptado', 1])
    model.push({ body, guia, estado: 'aceptado', confirmada: this.hasDestino })
  }
  toString = () => `crear(${this.hasDestino ? 'con' : 'sin'} destino)`
}

class Repeat implements Command {
  readonly i: number
  constructor(i: number) {
    this.i = i
  }
  check = (model: Readonly<Model>) => model.length > 0
  async run(model: Model, { api }: Real) {
    const expected = pickOne(model, this.i)
    const { datos, estadoHttp: status } = await api.guias.crear(expected.body).conRespuesta()
    expect([status, datos.guia, datos.estado]).toEqual([200, expected.guia, expected.estado])
  }
  toString = () => `repetir(${this.i})`
}

class Lote implements Command {
  readonly new_failures: number
  readonly repeatedIndexes: number[]
  constructor(newGuias: number, repeatedIndexes: number[]) {
    this.new_failures = newGuias
    this.repeatedIndexes = repeatedIndexes
  }
  check = () => true
  async run(model: Model, { api }: Real) {
    const repetidas = model.length > 0 ? this.repeatedIndexes.map((i) => pickOne(model, i)) : []
    const newGuias = Array.from({ length: this.new_failures }, () => buildGuia())
    const {
      creadas,
      repetidas: findings,
      resultados,
    } = await api.guias.crearLote({
      guias: [...repetidas.map((r) => r.body), ...newGuias, { telefono: 'malo' } as never],
    })
    expect([creadas, findings, resultados.length]).toEqual([
      newGuias.length,
      repetidas.length,
      repetidas.length + newGuias.length + 1,
    ])
    for (const [i, { guia }] of repetidas.entries())
      expect(resultados[i]).toMatchObject({ ok: true, guia, repetida: true })
    for (const [i, body] of newGuias.entries()) {
      const result = resultados[repetidas.length + i] as { guia: string }
      model.push({ body, guia: result.guia, estado: 'aceptado', confirmada: true })
    }
    expect(resultados.at(-1)).toMatchObject({ ok: false })
  }
  toString = () => `lote(${this.new_failures} nuevas, repetidas ${this.repeatedIndexes})`
}

class Avanzar implements Command {
  readonly i: number
  readonly a: Estado
  constructor(i: number, a: Estado) {
    this.i = i
    this.a = a
  }
  check = (model: Readonly<Model>) => model.length > 0
  async run(model: Model) {
    const expected = pickOne(model, this.i)
    const legalEstados: readonly Estado[] =
      STATE_MACHINE.transiciones[expected.estado as keyof typeof STATE_MACHINE.transiciones]
    const { status, body } = await environment.asOperador(
      'POST',
      `/guias/${expected.guia}/eventos`,
      buildEstadoReport(this.a),
    )
    if (!legalEstados.includes(this.a) || this.a === 'cancelado')
      expect([status, body.codigo]).toEqual([409, 'transicion_invalida'])
    else if (this.a === 'en_ruta' && !expected.confirmada)
      expect([status, body.codigo]).toEqual([409, 'ubicacion_sin_confirmar'])
    else {
      expect([status, body.aplicado]).toEqual([201, true])
      expected.estado = this.a
    }
  }
  toString = () => `avanzar(${this.i}, ${this.a})`
}

class Cancelar implements Command {
  readonly i: number
  constructor(i: number) {
    this.i = i
  }
  check = (model: Readonly<Model>) => model.length > 0
  async run(model: Model, { llave }: Real) {
    const expected = pickOne(model, this.i)
    const { status } = await environment.request('POST', `/api/v1/guias/${expected.guia}/cancelar`, { llave })
    const isPossible = ['aceptado', 'cancelado'].includes(expected.estado)
    expect(status).toBe(isPossible ? 200 : 409)
    if (isPossible) expected.estado = 'cancelado'
  }
  toString = () => `cancelar(${this.i})`
}

class Paginate implements Command {
  readonly limite: number
  constructor(limite: number) {
    this.limite = limite
  }
  check = () => true
  async run(model: Model, { api }: Real) {
    const listed: [string, string][] = []
    for await (const { guia, estado } of api.guias.listar({ limite: this.limite })) listed.push([guia, estado])
    expect(listed).toEqual(model.map(({ guia, estado }) => [guia, estado]).reverse())
  }
  toString = () => `paginar(${this.limite})`
}

const index = fc.nat({ max: 50 })
const ESTADOS = Object.keys(STATE_MACHINE.transiciones) as Estado[]
const commands = [
  fc.boolean().map((hasDestino) => new Crear(hasDestino)),
  index.map((i) => new Repeat(i)),
  fc.tuple(fc.nat({ max: 4 }), fc.array(index, { maxLength: 3 })).map(([n, v]) => new Lote(n, v)),
  fc.tuple(index, fc.constantFrom(...ESTADOS)).map(([i, a]) => new Avanzar(i, a)),
  fc.tuple(index, fc.constantFrom(...ESTADOS)).map(([i, a]) => new Avanzar(i, a)),
  index.map((i) => new Cancelar(i)),
  fc.integer({ min: 1, max: 7 }).map((limite) => new Paginate(limite)),
]

it('the running service does what the model says, and every history is legal and gap-free', {
  timeout: 30_000 + RUN_COUNT * 2_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (list) => {
      const real = await environment.createComercio()
      const model: Model = []
      await fc.asyncModelRun(() => ({ model, real }), list)
      for (const { guia, estado } of model) {
        const { eventos, ...now } = await real.api.guias.obtener(guia, { limite: 100 })
        expect([now.estado, now.secuencia]).toEqual([estado, eventos.datos.length])
        expect(eventos.datos.map((e) => e.secuencia)).toEqual(eventos.datos.map((_, i) => i + 1))
        for (const [i, evento] of eventos.datos.entries())
          expect(evento.estado_anterior).toBe(i === 0 ? null : eventos.datos[i - 1]!.estado)
      }
    }),
    { numRuns: RUN_COUNT },
  )
})
