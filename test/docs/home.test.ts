/** The first steps as they are pasted into one terminal: the README's, the quick start's, and both again. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readChapters } from '../../scripts/documentation/guide.ts'
import { ROOT } from '../../server/platform/root.ts'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { shareEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'

const hasCurl = ['curl', 'bash'].every((program) => spawnSync(program, ['--version']).status === 0)
const environment = shareEnvironment()

const chapter = readChapters().find(({ archivo }) => archivo === '01-inicio-rapido.md')!.texto
const blocksOf = (text: string) => [...text.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, codigo]) => codigo!)
/** What needs the service first: the README begins with `npm start`. */
const readme = blocksOf(readFileSync(new URL('README.md', ROOT), 'utf8')).filter((one) => !one.startsWith('npm '))
const start = blocksOf(chapter)
const STOP_COMMAND = 'kill $RECEPTOR\n'
const LINEAS = /^```text\n([\s\S]*?)^```$/m.exec(chapter)![1]!.trim().split('\n')
const llama = (block: string) => /\bcurl |@guias\/sdk/.test(block)

let folder: string
let terminal: ReturnType<typeof abrirTerminal>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guias-inicio-'))
  symlinkSync(fileURLToPath(new URL('node_modules', ROOT)), join(folder, 'node_modules'))
  terminal = abrirTerminal()
})
afterEach(async () => {
  await terminal.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A terminal in that folder, which stays open when something fails. */
function abrirTerminal() {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, ...CHILD_ENVIRONMENT }
  const bash = spawn('bash', ['--norc'], { cwd: folder, env, stdio: 'pipe', detached: true })
  let message = ''
  for (const stream of [bash.stdout, bash.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      message += chunk
    })
  }
  let turno = 0
  bash.stdin.write("trap 'falla=$?' ERR\n")
  return {
    /** The code of the last command of the block that failed, and what was written meanwhile. */
    async paste(block: string) {
      const from = message.length
      bash.stdin.write(`falla=0\n${block}\nprintf '\\n[${++turno}:%s]\\n' $falla\n`)
      const mark = new RegExp(`^\\[${turno}:(\\d+)\\]$`, 'm')
      const codigo = await waitUntil(async () => mark.exec(message)?.[1])
      return { codigo: Number(codigo), text: message.slice(from) }
    },
    /** Waits until these lines have been written, so many times. */
    written: (lines: string[], times: number) =>
      waitUntil(async () => lines.every((one) => message.split('\n').filter((other) => other === one).length >= times)),
    async close() {
      const end = once(bash, 'exit')
      process.kill(-bash.pid!, 'SIGKILL')
      await end
    },
  }
}

/** What the reader has: the service's address and key, in `.datos/demo.json` and in what he pastes. */
async function prepare(url: string, llave: string) {
  mkdirSync(join(folder, '.datos'))
  writeFileSync(join(folder, '.datos/demo.json'), JSON.stringify({ url, llave }))
  const port = await findFreePort()
  const add = (block: string) =>
    block
      .replaceAll('http://127.0.0.1:3000', url)
      .replaceAll('guia_test_…', llave)
      .replace(/^node receptor.mjs/m, `PORT=${port} $&`)
      .replaceAll('8080', String(port))
  return { port, add }
}

describe.skipIf(!hasCurl && !process.env.CI)('the first steps', () => {
  it('can be done in a row and twice, without a fault', FULL_RUN_ONLY, async () => {
    const { api, llave } = await environment.createComercio()
    const { add } = await prepare(environment.url, llave)
    expect([readme.length, start.length, start.at(-1)]).toEqual([2, 7, STOP_COMMAND])
    for (const time of [1, 2]) {
      for (const block of [...readme, ...start].map(add)) {
        if (block === STOP_COMMAND) await terminal.written(LINEAS, time)
        const { codigo, text: message } = await terminal.paste(block)
        expect(codigo, `${block}\n${message}`).toBe(0)
      }
    }
    expect(await Array.fromAsync(api.webhooks.listar())).toHaveLength(1)
    const guias = await Array.fromAsync(api.guias.listar())
    expect(guias.map(({ estado }) => estado).sort()).toEqual([...Array(4).fill('aceptado'), 'entregado', 'entregado'])
    expect(new Set(guias.map(({ external_ref }) => external_ref)).size).toBe(6)
  })

  it.each([
    ['a key that is not', async () => [environment.url, 'guia_test_no'], /no_autenticado|\b401\b|llave/],
    ['nobody there', async () => [`http://127.0.0.1:${await findFreePort()}`, 'guia_test_no'], /connect/i],
  ] as const)('fail loudly, each of them: %s', async (_, place, explanation) => {
    const [url = '', llave = ''] = await place()
    const { add } = await prepare(url, llave)
    // A guide, so that the later steps fail for this reason and not for want of it.
    for (const block of ['GUIA=7K3M9QX2A1B4', ...readme, ...start]) {
      const { codigo, text: message } = await terminal.paste(add(block).replace('GUIA=$(', 'NADIE=$('))
      if (!llama(block)) continue
      expect(codigo, block).not.toBe(0)
      expect(message, block).toMatch(explanation)
    }
  })

  it('say that they have not been done in order, or that something else has the port', async () => {
    const { llave } = await environment.createComercio()
    expect((await terminal.paste(readme[0]!)).text).toContain("Cannot find module './.datos/demo.json'")
    const { add, port } = await prepare(environment.url, llave)
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    const runs = []
    for (const block of start.slice(0, 5)) runs.push(await terminal.paste(add(block)))
    other.close()
    expect(runs.map(({ codigo }) => codigo)).toEqual([0, 0, 0, 0, 1])
    expect(runs.at(-1)!.text).toContain('EADDRINUSE')
  })
})
