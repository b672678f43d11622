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

const ejecutar = promisify(execFile)
const raiz = fileURLToPath(ROOT)
const COPIADOS = ['openapi', 'prisma', 'scripts', 'sdk', 'server', 'test', 'bench']
const ARCHIVOS = ['biome.json', 'redocly.yaml', 'tsconfig.json', 'package.json', 'LICENSE', 'README.md', 'CHANGELOG.md']
const CONFIGURACIONES = ['.gitignore', 'vitest.config.ts', 'prisma.config.ts']

let copia: string
beforeAll(async () => {
  copia = await mkdtemp(join(tmpdir(), 'guias-nueva-'))
  for (const ruta of [...COPIADOS, ...ARCHIVOS, ...CONFIGURACIONES])
    await cp(join(raiz, ruta), join(copia, ruta), { recursive: true, filter: (uno) => !uno.endsWith('node_modules') })
  const paquetes = join(copia, 'node_modules')
  await mkdir(join(paquetes, '@guias'), { recursive: true })
  for (const paquete of readdirSync(join(raiz, 'node_modules')))
    if (paquete !== '@guias') await symlink(join(raiz, 'node_modules', paquete), join(paquetes, paquete))
  await symlink(join(copia, 'sdk'), join(paquetes, '@guias/sdk'))
  await ejecutar('git', ['init', '--quiet'], { cwd: copia })
})
afterAll(() => rm(copia, { recursive: true, force: true }))

const leer = (archivo: string) => readFileSync(join(copia, archivo), 'utf8')
const nueva = (...args: string[]) =>
  ejecutar(process.execPath, [join(copia, 'scripts/newOperation.ts'), ...args], { cwd: copia }).then(
    ({ stdout }) => ({ bien: true, output: stdout }),
    ({ stdout, stderr }) => ({ bien: false, output: `${stdout}${stderr}` }),
  )
/** Paths that the command says it wrote. */
const escritos = (salida: string) => [...salida.matchAll(/^ {2}(\S+\.\w+)$/gm)].map(([, archivo]) => archivo)

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
  ])('writes nothing with %s', async (_caso, args, mensaje) => {
    const antes = leer('server/startup/handlers.ts')
    const { bien, output: salida } = await nueva(...args)
    expect([bien, salida]).toEqual([false, expect.stringContaining(mensaje)])
    expect(leer('server/startup/handlers.ts')).toBe(antes)
    expect(existsSync(join(copia, 'server/domain/guias/pausar.ts'))).toBe(false)
  })

  describe('writes', () => {
    let deComercios: string[]
    let deOperaciones: string[]
    beforeAll(async () => {
      const escribir = async (...args: string[]) => {
        const { bien, output: salida } = await nueva(...args)
        expect(bien, salida).toBe(true)
        return escritos(salida) as string[]
      }
      deComercios = await escribir('comercios', 'pausarGuia', 'post', '/api/v1/guias/{guia}/pausar')
      deOperaciones = await escribir('operaciones', 'revisarGuia', 'get', '/operaciones/v1/guias/{guia}/revision')
    })

    it('all pieces of a merchants’ operation', () => {
      expect(deComercios).toEqual([
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
      expect(leer('openapi/comercios/paths/guias_guia_pausar.yaml')).toContain("llaveDeComercio: ['guias:escribir']")
      expect(leer('server/domain/guias/pausar.ts')).toContain("throw new Error('pausarGuia: not implemented')")
      expect(leer('sdk/src/guiasResource.ts')).toMatch(/return this\.#request\(\s*'POST \/guias\/\{guia\}\/pausar'/)
      expect(leer('openapi/comercios/muestras/pausarGuia.ts')).toContain("await api.guias.pausar('7K3M9QX2A1B4'")
    })

    it('all pieces of an operators’ operation, and none of the SDK', () => {
      expect(deOperaciones).toEqual([
        'openapi/componentes/schemas/revisarGuia.yaml',
        'openapi/operaciones/openapi.yaml',
        'openapi/operaciones/paths/guias_guia_revision.yaml',
        'server/domain/operaciones/revisar.ts',
        'server/startup/handlers.ts',
        'test/bitacora/operaciones.test.ts',
        'test/operaciones/revisar.test.ts',
      ])
      expect(leer('openapi/operaciones/paths/guias_guia_revision.yaml')).toContain("llaveDeOperacion: ['ver']")
    })

    it('files that the contract’s linter accepts, and that compile after the generator', FULL_RUN_ONLY, async () => {
      const programa = join(copia, 'generate.mjs')
      const pasos = ['contract.ts', 'sdk.ts'].map((uno) => join(copia, 'scripts/generate', uno))
      await writeFile(
        programa,
        `const [contrato, sdk] = await Promise.all(${JSON.stringify(pasos)}.map((uno) => import(uno)))
await contrato.generateContract()
await sdk.generateSdk()`,
      )
      const correr = async (archivo: string, ...args: string[]) => {
        const opciones = { cwd: copia, env: { ...process.env, REDOCLY_TELEMETRY: 'off' }, maxBuffer: 1 << 26 }
        const { stdout } = await ejecutar(process.execPath, [archivo, ...args], opciones).catch((error) => {
          throw new Error(`${dirname(archivo)}: ${error.stdout}${error.stderr}`)
        })
        return stdout
      }
      const bin = (ruta: string) => join(raiz, 'node_modules', ruta)
      await correr(bin('@redocly/cli/bin/cli.js'), 'lint', 'comercios', 'operaciones')
      await correr(programa)
      expect(leer('server/generated/contract/operations.ts')).toMatch(
        /^ {2}pausarGuia: .*\n(?:.*\n)* {2}revisarGuia: /m,
      )
      for (const proyecto of ['.', 'sdk'])
        expect(await correr(bin('typescript-7/bin/tsc'), '--noEmit', '-p', proyecto)).toBe('')
    })
  })
})
