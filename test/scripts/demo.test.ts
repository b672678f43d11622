import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../factories.ts'
import { findProcesses, type TestProcess, useProcesses } from '../processes.ts'

const procesos = useProcesses()
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
const tmp = procesos.nextFolder()
const antes = entradas(EXTERNA)
let demo: TestProcess

describe('npm run demo', FULL_RUN_ONLY, () => {
  beforeAll(async () => {
    mkdirSync(tmp)
    demo = procesos.runCommand(['npm', 'run', '--silent', 'demo'], { TMPDIR: tmp })
    await demo.waitForEnd()
  })

  it('shows what it promises', () => {
    expect({ fin: demo.fin, errores: demo.errores.replace(/^Generando.*\n/gm, '') }).toEqual({
      fin: { codigo: 0, signal: null },
      errores: '',
    })
    expect(demo.output).not.toContain('✘')
    expect(demo.output.match(/✔/g)?.length).toBeGreaterThan(5)
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
      expect(demo.output).toContain(parte)
  })

  it('leaves the PDF of a proof, and nothing else', () => {
    const [ruta = ''] = /\S+prueba-de-entrega-\w+\.pdf/.exec(demo.output) ?? []
    expect(readFileSync(ruta).subarray(0, 5).toString()).toBe('%PDF-')
    expect(entradas(tmp).filter((nombre) => nombre.startsWith('prueba-'))).toHaveLength(1)
  })

  it('fits one screen', () => {
    // Where the test keeps its files is no merit of the demo's.
    const lineas = demo.output.replaceAll(tmp, '/tmp').trimEnd().split('\n')
    expect(lineas.length).toBeLessThanOrEqual(LINEAS)
    expect(lineas.filter((linea) => [...linea].length > COLUMNAS)).toEqual([])
  })

  it('leaves nothing behind', () => {
    expect([...findProcesses(tmp).values()]).toEqual([])
    expect(entradas(tmp).filter((nombre) => nombre.startsWith('guias'))).toEqual([])
    expect(
      entradas(EXTERNA).filter((nombre) => !antes.includes(nombre)),
      `in ${EXTERNA}`,
    ).toEqual([])
  })
})
