// The embedded default where other machines reach it: behind real reverse proxies of this machine, and configured so.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../server/platform/config/config.ts'
import { explainShutdown } from '../../server/startup/explainShutdown.ts'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { HAS_CADDY } from '../deployment/proxy.ts'
import { MASTER_KEY as CLAVE } from '../environment.ts'
import { buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { listo, probeUrl, requestSeparately, type TestProcess, useProcesses } from '../processes.ts'

interface Demo {
  comercio: string
  llave: string
  llave_operaciones: string
  codigo_repartidor: string
}

const processes = useProcesses()
const dataDir = processes.nextFolder()
const close: (() => unknown)[] = []
afterAll(async () => {
  for (const one of close.reverse()) await one()
})

const DE_PRUEBA = '+50231481676'
const REAL = '+50255559876'
/** As the mailbox writes it. */
const written = (telefono: string) => `${telefono.slice(4, 8)} ${telefono.slice(8)}`
const LOCAL = 'http://127.0.0.1:9/avisos'
const NO_VALE = /es de demostración y solo vale en la propia máquina del servicio/
let child: TestProcess
let url: string
let demo: Demo
/** Keys that somebody made for the demo merchant. */
let llaves: { test: string; live: string }
/** The cookie of a session that was opened on this machine. */
let sesion: string

async function startChild(env: Record<string, string> = {}) {
  child = processes.startService({ DATA_DIR: dataDir, PORT: new URL(url).port, MAP_TILES_URL: 'none', ...env })
  await waitUntil(async () => (await probeUrl(`${url}/readyz`))?.status === 200 || child.fin)
  await listo(child)
}
async function stopService() {
  child.signalAll('SIGTERM')
  await child.waitForEnd()
}
const readDemo = () => readFileSync(join(dataDir, 'demo.json'), 'utf8')

const entrar = (base: string, headers: Record<string, string> = {}) =>
  requestSeparately(`${base}/repartidor/v1/sesion`, {
    method: 'POST',
    body: { codigo: demo.codigo_repartidor },
    headers: { Origin: url, ...headers },
  })
const registrar = (base: string, llave: string, headers: Record<string, string> = {}) =>
  requestSeparately(`${base}/api/v1/webhooks`, {
    method: 'POST',
    llave,
    body: { url: `${LOCAL}/${Math.random()}` },
    headers,
  })

/** What whoever asks that address finds of what is for this machine alone; `propia` is a key that isn't the demo's. */
async function search(base: string, headers: Record<string, string> = {}, cookie = sesion) {
  const con = { headers }
  const buzon = await requestSeparately(`${base}/buzon`, con)
  expect(buzon.texto).not.toContain(written(REAL))
  return {
    buzon: buzon.status,
    telefonos: buzon.texto.includes(written(DE_PRUEBA)),
    llave: (await requestSeparately(`${base}/api/v1/cuenta`, { ...con, llave: demo.llave })).status,
    operador: (await requestSeparately(`${base}/operaciones/v1/comercios`, { ...con, llave: demo.llave_operaciones }))
      .status,
    codigo: (await entrar(base, headers)).status,
    sesion: (await requestSeparately(`${base}/repartidor/v1/sesion`, { headers: { ...headers, Cookie: cookie } }))
      .status,
    webhook: (await registrar(base, llaves.test, headers)).status,
    propia: (await requestSeparately(`${base}/api/v1/cuenta`, { ...con, llave: llaves.live })).status,
  }
}
const OPEN_ACCESS = {
  buzon: 200,
  telefonos: true,
  llave: 200,
  operador: 200,
  codigo: 201,
  sesion: 200,
  webhook: 201,
  propia: 200,
}
const CLOSED_ACCESS = {
  buzon: 404,
  telefonos: false,
  llave: 401,
  operador: 401,
  codigo: 401,
  sesion: 401,
  webhook: 422,
  propia: 200,
}

beforeAll(async () => {
  url = `http://127.0.0.1:${await findFreePort()}`
  await startChild()
  demo = JSON.parse(readDemo())
  const env = { DATA_DIR: dataDir }
  const create = async (modo: string) => {
    const command = ['llaves', 'crear', '--comercio', demo.comercio, '--modo', modo, '--json']
    return JSON.parse((await processes.admin(command, env)).output).llave as string
  }
  llaves = { test: await create('test'), live: await create('live') }
  for (const [llave, telefono] of [
    [llaves.test, DE_PRUEBA],
    [llaves.live, REAL],
  ] as const) {
    const created = await requestSeparately(`${url}/api/v1/guias`, {
      method: 'POST',
      llave,
      body: buildGuiaWithoutDestino({ telefono }),
    })
    expect(created.status).toBe(201)
  }
  await waitUntil(async () => (await requestSeparately(`${url}/buzon`)).texto.includes(written(DE_PRUEBA)))
  const signedIn = await entrar(url)
  sesion = [signedIn.headers['set-cookie']].flat()[0]!.split(';')[0]!
})

describe('on this machine alone', () => {
  it('everything is as the README says, and the mailbox shows no live message', async () => {
    expect(await search(url)).toEqual(OPEN_ACCESS)
    expect(child.output).toContain(demo.llave)
    expect(child.output).not.toContain('Apagado')
    const { body } = await requestSeparately(`${url}/api/v1/guias`, { llave: llaves.live })
    expect(body.datos[0]).toMatchObject({ telefono: REAL, advertencias: [{ codigo: 'sin_mensajeria' }] })
  })
})

/** A reverse proxy that asks by the service's own name, as most do unless told otherwise, and says for whom. */
async function startProxy(add: (caller: string) => Record<string, string>): Promise<string> {
  const proxy = createServer((req, res) => {
    const { method, headers } = req
    const caller = req.socket.remoteAddress ?? ''
    const inside = request(url + req.url, {
      method: method!,
      headers: { ...headers, host: new URL(url).host, ...add(caller) },
    })
    inside.once('response', (de) => de.pipe(res.writeHead(de.statusCode!, de.headers)))
    inside.once('error', () => res.destroy())
    req.pipe(inside)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  close.push(() => proxy.close().closeAllConnections())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

describe('behind a proxy that asks by the service’s own name', () => {
  it('nothing of it is there, and what isn’t the demo’s works', async () => {
    const proxy = await startProxy((caller) => ({ 'x-forwarded-for': caller }))
    expect(await search(proxy)).toEqual(CLOSED_ACCESS)
    const { body } = await requestSeparately(`${proxy}/api/v1/cuenta`, { llave: demo.llave })
    expect(body).toMatchObject({ codigo: 'no_autenticado', mensaje: expect.stringMatching(NO_VALE) })
    expect((await entrar(proxy)).body).toMatchObject({
      codigo: 'codigo_incorrecto',
      mensaje: expect.stringMatching(NO_VALE),
    })
    expect((await registrar(proxy, llaves.test)).body.codigo).toBe('url_no_permitida')
    // Whoever asks directly isn't locked out by it.
    expect(await search(url)).toEqual(OPEN_ACCESS)
  })

  it.each([
    ['Forwarded', 'for=203.0.113.7'],
    ['Via', '1.1 proxy'],
    ['X-Forwarded-Host', 'guias.ejemplo'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded', '203.0.113.7'],
    ['X-Real-IP', '203.0.113.7'],
    ['X-Client-IP', '203.0.113.7'],
    ['X-Cluster-Client-IP', '203.0.113.7'],
    ['X-Original-Host', 'guias.ejemplo'],
    ['X-Envoy-External-Address', '203.0.113.7'],
    ['X-Amzn-Trace-Id', 'Root=1'],
    ['CF-Connecting-IP', '203.0.113.7'],
    ['True-Client-IP', '203.0.113.7'],
    ['CDN-Loop', 'cloudflare'],
    ['Fly-Client-IP', '203.0.113.7'],
    ['Fastly-Client-IP', '203.0.113.7'],
  ])('nothing of it is there when the proxy says so by %s', async (name, value) => {
    expect((await requestSeparately(`${url}/buzon`, { headers: { [name]: value } })).status).toBe(404)
    const { status } = await requestSeparately(`${url}/api/v1/cuenta`, {
      llave: demo.llave,
      headers: { [name]: value },
    })
    expect(status).toBe(401)
  })

  it('nothing of it is there when the proxy says nothing, and speaks HTTP/1.0 as nginx does', async () => {
    const { port, host } = new URL(url)
    const ask = async (path: string, ...headers: string[]) => {
      const connection = connect(Number(port), '127.0.0.1')
      connection.write([`GET ${path} HTTP/1.0`, `Host: ${host}`, ...headers, '', ''].join('\r\n'))
      const [response] = (await once(connection.setEncoding('utf8'), 'data')) as [string]
      connection.destroy()
      return response.slice(0, response.indexOf('\r\n'))
    }
    expect(await ask('/buzon')).toContain(' 404 ')
    expect(await ask('/api/v1/cuenta', `Authorization: Bearer ${demo.llave}`)).toContain(' 401 ')
    expect(await ask('/api/v1/cuenta', `Authorization: Bearer ${llaves.test}`)).toContain(' 200 ')
  })

  it.skipIf(!HAS_CADDY)('nothing of it is there behind Caddy', async () => {
    const port = await findFreePort()
    const folder = processes.nextFolder()
    await mkdir(folder)
    const file = join(folder, 'Caddyfile')
    // It makes no certificates, and installs none on this machine.
    const global = '{\nadmin off\nauto_https off\nskip_install_trust\n}'
    const site = `http://127.0.0.1:${port} {\nreverse_proxy ${new URL(url).host} {\nheader_up Host {upstream_hostport}\n}\n}`
    await writeFile(file, `${global}\n${site}\n`)
    const own = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
    const env = { PATH: process.env.PATH, ...CHILD_ENVIRONMENT, ...own }
    const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], { env, stdio: 'ignore' })
    const end = once(caddy, 'exit')
    close.push(async () => {
      caddy.kill('SIGKILL')
      await end
    })
    const proxy = `http://127.0.0.1:${port}`
    await waitUntil(async () => {
      if (caddy.exitCode !== null) throw new Error('caddy ended instead of serving')
      return (await probeUrl(`${proxy}/readyz`))?.status === 200
    })
    expect(await search(proxy)).toEqual(CLOSED_ACCESS)
  })
})

// From here on the service is stopped, and started again on what it left.
describe('with a PUBLIC_URL that isn’t of this machine', () => {
  let before: string

  beforeAll(async () => {
    before = readDemo()
    await stopService()
    await startChild({ PUBLIC_URL: 'https://guias.ejemplo.com' })
  })

  it('demo keys and the mailbox of an earlier local start stop working, and the start says what is off and why', async () => {
    const Origin = 'https://guias.ejemplo.com'
    // The cookie of an https service has another name.
    const Cookie = `__Secure-${sesion}`
    expect(await search(url, { Origin }, Cookie)).toEqual(CLOSED_ACCESS)
    expect(child.output).toContain(
      'Apagado: las llaves y el código de demostración, el buzón y los webhooks a esta máquina, porque con PUBLIC_URL=https://guias.ejemplo.com llegan otras máquinas. Cree sus llaves con «npm run admin».\n',
    )
    expect(child.output).not.toMatch(/guia_test_|Repartidor|\/buzon|curl/)
    expect(readDemo()).toBe(before)
  })

  it('demo keys and the mailbox work again after a local start', async () => {
    await stopService()
    await startChild()
    expect(readDemo()).toBe(before)
    expect(await search(url)).toEqual(OPEN_ACCESS)
  })
})

it('a courier of the demo whose code somebody renewed is anybody’s', async () => {
  const env = { DATA_DIR: dataDir }
  const [{ repartidor }] = JSON.parse((await processes.admin(['repartidores', 'listar', '--json'], env)).output)
  const command = ['repartidores', 'codigo', '--repartidor', repartidor, '--json']
  const { codigo } = JSON.parse((await processes.admin(command, env)).output)
  const { status } = await requestSeparately(`${url}/repartidor/v1/sesion`, {
    method: 'POST',
    body: { codigo },
    headers: { Origin: url, 'X-Forwarded-For': '203.0.113.7' },
  })
  expect(status).toBe(201)
})

it('a first start with TRUST_PROXY makes no demo', async () => {
  const dataDir = processes.nextFolder()
  const first = processes.startService({ DATA_DIR: dataDir, TRUST_PROXY: '1' })
  const base = await listo(first)
  expect(existsSync(join(dataDir, 'demo.json'))).toBe(false)
  expect(first.output).toContain('porque con TRUST_PROXY=1 llegan otras máquinas')
  const { output } = await processes.admin(['comercios', 'listar', '--json'], { DATA_DIR: dataDir })
  expect(JSON.parse(output)).toEqual([])
  expect((await requestSeparately(`${base}/buzon`)).status).toBe(404)
  first.signalAll('SIGTERM')
  await first.waitForEnd()
})

describe('the explanation of the parts that are off', () => {
  const explain = (env: Record<string, string>) => explainShutdown(readConfig(env, '/'))

  it.each([
    [{}, undefined],
    [{ PUBLIC_URL: 'http://localhost:3000' }, undefined],
    // A key is a secret; what asks for none is for this machine.
    [
      { HOST: '0.0.0.0' },
      'Apagado: el buzón y los webhooks a esta máquina, porque con HOST=0.0.0.0 llegan otras máquinas.',
    ],
    [{ HOST: '0.0.0.0', MAILBOX: '1', WEBHOOKS_LOOPBACK: '1' }, undefined],
    [
      { PUBLIC_URL: 'https://a.ejemplo', TRUST_PROXY: '2' },
      'Apagado: las llaves y el código de demostración, el buzón y los webhooks a esta máquina, porque con PUBLIC_URL=https://a.ejemplo y TRUST_PROXY=2 llegan otras máquinas. Cree sus llaves con «npm run admin».',
    ],
    [{ DATABASE_URL: 'postgres://a@b/c', MASTER_KEYS: CLAVE, MESSAGING: 'buzon', TRUST_PROXY: '1' }, undefined],
  ])('with %o', (env, expected) => {
    expect(explain(env)).toBe(expected)
  })
})
