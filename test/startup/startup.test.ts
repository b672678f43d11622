// `npm start` as a user types it: real processes, real signals, an own DATA_DIR each. What npm has no part in starts without it.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { readMigrations } from '../../server/startup/migrations.ts'
import { MASTER_KEY } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { admin } from '../postgres.ts'
import {
  findNodeProcess,
  findProcesses,
  listo,
  probeUrl,
  requestSeparately,
  type TestProcess,
  useProcesses,
} from '../processes.ts'

const processes = useProcesses()

interface Demo {
  url: string
  comercio: string
  llave: string
  llave_operaciones: string
  codigo_repartidor: string
}
const readDemo = (dataDir: string): Demo => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
const expectNoProcesses = (dataDir: string) =>
  waitUntil(async () => findProcesses(dataDir).size === 0).catch(() =>
    expect([...findProcesses(dataDir).values()], 'still running').toEqual([]),
  )
const STACK = /^\s+at .*[:(]/m

/** What the first start did, seen from outside from its first moment on. */
const first = { dataDir: '', url: '', proceso: undefined as unknown as TestProcess }
/** What an operation answers while the service starts. */
const rechazos: { tipo: string | null; body: object }[] = []
const polls: { readyz: number | undefined; body: unknown; demo: string | undefined; hour: number }[] = []
let guia: string

beforeAll(async () => {
  first.dataDir = processes.nextFolder()
  const port = await findFreePort()
  first.url = `http://127.0.0.1:${port}`
  first.proceso = processes.npmStart({ DATA_DIR: first.dataDir, PORT: `${port}` })
  const file = join(first.dataDir, 'demo.json')
  await waitUntil(async () => {
    const response = await probeUrl(`${first.url}/readyz`)
    const hour = Date.now()
    if (response?.status === 503) {
      for (const Accept of ['application/json', 'application/problem+json']) {
        const refusal = await fetch(`${first.url}/api/v1/guias`, { headers: { Accept, Connection: 'close' } })
        if (refusal.status === 503)
          rechazos.push({ tipo: refusal.headers.get('content-type'), body: (await refusal.json()) as object })
      }
    }
    const demo = existsSync(file) ? readFileSync(file, 'utf8') : undefined
    polls.push({ readyz: response?.status, body: response?.body, demo, hour })
    return response?.status === 200 || first.proceso.fin
  })
  await listo(first.proceso)
})

describe('the first start', () => {
  it('is ready in the end, and says 503 with every part before', () => {
    expect(polls.at(-1)).toMatchObject({
      readyz: 200,
      body: { ok: true, base_de_datos: true, escritura: true, cola: true, migraciones: true },
    })
    const probesDuringStart = polls.filter(({ readyz }) => readyz === 503)
    expect(probesDuringStart.length).toBeGreaterThan(0)
    for (const { body } of probesDuringStart) expect(body).toMatchObject({ ok: false })
    expect(new Set(polls.map(({ readyz }) => readyz))).toEqual(new Set([undefined, 503, 200]))
  })

  it('refuses operations meanwhile, in Spanish or with the names of RFC 9457', () => {
    expect(new Set(rechazos.map(({ tipo }) => tipo))).toEqual(new Set(['application/json', 'application/problem+json']))
    const documentacion = `${first.url}/docs/errores#error-no_disponible`
    for (const { tipo, body } of rechazos) {
      const estado = tipo === 'application/json' ? { estado_http: 503 } : { status: 503, title: expect.any(String) }
      expect(body).toMatchObject({ codigo: 'no_disponible', documentacion, ...estado })
    }
  })

  it('writes demo.json, whole, for its owner only, before it is ready', () => {
    const file = join(first.dataDir, 'demo.json')
    const { mode, ctimeMs } = statSync(file)
    expect((mode & 0o777).toString(8)).toBe('600')
    const demo = readDemo(first.dataDir)
    expect(demo).toEqual({
      url: first.url,
      comercio: expect.stringMatching(/^com_[0-9A-Z]{12}$/),
      llave: expect.stringMatching(/^guia_test_/),
      llave_operaciones: expect.stringMatching(/^guia_oper_/),
      codigo_repartidor: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/),
    })
    // The rename that put it there happened before the first 200 arrived, and nobody ever saw half a file.
    expect(ctimeMs).toBeLessThanOrEqual(polls.at(-1)!.hour)
    expect(polls.at(-1)!.demo).toBeDefined()
    for (const { demo: seen } of polls) if (seen !== undefined) expect(JSON.parse(seen)).toEqual(demo)
  })

  it('shows address, documentation and key, and a curl line that creates a guide when pasted', async () => {
    const { llave, codigo_repartidor } = readDemo(first.dataDir)
    const { output, errores } = first.proceso
    expect(output).toContain(`${first.url}/repartidor  código ${codigo_repartidor}`)
    expect(output).toContain(first.url)
    expect(output).toContain(`${first.url}/docs`)
    expect(output).toContain(llave)
    expect(output).toContain(join(first.dataDir, 'demo.json'))
    expect(errores.replace(/^(Generando|Preparado).*\n/gm, '')).toBe('')
    const lines = output.split('\n').filter((line) => /^\s*(export|curl) /.test(line))
    expect(lines).toHaveLength(2)
    // The line itself is left as it is; the function only makes curl say the status.
    const script = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n${lines.join('\n')}`
    const pastedRun = processes.runCommand(['bash', '-c', script])
    expect(await pastedRun.waitForEnd()).toMatchObject({ codigo: 0 })
    const [body = '', status] = pastedRun.output.split('\n')
    expect(status).toBe('201')
    guia = JSON.parse(body).guia
    expect(guia).toBeTruthy()
    expect(await requestSeparately(`${first.url}/api/v1/guias/${guia}`, { llave })).toMatchObject({ status: 200 })
  })

  it('draws labels and proofs in the thread that was built with it', async () => {
    const { llave } = readDemo(first.dataDir)
    const api = `${first.url}/api/v1`
    const startOf = async (url: string) => (await (await fetch(url)).text()).slice(0, 8)
    const etiqueta = await requestSeparately(`${api}/guias/${guia}/etiqueta`, { llave })
    expect(await startOf(etiqueta.body.url)).toBe('%PDF-1.7')
    for (const estado of ['recolectado', 'en_ruta', 'entregado'])
      await requestSeparately(`${api}/simulador/guias/${guia}/avanzar`, { llave, method: 'POST', body: { estado } })
    const pdf = await waitUntil(
      async () => (await requestSeparately(`${api}/guias/${guia}/prueba-entrega`, { llave })).body?.pdf,
    )
    expect(await startOf(pdf.url)).toBe('%PDF-1.7')
  })

  it.each([
    ['/healthz', { ok: true }],
    ['/readyz', { ok: true, base_de_datos: true, escritura: true, cola: true, migraciones: true }],
  ])('answers GET and HEAD %s', async (path, body) => {
    const get = await requestSeparately(first.url + path)
    expect(get).toMatchObject({ status: 200, body })
    const head = await requestSeparately(first.url + path, { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, texto: '' })
    for (const name of ['content-type', 'content-length', 'cache-control', 'content-language'])
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]])
    expect((await requestSeparately(first.url + path, { method: 'POST' })).status).toBe(405)
  })
})

describe('while one runs', () => {
  const expectIntact = async () => {
    expect(await requestSeparately(`${first.url}/readyz`)).toMatchObject({ status: 200 })
    const { llave } = readDemo(first.dataDir)
    expect(
      await requestSeparately(`${first.url}/api/v1/guias`, { llave, method: 'POST', body: buildGuia() }),
    ).toMatchObject({
      status: 201,
    })
  }

  it('refuses a second one on the same DATA_DIR', async () => {
    const before = [...findProcesses(first.dataDir).keys()].filter((pid) => pid !== process.pid)
    const node = findNodeProcess(first.dataDir)
    const demo = readDemo(first.dataDir)
    const second = processes.npmStart({ DATA_DIR: first.dataDir })
    expect((await second.waitForEnd()).codigo).toBe(1)
    expect(second.errores).toMatch(/Ya hay otro `npm start` usando los datos de .* Deténgalo o use otro DATA_DIR\./)
    expect(second.errores).toContain(`PID ${node}`)
    expect(second.errores).not.toMatch(STACK)
    expect(second.output).not.toContain('Guías está listo')
    expect(readDemo(first.dataDir)).toEqual(demo)
    const now = findProcesses(first.dataDir)
    // Connections and workers of PostgreSQL come and go; the service and the server itself stay.
    expect(now.has(node)).toBe(true)
    expect(before.filter((pid) => now.get(pid)?.includes(' -D ')).length).toBe(1)
    await expectIntact()
  })

  it('refuses a second one on the same PORT, before it makes anything', async () => {
    const dataDir = processes.nextFolder()
    const port = new URL(first.url).port
    const second = processes.startService({ DATA_DIR: dataDir, PORT: port })
    expect((await second.waitForEnd()).codigo).toBe(1)
    expect(second.errores).toMatch(new RegExp(`El puerto ${port} .* ya está en uso\\..* otro puerto`))
    expect(second.errores).not.toMatch(STACK)
    expect(existsSync(dataDir)).toBe(false)
    expect(findProcesses(dataDir).size).toBe(0)
    await expectIntact()
  })
})

describe('a start that must fail', () => {
  it('tells all faults of the configuration at once and starts nothing', async () => {
    const dataDir = processes.nextFolder()
    const bad = processes.startService({
      DATA_DIR: dataDir,
      PORT: '70000',
      HOST: 'mi casa',
      DATABASE_URL: 'mysql://guias@localhost/guias',
      PUBLIC_URL: 'ftp://guias.gt',
      LOG_LEVEL: 'mucho',
      MASTER_KEYS: 'corta',
    })
    expect((await bad.waitForEnd()).codigo).toBe(1)
    expect(bad.errores).toContain('La configuración no es válida')
    for (const name of ['PORT', 'HOST', 'DATABASE_URL', 'PUBLIC_URL', 'LOG_LEVEL', 'MASTER_KEYS'])
      expect(bad.errores).toMatch(new RegExp(`^ *- ${name}: `, 'm'))
    expect(bad.errores).not.toMatch(STACK)
    expect(bad.errores).not.toContain('corta')
    expect(bad.output).not.toContain('Guías está listo')
    expect(existsSync(dataDir)).toBe(false)
    expect(findProcesses(dataDir).size).toBe(0)
  })

  it('asks for MASTER_KEYS and MESSAGING when there is a DATABASE_URL', async () => {
    const bad = processes.startService({ DATA_DIR: processes.nextFolder(), DATABASE_URL: inject('postgres') })
    expect((await bad.waitForEnd()).codigo).toBe(1)
    expect(bad.errores).toMatch(/MASTER_KEYS: .*openssl rand -base64 32/)
    expect(bad.errores).toMatch(/MESSAGING: hace falta cuando hay DATABASE_URL; ponga «whatsapp» .*«buzon»/)
    expect(bad.errores).not.toMatch(STACK)
  })

  it('says what is wrong with a DATABASE_URL that leads nowhere', FULL_RUN_ONLY, async () => {
    const silentServer = createServer(() => {}).listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => silentServer.once('listening', resolve))
      const databaseUrl = new URL(inject('postgres'))
      const urlWith = (cambios: Partial<URL>) => Object.assign(new URL(databaseUrl), cambios).href
      const cases = {
        'nobody listens': urlWith({ port: `${await findFreePort()}` }),
        'no such server': urlWith({ hostname: 'no-existe.invalid' }),
        'a wrong password': urlWith({ password: 'equivocada' }),
        'no such database': urlWith({ pathname: '/no_existe' }),
        'a server that never answers': urlWith({ port: `${(silentServer.address() as { port: number }).port}` }),
      }
      const seen: Record<string, unknown> = {}
      // One after the other, but for the one that only waits.
      const probar = async ([testCase, url]: [string, string]) => {
        const dataDir = processes.nextFolder()
        const bad = processes.startService({
          DATA_DIR: dataDir,
          DATABASE_URL: url,
          MASTER_KEYS: MASTER_KEY,
          MESSAGING: 'buzon',
        })
        const { codigo } = await bad.waitForEnd()
        seen[testCase] = {
          codigo,
          clara: /No se puede usar la base de datos de DATABASE_URL: .*Revise/.test(bad.errores),
          pila: STACK.test(bad.errores),
          clave: bad.errores.includes('equivocada') || bad.errores.includes(databaseUrl.password),
          queda: findProcesses(dataDir).size,
          carpeta: existsSync(dataDir),
        }
      }
      const list = Object.entries(cases)
      const silentOne = probar(list.pop()!)
      for (const testCase of list) await probar(testCase)
      await silentOne
      const expected = { codigo: 1, clara: true, pila: false, clave: false, queda: 0, carpeta: false }
      expect(seen).toEqual(Object.fromEntries(Object.keys(cases).map((testCase) => [testCase, expected])))
    } finally {
      silentServer.close()
    }
  })
})

describe('a damaged file of the service', () => {
  it('is named, and nothing is left running', async () => {
    const dataDir = processes.nextFolder()
    mkdirSync(dataDir, { mode: 0o755 })
    writeFileSync(join(dataDir, 'master_keys'), 'dañado\n')
    const bad = processes.startService({ DATA_DIR: dataDir })
    expect((await bad.waitForEnd()).codigo).toBe(1)
    expect([...findProcesses(dataDir).values()]).toEqual([])
    expect(bad.errores).toContain(join(dataDir, 'master_keys'))
    expect(bad.errores).not.toMatch(STACK)
  })
})

describe('somebody else’s PostgreSQL', () => {
  const name = `t_arranque_${randomBytes(4).toString('hex')}`
  beforeAll(() => admin((client) => client.query(`create database ${name}`)))
  afterAll(() => admin((client) => client.query(`drop database if exists ${name} with (force)`)))

  it('is migrated and served, without a demo merchant', async () => {
    const dataDir = processes.nextFolder()
    const url = Object.assign(new URL(inject('postgres')), { pathname: `/${name}` }).href
    const env = { DATA_DIR: dataDir, DATABASE_URL: url, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon' }
    const child = processes.startService(env)
    const base = await listo(child)
    expect(await requestSeparately(`${base}/readyz`)).toMatchObject({
      status: 200,
      body: { ok: true, migraciones: true },
    })
    expect(await requestSeparately(`${base}/api/v1/guias`)).toMatchObject({ status: 401 })
    expect(child.output).not.toMatch(/Llave|guia_test_|curl/)
    expect(child.output).toMatch(/^MESSAGING=buzon: a los destinatarios .* no se les pregunta/m)
    expect(existsSync(join(dataDir, 'demo.json'))).toBe(false)
    expect(existsSync(dataDir)).toBe(false)
    expect([...findProcesses(dataDir).values()].filter((command) => command.includes('postgres'))).toEqual([])

    const comercio = JSON.parse((await processes.admin(['comercios', 'crear', '--nombre', 'X', '--json'], env)).output)
    const create = ['llaves', 'crear', '--comercio', comercio.comercio, '--modo', 'live', '--json']
    const { llave } = JSON.parse((await processes.admin(create, env)).output)
    expect(await requestSeparately(`${base}/api/v1/guias`, { llave, method: 'POST', body: buildGuia() })).toMatchObject(
      {
        status: 201,
      },
    )
    child.signalAll('SIGINT')
    await expectNoProcesses(dataDir)
    const connection = new pg.Client({ connectionString: url })
    await connection.connect()
    const { rows } = await connection.query(
      'select migration_name, finished_at is not null as applied from _prisma_migrations',
    )
    const sesiones = await connection.query('select 1 from pg_stat_activity where datname = current_database()')
    await connection.end()
    expect(rows).toEqual((await readMigrations()).map(({ nombre }) => ({ migration_name: nombre, applied: true })))
    expect(sesiones.rowCount, 'sessions left').toBe(1) // this one
  })
})

// From here on the first one is stopped, in one way after the other, and started again on what it left.
describe('stopping and starting again', () => {
  const repetition = async () => {
    const child = processes.npmStart({ DATA_DIR: first.dataDir, PORT: new URL(first.url).port })
    expect(await listo(child)).toBe(first.url)
    return child
  }
  const expectAllKept = async (demo: Demo) => {
    expect(readDemo(first.dataDir)).toEqual(demo)
    expect(await requestSeparately(`${first.url}/api/v1/guias/${guia}`, { llave: demo.llave })).toMatchObject({
      status: 200,
    })
  }
  let demo: Demo
  let ultimaRespuesta = ''

  it('Ctrl-C stops everything that was started', async () => {
    demo = readDemo(first.dataDir)
    const before = [...findProcesses(first.dataDir).values()]
    expect(before.filter((command) => command.includes('postgres')).length).toBeGreaterThan(1)
    first.proceso.signalAll('SIGINT')
    await expectNoProcesses(first.dataDir)
    await first.proceso.waitForEnd()
    expect(first.proceso.errores).not.toMatch(STACK)
    expect(await probeUrl(`${first.url}/healthz`)).toBeUndefined()
    expect(existsSync(join(first.dataDir, 'pgdata', 'postmaster.pid'))).toBe(false)
  })

  it('a second start keeps data and key; SIGTERM lets the request under way end', async () => {
    const child = await repetition()
    expect(child.output).toContain(demo.llave)
    await expectAllKept(demo)

    const body = JSON.stringify(buildGuia())
    const connection = connect(Number(new URL(first.url).port), '127.0.0.1')
    let received = ''
    connection.setEncoding('utf8').on('data', (text) => {
      received += text
    })
    const cerrada = new Promise((resolve) => connection.once('close', resolve))
    connection.write(
      [
        'POST /api/v1/guias HTTP/1.1',
        'Host: 127.0.0.1',
        `Authorization: Bearer ${demo.llave}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Expect: 100-continue',
        '\r\n',
      ].join('\r\n'),
    )
    await waitUntil(async () => received.includes('100 Continue'))
    connection.write(body.slice(0, 20))
    process.kill(findNodeProcess(first.dataDir), 'SIGTERM')
    const drainingResponse = await waitUntil(async () => {
      const response = await requestSeparately(`${first.url}/readyz`)
      return response.status === 503 && response
    })
    expect(drainingResponse.body).toMatchObject({ ok: false })
    expect(drainingResponse.headers['retry-after']).toBeDefined()
    expect(await requestSeparately(`${first.url}/healthz`)).toMatchObject({ status: 200 })
    expect(child.fin).toBeUndefined()
    connection.write(body.slice(20))
    await cerrada
    const [, header = '', response = ''] = received.split('\r\n\r\n')
    expect(header).toMatch(/^HTTP\/1\.1 201 /)
    ultimaRespuesta = header
    expect(await child.waitForEnd()).toEqual({ codigo: 0, signal: null })
    await expectNoProcesses(first.dataDir)
    guia = JSON.parse(response).guia
  })

  it('tells that client that its connection is over', () => {
    expect(ultimaRespuesta).toMatch(/^Connection: close$/im)
  })

  it('a service killed with SIGKILL starts again on the same data, and SIGTERM to npm alone stops it all', async () => {
    const deadChild = await repetition()
    await expectAllKept(demo) // with the guide of the request that was drained
    process.kill(findNodeProcess(first.dataDir), 'SIGKILL')
    expect((await deadChild.waitForEnd()).codigo).not.toBe(0)
    const child = await repetition()
    await expectAllKept(demo)
    process.kill(child.pid, 'SIGTERM')
    await expectNoProcesses(first.dataDir)
    await child.waitForEnd()
    expect(child.errores).not.toMatch(STACK)
  })

  it('Ctrl-C while it starts stops everything, too', async () => {
    const child = processes.npmStart({ DATA_DIR: first.dataDir })
    const lockFile = join(first.dataDir, 'pgdata', 'postmaster.pid')
    while (!existsSync(lockFile) && !child.fin) await sleep(2)
    child.signalAll('SIGINT')
    await expectNoProcesses(first.dataDir)
    expect(child.errores).not.toMatch(STACK)
  })

  it('closing the terminal stops everything, too', FULL_RUN_ONLY, async () => {
    const dataDir = processes.nextFolder()
    const child = processes.npmStart({ DATA_DIR: dataDir })
    await listo(child)
    child.signalAll('SIGHUP')
    await expectNoProcesses(dataDir)
  })

  it('two at once on the same DATA_DIR: one serves, the other says why not', FULL_RUN_ONLY, async () => {
    const dataDir = processes.nextFolder()
    const ambos = [processes.npmStart({ DATA_DIR: dataDir }), processes.npmStart({ DATA_DIR: dataDir })]
    const loser = await waitUntil(async () => ambos.find(({ fin }) => fin))
    const winner = ambos.find((one) => one !== loser)!
    expect(loser.fin?.codigo).toBe(1)
    expect(loser.errores).toMatch(/Ya hay otro `npm start` usando los datos de /)
    expect(loser.errores).not.toMatch(STACK)
    const url = await listo(winner)
    const { llave, ...demo } = readDemo(dataDir)
    expect(demo.url).toBe(url)
    expect(await requestSeparately(`${url}/api/v1/guias`, { llave, method: 'POST', body: buildGuia() })).toMatchObject({
      status: 201,
    })
    winner.signalAll('SIGINT')
    await expectNoProcesses(dataDir)
  })
})
