import type { Estado, GuiaIndividual } from '@guias/sdk'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const environment = shareEnvironment()
/** 1,000 in full (`MODELO=1000 npx vitest run test/guias/model.test.ts`); CI makes fewer. */
const CORRIDAS = Number(process.env.MODELO ?? 60)

interface Esperada {
  cuerpo: GuiaIndividual
  guia: string
  estado: Estado
  confirmada: boolean
}
type Modelo = Esperada[]
type Real = Comercio
type Orden = fc.AsyncCommand<Modelo, Real>

const alguna = (model: Modelo, i: number) => model[i % model.length]!

class Crear implements Orden {
  readonly conDestino: boolean
  constructor(conDestino: boolean) {
    this.conDestino = conDestino
  }
  check = () => true
  async run(model: Modelo, { api }: Real) {
    const cuerpo = this.conDestino ? buildGuia() : buildGuiaWithoutDestino()
    const { guia, estado, secuencia } = await api.guias.crear(cuerpo)
    expect([estado, secuencia]).toEqual(['aceptado', 1])
    model.push({ cuerpo, guia, estado: 'aceptado', confirmada: this.conDestino })
  }
  toString = () => `crear(${this.conDestino ? 'con' : 'sin'} destino)`
}

class Repetir implements Orden {
  readonly i: number
  constructor(i: number) {
    this.i = i
  }
  check = (model: Readonly<Modelo>) => model.length > 0
  async run(model: Modelo, { api }: Real) {
    const expected = alguna(model, this.i)
    const { datos, status } = await api.guias.crear(expected.cuerpo).conRespuesta()
    expect([status, datos.guia, datos.estado]).toEqual([200, expected.guia, expected.estado])
  }
  toString = () => `repetir(${this.i})`
}

class Lote implements Orden {
  readonly new_failures: number
  readonly viejas: number[]
  constructor(nuevas: number, viejas: number[]) {
    this.new_failures = nuevas
    this.viejas = viejas
  }
  check = () => true
  async run(model: Modelo, { api }: Real) {
    const repetidas = model.length > 0 ? this.viejas.map((i) => alguna(model, i)) : []
    const nuevas = Array.from({ length: this.new_failures }, () => buildGuia())
    const {
      creadas,
      repetidas: halladas,
      resultados,
    } = await api.guias.crearLote({
      guias: [...repetidas.map((r) => r.cuerpo), ...nuevas, { telefono: 'malo' } as never],
    })
    expect([creadas, halladas, resultados.length]).toEqual([
      nuevas.length,
      repetidas.length,
      repetidas.length + nuevas.length + 1,
    ])
    for (const [i, { guia }] of repetidas.entries())
      expect(resultados[i]).toMatchObject({ ok: true, guia, repetida: true })
    for (const [i, cuerpo] of nuevas.entries()) {
      const result = resultados[repetidas.length + i] as { guia: string }
      model.push({ cuerpo, guia: result.guia, estado: 'aceptado', confirmada: true })
    }
    expect(resultados.at(-1)).toMatchObject({ ok: false })
  }
  toString = () => `lote(${this.new_failures} nuevas, repetidas ${this.viejas})`
}

class Avanzar implements Orden {
  readonly i: number
  readonly a: Estado
  constructor(i: number, a: Estado) {
    this.i = i
    this.a = a
  }
  check = (model: Readonly<Modelo>) => model.length > 0
  async run(model: Modelo) {
    const expected = alguna(model, this.i)
    const legales: readonly Estado[] =
      STATE_MACHINE.transiciones[expected.estado as keyof typeof STATE_MACHINE.transiciones]
    const { status, cuerpo } = await environment.operar(
      'POST',
      `/guias/${expected.guia}/eventos`,
      buildEstadoReport(this.a),
    )
    if (!legales.includes(this.a) || this.a === 'cancelado')
      expect([status, cuerpo.codigo]).toEqual([409, 'transicion_invalida'])
    else if (this.a === 'en_ruta' && !expected.confirmada)
      expect([status, cuerpo.codigo]).toEqual([409, 'ubicacion_sin_confirmar'])
    else {
      expect([status, cuerpo.aplicado]).toEqual([201, true])
      expected.estado = this.a
    }
  }
  toString = () => `avanzar(${this.i}, ${this.a})`
}

class Cancelar implements Orden {
  readonly i: number
  constructor(i: number) {
    this.i = i
  }
  check = (model: Readonly<Modelo>) => model.length > 0
  async run(model: Modelo, { llave }: Real) {
    const expected = alguna(model, this.i)
    const { status } = await environment.request('POST', `/api/v1/guias/${expected.guia}/cancelar`, { llave })
    const posible = ['aceptado', 'cancelado'].includes(expected.estado)
    expect(status).toBe(posible ? 200 : 409)
    if (posible) expected.estado = 'cancelado'
  }
  toString = () => `cancelar(${this.i})`
}

class Paginar implements Orden {
  readonly limite: number
  constructor(limite: number) {
    this.limite = limite
  }
  check = () => true
  async run(model: Modelo, { api }: Real) {
    const leidas: [string, string][] = []
    for await (const { guia, estado } of api.guias.listar({ limite: this.limite })) leidas.push([guia, estado])
    expect(leidas).toEqual(model.map(({ guia, estado }) => [guia, estado]).reverse())
  }
  toString = () => `paginar(${this.limite})`
}

const index = fc.nat({ max: 50 })
const ESTADOS = Object.keys(STATE_MACHINE.transiciones) as Estado[]
const ordenes = [
  fc.boolean().map((con) => new Crear(con)),
  index.map((i) => new Repetir(i)),
  fc.tuple(fc.nat({ max: 4 }), fc.array(index, { maxLength: 3 })).map(([n, v]) => new Lote(n, v)),
  fc.tuple(index, fc.constantFrom(...ESTADOS)).map(([i, a]) => new Avanzar(i, a)),
  fc.tuple(index, fc.constantFrom(...ESTADOS)).map(([i, a]) => new Avanzar(i, a)),
  index.map((i) => new Cancelar(i)),
  fc.integer({ min: 1, max: 7 }).map((limite) => new Paginar(limite)),
]

it('the running service does what the model says, and every history is legal and gap-free', {
  timeout: 30_000 + CORRIDAS * 2_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(ordenes, { maxCommands: 25 }), async (list) => {
      const real = await environment.createComercio()
      const model: Modelo = []
      await fc.asyncModelRun(() => ({ model, real }), list)
      for (const { guia, estado } of model) {
        const { eventos, ...now } = await real.api.guias.obtener(guia, { limite: 100 })
        expect([now.estado, now.secuencia]).toEqual([estado, eventos.datos.length])
        expect(eventos.datos.map((e) => e.secuencia)).toEqual(eventos.datos.map((_, i) => i + 1))
        for (const [i, evento] of eventos.datos.entries())
          expect(evento.estado_anterior).toBe(i === 0 ? null : eventos.datos[i - 1]!.estado)
      }
    }),
    { numRuns: CORRIDAS },
  )
})
