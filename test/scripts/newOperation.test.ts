// npm run new (scripts/newOperation.ts), in a copy of the repository.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { FULL_RUN_ONLY } from '../factories.ts'

const execute = promisify(execFile)
const root = fileURLToPath(ROOT)
const COPIED_FOLDERS = ['openapi', 'prisma', 'scripts', 'sdk', 'server', 'test', 'bench']
const ARCHIVOS = ['biome.json', 'redocly.yaml', 'tsconfig.json', 'package.json', 'LICENSE', 'README.md', 'CHANGELOG.md']
const CONFIGURATION_FILES = ['.gitignore', 'vitest.config.ts', 'prisma.config.ts']

let copyFolder: string
beforeAll(async () => {
  copyFolder = await mkdtemp(join(tmpdir(), 'guias-nueva-'))
  for (const path of [...COPIED_FOLDERS, ...ARCHIVOS, ...CONFIGURATION_FILES])
    await cp(join(root, path), join(copyFolder, path), {
      recursive: true,
      filter: (one) => !one.endsWith('node_modules'),
    })
  const packagesFolder = join(copyFolder, 'node_modules')
  await mkdir(join(packagesFolder, '@guias'), { recursive: true })
  for (const packageName of readdirSync(join(root, 'node_modules')))
    if (packageName !== '@guias')
      await symlink(join(root, 'node_modules', packageName), join(packagesFolder, packageName))
  await symlink(join(copyFolder, 'sdk'), join(packagesFolder, '@guias/sdk'))
  await execute('git', ['init', '--quiet'], { cwd: copyFolder })
})
afterAll(() => rm(copyFolder, { recursive: true, force: true }))

const read = (file: string) => readFileSync(join(copyFolder, file), 'utf8')
const fresh = (...args: string[]) =>
  execute(process.execPath, [join(copyFolder, 'scripts/newOperation.ts'), ...args], { cwd: copyFolder }).then(
    ({ stdout }) => ({ bien: true, output: stdout }),
    ({ stdout, stderr }) => ({ bien: false, output: `${stdout}${stderr}` }),
  )
/** Paths that the command says it wrote. */
const writtenPaths = (output: string) => [...output.matchAll(/^ {2}(\S+\.\w+)$/gm)].map(([, file]) => file)

