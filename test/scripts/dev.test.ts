// `npm run dev` over a copy of the sources, so that no other test sees the changes.

import { appendFile, cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { readPostmaster } from '../../server/data/embedded/postmaster.ts'
import { ROOT } from '../../server/platform/root.ts'
import { waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { findProcesses, requestSeparately, type TestProcess, useProcesses } from '../processes.ts'

const processes = useProcesses()
const copy = join(processes.base, 'copia')
const dataDir = processes.nextFolder()
const OPERATION = join(copy, 'server/domain/salud/comprobarVida.ts')

let dev: TestProcess
let url: string
const lines = () => dev.output.split('\n').filter((line) => line.startsWith('[dev]'))
const readyTimes = () => lines().filter((line) => line.includes('ready after')).length
const database = () => readPostmaster(join(dataDir, 'pgdata'))?.pid
/** Runs a change and waits until the service serves again. */
async function afterChange(change: () => Promise<unknown>) {
  const before = readyTimes()
  await change()
  await waitUntil(async () => readyTimes() > before)
  expect((await requestSeparately(`${url}/readyz`)).status).toBe(200)
  return lines().at(-1)
}

describe('npm run dev', () => {
  beforeAll(async () => {
    for (const part of ['server', 'openapi', 'prisma', 'package.json', 'scripts'])
      await cp(fileURLToPath(new URL(part, ROOT)), join(copy, part), { recursive: true })
    await symlink(fileURLToPath(new URL('node_modules', ROOT)), join(copy, 'node_modules'))
    // Stands in for the generators, which take half a minute.
    await writeFile(
      join(copy, 'scripts/prepare.mjs'),
      `import { appendFileSync, existsSync } from 'node:fs'
      if (existsSync('broken')) process.exit(1)
      appendFileSync('generated.txt', process.argv[2] + '\\n')`,
    )
    const port = await findFreePort()
    url = `http://127.0.0.1:${port}`
    const env = { DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'warn', API_PROCESSES: '2' }
    dev = processes.runCommand([process.execPath, 'scripts/dev.ts'], env, copy)
    await waitUntil(async () => readyTimes() === 1 || (dev.fin && Promise.reject(new Error(dev.errores))))
  })

  it('restarts the service on the same database when a source changes', async () => {
    const running = database()
    expect(running).toBeGreaterThan(0)
    const source = await readFile(OPERATION, 'utf8')
    expect(
      await afterChange(() => writeFile(OPERATION, `${source}\nprocess.stdout.write('changed source\\n')\n`)),
    ).toMatch(/^\[dev\] server\/domain\/salud\/comprobarVida\.ts changed: ready after \d/)
    expect(dev.output).toContain('changed source\n')
    expect(database()).toBe(running)
  })

  it('waits for the next change after a source that does not run', async () => {
    const source = await readFile(OPERATION, 'utf8')
    await writeFile(OPERATION, 'const =')
    await waitUntil(async () => lines().at(-1)?.includes('before it was ready; a change starts it again'))
    await afterChange(() => writeFile(OPERATION, source))
  })

  it('generates before the restart when the contract changes', async () => {
    await afterChange(() => appendFile(join(copy, 'openapi/comercios/openapi.yaml'), '\n'))
    expect(await readFile(join(copy, 'generated.txt'), 'utf8')).toBe('generate\n')
  })

  it('generates again on the next change after a generator failed', async () => {
    await writeFile(join(copy, 'broken'), '')
    await appendFile(join(copy, 'prisma/schema.prisma'), '\n')
    await waitUntil(async () => lines().at(-1)?.includes('could not generate after a change of prisma/schema.prisma'))
    await rm(join(copy, 'broken'))
    await afterChange(() => appendFile(OPERATION, '\n'))
    expect(await readFile(join(copy, 'generated.txt'), 'utf8')).toBe('generate\ngenerate\n')
  })

  it('ends service and database on Ctrl-C', async () => {
    dev.signalAll('SIGINT')
    expect(await dev.waitForEnd()).toEqual({ codigo: 0, signal: null })
    expect([...findProcesses(processes.base).values()]).toEqual([])
  })
})
