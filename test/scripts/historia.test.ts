import { describe, expect, it } from 'vitest'
import {
  type Cifra,
  caidas,
  desplomes,
  dibujarHistoria,
  presentarCarga,
  type RegistroDeCorrida,
} from '../../bench/arnes/historia.ts'
import { juzgar } from '../../bench/arnes/juicio.ts'

const cifra = (min: number, mediana: number, max: number, cambios: Partial<Cifra> = {}): Cifra => ({
  ...{ min, mediana, max },
  ...{ sentido: '≥', marca: 1 },
  ...cambios,
})
const registro = (cifras: Record<string, Cifra>, cambios: Partial<RegistroDeCorrida> = {}): RegistroDeCorrida => ({
  ...{ fecha: '2026-11-22T00:00:00.000Z', commit: 'abc1234', maquina: 'una', carga: { antes: 0.1, despues: 2 } },
  ...{ rondas: 5, cifras },
  ...cambios,
})

describe('the history of the bench', () => {
  it('tells what fell by more than the noise of its rounds, whichever way its mark looks', () => {
    const antes = registro({
      crear: cifra(1, 1.1, 1.2),
      leer: cifra(1, 1.1, 1.2),
      arranque: cifra(10, 11, 12, { sentido: '≤', marca: 18 }),
    })
    const ahora = (cifras: Record<string, Cifra>) => caidas(registro(cifras), [antes])
    expect(ahora({ crear: cifra(0.8, 0.9, 1.01) })).toEqual([])
    expect(ahora({ crear: cifra(1.3, 1.4, 1.5), nueva: cifra(0.1, 0.1, 0.1) })).toEqual([])
    expect(ahora({ crear: cifra(0.7, 0.8, 0.9), leer: cifra(1, 1.1, 1.2) })).toEqual([
      'crear: 1.1 (1–1.2) en abc1234, 0.8 (0.7–0.9) ahora',
    ])
    const arranque = (min: number, max: number) => cifra(min, (min + max) / 2, max, { sentido: '≤', marca: 18 })
    expect(ahora({ arranque: arranque(13, 15) })).toHaveLength(1)
    expect(ahora({ arranque: arranque(7, 9) })).toEqual([])
  })

  it('compares with the last run that has the figure, of the same machine', () => {
    const historia = [
      registro({ crear: cifra(2, 2, 2) }),
      registro({ crear: cifra(1, 1, 1) }),
      registro({ otra: cifra(9, 9, 9) }),
      registro({ crear: cifra(9, 9, 9) }, { maquina: 'otra' }),
    ]
    expect(caidas(registro({ crear: cifra(0.9, 1, 1.1) }), historia)).toEqual([])
    expect(caidas(registro({ crear: cifra(0.5, 0.5, 0.5) }), historia)).toHaveLength(1)
  })

  it('calls a breakdown only what is below half of its mark, or above its double, in every round', () => {
    const cifras = {
      justa: cifra(0.5, 0.5, 0.5),
      mala: cifra(0.4, 0.45, 0.49),
      ruidosa: cifra(0.1, 0.2, 0.5),
      lenta: cifra(37, 38, 40, { sentido: '≤', marca: 18 }),
      pasable: cifra(30, 36, 40, { sentido: '≤', marca: 18 }),
    }
    expect(desplomes(cifras).map((linea) => linea.split(':')[0])).toEqual(['mala', 'lenta'])
  })

  it('judges by the attempts that had the machine for themselves, and by two of them', () => {
    const intento = (cayo: boolean, tranquilo = true) => ({ caidos: cayo ? ['lote: 0.1'] : [], tranquilo })
    expect(juzgar([intento(false, false)])).toEqual([])
    expect(juzgar([intento(true)])).toBeUndefined()
    expect(juzgar([intento(true), intento(true)])).toEqual(['lote: 0.1'])
    expect(juzgar([intento(true), intento(false, false)])).toEqual([])
    expect(juzgar([intento(true, false), intento(true, false), intento(true, false)])).toBeUndefined()
    expect(juzgar([intento(true, false), intento(true), intento(true, false), intento(true)])).toEqual(['lote: 0.1'])
  })

  it('draws every figure against its mark, and marks what was measured on a busy machine', () => {
    const dos = [registro({ a: cifra(1, 2, 3) }), registro({ a: cifra(9, 9, 9, { sentido: '≤', marca: 18 }) })]
    const [grafica] = dibujarHistoria(dos)
    expect(grafica!.lineas[0]!.puntos.map(({ x, y }) => [x, y.mediana])).toEqual([
      [1, 2],
      [2, 2],
    ])
    expect(presentarCarga({ antes: 0.2, despues: 3 })).not.toContain('Ruidosa')
    expect(presentarCarga({ antes: 0.6, despues: 3 })).toContain('Ruidosa')
  })
})
