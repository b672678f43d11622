import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { COMPLETO } from '../fabricas.ts'
import { type Proceso, procesosDe, usarProcesos } from '../procesos.ts'

const procesos = usarProcesos()
/** One screen. */
const LINEAS = 60
const COLUMNAS = 130
/** Where the data of root's PostgreSQL goes when its user can't enter DATA_DIR. */
const EXTERNA = '/var/lib/guias'

const entradas = (ruta: string) => {
  try {
    return readdirSync(ruta).filter((nombre) => !nombre.startsWith('linux-')) // copied binaries are kept
  } catch {
    return []
  }
}
const tmp = procesos.carpetaNueva()
const antes = entradas(EXTERNA)
let demo: Proceso

describe('npm run demo', COMPLETO, () => {
  beforeAll(async () => {
    mkdirSync(tmp)
    demo = procesos.correr(['npm', 'run', '--silent', 'demo'], { TMPDIR: tmp })
    await demo.termina()
  })

  it('shows what it promises', () => {
    expect({ fin: demo.fin, errores: demo.errores.replace(/^Generando.*\n/gm, '') }).toEqual({
      fin: { codigo: 0, senal: null },
      errores: '',
    })
    expect(demo.salida).not.toContain('✘')
    expect(demo.salida.match(/✔/g)?.length).toBeGreaterThan(5)
    for (const parte of [
      '1. ',
      '2. ',
      '3. ',
      '4. ',
      'teléfono corregido',
      'el destinatario escogió',
      'vuelve por la política (intentos_agotados)',
      'entregado',
      'devuelto',
      'cancelado',
      'a 11 m',
      'verificada',
      'Todo salió',
    ])
      expect(demo.salida).toContain(parte)
  })

  it('leaves the PDF of a proof, and nothing else', () => {
    const [ruta = ''] = /\S+prueba-de-entrega-\w+\.pdf/.exec(demo.salida) ?? []
    expect(readFileSync(ruta).subarray(0, 5).toString()).toBe('%PDF-')
    expect(entradas(tmp).filter((nombre) => nombre.startsWith('prueba-'))).toHaveLength(1)
  })

  it('fits one screen', () => {
    // Where the test keeps its files is no merit of the demo's.
    const lineas = demo.salida.replaceAll(tmp, '/tmp').trimEnd().split('\n')
    expect(lineas.length).toBeLessThanOrEqual(LINEAS)
    expect(lineas.filter((linea) => [...linea].length > COLUMNAS)).toEqual([])
  })

  it('leaves nothing behind', () => {
    expect([...procesosDe(tmp).values()]).toEqual([])
    expect(entradas(tmp).filter((nombre) => nombre.startsWith('guias'))).toEqual([])
    expect(
      entradas(EXTERNA).filter((nombre) => !antes.includes(nombre)),
      `in ${EXTERNA}`,
    ).toEqual([])
  })
})
