import { describe, expect, it } from 'vitest'
import { Cubos } from '../../server/limites/cubos.ts'

const RITMO = { porSegundo: 2, rafaga: 10 }

function conReloj(procesos = 1, maximo?: number) {
  const estado = { ms: 0, procesos }
  const cubos = new Cubos({
    reloj: () => estado.ms,
    procesos: () => estado.procesos,
    ...(maximo ? { maximo } : {}),
  })
  return { estado, cubos }
}

const veces = (cuantas: number, hacer: () => number) => Array.from({ length: cuantas }, hacer)

describe('a token bucket', () => {
  it('lets a burst through, and then as many as come back', () => {
    const { cubos, estado } = conReloj()
    expect(veces(12, () => cubos.tomar('a', RITMO))).toEqual([...Array(10).fill(0), 1, 1])
    estado.ms += 1_000
    expect(veces(3, () => cubos.tomar('a', RITMO))).toEqual([0, 0, 1])
    estado.ms += 60_000
    expect(cubos.quedan('a', RITMO)).toEqual({ quedan: 10, enteroEn: 0 })
  })

  it('lets what costs more than is left go, and makes whoever took it wait for all of it', () => {
    const { cubos } = conReloj()
    expect(cubos.tomar('a', RITMO, 100)).toBe(0)
    expect(cubos.tomar('a', RITMO)).toBe(46)
    expect(cubos.quedan('a', RITMO)).toEqual({ quedan: 0, enteroEn: 50 })
    cubos.devolver('a', 95)
    expect(cubos.quedan('a', RITMO)).toEqual({ quedan: 5, enteroEn: 3 })
  })

  it('is divided among the processes of this moment, and nobody is left without', () => {
    const { cubos, estado } = conReloj(2)
    expect(veces(6, () => cubos.tomar('a', RITMO))).toEqual([...Array(5).fill(0), 1])
    estado.procesos = 100
    expect(cubos.parte(RITMO)).toEqual({ porSegundo: 0.02, rafaga: 1 })
    estado.procesos = 1
    estado.ms += 5_000
    expect(cubos.quedan('a', RITMO).quedan).toBe(10)
  })

  it('forgets whom it has not seen for longest', () => {
    const { cubos } = conReloj(1, 2)
    for (const clave of ['a', 'b', 'a', 'c']) cubos.tomar(clave, RITMO)
    expect(['a', 'b', 'c'].map((clave) => cubos.quedan(clave, RITMO).quedan)).toEqual([8, 10, 10])
  })
})
