import { describe, expect, it } from 'vitest'
import {
  Admission,
  type AdmissionTurn,
  DeliveryLine,
  IN_FLIGHT,
  IN_FLIGHT_PER_MERCHANT,
  IN_FLIGHT_PER_WEBHOOK,
  MAX_IN_FLIGHT,
  MAX_WAITING,
  READ_WINDOW,
  SLOW_AFTER,
  WAITING_PER_MERCHANT,
  type Waiting,
} from '../../server/domain/webhooks/sending/admission.ts'

type Suyo = AdmissionTurn<Waiting, DeliveryLine>

/** Quotas on a clock of the test's own. */
function nuevo() {
  const cupos = new Admission<Waiting, DeliveryLine>()
  let serie = 0
  const pendiente = (guia_id = `guia ${++serie}`, secuencia = 1): Waiting => ({
    evento: `${guia_id} ${secuencia}`,
    guia_id,
    secuencia,
    desde: 0,
  })
  const linea = (comercio: string, cuantas = 0) => {
    const suya = new DeliveryLine(cupos.open(comercio))
    for (let i = 0; i < cuantas; i++) cupos.add(suya, pendiente())
    return suya
  }
  /** All that may begin at that instant. */
  const empezar = (ahora: number, puede: (linea: DeliveryLine) => boolean = () => true): Suyo[] => {
    const empezados: Suyo[] = []
    for (let turno = cupos.take(ahora, puede); turno; turno = cupos.take(ahora, puede)) empezados.push(turno)
    return empezados
  }
  return { cupos, pendiente, linea, start: empezar }
}

const de = (linea: DeliveryLine) => (turno: Suyo) => turno.linea === linea

describe('admission to send', () => {
  it('an endpoint has four exchanges under way, and begins another when one ends', () => {
    const { cupos, linea, start: empezar } = nuevo()
    const una = linea('a', 10)
    const turnos = empezar(0)
    expect(turnos).toHaveLength(IN_FLIGHT_PER_WEBHOOK)
    expect([una.inFlight, una.waiting.length, cupos.inFlightCount, cupos.waitingCount]).toEqual([4, 6, 4, 6])
    cupos.finish(turnos[2]!, 5)
    expect(empezar(5)).toHaveLength(1)
    // The end of the same exchange counts once.
    cupos.finish(turnos[2]!, 6)
    expect(empezar(6)).toEqual([])
  })

  it('endpoints take turns, one delivery each', () => {
    const { linea, start: empezar } = nuevo()
    const [una, otra, tercera] = [linea('a', 4), linea('a', 1), linea('b', 2)]
    expect(empezar(0).map((turno) => [una, otra, tercera].indexOf(turno.linea))).toEqual([0, 1, 2, 0, 2, 0, 0])
  })

  it('a merchant has half of the places, and what he may not begin goes on when one of his ends', () => {
    const { cupos, linea, start: empezar } = nuevo()
    const suyas = Array.from({ length: 20 }, () => linea('a', 10))
    const turnos = empezar(0)
    expect(turnos).toHaveLength(IN_FLIGHT_PER_MERCHANT)
    const vecina = linea('b', 3)
    expect(empezar(1).every(de(vecina))).toBe(true)
    expect(vecina.inFlight).toBe(3)
    for (const turno of turnos.slice(0, 5)) cupos.finish(turno, 2)
    expect(empezar(2).map((turno) => suyas.includes(turno.linea))).toEqual(Array(5).fill(true))
  })

  it('64 quick exchanges are under way; slow ones aren’t counted, up to 512', () => {
    const { linea, start: empezar } = nuevo()
    for (let i = 0; i < 300; i++) linea(`comercio ${i}`, 10)
    let total = 0
    for (let vez = 0; total < MAX_IN_FLIGHT; vez++) {
      const empezados = empezar(vez * (SLOW_AFTER + 1)).length
      expect(empezados).toBe(IN_FLIGHT)
      total += empezados
    }
    expect(empezar(1e9)).toEqual([])
  })

  it('the fuller it is the less a merchant may have under way, but never fewer than an endpoint', () => {
    const { linea, start: empezar } = nuevo()
    for (let i = 0; i < 110; i++) linea(`comercio ${i}`, IN_FLIGHT_PER_WEBHOOK)
    for (let vez = 0; vez < 7; vez++) empezar(vez * (SLOW_AFTER + 1))
    const llena = Array.from({ length: 20 }, () => linea('tarde', 10))
    empezar(1e9)
    const enVuelo = llena.reduce((suma, una) => suma + una.inFlight, 0)
    expect(enVuelo).toBeGreaterThanOrEqual(IN_FLIGHT_PER_WEBHOOK)
    expect(enVuelo).toBeLessThan(IN_FLIGHT_PER_MERCHANT)
  })

  it('a failing endpoint has one under way, its probe', () => {
    const { cupos, linea, start: empezar } = nuevo()
    const una = linea('a')
    una.limit = 1
    expect(cupos.roomFor(una)).toBe(1)
    cupos.add(una, { evento: 'e', guia_id: 'g', secuencia: 1, desde: 0 })
    expect(cupos.roomFor(una)).toBe(0)
    const [sonda, ...mas] = empezar(0)
    expect(mas).toEqual([])
    expect(cupos.roomFor(una)).toBe(0)
    cupos.finish(sonda!, 1)
    expect(cupos.roomFor(una)).toBe(1)
  })

  it('one that may not be sent to just now loses its place until it is summoned, and keeps what waits', () => {
    const { cupos, linea, start: empezar } = nuevo()
    const [una, otra] = [linea('a', 2), linea('a', 1)]
    const empezados = empezar(0, (quien) => quien !== una)
    expect(empezados.map(({ linea }) => [una, otra].indexOf(linea))).toEqual([1])
    expect(empezar(1)).toEqual([])
    cupos.queueLine(una)
    expect(empezar(2)).toHaveLength(2)
  })

  it('two events of a guide, in any order of arrival, are sent one after another in their own order', () => {
    const { cupos, linea, pendiente, start: empezar } = nuevo()
    const una = linea('a')
    for (const secuencia of [2, 3, 1]) cupos.add(una, pendiente('suya', secuencia))
    cupos.add(una, pendiente('otra'))
    const vistas: string[] = []
    for (let ahora = 0; cupos.inFlightCount + cupos.waitingCount > 0; ahora++) {
      const turnos = empezar(ahora)
      vistas.push(turnos.map(({ aviso: entrega }) => entrega.evento).join(' + '))
      for (const turno of turnos) cupos.finish(turno, ahora)
    }
    expect(vistas).toEqual(['suya 1 + otra 1', 'suya 2', 'suya 3'])
  })
})

