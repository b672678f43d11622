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
const PILA = /^\s+at .*[:(]/m
const INSTANTE = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

let url = ''
const listar = async (llave: string) => (await requestSeparately(`${url}/api/v1/guias`, { llave })).status
const create = async (llave: string) =>
  (await requestSeparately(`${url}/api/v1/guias`, { llave, method: 'POST', cuerpo: buildGuia() })).status

const entrar = async (codigo: string) => {
  const headers = { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' }
  const body = JSON.stringify({ codigo })
  return (await fetch(`${url}/repartidor/v1/sesion`, { method: 'POST', headers, body })).status
}

interface Dicho {
  codigo: number | null | undefined
  output: string
  errores: string
}
type Correr = (args: readonly string[], env?: Record<string, string>) => Promise<Dicho>

/** As a process of its own. */
const enSuProceso: Correr = async (args, env = {}) => {
  const { fin, output, errores } = await processes.admin(args, { DATA_DIR: dataDir, ...env })
  return { codigo: fin?.codigo, output, errores }
}

const aqui: Correr = (args, env = {}) => runInProcess(args, { DATA_DIR: dataDir, ...env })

/** As its help says. */
const porNpm: Correr = async (args) => {
  const child = processes.runCommand(['npm', 'run', '--silent', 'admin', '--', ...args], { DATA_DIR: dataDir })
  const { codigo } = await child.waitForEnd()
  return { codigo, output: child.output, errores: child.errores.replace(/^Generando.*\n/gm, '') }
}

/** A command that succeeds: one line of JSON on stdout, and nothing else anywhere. */
async function json(correr: Correr, ...args: string[]) {
  const { output, ...demas } = await correr([...args, '--json'])
  expect({ args, ...demas }).toEqual({ args, codigo: 0, errores: '' })
  expect(output).toMatch(/^[^\n]+\n$/)
  return JSON.parse(output)
}

interface Llave {
  id: string
  llave: string
}
interface Hecho {
  comercio: string
  /** All scopes, no end. */
  complete: Llave
  /** Limited, and ended by its rotation into the revoked one. */
  rotada: Llave
  revocada: Llave
  operador: Llave
  /** With a new code. */
  activo: Repartidor
  inactivo: Repartidor
}
interface Repartidor {
  repartidor: string
  codigo: string
}
const hechos: Hecho[] = []

/**
 * Runs every command once, in an order in which each has what it needs. One function, because each command uses the
 * results of earlier ones.
 */
function cadaComando(correr: Correr) {
  const pedirle = (...args: string[]) => json(correr, ...args)
  const done = {} as Hecho
  let comercio: { comercio: string }
  beforeAll(() => {
    hechos.push(done)
  })

  it('comercios crear', async () => {
    comercio = await pedirle('comercios', 'crear', '--nombre', 'Tienda «La Ceiba» ñ')
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
      creado_en: INSTANTE,
    })
    done.comercio = comercio.comercio
  })

  it('comercios cambiar', async () => {
    const cambiar = (...args: string[]) => pedirle('comercios', 'cambiar', comercio.comercio, ...args)
    expect(await cambiar('--pais', 'SV', '--estricto', 'sí')).toEqual({ ...comercio, pais: 'SV', estricto: true })
    const ritmos = await cambiar('--ritmos', '500,900')
    expect(ritmos).toMatchObject({ ritmos: { solicitudes: 500, guias: 900 } })
    const evidencia = await cambiar('--evidencia', '3, opcional, no')
    expect(evidencia).toMatchObject({ evidencia: { fotos_minimas: 3, firma: 'opcional', documento: 'no' } })
    const intentos = await cambiar('--politica-de-intentos', '2, 0, 7, esperar')
    expect(intentos).toMatchObject({
      politica_de_intentos: { maximos: 2, dias_entre: 0, dias_para_decidir: 7, al_vencer: 'esperar' },
    })
    const tambien = await cambiar('--politica-de-intentos', '2,0,7,esperar,sí')
    expect(tambien).toMatchObject({ politica_de_intentos: { al_vencer: 'esperar', destinatario_decide: true } })
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
    expect(await cambiar(...before)).toEqual(comercio)
  })

  it('comercios listar', async () => {
    const list = await pedirle('comercios', 'listar')
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
    const { output } = await correr(['comercios', 'cambiar', '--comercio', comercio.comercio, '--pais', 'ninguno'])
    for (const dicho of [
      /^estricto +no$/m,
      /^ritmos +solicitudes 50, guias 100$/m,
      /^politica_de_intentos +maximos 3, .*al_vencer devolver, destinatario_decide no$/m,
    ])
      expect(output).toMatch(dicho)
  })

  it('llaves crear: all scopes and no end unless told', async () => {
    done.complete = await pedirle('llaves', 'crear', '--comercio', done.comercio, '--modo', 'test')
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
    done.rotada = await pedirle('llaves', 'crear', '--comercio', done.comercio, ...limites)
    expect(done.rotada).toMatchObject({
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
    const [last] = await pedirle('bitacora', 'listar', '--comercio', done.comercio, '--accion', 'crearLlave')
    expect(last).toMatchObject({
      accion: 'crearLlave',
      quien: { tipo: 'consola', identificador: null },
      sobre: { tipo: 'llave', identificador: expect.stringMatching(/^llave_/) },
      comercio: done.comercio,
      id_solicitud: null,
      red: null,
    })
    expect(await pedirle('bitacora', 'listar', '--comercio', done.comercio, '--desde', '2100-01-01T00:00:00Z')).toEqual(
      [],
    )
  })

  it('bitacora verificar', async () => {
    const hallado = await pedirle('bitacora', 'verificar', '--desde', '2026-01-01T00:00:00Z')
    expect(hallado).toMatchObject({ faltas: [], seals: expect.any(Number) })
  })

  it('llaves listar, without the secrets', async () => {
    const list = await pedirle('llaves', 'listar', '--comercio', done.comercio)
    expect(list.map(({ id }: Llave) => id)).toEqual([done.rotada.id, done.complete.id])
    for (const one of list) {
      expect(Object.keys(one).sort()).toEqual(
        ['alcances', 'comercio', 'creado_en', 'id', 'modo', 'redes', 'revocado_en', 'usado_en', 'vence_en'].sort(),
      )
    }
    expect(JSON.stringify(list)).not.toContain('guia_')
  })

  it('llaves rotar', async () => {
    done.revocada = await pedirle('llaves', 'rotar', '--llave', done.rotada.id, '--solapamiento', '0')
    expect(done.revocada).toMatchObject({
      llave: expect.stringMatching(/^guia_live_/),
      comercio: done.comercio,
      alcances: ['guias:leer', 'guias:escribir'],
    })
    expect(Object.keys(done.revocada).sort()).toEqual(Object.keys(done.complete).sort())
    expect(done.revocada.id).not.toBe(done.rotada.id)
  })

  it('llaves revocar, effective though the service has just looked the key up', async () => {
    let enUso = url !== ''
    const usos = (async () => {
      while (enUso) await listar(done.revocada.llave)
    })()
    const response = await pedirle('llaves', 'revocar', '--llave', done.revocada.id)
    expect(response).toEqual({
      id: done.revocada.id,
      comercio: done.comercio,
      modo: 'live',
      alcances: ['guias:leer', 'guias:escribir'],
      redes: [],
      creado_en: INSTANTE,
      vence_en: expect.anything(),
      revocado_en: INSTANTE,
      usado_en: response.usado_en,
    })
    if (url) {
      await waitUntil(async () => (await listar(done.revocada.llave)) === 401)
      enUso = false
      await usos
    }
  })

  it('operadores crear', async () => {
    done.operador = await pedirle('operadores', 'crear', '--nombre', 'Central')
    expect(done.operador).toEqual({
      operador: expect.stringMatching(/^op_/),
      nombre: 'Central',
      creado_en: INSTANTE,
      id: expect.stringMatching(/^llave_/),
      llave: expect.stringMatching(/^guia_oper_/),
      alcances: [...ALCANCES_DE_OPERACION],
      redes: [],
      vence_en: null,
    })
  })

  it('operadores listar and revocar; llaves crear, listar, rotar and revocar of an operator', async () => {
    const vence = new Date(Date.now() + 3_600_000).toISOString()
    const nuevo = await pedirle('operadores', 'crear', '--nombre', 'Bodega', '--alcances', 'ver', '--vence', vence)
    expect(nuevo).toMatchObject({ alcances: ['ver'], vence_en: vence })
    const { operador } = nuevo
    const other = await pedirle(
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
    const rotada = await pedirle('llaves', 'rotar', other.id, '--solapamiento', '0')
    expect(rotada).toMatchObject({ operador, alcances: ['ver', 'operar'] })
    expect(await pedirle('llaves', 'revocar', rotada.id)).toMatchObject({ operador, revocado_en: INSTANTE })
    const list = await pedirle('llaves', 'listar', '--operador', operador)
    expect(list.map(({ id }: Llave) => id)).toEqual([rotada.id, other.id, nuevo.id])
    const revocado = await pedirle('operadores', 'revocar', operador)
    expect(revocado).toEqual({ operador, nombre: 'Bodega', creado_en: INSTANTE, revocado_en: INSTANTE })
    expect((await pedirle('operadores', 'listar'))[0]).toEqual(revocado)
  })

  it('repartidores crear, codigo, desactivar and listar', async () => {
    const first = await pedirle('repartidores', 'crear', '--nombre', 'Carlos Méndez', '--telefono', '+50255551234')
    expect(first).toEqual({
      repartidor: expect.stringMatching(/^rep_/),
      nombre: 'Carlos Méndez',
      telefono: '+50255551234',
      activo: true,
      creado_en: INSTANTE,
      codigo: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/),
    })
    done.activo = await pedirle('repartidores', 'codigo', first.repartidor)
    expect(done.activo).toEqual({ ...first, codigo: expect.not.stringContaining(first.codigo) })
    done.inactivo = await pedirle('repartidores', 'crear', '--nombre', 'Ana')
    const { codigo: _codigo, ...ana } = { ...done.inactivo, activo: false }
    expect(await pedirle('repartidores', 'desactivar', '--repartidor', done.inactivo.repartidor)).toEqual(ana)
    const { codigo: _otro, ...carlos } = done.activo
    expect((await pedirle('repartidores', 'listar')).slice(0, 2)).toEqual([ana, carlos])
  })
}

/** What was made works against the running service; what was ended doesn't. */
async function valeLoHecho({ comercio, complete: completa, rotada, revocada, operador, activo, inactivo }: Hecho) {
  expect(await entrar(activo.codigo)).toBe(201)
  expect(await entrar(inactivo.codigo)).toBe(401)
  expect(await create(completa.llave)).toBe(201)
  expect(await listar(rotada.llave)).toBe(401)
  expect(await listar(revocada.llave)).toBe(401)
  const list = await requestSeparately(`${url}/operaciones/v1/comercios/${comercio}/llaves`, { llave: operador.llave })
  expect(list.status).toBe(200)
  expect(list.cuerpo.datos).toHaveLength(3)
}

describe('while the service does not run, before it ever did', () => {
  cadaComando(aqui)

  it('does the same through npm', async () => {
    const listar = ['comercios', 'listar']
    expect(await json(porNpm, ...listar)).toEqual(await json(aqui, ...listar))
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

  it('keys and codes from before the start work', () => valeLoHecho(hechos[0]!))

  cadaComando(aqui)

  it('keys and codes that were made in the meantime work', () => valeLoHecho(hechos[1]!))

  it('does the same as a process of its own', async () => {
    const { comercio } = hechos.at(-1)!
    const create = ['llaves', 'crear', '--comercio', comercio, '--modo', 'live']
    const [one, other] = [await json(enSuProceso, ...create), await json(aqui, ...create)]
    expect(Object.keys(one)).toEqual(Object.keys(other))
    const listar = ['llaves', 'listar', '--comercio', comercio]
    expect(await json(enSuProceso, ...listar)).toEqual(await json(aqui, ...listar))
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
  ])('a bad --%s ends with 1 and names it (%#)', async (opcion, args) => {
    const { comercio, complete: completa } = hechos.at(-1)!
    const final = { '--comercio': comercio, '--llave': completa.id }[args.at(-1)!]
    const { codigo, output, errores } = await aqui([...args, ...(final ? [final] : []), '--json'])
    expect({ codigo, output }).toEqual({ codigo: 1, output: '' })
    expect(errores).not.toMatch(PILA)
    expect(errores).not.toMatch(/\b(must|should|invalid|error|unknown)\b/i)
    expect(errores).toContain(`--${opcion}`)
  })

  // An empty variable in a script must not quietly mean "all", "never" or "at once".
  it.each([
    ['alcances', ['llaves', 'crear', '--modo', 'test', '--alcances', '', '--comercio']],
    ['vence', ['llaves', 'crear', '--modo', 'test', '--vence', '', '--comercio']],
    ['redes', ['llaves', 'crear', '--modo', 'test', '--redes', '', '--comercio']],
    ['solapamiento', ['llaves', 'rotar', '--solapamiento', '', '--llave']],
  ])('an empty --%s is refused', async (opcion, args) => {
    const { comercio, complete: completa } = hechos.at(-1)!
    const { codigo, output, errores } = await aqui([...args, args.includes('crear') ? comercio : completa.id, '--json'])
    expect(output).toBe('')
    expect(codigo).not.toBe(0)
    expect(errores).toContain(`--${opcion}`)
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
    const { codigo, output, errores } = await aqui([...args, '--json'])
    expect({ codigo, output }).toEqual({ codigo: 2, output: '' })
    expect(errores).toContain('Uso: npm run --silent admin -- <comando>')
    expect(errores).not.toMatch(PILA)
    expect(errores.split('\n')[0]).not.toMatch(/\b(option|argument|missing|unknown|unexpected)\b/i)
  })

  it('is told before anything is touched', async () => {
    const other = processes.nextFolder()
    expect(await enSuProceso(['comercios', 'crear', '--json'], { DATA_DIR: other })).toMatchObject({ codigo: 2 })
    expect(existsSync(other)).toBe(false)
  })

  it.each(['--help', '--ayuda'])('shows the help when asked with %s', async (option) => {
    const { codigo, output, errores } = await enSuProceso([option])
    expect({ codigo, errores }).toEqual({ codigo: 0, errores: '' })
    for (const comando of ['comercios crear', 'comercios listar', 'llaves crear', 'llaves listar', 'llaves rotar'])
      expect(output).toContain(comando)
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
    const mudo = await enSuProceso(['comercios', 'listar', '--json'], {
      ...keys,
      DATABASE_URL: `postgres://guias:secreta@127.0.0.1:${port}/guias`,
    })
    expect(mudo).toMatchObject({ codigo: 1, output: '' })
    const config = await aqui(['comercios', 'listar', '--json'], { ...keys, PORT: 'x', LOG_LEVEL: 'mucho' })
    expect(config).toMatchObject({ codigo: 1, output: '', errores: expect.stringContaining('PORT') })
    expect(config.errores).toContain('LOG_LEVEL')
    expect(existsSync(other)).toBe(false)
    expect(mudo.errores).not.toContain('secreta')
    expect(mudo.errores).not.toMatch(PILA)
    expect(mudo.errores).toContain('DATABASE_URL')
  })

  it('leaves no database running when it fails half-way', async () => {
    const other = processes.nextFolder()
    mkdirSync(other, { mode: 0o755 })
    writeFileSync(join(other, 'master_keys'), 'dañado\n')
    const { codigo, output, errores } = await enSuProceso(['comercios', 'listar', '--json'], { DATA_DIR: other })
    expect([...findProcesses(other).values()]).toEqual([])
    expect({ codigo, output }).toEqual({ codigo: 1, output: '' })
    expect(errores).toContain(join(other, 'master_keys'))
    expect(errores).not.toMatch(PILA)
  })
})
