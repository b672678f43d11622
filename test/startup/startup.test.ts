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
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
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

const procesos = useProcesses()

interface Demo {
  url: string
  comercio: string
  llave: string
  llave_operaciones: string
  codigo_repartidor: string
}
const readDemo = (dataDir: string): Demo => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
const noQuedaNada = (dataDir: string) =>
  hasta(async () => findProcesses(dataDir).size === 0).catch(() =>
    expect([...findProcesses(dataDir).values()], 'still running').toEqual([]),
  )
const PILA = /^\s+at .*[:(]/m

/** What the first start did, seen from outside from its first moment on. */
const primero = { dataDir: '', url: '', proceso: undefined as unknown as TestProcess }
/** What an operation answers while the service starts. */
const rechazos: { tipo: string | null; cuerpo: object }[] = []
const sondeos: { readyz: number | undefined; cuerpo: unknown; demo: string | undefined; hora: number }[] = []
let guia: string

beforeAll(async () => {
  primero.dataDir = procesos.nextFolder()
  const puerto = await findFreePort()
  primero.url = `http://127.0.0.1:${puerto}`
  primero.proceso = procesos.npmStart({ DATA_DIR: primero.dataDir, PORT: `${puerto}` })
  const archivo = join(primero.dataDir, 'demo.json')
  await hasta(async () => {
    const respuesta = await probeUrl(`${primero.url}/readyz`)
    const hora = Date.now()
    if (respuesta?.status === 503) {
      for (const Accept of ['application/json', 'application/problem+json']) {
        const rechazo = await fetch(`${primero.url}/api/v1/guias`, { headers: { Accept, Connection: 'close' } })
        if (rechazo.status === 503)
          rechazos.push({ tipo: rechazo.headers.get('content-type'), cuerpo: (await rechazo.json()) as object })
      }
    }
    const demo = existsSync(archivo) ? readFileSync(archivo, 'utf8') : undefined
    sondeos.push({ readyz: respuesta?.status, cuerpo: respuesta?.cuerpo, demo, hora })
    return respuesta?.status === 200 || primero.proceso.fin
  })
  await listo(primero.proceso)
})

describe('the first start', () => {
  it('is ready in the end, and says 503 with every part before', () => {
    expect(sondeos.at(-1)).toMatchObject({
      readyz: 200,
      cuerpo: { ok: true, base_de_datos: true, escritura: true, cola: true, migraciones: true },
    })
    const arrancando = sondeos.filter(({ readyz }) => readyz === 503)
    expect(arrancando.length).toBeGreaterThan(0)
    for (const { cuerpo } of arrancando) expect(cuerpo).toMatchObject({ ok: false })
    expect(new Set(sondeos.map(({ readyz }) => readyz))).toEqual(new Set([undefined, 503, 200]))
  })

  it('refuses operations meanwhile, in Spanish or with the names of RFC 9457', () => {
    expect(new Set(rechazos.map(({ tipo }) => tipo))).toEqual(new Set(['application/json', 'application/problem+json']))
    const documentacion = `${primero.url}/docs#error-no_disponible`
    for (const { tipo, cuerpo } of rechazos) {
      const estado = tipo === 'application/json' ? { estado_http: 503 } : { status: 503, title: expect.any(String) }
      expect(cuerpo).toMatchObject({ codigo: 'no_disponible', documentacion, ...estado })
    }
  })

  it('writes demo.json, whole, for its owner only, before it is ready', () => {
    const archivo = join(primero.dataDir, 'demo.json')
    const { mode, ctimeMs } = statSync(archivo)
    expect((mode & 0o777).toString(8)).toBe('600')
    const demo = readDemo(primero.dataDir)
    expect(demo).toEqual({
      url: primero.url,
      comercio: expect.stringMatching(/^com_[0-9A-Z]{12}$/),
      llave: expect.stringMatching(/^guia_test_/),
      llave_operaciones: expect.stringMatching(/^guia_oper_/),
      codigo_repartidor: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/),
    })
    // The rename that put it there happened before the first 200 arrived, and nobody ever saw half a file.
    expect(ctimeMs).toBeLessThanOrEqual(sondeos.at(-1)!.hora)
    expect(sondeos.at(-1)!.demo).toBeDefined()
    for (const { demo: visto } of sondeos) if (visto !== undefined) expect(JSON.parse(visto)).toEqual(demo)
  })

  it('shows address, documentation and key, and a curl line that creates a guide when pasted', async () => {
    const { llave, codigo_repartidor } = readDemo(primero.dataDir)
    const { output: salida, errores } = primero.proceso
    expect(salida).toContain(`${primero.url}/repartidor  código ${codigo_repartidor}`)
    expect(salida).toContain(primero.url)
    expect(salida).toContain(`${primero.url}/docs`)
    expect(salida).toContain(llave)
    expect(salida).toContain(join(primero.dataDir, 'demo.json'))
    expect(errores.replace(/^(Generando|Preparado).*\n/gm, '')).toBe('')
    const lineas = salida.split('\n').filter((linea) => /^\s*(export|curl) /.test(linea))
    expect(lineas).toHaveLength(2)
    // The line itself is left as it is; the function only makes curl say the status.
    const guion = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n${lineas.join('\n')}`
    const pegado = procesos.runCommand(['bash', '-c', guion])
    expect(await pegado.waitForEnd()).toMatchObject({ codigo: 0 })
    const [cuerpo = '', status] = pegado.output.split('\n')
    expect(status).toBe('201')
    guia = JSON.parse(cuerpo).guia
    expect(guia).toBeTruthy()
    expect(await requestSeparately(`${primero.url}/api/v1/guias/${guia}`, { llave })).toMatchObject({ status: 200 })
  })

  it('draws labels and proofs in the thread that was built with it', async () => {
    const { llave } = readDemo(primero.dataDir)
    const api = `${primero.url}/api/v1`
    const inicioDe = async (url: string) => (await (await fetch(url)).text()).slice(0, 8)
    const etiqueta = await requestSeparately(`${api}/guias/${guia}/etiqueta`, { llave })
    expect(await inicioDe(etiqueta.cuerpo.url)).toBe('%PDF-1.7')
    for (const estado of ['recolectado', 'en_ruta', 'entregado'])
      await requestSeparately(`${api}/simulador/guias/${guia}/avanzar`, { llave, method: 'POST', cuerpo: { estado } })
    const pdf = await hasta(
      async () => (await requestSeparately(`${api}/guias/${guia}/prueba-entrega`, { llave })).cuerpo?.pdf,
    )
    expect(await inicioDe(pdf.url)).toBe('%PDF-1.7')
  })

  it.each([
    ['/healthz', { ok: true }],
    ['/readyz', { ok: true, base_de_datos: true, escritura: true, cola: true, migraciones: true }],
  ])('answers GET and HEAD %s', async (ruta, cuerpo) => {
    const get = await requestSeparately(primero.url + ruta)
    expect(get).toMatchObject({ status: 200, cuerpo })
    const head = await requestSeparately(primero.url + ruta, { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, texto: '' })
    for (const nombre of ['content-type', 'content-length', 'cache-control', 'content-language'])
      expect([nombre, head.cabeceras[nombre]]).toEqual([nombre, get.cabeceras[nombre]])
    expect((await requestSeparately(primero.url + ruta, { method: 'POST' })).status).toBe(405)
  })
})

describe('while one runs', () => {
  const intacto = async () => {
    expect(await requestSeparately(`${primero.url}/readyz`)).toMatchObject({ status: 200 })
    const { llave } = readDemo(primero.dataDir)
    expect(
      await requestSeparately(`${primero.url}/api/v1/guias`, { llave, method: 'POST', cuerpo: buildGuia() }),
    ).toMatchObject({
      status: 201,
    })
  }

  it('refuses a second one on the same DATA_DIR', async () => {
    const antes = [...findProcesses(primero.dataDir).keys()].filter((pid) => pid !== process.pid)
    const nodo = findNodeProcess(primero.dataDir)
    const demo = readDemo(primero.dataDir)
    const segundo = procesos.npmStart({ DATA_DIR: primero.dataDir })
    expect((await segundo.waitForEnd()).codigo).toBe(1)
    expect(segundo.errores).toMatch(/Ya hay otro `npm start` usando los datos de .* Deténgalo o use otro DATA_DIR\./)
    expect(segundo.errores).toContain(`PID ${nodo}`)
    expect(segundo.errores).not.toMatch(PILA)
    expect(segundo.output).not.toContain('Guías está listo')
    expect(readDemo(primero.dataDir)).toEqual(demo)
    const ahora = findProcesses(primero.dataDir)
    // Connections and workers of PostgreSQL come and go; the service and the server itself stay.
    expect(ahora.has(nodo)).toBe(true)
    expect(antes.filter((pid) => ahora.get(pid)?.includes(' -D ')).length).toBe(1)
    await intacto()
  })

  it('refuses a second one on the same PORT, before it makes anything', async () => {
    const dataDir = procesos.nextFolder()
    const puerto = new URL(primero.url).port
    const segundo = procesos.startService({ DATA_DIR: dataDir, PORT: puerto })
    expect((await segundo.waitForEnd()).codigo).toBe(1)
    expect(segundo.errores).toMatch(new RegExp(`El puerto ${puerto} .* ya está en uso\\..* otro puerto`))
    expect(segundo.errores).not.toMatch(PILA)
    expect(existsSync(dataDir)).toBe(false)
    expect(findProcesses(dataDir).size).toBe(0)
    await intacto()
  })
})

describe('a start that must fail', () => {
  it('tells all faults of the configuration at once and starts nothing', async () => {
    const dataDir = procesos.nextFolder()
    const malo = procesos.startService({
      DATA_DIR: dataDir,
      PORT: '70000',
      HOST: 'mi casa',
      DATABASE_URL: 'mysql://guias@localhost/guias',
      PUBLIC_URL: 'ftp://guias.gt',
      LOG_LEVEL: 'mucho',
      MASTER_KEYS: 'corta',
    })
    expect((await malo.waitForEnd()).codigo).toBe(1)
    expect(malo.errores).toContain('La configuración no es válida')
    for (const nombre of ['PORT', 'HOST', 'DATABASE_URL', 'PUBLIC_URL', 'LOG_LEVEL', 'MASTER_KEYS'])
      expect(malo.errores).toMatch(new RegExp(`^ *- ${nombre}: `, 'm'))
    expect(malo.errores).not.toMatch(PILA)
    expect(malo.errores).not.toContain('corta')
    expect(malo.output).not.toContain('Guías está listo')
    expect(existsSync(dataDir)).toBe(false)
    expect(findProcesses(dataDir).size).toBe(0)
  })

  it('asks for MASTER_KEYS and MESSAGING when there is a DATABASE_URL', async () => {
    const malo = procesos.startService({ DATA_DIR: procesos.nextFolder(), DATABASE_URL: inject('postgres') })
    expect((await malo.waitForEnd()).codigo).toBe(1)
    expect(malo.errores).toMatch(/MASTER_KEYS: .*openssl rand -base64 32/)
    expect(malo.errores).toMatch(/MESSAGING: hace falta cuando hay DATABASE_URL; ponga «whatsapp» .*«buzon»/)
    expect(malo.errores).not.toMatch(PILA)
  })

  it('says what is wrong with a DATABASE_URL that leads nowhere', FULL_RUN_ONLY, async () => {
    const mudo = createServer(() => {}).listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => mudo.once('listening', resolve))
      const bien = new URL(inject('postgres'))
      const con = (cambios: Partial<URL>) => Object.assign(new URL(bien), cambios).href
      const casos = {
        'nobody listens': con({ port: `${await findFreePort()}` }),
        'no such server': con({ hostname: 'no-existe.invalid' }),
        'a wrong password': con({ password: 'equivocada' }),
        'no such database': con({ pathname: '/no_existe' }),
        'a server that never answers': con({ port: `${(mudo.address() as { port: number }).port}` }),
      }
      const vistos: Record<string, unknown> = {}
      // One after the other, but for the one that only waits.
      const probar = async ([caso, url]: [string, string]) => {
        const dataDir = procesos.nextFolder()
        const malo = procesos.startService({
          DATA_DIR: dataDir,
          DATABASE_URL: url,
          MASTER_KEYS: MASTER_KEY,
          MESSAGING: 'buzon',
        })
        const { codigo } = await malo.waitForEnd()
        vistos[caso] = {
          codigo,
          clara: /No se puede usar la base de datos de DATABASE_URL: .*Revise/.test(malo.errores),
          pila: PILA.test(malo.errores),
          clave: malo.errores.includes('equivocada') || malo.errores.includes(bien.password),
          queda: findProcesses(dataDir).size,
          carpeta: existsSync(dataDir),
        }
      }
      const lista = Object.entries(casos)
      const callado = probar(lista.pop()!)
      for (const caso of lista) await probar(caso)
      await callado
      const esperado = { codigo: 1, clara: true, pila: false, clave: false, queda: 0, carpeta: false }
      expect(vistos).toEqual(Object.fromEntries(Object.keys(casos).map((caso) => [caso, esperado])))
    } finally {
      mudo.close()
    }
  })
})

describe('a damaged file of the service', () => {
  it('is named, and nothing is left running', async () => {
    const dataDir = procesos.nextFolder()
    mkdirSync(dataDir, { mode: 0o755 })
    writeFileSync(join(dataDir, 'master_keys'), 'dañado\n')
    const malo = procesos.startService({ DATA_DIR: dataDir })
    expect((await malo.waitForEnd()).codigo).toBe(1)
    expect([...findProcesses(dataDir).values()]).toEqual([])
    expect(malo.errores).toContain(join(dataDir, 'master_keys'))
    expect(malo.errores).not.toMatch(PILA)
  })
})

describe('somebody else’s PostgreSQL', () => {
  const nombre = `t_arranque_${randomBytes(4).toString('hex')}`
  beforeAll(() => admin((cliente) => cliente.query(`create database ${nombre}`)))
  afterAll(() => admin((cliente) => cliente.query(`drop database if exists ${nombre} with (force)`)))

  it('is migrated and served, without a demo merchant', async () => {
    const dataDir = procesos.nextFolder()
    const url = Object.assign(new URL(inject('postgres')), { pathname: `/${nombre}` }).href
    const env = { DATA_DIR: dataDir, DATABASE_URL: url, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon' }
    const proceso = procesos.startService(env)
    const base = await listo(proceso)
    expect(await requestSeparately(`${base}/readyz`)).toMatchObject({
      status: 200,
      cuerpo: { ok: true, migraciones: true },
    })
    expect(await requestSeparately(`${base}/api/v1/guias`)).toMatchObject({ status: 401 })
    expect(proceso.output).not.toMatch(/Llave|guia_test_|curl/)
    expect(proceso.output).toMatch(/^MESSAGING=buzon: a los destinatarios .* no se les pregunta/m)
    expect(existsSync(join(dataDir, 'demo.json'))).toBe(false)
    expect(existsSync(dataDir)).toBe(false)
    expect([...findProcesses(dataDir).values()].filter((orden) => orden.includes('postgres'))).toEqual([])

    const comercio = JSON.parse((await procesos.admin(['comercios', 'crear', '--nombre', 'X', '--json'], env)).output)
    const crear = ['llaves', 'crear', '--comercio', comercio.comercio, '--modo', 'live', '--json']
    const { llave } = JSON.parse((await procesos.admin(crear, env)).output)
    expect(
      await requestSeparately(`${base}/api/v1/guias`, { llave, method: 'POST', cuerpo: buildGuia() }),
    ).toMatchObject({
      status: 201,
    })
    proceso.signalAll('SIGINT')
    await noQuedaNada(dataDir)
    const conexion = new pg.Client({ connectionString: url })
    await conexion.connect()
    const { rows } = await conexion.query(
      'select migration_name, finished_at is not null as applied from _prisma_migrations',
    )
    const sesiones = await conexion.query('select 1 from pg_stat_activity where datname = current_database()')
    await conexion.end()
    expect(rows).toEqual((await readMigrations()).map(({ nombre }) => ({ migration_name: nombre, applied: true })))
    expect(sesiones.rowCount, 'sessions left').toBe(1) // this one
  })
})

// From here on the first one is stopped, in one way after the other, and started again on what it left.
describe('stopping and starting again', () => {
  const otraVez = async () => {
    const proceso = procesos.npmStart({ DATA_DIR: primero.dataDir, PORT: new URL(primero.url).port })
    expect(await listo(proceso)).toBe(primero.url)
    return proceso
  }
  const conservaTodo = async (demo: Demo) => {
    expect(readDemo(primero.dataDir)).toEqual(demo)
    expect(await requestSeparately(`${primero.url}/api/v1/guias/${guia}`, { llave: demo.llave })).toMatchObject({
      status: 200,
    })
  }
  let demo: Demo
  let ultimaRespuesta = ''

  it('Ctrl-C stops everything that was started', async () => {
    demo = readDemo(primero.dataDir)
    const antes = [...findProcesses(primero.dataDir).values()]
    expect(antes.filter((orden) => orden.includes('postgres')).length).toBeGreaterThan(1)
    primero.proceso.signalAll('SIGINT')
    await noQuedaNada(primero.dataDir)
    await primero.proceso.waitForEnd()
    expect(primero.proceso.errores).not.toMatch(PILA)
    expect(await probeUrl(`${primero.url}/healthz`)).toBeUndefined()
    expect(existsSync(join(primero.dataDir, 'pgdata', 'postmaster.pid'))).toBe(false)
  })

  it('a second start keeps data and key; SIGTERM lets the request under way end', async () => {
    const proceso = await otraVez()
    expect(proceso.output).toContain(demo.llave)
    await conservaTodo(demo)

    const cuerpo = JSON.stringify(buildGuia())
    const conexion = connect(Number(new URL(primero.url).port), '127.0.0.1')
    let recibido = ''
    conexion.setEncoding('utf8').on('data', (texto) => {
      recibido += texto
    })
    const cerrada = new Promise((resolve) => conexion.once('close', resolve))
    conexion.write(
      [
        'POST /api/v1/guias HTTP/1.1',
        'Host: 127.0.0.1',
        `Authorization: Bearer ${demo.llave}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(cuerpo)}`,
        'Expect: 100-continue',
        '\r\n',
      ].join('\r\n'),
    )
    await hasta(async () => recibido.includes('100 Continue'))
    conexion.write(cuerpo.slice(0, 20))
    process.kill(findNodeProcess(primero.dataDir), 'SIGTERM')
    const drenando = await hasta(async () => {
      const respuesta = await requestSeparately(`${primero.url}/readyz`)
      return respuesta.status === 503 && respuesta
    })
    expect(drenando.cuerpo).toMatchObject({ ok: false })
    expect(drenando.cabeceras['retry-after']).toBeDefined()
    expect(await requestSeparately(`${primero.url}/healthz`)).toMatchObject({ status: 200 })
    expect(proceso.fin).toBeUndefined()
    conexion.write(cuerpo.slice(20))
    await cerrada
    const [, cabecera = '', respuesta = ''] = recibido.split('\r\n\r\n')
    expect(cabecera).toMatch(/^HTTP\/1\.1 201 /)
    ultimaRespuesta = cabecera
    expect(await proceso.waitForEnd()).toEqual({ codigo: 0, signal: null })
    await noQuedaNada(primero.dataDir)
    guia = JSON.parse(respuesta).guia
  })

  it('tells that client that its connection is over', () => {
    expect(ultimaRespuesta).toMatch(/^Connection: close$/im)
  })

  it('a service killed with SIGKILL starts again on the same data, and SIGTERM to npm alone stops it all', async () => {
    const muerto = await otraVez()
    await conservaTodo(demo) // with the guide of the request that was drained
    process.kill(findNodeProcess(primero.dataDir), 'SIGKILL')
    expect((await muerto.waitForEnd()).codigo).not.toBe(0)
    const proceso = await otraVez()
    await conservaTodo(demo)
    process.kill(proceso.pid, 'SIGTERM')
    await noQuedaNada(primero.dataDir)
    await proceso.waitForEnd()
    expect(proceso.errores).not.toMatch(PILA)
  })

  it('Ctrl-C while it starts stops everything, too', async () => {
    const proceso = procesos.npmStart({ DATA_DIR: primero.dataDir })
    const cerrojo = join(primero.dataDir, 'pgdata', 'postmaster.pid')
    while (!existsSync(cerrojo) && !proceso.fin) await sleep(2)
    proceso.signalAll('SIGINT')
    await noQuedaNada(primero.dataDir)
    expect(proceso.errores).not.toMatch(PILA)
  })

  it('closing the terminal stops everything, too', FULL_RUN_ONLY, async () => {
    const dataDir = procesos.nextFolder()
    const proceso = procesos.npmStart({ DATA_DIR: dataDir })
    await listo(proceso)
    proceso.signalAll('SIGHUP')
    await noQuedaNada(dataDir)
  })

  it('two at once on the same DATA_DIR: one serves, the other says why not', FULL_RUN_ONLY, async () => {
    const dataDir = procesos.nextFolder()
    const ambos = [procesos.npmStart({ DATA_DIR: dataDir }), procesos.npmStart({ DATA_DIR: dataDir })]
    const perdedor = await hasta(async () => ambos.find(({ fin }) => fin))
    const ganador = ambos.find((uno) => uno !== perdedor)!
    expect(perdedor.fin?.codigo).toBe(1)
    expect(perdedor.errores).toMatch(/Ya hay otro `npm start` usando los datos de /)
    expect(perdedor.errores).not.toMatch(PILA)
    const url = await listo(ganador)
    const { llave, ...demo } = readDemo(dataDir)
    expect(demo.url).toBe(url)
    expect(
      await requestSeparately(`${url}/api/v1/guias`, { llave, method: 'POST', cuerpo: buildGuia() }),
    ).toMatchObject({
      status: 201,
    })
    ganador.signalAll('SIGINT')
    await noQuedaNada(dataDir)
  })
})
