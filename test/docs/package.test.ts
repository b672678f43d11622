/** The packed SDK as the service serves it, and the chapters that tell how to get it, run as they are printed. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import sdk from '../../sdk/package.json' with { type: 'json' }
import { shareEnvironment } from '../environment.ts'
import { runProgram } from './run.ts'

const environment = shareEnvironment()
const RUTA = `/sdk/guias-sdk-${sdk.version}.tgz`
const hasBash = ['bash', 'curl', 'sha256sum'].every((one) => spawnSync(one, ['--version']).status === 0)

describe('the packed SDK', () => {
  it.each([RUTA, RUTA.replace('sdk-', 'mcp-')])(
    '%s is served with its digest, in a header and beside it',
    async (path) => {
      const response = await fetch(environment.url + path)
      const bytes = Buffer.from(await response.arrayBuffer())
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip'])
      const sha256 = createHash('sha256').update(bytes)
      const base64 = sha256.copy().digest('base64')
      expect(response.headers.get('repr-digest')).toBe(`sha-256=:${base64}:`)
      const besideIt = await (await fetch(`${environment.url + path}.sha256`)).text()
      expect(besideIt).toBe(`${sha256.digest('hex')}  ${path.split('/').at(-1)}\n`)
      const etag = response.headers.get('etag')!
      expect((await fetch(environment.url + path, { headers: { 'If-None-Match': etag } })).status).toBe(304)
    },
  )
})

describe.skipIf(!hasBash && !process.env.CI)('the chapters «SDK» and «Línea de órdenes», as they are printed', () => {
  let folder = ''
  const runCommand = async (chapter: string) => {
    const { llave } = await environment.createComercio()
    const text = await (await fetch(`${environment.url}/docs/guia/${chapter}.md`)).text()
    const script = [...text.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('')
    // npm reads its registry from the environment, and npx runs with this Node.
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
    const env = { ...process.env, PATH, GUIAS_URL: environment.url, GUIAS_LLAVE: llave } as Record<string, string>
    const { codigo, output, errores } = await runProgram(['bash', '-euc', script], { cwd: folder, env })
    expect(codigo, output + errores).toBe(0)
    return output
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guias-sdk-'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('install the SDK from the service, and check its digest', async () => {
    expect(await runCommand('sdk')).toContain(`guias-sdk-${sdk.version}.tgz: `)
    const installedPackage = JSON.parse(await readFile(join(folder, 'node_modules/@guias/sdk/package.json'), 'utf8'))
    expect(installedPackage.version).toBe(sdk.version)
  })

  it('create guides of a file, their labels and their list', async () => {
    const output = await runCommand('linea-de-ordenes')
    expect(output).toContain('PEDIDO-CSV-1')
    for (const file of ['pedidos.resultados.csv', 'etiquetas.pdf'])
      expect([file, existsSync(join(folder, file))]).toEqual([file, true])
  })
})
