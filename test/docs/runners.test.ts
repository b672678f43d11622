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

const entorno = shareEnvironment()
const CORREDORES = fileURLToPath(new URL('test/runners/', ROOT))
let corredores = ''
let carpeta = ''
let total = 0
const en = (archivo: string) => join(carpeta, archivo)

/** Installs the runners once for each lock file, outside of the project's own packages. */
async function instalar() {
  const lock = await readFile(join(CORREDORES, 'package-lock.json'))
  const marca = createHash('sha256').update(lock).digest('hex').slice(0, 12)
  const memoria = fileURLToPath(new URL('node_modules/.cache/guias/', ROOT))
  corredores = join(memoria, `corredores-${marca}`)
  if (existsSync(corredores)) return
  await mkdir(memoria, { recursive: true })
  const provisional = await mkdtemp(join(memoria, 'corredores-'))
  for (const archivo of ['package.json', 'package-lock.json', 'bruno.mjs'])
    await cp(join(CORREDORES, archivo), join(provisional, archivo))
  await exigir(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], provisional)
  await rename(provisional, corredores)
}

async function exigir(orden: string[], cwd: string) {
  // npm reads its registry from the environment, too.
  const {
    codigo,
    output: salida,
    errores,
  } = await runProgram(orden, { cwd, env: process.env as Record<string, string> })
  expect(codigo, salida + errores).toBe(0)
}
const correr = (programa: string, args: string[], cwd = carpeta) =>
  runProgram([process.execPath, join(corredores, programa), ...args], { cwd })

interface Enviada {
  nombre: string
  status: number
}
const malas = (enviadas: readonly Enviada[]) => enviadas.filter(({ status }) => !(status >= 200 && status < 300))

describe('the collection, from top to bottom', () => {
  beforeAll(async () => {
    carpeta = await mkdtemp(join(tmpdir(), 'guias-coleccion-'))
    const texto = await (await fetch(`${entorno.url}/coleccion.json`)).text()
    total = (JSON.parse(texto).item as { item: unknown[] }[]).reduce((suma, { item }) => suma + item.length, 0)
    await writeFile(en('coleccion.json'), texto)
  })
  afterAll(() => rm(carpeta, { recursive: true }))

  it('goes well with newman, and again with what it left', FULL_RUN_ONLY, async () => {
    await instalar()
    const { llave } = await entorno.nuevoComercio()
    for (const vez of [1, 2]) {
      const informe = en(`newman${vez}.json`)
      const opciones = ['--env-var', `GUIAS_LLAVE=${llave}`, '--reporters', 'json', '--reporter-json-export', informe]
      await correr('node_modules/newman/bin/newman.js', ['run', 'coleccion.json', ...opciones])
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
    const { llave } = await entorno.nuevoComercio()
    await exigir(
      [process.execPath, join(corredores, 'bruno.mjs'), en('coleccion.json'), en('bruno'), llave],
      corredores,
    )
    const informe = en('bruno.json')
    const opciones = ['-r', '--env', 'prueba', '--reporter-json', informe]
    const { errores } = await correr('node_modules/@usebruno/cli/bin/bru.js', ['run', ...opciones], en('bruno'))
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
