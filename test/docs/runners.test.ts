/** The collection, from top to bottom, with Postman's and Bruno's own runners, as a merchant runs it. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { shareEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { runProgram } from './run.ts'

const environment = shareEnvironment()
const CORREDORES = fileURLToPath(new URL('test/runners/', ROOT))
let corredores = ''
let folder = ''
let total = 0
const en = (file: string) => join(folder, file)

/** Installs the runners once for each lock file, outside of the project's own packages. */
async function instalar() {
  const lock = await readFile(join(CORREDORES, 'package-lock.json'))
  const mark = createHash('sha256').update(lock).digest('hex').slice(0, 12)
  const memoria = fileURLToPath(new URL('node_modules/.cache/guias/', ROOT))
  corredores = join(memoria, `corredores-${mark}`)
  if (existsSync(corredores)) return
  await mkdir(memoria, { recursive: true })
  const provisional = await mkdtemp(join(memoria, 'corredores-'))
  for (const file of ['package.json', 'package-lock.json', 'bruno.mjs'])
    await cp(join(CORREDORES, file), join(provisional, file))
  await exigir(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], provisional)
  await rename(provisional, corredores)
}

async function exigir(orden: string[], cwd: string) {
  // npm reads its registry from the environment, too.
  const { codigo, output, errores } = await runProgram(orden, { cwd, env: process.env as Record<string, string> })
  expect(codigo, output + errores).toBe(0)
}
const correr = (program: string, args: string[], cwd = folder) =>
  runProgram([process.execPath, join(corredores, program), ...args], { cwd })

interface Enviada {
  nombre: string
  status: number
}
const malas = (enviadas: readonly Enviada[]) => enviadas.filter(({ status }) => !(status >= 200 && status < 300))

describe('the collection, from top to bottom', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guias-coleccion-'))
    const text = await (await fetch(`${environment.url}/coleccion.json`)).text()
    total = (JSON.parse(text).item as { item: unknown[] }[]).reduce((sum, { item }) => sum + item.length, 0)
    await writeFile(en('coleccion.json'), text)
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('goes well with newman, and again with what it left', FULL_RUN_ONLY, async () => {
    await instalar()
    const { llave } = await environment.createComercio()
    for (const time of [1, 2]) {
      const informe = en(`newman${time}.json`)
      const options = ['--env-var', `GUIAS_LLAVE=${llave}`, '--reporters', 'json', '--reporter-json-export', informe]
      await correr('node_modules/newman/bin/newman.js', ['run', 'coleccion.json', ...options])
      const { run } = JSON.parse(await readFile(informe, 'utf8'))
      expect(run.failures.map(({ error }: { error: Error }) => error.message)).toEqual([])
      const enviadas = run.executions.map(({ item, response }: { item: Objeto; response?: Objeto }) => ({
        nombre: item.name,
        status: response?.code ?? 0,
      }))
      expect(malas(enviadas)).toEqual([])
      expect(new Set(enviadas.map(({ nombre }: Enviada) => nombre)).size).toBe(total)
    }
  })

  it('goes well with Bruno’s command line', FULL_RUN_ONLY, async () => {
    await instalar()
    const { llave } = await environment.createComercio()
    await exigir(
      [process.execPath, join(corredores, 'bruno.mjs'), en('coleccion.json'), en('bruno'), llave],
      corredores,
    )
    const informe = en('bruno.json')
    const options = ['-r', '--env', 'prueba', '--reporter-json', informe]
    const { errores } = await correr('node_modules/@usebruno/cli/bin/bru.js', ['run', ...options], en('bruno'))
    expect(existsSync(informe), errores).toBe(true)
    const [{ results }] = JSON.parse(await readFile(informe, 'utf8'))
    const enviadas = results.map(({ name, response }: { name: string; response: Objeto }) => ({
      nombre: name,
      status: response.status,
    }))
    expect(malas(enviadas)).toEqual([])
    expect(enviadas).toHaveLength(total)
  })
})

type Objeto = Record<string, never>
