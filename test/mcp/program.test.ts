import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, it } from 'vitest'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { type Assistant, connectAssistant, readTexts } from './assistant.ts'

const environment = shareEnvironment()
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = `${ROOT}sdk/mcp/bin/guias-mcp.js`

/** Runs the program to its end, without a standard input. */
async function runCommand(args: string[], env: Record<string, string> = {}) {
  const PATH = process.env.PATH ?? ''
  const done = promisify(execFile)(process.execPath, [PROGRAM, ...args], {
    env: { PATH, ...CHILD_ENVIRONMENT, ...env },
  })
  done.child.stdin?.end()
  return done.then(
    ({ stdout, stderr }) => ({ codigo: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ codigo: code as number, stdout, stderr }),
  )
}

const close: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const one of close.splice(0).reverse()) await one()
})

async function open(llave: string, url: string): Promise<Assistant> {
  const env = { GUIAS_LLAVE: llave, GUIAS_URL: url, PATH: process.env.PATH ?? '', ...CHILD_ENVIRONMENT }
  const assistant = await connectAssistant(
    new StdioClientTransport({ command: process.execPath, args: [PROGRAM, '--escribir'], env, stderr: 'ignore' }),
  )
  close.push(() => assistant.client.close())
  return assistant
}

/** Network on which the answers to the next calls of tools get lost, after the service has done its work. */
async function abrirRed() {
  const red = { url: '', remainingLosses: 0, calls: 0 }
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      const body = Buffer.concat(chunks)
      const isToolCall = body.includes('"tools/call"')
      if (isToolCall) red.calls++
      const { host: _host, ...headers } = req.headers
      const elsewhere = request(environment.url + req.url, { method: req.method, headers }, (response) => {
        if (isToolCall && red.remainingLosses-- > 0) return void response.resume().on('end', () => res.destroy())
        response.pipe(res.writeHead(response.statusCode!, response.headers))
      })
      elsewhere.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  red.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return red
}

