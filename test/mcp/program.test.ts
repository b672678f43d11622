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

const entorno = shareEnvironment()
const RAIZ = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAMA = `${RAIZ}sdk/mcp/bin/guias-mcp.js`

/** Runs the program to its end, without a standard input. */
async function correr(args: string[], env: Record<string, string> = {}) {
  const PATH = process.env.PATH ?? ''
  const hecho = promisify(execFile)(process.execPath, [PROGRAMA, ...args], {
    env: { PATH, ...CHILD_ENVIRONMENT, ...env },
  })
  hecho.child.stdin?.end()
  return hecho.then(
    ({ stdout, stderr }) => ({ codigo: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ codigo: code as number, stdout, stderr }),
  )
}

const cerrar: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const uno of cerrar.splice(0).reverse()) await uno()
})

async function abrir(llave: string, url: string): Promise<Assistant> {
  const env = { GUIAS_LLAVE: llave, GUIAS_URL: url, PATH: process.env.PATH ?? '', ...CHILD_ENVIRONMENT }
  const asistente = await connectAssistant(
    new StdioClientTransport({ command: process.execPath, args: [PROGRAMA, '--escribir'], env, stderr: 'ignore' }),
  )
  cerrar.push(() => asistente.client.close())
  return asistente
}

/** Network on which the answers to the next calls of tools get lost, after the service has done its work. */
async function abrirRed() {
  const red = { url: '', perder: 0, llamadas: 0 }
  const servidor = createServer((req, res) => {
    const trozos: Buffer[] = []
    req.on('data', (trozo) => trozos.push(trozo))
    req.on('end', () => {
      const cuerpo = Buffer.concat(trozos)
      const deHerramienta = cuerpo.includes('"tools/call"')
      if (deHerramienta) red.llamadas++
      const { host: _host, ...headers } = req.headers
      const alla = request(entorno.url + req.url, { method: req.method, headers }, (respuesta) => {
        if (deHerramienta && red.perder-- > 0) return void respuesta.resume().on('end', () => res.destroy())
        respuesta.pipe(res.writeHead(respuesta.statusCode!, respuesta.headers))
      })
      alla.end(cuerpo)
    })
  })
  await new Promise<void>((resolve) => servidor.listen(0, '127.0.0.1', resolve))
  cerrar.push(
    () => servidor.close(),
    () => servidor.closeAllConnections(),
  )
  red.url = `http://127.0.0.1:${(servidor.address() as AddressInfo).port}`
  return red
}

