// The console on the embedded database of a service that doesn't run and of one that does.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ALCANCES, ALCANCES_DE_OPERACION } from '../../server/generated/contract/vocabulary.ts'
import { runInProcess } from '../console.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { findProcesses, listo, requestSeparately, useProcesses } from '../processes.ts'

const processes = useProcesses()
const dataDir = processes.nextFolder()
const STACK = /^\s+at .*[:(]/m
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

let url = ''
const listar = async (llave: string) => (await requestSeparately(`${url}/api/v1/guias`, { llave })).status
const create = async (llave: string) =>
  (await requestSeparately(`${url}/api/v1/guias`, { llave, method: 'POST', body: buildGuia() })).status

const entrar = async (codigo: string) => {
  const headers = { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' }
  const body = JSON.stringify({ codigo })
  return (await fetch(`${url}/repartidor/v1/sesion`, { method: 'POST', headers, body })).status
}

interface CommandOutput {
  codigo: number | null | undefined
  output: string
  errores: string
}
type Run = (args: readonly string[], env?: Record<string, string>) => Promise<CommandOutput>

/** As a process of its own. */
const runInOwnProcess: Run = async (args, env = {}) => {
  const { fin, output, errores } = await processes.admin(args, { DATA_DIR: dataDir, ...env })
  return { codigo: fin?.codigo, output, errores }
}

const here: Run = (args, env = {}) => runInProcess(args, { DATA_DIR: dataDir, ...env })

/** As its help says. */
const byNpm: Run = async (args) => {
  const child = processes.runCommand(['npm', 'run', '--silent', 'admin', '--', ...args], { DATA_DIR: dataDir })
  const { codigo } = await child.waitForEnd()
  return { codigo, output: child.output, errores: child.errores.replace(/^Generando.*\n/gm, '') }
}

/** A command that succeeds: one line of JSON on stdout, and nothing else anywhere. */
async function json(runCommand: Run, ...args: string[]) {
  const { output, ...remainder } = await runCommand([...args, '--json'])
  expect({ args, ...remainder }).toEqual({ args, codigo: 0, errores: '' })
  expect(output).toMatch(/^[^\n]+\n$/)
  return JSON.parse(output)
}

interface Llave {
  id: string
  llave: string
}
interface CommandResults {
  comercio: string
  /** All scopes, no end. */
  complete: Llave
  /** Limited, and ended by its rotation into the revoked one. */
  rotation: Llave
  revokedLlave: Llave
  operador: Llave
  /** With a new code. */
  activo: Repartidor
  inactivo: Repartidor
}
interface Repartidor {
  repartidor: string
  codigo: string
}
const hechos: CommandResults[] = []

/**
 * Runs every command once, in an order in which each has what it needs. One function, because each command uses the
 * results of earlier ones.
 */
function describeEachCommand(runCommand: Run) {
  const runForJson = (...args: string[]) => json(runCommand, ...args)
  const done = {} as CommandResults
  let comercio: { comercio: string }
  beforeAll(() => {
    hechos.push(done)
  })

  it('comercios crear', async () => {
    comercio = await runForJson('comercios', 'crear', '--nombre', 'Tienda «La Ceiba» ñ')
    expect(comercio).toEqual({
      comercio: expect.stringMatching(/^com_[0-9A-Z]{12}$/),
      nombre: 'Tienda «La Ceiba» ñ',
      pais: null,
      estricto: false,
      ritmos: { solicitudes: 50, guias: 100 },
      evidencia: { fotos_minimas: 1, firma: 'obligatoria', documento: 'opcional' },
      politica_de_intentos: {
        maximos: 3,
        dias_entre: 1,
        dias_para_decidir: 5,
        al_vencer: 'devolver',
        destinatario_decide: false,
      },
      creado_en: INSTANT,
    })
    done.comercio = comercio.comercio
  })

  it('comercios cambiar', async () => {
    const change = (...args: string[]) => runForJson('comercios', 'cambiar', comercio.comercio, ...args)
    expect(await change('--pais', 'SV', '--estricto', 'sí')).toEqual({ ...comercio, pais: 'SV', estricto: true })
    const ritmos = await change('--ritmos', '500,900')
    expect(ritmos).toMatchObject({ ritmos: { solicitudes: 500, guias: 900 } })
    const evidencia = await change('--evidencia', '3, opcional, no')
    expect(evidencia).toMatchObject({ evidencia: { fotos_minimas: 3, firma: 'opcional', documento: 'no' } })
    const intentos = await change('--politica-de-intentos', '2, 0, 7, esperar')
    expect(intentos).toMatchObject({
      politica_de_intentos: { maximos: 2, dias_entre: 0, dias_para_decidir: 7, al_vencer: 'esperar' },
    })
    const secondChange = await change('--politica-de-intentos', '2,0,7,esperar,sí')
    expect(secondChange).toMatchObject({ politica_de_intentos: { al_vencer: 'esperar', destinatario_decide: true } })
    const before = [
      '--pais',
      'ninguno',
      '--estricto',
      'no',
      '--ritmos',
      '50,100',
      '--evidencia',
      '1,obligatoria,opcional',
      '--politica-de-intentos',
      '3,1,5,devolver,no',
    ]
    expect(await change(...before)).toEqual(comercio)
  })

  it('comercios listar', async () => {
    const list = await runForJson('comercios', 'listar')
    expect(list[0]).toEqual(comercio)
    for (const one of list)
      expect(Object.keys(one).sort()).toEqual([
        'comercio',
        'creado_en',
        'estricto',
        'evidencia',
        'nombre',
        'pais',
        'politica_de_intentos',
        'ritmos',
      ])
  })

  it('comercios cambiar says every member in words', async () => {
    const { output } = await runCommand(['comercios', 'cambiar', '--comercio', comercio.comercio, '--pais', 'ninguno'])
    for (const message of [
      /^estricto +no$/m,
      /^ritmos +solicitudes 50, guias 100$/m,
      /^politica_de_intentos +maximos 3, .*al_vencer devolver, destinatario_decide no$/m,
    ])
      expect(output).toMatch(message)
  })

  it('llaves crear: all scopes and no end unless told', async () => {
    done.complete = await runForJson('llaves', 'crear', '--comercio', done.comercio, '--modo', 'test')
    expect(done.complete).toMatchObject({
      id: expect.stringMatching(/^llave_/),
      llave: expect.stringMatching(/^guia_test_/),
      comercio: done.comercio,
      modo: 'test',
      alcances: [...ALCANCES],
      vence_en: null,
    })
    const vence = new Date(Date.now() + 3_600_000).toISOString()
    const limites = ['--modo', 'live', '--alcances', 'guias:leer, guias:escribir', '--vence', vence]
    done.rotation = await runForJson('llaves', 'crear', '--comercio', done.comercio, ...limites)
    expect(done.rotation).toMatchObject({
      llave: expect.stringMatching(/^guia_live_/),
      modo: 'live',
      alcances: ['guias:leer', 'guias:escribir'],
      vence_en: vence,
    })
  })

  it('llaves crear: exactly the members that the interface fixes', () => {
    expect(Object.keys(done.complete).sort()).toEqual([
      'alcances',
      'comercio',
      'id',
      'llave',
      'modo',
      'redes',
      'vence_en',
    ])
  })

  it('bitacora listar', async () => {
    const [last] = await runForJson('bitacora', 'listar', '--comercio', done.comercio, '--accion', 'crearLlave')
    expect(last).toMatchObject({
      accion: 'crearLlave',
      quien: { tipo: 'consola', identificador: null },
      sobre: { tipo: 'llave', identificador: expect.stringMatching(/^llave_/) },
      comercio: done.comercio,
      id_solicitud: null,
      red: null,
    })
    expect(
      await runForJson('bitacora', 'listar', '--comercio', done.comercio, '--desde', '2100-01-01T00:00:00Z'),
    ).toEqual([])
  })

  it('bitacora verificar', async () => {
    const verification = await runForJson('bitacora', 'verificar', '--desde', '2026-01-01T00:00:00Z')
    expect(verification).toMatchObject({ faltas: [], seals: expect.any(Number) })
  })

  it('llaves listar, without the secrets', async () => {
    const list = await runForJson('llaves', 'listar', '--comercio', done.comercio)
    expect(list.map(({ id }: Llave) => id)).toEqual([done.rotation.id, done.complete.id])
    for (const one of list) {
      expect(Object.keys(one).sort()).toEqual(
        ['alcances', 'comercio', 'creado_en', 'id', 'modo', 'redes', 'revocado_en', 'usado_en', 'vence_en'].sort(),
      )
    }
    expect(JSON.stringify(list)).not.toContain('guia_')
  })

  it('llaves rotar', async () => {
    done.revokedLlave = await runForJson('llaves', 'rotar', '--llave', done.rotation.id, '--solapamiento', '0')
    expect(done.revokedLlave).toMatchObject({
      llave: expect.stringMatching(/^guia_live_/),
      comercio: done.comercio,
      alcances: ['guias:leer', 'guias:escribir'],
    })
    expect(Object.keys(done.revokedLlave).sort()).toEqual(Object.keys(done.complete).sort())
    expect(done.revokedLlave.id).not.toBe(done.rotation.id)
  })

  it('llaves revocar, effective though the service has just looked the key up', async () => {
    let isInUse = url !== ''
    const usages = (async () => {
      while (isInUse) await listar(done.revokedLlave.llave)
    })()
    const response = await runForJson('llaves', 'revocar', '--llave', done.revokedLlave.id)
    expect(response).toEqual({
      id: done.revokedLlave.id,
      comercio: done.comercio,
      modo: 'live',
      alcances: ['guias:leer', 'guias:escribir'],
      redes: [],
      creado_en: INSTANT,
      vence_en: expect.anything(),
      revocado_en: INSTANT,
      usado_en: response.usado_en,
    })
    if (url) {
      await waitUntil(async () => (await listar(done.revokedLlave.llave)) === 401)
      isInUse = false
      await usages
    }
  })

  it('operadores crear', async () => {
    done.operador = await runForJson('operadores', 'crear', '--nombre', 'Central')
    expect(done.operador).toEqual({
      operador: expect.stringMatching(/^op_/),
      nombre: 'Central',
      creado_en: INSTANT,
      id: expect.stringMatching(/^llave_/),
      llave: expect.stringMatching(/^guia_oper_/),
      alcances: [...ALCANCES_DE_OPERACION],
      redes: [],
      vence_en: null,
    })
  })

  it('operadores listar and revocar; llaves crear, listar, rotar and revocar of an operator', async () => {
    const vence = new Date(Date.now() + 3_600_000).toISOString()
    const newOperador = await runForJson(
      'operadores',
      'crear',
      '--nombre',
      'Bodega',
      '--alcances',
      'ver',
      '--vence',
      vence,
    )
    expect(newOperador).toMatchObject({ alcances: ['ver'], vence_en: vence })
    const { operador } = newOperador
    const other = await runForJson(
      'llaves',
      'crear',
      '--operador',
      operador,
      '--alcances',
      'ver,operar',
      '--redes',
      '10.0.0.0/8, 2001:db8::1',
    )
    const redes = ['10.0.0.0/8', '2001:db8::1/128']
    expect(other).toMatchObject({ operador, alcances: ['ver', 'operar'], redes, vence_en: null })
    const rotation = await runForJson('llaves', 'rotar', other.id, '--solapamiento', '0')
    expect(rotation).toMatchObject({ operador, alcances: ['ver', 'operar'] })
    expect(await runForJson('llaves', 'revocar', rotation.id)).toMatchObject({ operador, revocado_en: INSTANT })
    const list = await runForJson('llaves', 'listar', '--operador', operador)
    expect(list.map(({ id }: Llave) => id)).toEqual([rotation.id, other.id, newOperador.id])
    const revocado = await runForJson('operadores', 'revocar', operador)
    expect(revocado).toEqual({ operador, nombre: 'Bodega', creado_en: INSTANT, revocado_en: INSTANT })
    expect((await runForJson('operadores', 'listar'))[0]).toEqual(revocado)
  })

  it('repartidores crear, codigo, desactivar and listar', async () => {
    const first = await runForJson('repartidores', 'crear', '--nombre', 'Carlos Méndez', '--telefono', '+50255551234')
    expect(first).toEqual({
      repartidor: expect.stringMatching(/^rep_/),
      nombre: 'Carlos Méndez',
      telefono: '+50255551234',
      activo: true,
      creado_en: INSTANT,
      codigo: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/),
    })
    done.activo = await runForJson('repartidores', 'codigo', first.repartidor)
    expect(done.activo).toEqual({ ...first, codigo: expect.not.stringContaining(first.codigo) })
    done.inactivo = await runForJson('repartidores', 'crear', '--nombre', 'Ana')
    const { codigo: _codigo, ...ana } = { ...done.inactivo, activo: false }
    expect(await runForJson('repartidores', 'desactivar', '--repartidor', done.inactivo.repartidor)).toEqual(ana)
    const { codigo: _otro, ...carlos } = done.activo
    expect((await runForJson('repartidores', 'listar')).slice(0, 2)).toEqual([ana, carlos])
  })
}

/** What was made works against the running service; what was ended doesn't. */
async function expectResultsValid({
  comercio,
  complete: completa,
  rotation,
  revokedLlave,
  operador,
  activo,
  inactivo,
}: CommandResults) {
  expect(await entrar(activo.codigo)).toBe(201)
  expect(await entrar(inactivo.codigo)).toBe(401)
  expect(await create(completa.llave)).toBe(201)
  expect(await listar(rotation.llave)).toBe(401)
  expect(await listar(revokedLlave.llave)).toBe(401)
  const list = await requestSeparately(`${url}/operaciones/v1/comercios/${comercio}/llaves`, { llave: operador.llave })
  expect(list.status).toBe(200)
  expect(list.body.datos).toHaveLength(3)
}

describe('while the service does not run, before it ever did', () => {
  describeEachCommand(here)

  it('does the same through npm', async () => {
    const listar = ['comercios', 'listar']
    expect(await json(byNpm, ...listar)).toEqual(await json(here, ...listar))
  })

  it('leaves nothing running', () => {
    expect([...findProcesses(dataDir).values()]).toEqual([])
  })
})

describe('while the service runs', () => {
  beforeAll(async () => {
    const port = await findFreePort()
    url = await listo(processes.npmStart({ DATA_DIR: dataDir, PORT: `${port}` }))
  })

  it('keys and codes from before the start work', () => expectResultsValid(hechos[0]!))

  describeEachCommand(here)

  it('keys and codes that were made in the meantime work', () => expectResultsValid(hechos[1]!))

  it('does the same as a process of its own', async () => {
    const { comercio } = hechos.at(-1)!
    const create = ['llaves', 'crear', '--comercio', comercio, '--modo', 'live']
    const [one, other] = [await json(runInOwnProcess, ...create), await json(here, ...create)]
    expect(Object.keys(one)).toEqual(Object.keys(other))
    const listar = ['llaves', 'listar', '--comercio', comercio]
    expect(await json(runInOwnProcess, ...listar)).toEqual(await json(here, ...listar))
  })

  it.each([
    ['modo', ['llaves', 'crear', '--modo', 'prod', '--comercio']],
    ['alcances', ['llaves', 'crear', '--modo', 'test', '--alcances', 'guias:leer,guias:borrar', '--comercio']],
    ['vence', ['llaves', 'crear', '--modo', 'test', '--vence', '2020-01-31T06:00:00Z', '--comercio']],
    ['nombre', ['comercios', 'crear', '--nombre', 'x'.repeat(1_000)]],
    ['comercio', ['llaves', 'listar', '--comercio', 'com_NADA']],
    ['llave', ['llaves', 'revocar', '--llave', 'llave_NADA']],
    ['operador', ['operadores', 'revocar', 'op_NADA']],
    ['alcances', ['operadores', 'crear', '--nombre', 'x', '--alcances', 'guias:leer']],
    ['redes', ['operadores', 'crear', '--nombre', 'x', '--redes', '10.0.0.0/33']],
    ['solapamiento', ['llaves', 'rotar', '--solapamiento', 'un día', '--llave']],
  ])('a bad --%s ends with 1 and names it (%#)', async (option, args) => {
    const { comercio, complete: completa } = hechos.at(-1)!
    const final = { '--comercio': comercio, '--llave': completa.id }[args.at(-1)!]
    const { codigo, output, errores } = await here([...args, ...(final ? [final] : []), '--json'])
    expect({ codigo, output }).toEqual({ codigo: 1, output: '' })
    expect(errores).not.toMatch(STACK)
    expect(errores).not.toMatch(/\b(must|should|invalid|error|unknown)\b/i)
    expect(errores).toContain(`--${option}`)
  })

  // An empty variable in a script must not quietly mean "all", "never" or "at once".
  it.each([
    ['alcances', ['llaves', 'crear', '--modo', 'test', '--alcances', '', '--comercio']],
    ['vence', ['llaves', 'crear', '--modo', 'test', '--vence', '', '--comercio']],
    ['redes', ['llaves', 'crear', '--modo', 'test', '--redes', '', '--comercio']],
    ['solapamiento', ['llaves', 'rotar', '--solapamiento', '', '--llave']],
  ])('an empty --%s is refused', async (option, args) => {
    const { comercio, complete: completa } = hechos.at(-1)!
    const { codigo, output, errores } = await here([...args, args.includes('crear') ? comercio : completa.id, '--json'])
    expect(output).toBe('')
    expect(codigo).not.toBe(0)
    expect(errores).toContain(`--${option}`)
  })

  it('has disturbed nothing', async () => {
    expect(await requestSeparately(`${url}/readyz`)).toMatchObject({ status: 200 })
    expect(await create(hechos[0]!.complete.llave)).toBe(201)
  })
})

describe('bad usage', () => {
  it.each([
    [['comercios', 'borrar']],
    [['comercios', 'crear']],
    [['llaves', 'crear', '--comercio', 'com_X']],
    [['llaves', 'rotar', '--llave', 'llave_X', '--solapamiento']],
    [['comercios', 'listar', '--color']],
    // A name without its quotes, and what the command doesn't take.
    [['comercios', 'crear', '--nombre', 'Tienda', 'Ceiba']],
    [['comercios', 'listar', 'todos']],
    [['comercios', 'listar', '--modo', 'live']],
    [['llaves', 'crear', '--operador', 'op_X', '--modo', 'live']],
    [['llaves', 'listar', '--operador', 'op_X', '--comercio', 'com_X']],
  ])('%j: exit code 2, in Spanish, with the help', async (args) => {
    const { codigo, output, errores } = await here([...args, '--json'])
    expect({ codigo, output }).toEqual({ codigo: 2, output: '' })
    expect(errores).toContain('Uso: npm run --silent admin -- <comando>')
    expect(errores).not.toMatch(STACK)
    expect(errores.split('\n')[0]).not.toMatch(/\b(option|argument|missing|unknown|unexpected)\b/i)
  })

  it('is told before anything is touched', async () => {
    const other = processes.nextFolder()
    expect(await runInOwnProcess(['comercios', 'crear', '--json'], { DATA_DIR: other })).toMatchObject({ codigo: 2 })
    expect(existsSync(other)).toBe(false)
  })

  it.each(['--help', '--ayuda'])('shows the help when asked with %s', async (option) => {
    const { codigo, output, errores } = await runInOwnProcess([option])
    expect({ codigo, errores }).toEqual({ codigo: 0, errores: '' })
    for (const command of ['comercios crear', 'comercios listar', 'llaves crear', 'llaves listar', 'llaves rotar'])
      expect(output).toContain(command)
    expect(output).toContain('llaves revocar')
    expect(output).toContain('operadores crear')
    expect(output).toContain('repartidores crear')
  })
})

describe('an order that cannot run', () => {
  it('says so, with code 1 and without a stack', async () => {
    const other = processes.nextFolder()
    const keys = { MASTER_KEYS: Buffer.alloc(32, 7).toString('base64'), DATA_DIR: other }
    const port = await findFreePort()
    const silentServer = await runInOwnProcess(['comercios', 'listar', '--json'], {
      ...keys,
      DATABASE_URL: `postgres://guias:secreta@127.0.0.1:${port}/guias`,
    })
    expect(silentServer).toMatchObject({ codigo: 1, output: '' })
    const config = await here(['comercios', 'listar', '--json'], { ...keys, PORT: 'x', LOG_LEVEL: 'mucho' })
    expect(config).toMatchObject({ codigo: 1, output: '', errores: expect.stringContaining('PORT') })
    expect(config.errores).toContain('LOG_LEVEL')
    expect(existsSync(other)).toBe(false)
    expect(silentServer.errores).not.toContain('secreta')
    expect(silentServer.errores).not.toMatch(STACK)
    expect(silentServer.errores).toContain('DATABASE_URL')
  })

  it('leaves no database running when it fails half-way', async () => {
    const other = processes.nextFolder()
    mkdirSync(other, { mode: 0o755 })
    writeFileSync(join(other, 'master_keys'), 'dañado\n')
    const { codigo, output, errores } = await runInOwnProcess(['comercios', 'listar', '--json'], { DATA_DIR: other })
    expect([...findProcesses(other).values()]).toEqual([])
    expect({ codigo, output }).toEqual({ codigo: 1, output: '' })
    expect(errores).toContain(join(other, 'master_keys'))
    expect(errores).not.toMatch(STACK)
  })
})
