import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../factories.ts'
import { findProcesses, type TestProcess, useProcesses } from '../processes.ts'

const processes = useProcesses()
/** One screen. */
const LINEAS = 60
const COLUMNS = 130
/** Where the data of root's PostgreSQL goes when its user can't enter DATA_DIR. */
const EXTERNA = '/var/lib/guias'

const entradas = (path: string) => {
  try {
    return readdirSync(path).filter((name) => !name.startsWith('linux-')) // copied binaries are kept
  } catch {
    return []
  }
}
const tmp = processes.nextFolder()
const before = entradas(EXTERNA)
let demo: TestProcess

describe('npm run demo', FULL_RUN_ONLY, () => {
  beforeAll(async () => {
    mkdirSync(tmp)
    demo = processes.runCommand(['npm', 'run', '--silent', 'demo'], { TMPDIR: tmp })
    await demo.waitForEnd()
  })

  it('shows what it promises', () => {
    expect({ fin: demo.fin, errores: demo.errores.replace(/^Generando.*\n/gm, '') }).toEqual({
      fin: { codigo: 0, signal: null },
      errores: '',
    })
    expect(demo.output).not.toContain('✘')
    expect(demo.output.match(/✔/g)?.length).toBeGreaterThan(5)
    for (const part of [
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
      expect(demo.output).toContain(part)
  })

  it('leaves the PDF of a proof, and nothing else', () => {
    const [path = ''] = /\S+prueba-de-entrega-\w+\.pdf/.exec(demo.output) ?? []
    expect(readFileSync(path).subarray(0, 5).toString()).toBe('%PDF-')
    expect(entradas(tmp).filter((name) => name.startsWith('prueba-'))).toHaveLength(1)
  })

  it('fits one screen', () => {
    // Where the test keeps its files is no merit of the demo's.
    const lines = demo.output.replaceAll(tmp, '/tmp').trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(LINEAS)
    expect(lines.filter((line) => [...line].length > COLUMNS)).toEqual([])
  })

  it('leaves nothing behind', () => {
    expect([...findProcesses(tmp).values()]).toEqual([])
    expect(entradas(tmp).filter((name) => name.startsWith('guias'))).toEqual([])
    expect(
      entradas(EXTERNA).filter((name) => !before.includes(name)),
      `in ${EXTERNA}`,
    ).toEqual([])
  })
})
