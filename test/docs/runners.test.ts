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
const RUNNERS_FOLDER = fileURLToPath(new URL('test/runners/', ROOT))
let runners = ''
let folder = ''
let total = 0
const pathOf = (file: string) => join(folder, file)

/** Installs the runners once for each lock file, outside of the project's own packages. */
async function install() {
  const lock = await readFile(join(RUNNERS_FOLDER, 'package-lock.json'))
  const mark = createHash('sha256').update(lock).digest('hex').slice(0, 12)
  const memoria = fileURLToPath(new URL('node_modules/.cache/guias/', ROOT))
  runners = join(memoria, `corredores-${mark}`)
  if (existsSync(runners)) return
  await mkdir(memoria, { recursive: true })
  const provisional = await mkdtemp(join(memoria, 'corredores-'))
  for (const file of ['package.json', 'package-lock.json', 'bruno.mjs'])
    await cp(join(RUNNERS_FOLDER, file), join(provisional, file))
  await requireSuccess(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], provisional)
  await rename(provisional, runners)
}

async function requireSuccess(command: string[], cwd: string) {
  // npm reads its registry from the environment, too.
  const { codigo, output, errores } = await runProgram(command, { cwd, env: process.env as Record<string, string> })
  expect(codigo, output + errores).toBe(0)
}
const runCommand = (program: string, args: string[], cwd = folder) =>
  runProgram([process.execPath, join(runners, program), ...args], { cwd })

interface SentRequest {
  nombre: string
  status: number
}
const badCases = (sentRequests: readonly SentRequest[]) =>
  sentRequests.filter(({ status }) => !(status >= 200 && status < 300))

describe('the collection, from top to bottom', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guias-coleccion-'))
    const text = await (await fetch(`${environment.url}/coleccion.json`)).text()
    total = (JSON.parse(text).item as { item: unknown[] }[]).reduce((sum, { item }) => sum + item.length, 0)
    await writeFile(pathOf('coleccion.json'), text)
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('goes well with newman, and again with what it left', FULL_RUN_ONLY, async () => {
    await install()
    const { llave } = await environment.createComercio()
    for (const time of [1, 2]) {
      const report = pathOf(`newman${time}.json`)
      const options = ['--env-var', `GUIAS_LLAVE=${llave}`, '--reporters', 'json', '--reporter-json-export', report]
      await runCommand('node_modules/newman/bin/newman.js', ['run', 'coleccion.json', ...options])
      const { run } = JSON.parse(await readFile(report, 'utf8'))
      expect(run.failures.map(({ error }: { error: Error }) => error.message)).toEqual([])
      const sentRequests = run.executions.map(({ item, response }: { item: Objeto; response?: Objeto }) => ({
        nombre: item.name,
        status: response?.code ?? 0,
      }))
      expect(badCases(sentRequests)).toEqual([])
      expect(new Set(sentRequests.map(({ nombre }: SentRequest) => nombre)).size).toBe(total)
    }
  })

  it('goes well with Bruno’s command line', FULL_RUN_ONLY, async () => {
    await install()
    const { llave } = await environment.createComercio()
    await requireSuccess(
      [process.execPath, join(runners, 'bruno.mjs'), pathOf('coleccion.json'), pathOf('bruno'), llave],
      runners,
    )
    const report = pathOf('bruno.json')
    const options = ['-r', '--env', 'prueba', '--reporter-json', report]
    const { errores } = await runCommand('node_modules/@usebruno/cli/bin/bru.js', ['run', ...options], pathOf('bruno'))
    expect(existsSync(report), errores).toBe(true)
    const [{ results }] = JSON.parse(await readFile(report, 'utf8'))
    const sentRequests = results.map(({ name, response }: { name: string; response: Objeto }) => ({
      nombre: name,
      status: response.status,
    }))
    expect(badCases(sentRequests)).toEqual([])
    expect(sentRequests).toHaveLength(total)
  })
})

type Objeto = Record<string, never>