describe('the number of deliveries in memory', () => {
  it('is bounded for an endpoint, a merchant and all together, and leaves room for newcomers', () => {
    const { cupos, linea, pendiente } = nuevo()
    const llenar = (una: DeliveryLine) => {
      const cuantas = cupos.reserve(una, READ_WINDOW)
      for (let i = 0; i < cuantas; i++) cupos.add(una, pendiente())
      cupos.unreserve(una, cuantas)
      return cuantas
    }
    const de_uno = Array.from({ length: 10 }, () => linea('a'))
    expect(de_uno.map(llenar)).toEqual([
      READ_WINDOW,
      READ_WINDOW,
      WAITING_PER_MERCHANT - 2 * READ_WINDOW,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
    ])
    for (let i = 0; i < 200; i++) llenar(linea(`comercio ${i}`))
    expect(cupos.waitingCount).toBeLessThan(MAX_WAITING + 200 * IN_FLIGHT_PER_WEBHOOK)
    expect(llenar(linea('el último'))).toBe(IN_FLIGHT_PER_WEBHOOK)
  })

  it('counts what is being read', () => {
    const { cupos, linea } = nuevo()
    const unas = Array.from({ length: 3 }, () => linea('a'))
    const otra = linea('a')
    expect(cupos.reserve(otra, 3)).toBe(3)
    cupos.unreserve(otra, 3)
    for (const una of unas) expect(cupos.reserve(una, READ_WINDOW)).toBe(READ_WINDOW)
    expect(cupos.reserve(otra, READ_WINDOW)).toBe(0)
    for (const una of unas) cupos.unreserve(una, READ_WINDOW)
    expect(cupos.roomFor(otra)).toBe(READ_WINDOW)
  })

  it('falls when a delivery is taken out, or when its line closes', () => {
    const { cupos, linea, start: empezar } = nuevo()
    const una = linea('a', 6)
    const otra = linea('a', 2)
    expect(cupos.remove(una, ({ evento }) => evento < 'guia 3')).toHaveLength(2)
    cupos.close(otra)
    expect([cupos.waitingCount, una.share.waitingCount]).toEqual([4, 4])
    expect(empezar(0).every(de(una))).toBe(true)
    cupos.close(una)
    expect(cupos.waitingCount).toBe(0)
    expect(cupos.open('a')).not.toBe(una.share)
  })

  it('an endpoint hangs when all its exchanges wait for too long', () => {
    const { cupos, linea, start: empezar } = nuevo()
    const una = linea('a', 4)
    const [primero] = empezar(100)
    expect([una.isHung(1_100, 1_000), una.isHung(1_101, 1_000)]).toEqual([false, true])
    cupos.finish(primero!, 2_000)
    expect(una.isHung(9_000, 1_000)).toBe(false)
  })
})