describe('npm run new', () => {
  it.each([
    ['too few arguments', ['comercios', 'pausarGuia'], 'Usage'],
    ['another document', ['publico', 'pausarGuia', 'post', '/x'], 'publico is neither'],
    ['no operationId', ['comercios', 'Pausar', 'post', '/api/v1/guias'], 'not an operationId'],
    ['another method', ['comercios', 'pausarGuia', 'head', '/api/v1/guias'], 'is none of'],
    ['a path of another document', ['comercios', 'pausarGuia', 'post', '/operaciones/v1/guias'], 'is not a path'],
    ['an operationId that exists', ['comercios', 'crearGuia', 'post', '/api/v1/guias/{guia}/x'], 'crearGuia exists'],
    ['an operation that exists', ['comercios', 'otraGuia', 'post', '/api/v1/guias'], 'post /api/v1/guias exists'],
    ['a path below no other', ['comercios', 'crearCobro', 'post', '/api/v1/cobros'], 'No operation is below'],
  ])('writes nothing with %s', async (_case, args, mensaje) => {
    const before = read('server/startup/handlers.ts')
    const { bien: isDone, output } = await fresh(...args)
    expect([isDone, output]).toEqual([false, expect.stringContaining(mensaje)])
    expect(read('server/startup/handlers.ts')).toBe(before)
    expect(existsSync(join(copyFolder, 'server/domain/guias/pausar.ts'))).toBe(false)
  })

  describe('writes', () => {
    let comercioTables: string[]
    let ofOperaciones: string[]
    beforeAll(async () => {
      const write = async (...args: string[]) => {
        const { bien: isDone, output } = await fresh(...args)
        expect(isDone, output).toBe(true)
        return writtenPaths(output) as string[]
      }
      comercioTables = await write('comercios', 'pausarGuia', 'post', '/api/v1/guias/{guia}/pausar')
      ofOperaciones = await write('operaciones', 'revisarGuia', 'get', '/operaciones/v1/guias/{guia}/revision')
      await write('operaciones', 'pausarPersona', 'post', '/operaciones/v1/personas/{persona}/pausar')
    })

    it('all pieces of a merchants’ operation', () => {
      expect(comercioTables).toEqual([
        'openapi/comercios/muestras/pausarGuia.ts',
        'openapi/comercios/openapi.yaml',
        'openapi/comercios/paths/guias_guia_pausar.yaml',
        'openapi/componentes/schemas/pausarGuia.yaml',
        'sdk/README.md',
        'sdk/src/guiasResource.ts',
        'sdk/src/index.ts',
        'sdk/src/shapes.ts',
        'server/domain/guias/pausar.ts',
        'server/startup/handlers.ts',
        'test/bitacora/operaciones.test.ts',
        'test/guias/pausar.test.ts',
        'test/sdk/retries.test.ts',
      ])
      expect(read('openapi/comercios/paths/guias_guia_pausar.yaml')).toContain("llaveDeComercio: ['guias:escribir']")
      expect(read('server/domain/guias/pausar.ts')).toContain("throw new Error('pausarGuia: not implemented')")
      expect(read('sdk/src/guiasResource.ts')).toMatch(/return this\.#request\(\s*'POST \/guias\/\{guia\}\/pausar'/)
      expect(read('openapi/comercios/muestras/pausarGuia.ts')).toContain("await api.guias.pausar('7K3M9QX2A1B4'")
    })

    it('all pieces of an operators’ operation, and none of the SDK', () => {
      expect(ofOperaciones).toEqual([
        'openapi/componentes/schemas/revisarGuia.yaml',
        'openapi/operaciones/openapi.yaml',
        'openapi/operaciones/paths/guias_guia_revision.yaml',
        'server/domain/operaciones/revisar.ts',
        'server/startup/handlers.ts',
        'test/bitacora/operaciones.test.ts',
        'test/operaciones/revisar.test.ts',
      ])
      expect(read('openapi/operaciones/paths/guias_guia_revision.yaml')).toContain("llaveDeOperacion: ['ver']")
    })

    it('the handler into the subfolder of the closest operation', () => {
      expect(read('server/domain/equipo/members/pausar.ts')).toContain("from '../../operation.ts'")
      expect(read('test/equipo/members/pausar.test.ts')).toContain("from '../../environment.ts'")
    })

    it('files that the contract’s linter accepts, and that compile after the generator', FULL_RUN_ONLY, async () => {
      const program = join(copyFolder, 'generate.mjs')
      const steps = ['contract.ts', 'sdk.ts'].map((one) => join(copyFolder, 'scripts/generate', one))
      await writeFile(
        program,
        `const [contrato, sdk] = await Promise.all(${JSON.stringify(steps)}.map((uno) => import(uno)))
await contrato.generateContract()
await sdk.generateSdk()`,
      )
      const runCommand = async (file: string, ...args: string[]) => {
        const options = { cwd: copyFolder, env: { ...process.env, REDOCLY_TELEMETRY: 'off' }, maxBuffer: 1 << 26 }
        const { stdout } = await execute(process.execPath, [file, ...args], options).catch((error) => {
          throw new Error(`${dirname(file)}: ${error.stdout}${error.stderr}`)
        })
        return stdout
      }
      const bin = (path: string) => join(root, 'node_modules', path)
      await runCommand(bin('@redocly/cli/bin/cli.js'), 'lint', 'comercios', 'operaciones')
      await runCommand(program)
      expect(read('server/generated/contract/operations.ts')).toMatch(
        /^ {2}pausarGuia: .*\n(?:.*\n)* {2}revisarGuia: /m,
      )
      for (const project of ['.', 'sdk'])
        expect(await runCommand(bin('typescript-7/bin/tsc'), '--noEmit', '-p', project)).toBe('')
    })
  })
})