describe('guias-mcp', () => {
  it('says who it is on the error output, and leaves the other to the protocol', async () => {
    const { llave } = await environment.createComercio()
    const { codigo, stdout, stderr } = await runCommand([], { GUIAS_LLAVE: llave, GUIAS_URL: environment.url })
    expect([codigo, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^guias-mcp: .+, llave de prueba, solo lee\n$/)
  })

  it.each([
    ['without a key', [], {}, 2, /^guias-mcp: Falta su llave: /],
    ['with an unknown option', ['--borrar'], { GUIAS_LLAVE: 'x' }, 2, /No se entienden los argumentos/],
    ['with a live key and no address', [], { GUIAS_LLAVE: `guia_live_${'a'.repeat(60)}` }, 2, /Falta la dirección/],
    ['with a file that is missing', ['--llave-archivo', '/nada'], {}, 2, /No se pudo leer la llave de \/nada/],
    ['with a service that is off', ['--url', 'http://127.0.0.1:9'], { GUIAS_LLAVE: 'guia_test_x' }, 1, /^guias-mcp: /],
  ])('ends %s, and says why', async (_description, args, env, expected, text) => {
    const { codigo, stdout, stderr } = await runCommand(args, env as Record<string, string>)
    expect([codigo, stdout]).toEqual([expected, ''])
    expect(stderr).toMatch(text)
    expect(stderr).not.toContain(' at ')
  })

  it('shows its options', async () => {
    const { codigo, stdout } = await runCommand(['--ayuda'])
    expect(codigo).toBe(0)
    for (const option of ['--escribir', '--url', '--llave-archivo']) expect(stdout).toContain(option)
  })

  it('repeats a call whose answer got lost, and nothing is done twice', async () => {
    const { llave, api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const red = await abrirRed()
    const { callUrl } = await open(llave, red.url)
    red.remainingLosses = 2
    const corrected = await callUrl('corregirGuia', { guia, confirmar: guia, direccion: '4a calle 12-30' })
    expect(corrected).toMatchObject({ estado: 200, datos: { direccion: '4a calle 12-30', secuencia: 2 } })
    expect(red.calls).toBe(3)
    red.remainingLosses = 1
    const referencia = buildGuia()
    expect(await callUrl('crearGuia', referencia as never)).toMatchObject({ estado: 200 })
    expect(await api.guias.listar({ external_ref: referencia.external_ref! }).primeros(5)).toHaveLength(1)
  })

  it('passes on the key of a call as the assistant gave it', async () => {
    const { llave, api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const { callUrl } = await open(llave, environment.url)
    const corregir = (direccion: string, clave_de_idempotencia: string) =>
      callUrl('corregirGuia', { guia, confirmar: guia, direccion, clave_de_idempotencia })
    expect(await corregir('4a calle 12-30', 'una')).toMatchObject({ estado: 200, datos: { secuencia: 2 } })
    expect(await corregir('5a calle 1-20', 'una')).toMatchObject({ estado: 409 })
    expect(await corregir('5a calle 1-20', 'otra')).toMatchObject({ estado: 200, datos: { secuencia: 3 } })
  })

  it('repeats a creation without a reference, with a key of its own', async () => {
    const { llave, api } = await environment.createComercio()
    const red = await abrirRed()
    const { callUrl } = await open(llave, red.url)
    red.remainingLosses = 1
    const { external_ref, ...guiaWithoutReferencia } = buildGuia()
    expect(await callUrl('crearGuia', guiaWithoutReferencia as never)).toMatchObject({ estado: 201 })
    expect(await api.guias.listar().primeros(5)).toHaveLength(1)
  })

  it('does not repeat a tool that it does not know, and says that nobody knows', async () => {
    const { llave } = await environment.createComercio()
    const red = await abrirRed()
    const { client } = await open(llave, red.url)
    red.remainingLosses = 1
    const lost = await client.callTool({ name: 'herramientaDeManana', arguments: {} })
    expect([lost.isError, readTexts(lost)]).toEqual([
      true,
      [expect.stringContaining('no se sabe si el cambio se hizo')],
    ])
  })
})

describe('@guias/mcp', () => {
  const example = (file: string) =>
    JSON.parse(readFileSync(`${ROOT}sdk/ejemplos/${file}`, 'utf8')).mcpServers.guias as {
      url: string
      headers: Record<string, string>
      args: string[]
      env: Record<string, string>
    }

  it('is configured as the guide shows', async () => {
    const { llave } = await environment.createComercio()
    const { version } = JSON.parse(readFileSync(`${ROOT}sdk/mcp/package.json`, 'utf8'))
    const stdioExample = example('asistente.json')
    expect(stdioExample.args).toEqual(['-y', `https://guias.ejemplo.com/sdk/guias-mcp-${version}.tgz`])
    const env = Object.fromEntries(
      Object.entries(stdioExample.env).map(([name, value]) => [
        name,
        value.startsWith('guia_') ? llave : environment.url,
      ]),
    )
    expect((await runCommand([], env)).stderr).toContain('llave de prueba, solo lee')

    const { url, headers } = example('asistenteHttp.json')
    const headersWithOwnLlave = { Authorization: headers.Authorization!.replace('guia_test_…', llave) }
    const transport = new StreamableHTTPClientTransport(new URL(new URL(url).pathname, environment.url), {
      requestInit: { headers: headersWithOwnLlave },
    })
    const { client, callUrl } = await connectAssistant(transport)
    close.push(() => client.close())
    expect(await callUrl('obtenerCuenta')).toMatchObject({ estado: 200, datos: { modo: 'test' } })
  })

  it('packs its program, its licence and its README', async () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error', '-w', 'sdk/mcp']
    const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT })
    const [{ files }] = JSON.parse(stdout)
    expect(files.map(({ path }: { path: string }) => path).sort()).toEqual([
      'LICENSE',
      'README.md',
      'bin/guias-mcp.js',
      'dist/main.js',
      'dist/main.js.map',
      'package.json',
    ])
  })
})
