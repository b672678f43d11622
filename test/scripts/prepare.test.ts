// scripts/prepare.mjs in a project of its own: npm itself, and packages that lie in that project's folder.

import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { runProgram } from '../docs/run.ts'

const readJson = async (path: string | URL) => JSON.parse(await readFile(path, 'utf8'))
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('scripts/prepare.mjs', () => {
  let project: string
  const pathOf = (path: string) => join(project, path)
  const write = async (path: string, text: string, mode = 0o644) => {
    await mkdir(dirname(pathOf(path)), { recursive: true })
    await writeFile(pathOf(path), text, { mode })
  }
  const npm = async (...args: string[]) => {
    const { codigo, errores } = await runProgram(['npm', ...args, '--offline'], { cwd: project })
    if (codigo !== 0) throw new Error(errores)
  }
  /** A package as a registry would give it. */
  async function packPackage(name: string, version = '1.0.0', bin = '') {
    const packageName = { name, version, ...(bin ? { bin: { [name]: `bin/${name}` } } : {}) }
    await write(`paquetes/${name}/package.json`, JSON.stringify(packageName))
    if (bin) await write(`paquetes/${name}/bin/${name}`, bin, 0o755)
    await npm('pack', `./paquetes/${name}`, '--pack-destination', 'paquetes')
  }
  const manifiesto = (generator: string) =>
    write(
      'package.json',
      JSON.stringify({
        name: 'x',
        private: true,
        workspaces: ['sdk', 'test'],
        dependencies: { node: 'file:paquetes/node-1.0.0.tgz' },
        devDependencies: { generador: `file:paquetes/generador-${generator}.tgz` },
      }),
    )
  const prepare = async (...args: string[]) => {
    const { codigo, errores } = await runProgram([process.execPath, 'scripts/prepare.mjs', ...args], {
      cwd: project,
    })
    return { codigo, text: errores.replace(/\d+ s/g, 'n s').trim().split('\n').filter(Boolean) }
  }
  const readGenerated = () =>
    readFile(pathOf('veces.txt'), 'utf8').then(
      (text) => text.length,
      () => 0,
    )

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'guias-preparar-'))
    const script = await readFile(new URL('scripts/prepare.mjs', ROOT), 'utf8')
    await write('scripts/prepare.mjs', script)
    const [, entradas = ''] = /contract: digestOf\(\[([^\]]+)\]/.exec(script) ?? []
    expect(entradas).toContain("'openapi'")
    for (const [, path = ''] of `${entradas} 'server'`.matchAll(/'([^']+)'/g))
      await write(/\.\w+$/.test(path) ? path : `${path}/algo.ts`, '')
    const outputs = [...script.matchAll(/^ {2}'((?:server|sdk)\/.*)',$/gm)].map(([, path]) => path!)
    expect(outputs).toContain('server/generated/main.mjs')
    await write(
      'scripts/generate.ts',
      `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
      import { dirname } from 'node:path'
      appendFileSync('veces.txt', '.')
      for (const ruta of ${JSON.stringify(outputs)}) {
        mkdirSync(dirname(ruta), { recursive: true })
        writeFileSync(ruta, '')
      }`,
    )
    await write('sdk/package.json', '{ "name": "@x/sdk" }')
    const ofPruebas = { name: '@x/test', devDependencies: { vitest: 'file:../paquetes/vitest-1.0.0.tgz' } }
    await write('test/package.json', JSON.stringify(ofPruebas))
    await packPackage('node', '1.0.0', `#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
    for (const [name, version] of [
      ['generador', '1.0.0'],
      ['generador', '2.0.0'],
      ['vitest', '1.0.0'],
    ] as const)
      await packPackage(name, version)
    await manifiesto('1.0.0')
    await npm('install', '--package-lock-only')
  })
  afterAll(() => rm(project, { recursive: true, force: true }))

  it('installs what starting needs and nothing of the tests, generates, and says for how long', async () => {
    expect(await prepare()).toEqual({
      codigo: 0,
      text: [
        'Instalando lo que hace falta para arrancar… n s ',
        'Instalando lo que hace falta para arrancar: hecho en n s',
        'Generando tipos, cliente, documentación y servidor… n s ',
        'Generando tipos, cliente, documentación y servidor: hecho en n s',
        'Preparado en n s',
      ],
    })
    expect(await exists(pathOf('node_modules/generador'))).toBe(true)
    expect(await exists(pathOf('node_modules/vitest'))).toBe(false)
    expect(await readGenerated()).toBe(1)
  })

  it('has nothing to do, and nothing to say, the second time', async () => {
    expect(await prepare()).toEqual({ codigo: 0, text: [] })
  })

  it('adds what the tests need, leaves the rest as it was and generates nothing again', async () => {
    await write('node_modules/generador/testigo', '')
    const lockFile = await readFile(pathOf('package-lock.json'), 'utf8')
    expect((await prepare('all')).text.at(-2)).toBe('Instalando lo que hace falta para arrancar y probar: hecho en n s')
    expect(await exists(pathOf('node_modules/vitest'))).toBe(true)
    expect(await exists(pathOf('node_modules/generador/testigo'))).toBe(true)
    expect(await readGenerated()).toBe(1)
    expect(await readFile(pathOf('package-lock.json'), 'utf8')).toBe(lockFile)
  })

  it('is content with it, whichever of the two comes next', async () => {
    expect([await prepare(), await prepare('all'), await prepare()].flatMap(({ text: message }) => message)).toEqual([])
  })

  it('puts only what another lock changes, the tests’ tools still there, and generates with it', async () => {
    await manifiesto('2.0.0')
    await npm('install', '--package-lock-only')
    expect(await readFile(pathOf('package-lock.json'), 'utf8')).toContain('generador-2.0.0.tgz')
    await write('node_modules/vitest/testigo', '')
    expect(await prepare()).toMatchObject({
      codigo: 0,
      text: expect.arrayContaining(['Instalando lo que hace falta para arrancar y probar: hecho en n s']),
    })
    expect(await readJson(pathOf('node_modules/generador/package.json'))).toMatchObject({ version: '2.0.0' })
    expect(await exists(pathOf('node_modules/vitest/testigo'))).toBe(true)
    expect(await readGenerated()).toBe(2)
  })

  it('installs from nothing what was interrupted', async () => {
    await write('node_modules/.cache/guias/prepared.json', '{ "installing": true }')
    await rm(pathOf('node_modules/generador/package.json'))
    expect((await prepare()).codigo).toBe(0)
    expect(await exists(pathOf('node_modules/generador/package.json'))).toBe(true)
    expect(await exists(pathOf('node_modules/vitest/testigo'))).toBe(false)
  })

  it('generates everything anew when asked to', async () => {
    const before = await readGenerated()
    expect((await prepare('generate')).text).toContain(
      'Generando tipos, cliente, documentación y servidor: hecho en n s',
    )
    expect(await readGenerated()).toBe(before + 1)
  })

  it('ends with what the failed program said', async () => {
    await cp(pathOf('scripts/generate.ts'), pathOf('bien.ts'))
    await write('scripts/generate.ts', "console.log('se oyó'); throw new Error('el contrato no vale')")
    const { codigo, text: message } = await prepare()
    expect(codigo).toBe(1)
    expect(message).toContain('Generando tipos, cliente, documentación y servidor: falló a los n s')
    expect(message).toContain('se oyó')
    expect(message.join('\n')).toContain('el contrato no vale')
    expect(message.at(-1)).toMatch(/^Falló «.*generate\.ts»\.$/)
    await cp(pathOf('bien.ts'), pathOf('scripts/generate.ts'))
    expect((await prepare()).codigo).toBe(0)
  })

  it('lets two first starts at once install one after the other', async () => {
    await rm(pathOf('node_modules'), { recursive: true })
    const before = await readGenerated()
    const dos = await Promise.all([prepare(), prepare()])
    expect(dos.map(({ codigo }) => codigo)).toEqual([0, 0])
    expect(await readGenerated()).toBe(before + 1)
  })
})

describe('package.json', () => {
  it('has what only tests and checks need in their workspaces, all of it to be found from the root', async () => {
    const read = (path: string) => readJson(new URL(path, ROOT))
    const [root, pruebas, benchPackage, { packages }] = await Promise.all(
      ['package.json', 'test/package.json', 'bench/package.json', 'package-lock.json'].map(read),
    )
    const fromOutside = Object.keys({ ...pruebas.devDependencies, ...benchPackage.devDependencies })
    const rootPackages = Object.keys({ ...root.dependencies, ...root.devDependencies })
    expect(fromOutside.filter((name) => rootPackages.includes(name))).toEqual([])
    // `npm ci --omit=dev` would install them, too.
    expect([pruebas.dependencies, benchPackage.dependencies]).toEqual([undefined, undefined])
    expect(Object.keys(packages).filter((path) => /^(test|bench|sdk)\/node_modules\//.test(path))).toEqual([])
  })

  it('takes no generator into production', async () => {
    const { packages } = await readJson(new URL('package-lock.json', ROOT))
    const { devDependencies } = await readJson(new URL('package.json', ROOT))
    const expectArrivals = Object.keys(devDependencies).filter((name) => !packages[`node_modules/${name}`].dev)
    // An optional peer of @prisma/client's, and of many: npm doesn't tell those from dependencies.
    expect(expectArrivals).toEqual(['typescript'])
  })
})