describe('guias-mcp', () => {
  it('says who it is on the error output, and leaves the other to the protocol', async () => {
    const { llave } = await entorno.nuevoComercio()
    const { codigo, stdout, stderr } = await correr([], { GUIAS_LLAVE: llave, GUIAS_URL: entorno.url })
    expect([codigo, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^guias-mcp: .+, llave de prueba, solo lee\n$/)
  })

  it.each([
    ['without a key', [], {}, 2, /^guias-mcp: Falta su llave: /],
    ['with an unknown option', ['--borrar'], { GUIAS_LLAVE: 'x' }, 2, /No se entienden los argumentos/],
    ['with a live key and no address', [], { GUIAS_LLAVE: `guia_live_${'a'.repeat(60)}` }, 2, /Falta la dirección/],
    ['with a file that is missing', ['--llave-archivo', '/nada'], {}, 2, /No se pudo leer la llave de \/nada/],
    ['with a service that is off', ['--url', 'http://127.0.0.1:9'], { GUIAS_LLAVE: 'guia_test_x' }, 1, /^guias-mcp: /],
  ])('ends %s, and says why', async (_que, args, env, esperado, texto) => {
    const { codigo, stdout, stderr } = await correr(args, env as Record<string, string>)
    expect([codigo, stdout]).toEqual([esperado, ''])
    expect(stderr).toMatch(texto)
    expect(stderr).not.toContain(' at ')
  })

  it('shows its options', async () => {
    const { codigo, stdout } = await correr(['--ayuda'])
    expect(codigo).toBe(0)
    for (const opcion of ['--escribir', '--url', '--llave-archivo']) expect(stdout).toContain(opcion)
  })

  it('repeats a call whose answer got lost, and nothing is done twice', async () => {
    const { llave, api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const red = await abrirRed()
    const { callUrl: llamar } = await abrir(llave, red.url)
    red.perder = 2
    const corregida = await llamar('corregirGuia', { guia, confirmar: guia, direccion: '4a calle 12-30' })
    expect(corregida).toMatchObject({ estado: 200, datos: { direccion: '4a calle 12-30', secuencia: 2 } })
    expect(red.llamadas).toBe(3)
    red.perder = 1
    const referencia = buildGuia()
    expect(await llamar('crearGuia', referencia as never)).toMatchObject({ estado: 200 })
    expect(await api.guias.listar({ external_ref: referencia.external_ref! }).primeros(5)).toHaveLength(1)
  })

  it('passes on the key of a call as the assistant gave it', async () => {
    const { llave, api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const { callUrl: llamar } = await abrir(llave, entorno.url)
    const corregir = (direccion: string, clave_de_idempotencia: string) =>
      llamar('corregirGuia', { guia, confirmar: guia, direccion, clave_de_idempotencia })
    expect(await corregir('4a calle 12-30', 'una')).toMatchObject({ estado: 200, datos: { secuencia: 2 } })
    expect(await corregir('5a calle 1-20', 'una')).toMatchObject({ estado: 409 })
    expect(await corregir('5a calle 1-20', 'otra')).toMatchObject({ estado: 200, datos: { secuencia: 3 } })
  })

  it('repeats a creation without a reference, with a key of its own', async () => {
    const { llave, api } = await entorno.nuevoComercio()
    const red = await abrirRed()
    const { callUrl: llamar } = await abrir(llave, red.url)
    red.perder = 1
    const { external_ref, ...sinReferencia } = buildGuia()
    expect(await llamar('crearGuia', sinReferencia as never)).toMatchObject({ estado: 201 })
    expect(await api.guias.listar().primeros(5)).toHaveLength(1)
  })

  it('does not repeat a tool that it does not know, and says that nobody knows', async () => {
    const { llave } = await entorno.nuevoComercio()
    const red = await abrirRed()
    const { client } = await abrir(llave, red.url)
    red.perder = 1
    const perdida = await client.callTool({ name: 'herramientaDeManana', arguments: {} })
    expect([perdida.isError, readTexts(perdida)]).toEqual([
      true,
      [expect.stringContaining('no se sabe si el cambio se hizo')],
    ])
  })
})

describe('@guias/mcp', () => {
  const ejemplo = (archivo: string) =>
    JSON.parse(readFileSync(`${RAIZ}sdk/ejemplos/${archivo}`, 'utf8')).mcpServers.guias as {
      url: string
      headers: Record<string, string>
      args: string[]
      env: Record<string, string>
    }

  it('is configured as the guide shows', async () => {
    const { llave } = await entorno.nuevoComercio()
    const { version } = JSON.parse(readFileSync(`${RAIZ}sdk/mcp/package.json`, 'utf8'))
    const porStdio = ejemplo('asistente.json')
    expect(porStdio.args).toEqual(['-y', `https://guias.ejemplo.com/sdk/guias-mcp-${version}.tgz`])
    const env = Object.fromEntries(
      Object.entries(porStdio.env).map(([nombre, valor]) => [nombre, valor.startsWith('guia_') ? llave : entorno.url]),
    )
    expect((await correr([], env)).stderr).toContain('llave de prueba, solo lee')

    const { url, headers } = ejemplo('asistenteHttp.json')
    const conSuLlave = { Authorization: headers.Authorization!.replace('guia_test_…', llave) }
    const transporte = new StreamableHTTPClientTransport(new URL(new URL(url).pathname, entorno.url), {
      requestInit: { headers: conSuLlave },
    })
    const { client, callUrl: llamar } = await connectAssistant(transporte)
    cerrar.push(() => client.close())
    expect(await llamar('obtenerCuenta')).toMatchObject({ estado: 200, datos: { modo: 'test' } })
  })

  it('packs its program, its licence and its README', async () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error', '-w', 'sdk/mcp']
    const { stdout } = await promisify(execFile)('npm', args, { cwd: RAIZ })
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
