import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { VERSION } from '@guias/sdk'
import { build as esbuild } from 'esbuild'
import type { BrowserContext } from 'playwright-core'
import { publint } from 'publint'
import { build } from 'tsdown'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY } from '../factories.ts'
import { GUIA, json, LLAVE, useFakeServer } from './server.ts'

const environment = shareEnvironment()
const server = useFakeServer()
const { respondWith: answer } = server
const root = fileURLToPath(new URL('../..', import.meta.url))
const sdk = join(root, 'sdk')
const execute = promisify(execFile)
const runCommand = async (program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) => {
  try {
    return (await execute(program, args, { maxBuffer: 1 << 24, ...options })).stdout
  } catch (causa) {
    const { stdout, stderr } = causa as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`)
  }
}
const node = (args: string[], options?: Parameters<typeof runCommand>[2]) => runCommand(process.execPath, args, options)
const toolPath = (name: string) => join(root, 'node_modules', name)

/** Modules of the package that a merchant imports. */
const ENTRIES = ['index', 'telefono', 'hoja', 'verificar', 'webhooks', 'express', 'fastify', 'hono', 'next', 'pruebas']

/** A project of a merchant's, in which the package is what npm would publish. */
let project = ''
let packageName = ''
let tarball = ''
let comercio: Comercio
beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'guias-consumidor-')))
  const [{ filename }] = JSON.parse(
    await runCommand('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', project], { cwd: sdk }),
  )
  tarball = join(project, filename)
  packageName = join(project, 'node_modules/@guias/sdk')
  await mkdir(packageName, { recursive: true })
  await runCommand('tar', ['-xzf', tarball, '-C', packageName, '--strip-components=1'])
  await writeFile(join(project, 'package.json'), '{ "private": true }')
  await mkdir(join(project, 'node_modules/@types'), { recursive: true })
  for (const one of ['@types/node', 'undici-types']) {
    await symlink(toolPath(one), join(project, 'node_modules', one))
  }
  comercio = await environment.createComercio()
})
afterAll(() => rm(project, { recursive: true, force: true }))
const file = async (name: string, text: string) => {
  await writeFile(join(project, name), text)
  return name
}

describe('the published package', () => {
  it('is what it takes, and depends on nothing', async () => {
    const list = await readdir(packageName, { recursive: true, withFileTypes: true })
    const archivos = list
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name).slice(packageName.length + 1))
    expect(archivos.filter((one) => !/^(bin|dist|ejemplos)\//.test(one)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
    ])
    const equalOnes = { LICENSE: 'LICENSE', 'CHANGELOG.md': 'openapi/comercios/guia/15-cambios.md' }
    for (const [packedFile, projectResult] of Object.entries(equalOnes))
      expect(await readFile(join(packageName, packedFile), 'utf8')).toBe(
        await readFile(join(root, projectResult), 'utf8'),
      )
    expect(archivos).toEqual(
      expect.arrayContaining(
        ENTRIES.flatMap((one) => ['js', 'cjs', 'd.ts', 'd.cts'].map((tipo) => `dist/${one}.${tipo}`)),
      ),
    )
    const { dependencies, peerDependencies, optionalDependencies, scripts } = JSON.parse(
      await readFile(join(packageName, 'package.json'), 'utf8'),
    )
    expect([dependencies, peerDependencies, optionalDependencies, scripts.postinstall, scripts.install]).toEqual(
      Array(5).fill(undefined),
    )
  })

  it('has the sources of its code in maps, and no address that is nobody’s', async () => {
    for (const name of ['cli.js', ...ENTRIES.flatMap((one) => [`${one}.js`, `${one}.cjs`])]) {
      const codigo = await readFile(join(packageName, 'dist', name), 'utf8')
      const [, mapa = ''] = /^\/\/# sourceMappingURL=(.+)$/m.exec(codigo) ?? []
      const { sources, sourcesContent } = JSON.parse(await readFile(join(packageName, 'dist', mapa), 'utf8'))
      expect(sources.length).toBeGreaterThan(0)
      for (const [i, source] of (sources as string[]).entries())
        expect([source, sourcesContent[i]]).toEqual([
          expect.stringMatching(/^\.\.\/(src|cli|entries|pruebas)\//),
          expect.any(String),
        ])
    }
    const { repository, homepage, bugs } = JSON.parse(await readFile(join(packageName, 'package.json'), 'utf8'))
    expect([repository, homepage, bugs]).toEqual([undefined, undefined, undefined])
  })

  it('shows its sources to Node with --enable-source-maps', async () => {
    const codigo = `import { Guias } from '@guias/sdk'\ntry { new Guias({ llave: ' ' }) } catch (error) { console.log(error.stack) }`
    const stack = await node(['--enable-source-maps', await file('pila.mjs', codigo)], { cwd: project })
    expect(stack).toMatch(/src\/guias\.ts:\d+/)
  })

  it('is what `npm publish` would send, under the name, version and access that it should have', async () => {
    // Nobody listens there: what exists already is no question of the content.
    const offlineRegistryArgs = ['--registry=http://127.0.0.1:9/', '--fetch-retries=0', '--loglevel=error']
    const args = ['publish', '--dry-run', '--json', '--access', 'public', ...offlineRegistryArgs]
    const output = JSON.parse(await runCommand('npm', args, { cwd: sdk }))
    const { id, files, bundled } = output['@guias/sdk'] ?? output // npm 11 names the package, npm 10 doesn't
    expect([id, bundled]).toEqual([`@guias/sdk@${VERSION}`, []])
    const filesInPackage = (await readdir(packageName, { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    )
    expect(files.map(({ path }: { path: string }) => path).sort()).toEqual(
      filesInPackage.map((one) => join(one.parentPath, one.name).slice(packageName.length + 1)).sort(),
    )
  })

  it(
    'is installed as its README says: from its file, or from a private registry, and never from the public one',
    FULL_RUN_ONLY,
    async () => {
      const readme = await readFile(join(packageName, 'README.md'), 'utf8')
      const manifiesto = JSON.parse(await readFile(join(packageName, 'package.json'), 'utf8'))
      const [command = '', byRegistro = ''] = readme.match(/\bnpm install [^`\n]+/g) ?? []
      const [, npmrc = ''] = /^```ini\n([\s\S]*?)^```$/m.exec(readme) ?? []
      const registro = createServer((req, res) => {
        if (req.url === '/paquete.tgz') return void readFile(tarball).then((bytes) => res.end(bytes))
        const version = { ...manifiesto, dist: { tarball: `${url}paquete.tgz` } }
        const all = { name: '@guias/sdk', 'dist-tags': { latest: VERSION }, versions: { [VERSION]: version } }
        res.statusCode = req.url === '/@guias%2fsdk' ? 200 : 404
        res.end(JSON.stringify(all))
      })
      await new Promise<void>((listo) => registro.listen(0, '127.0.0.1', listo))
      const url = `http://127.0.0.1:${(registro.address() as AddressInfo).port}/`
      // Whoever asked the public registry would find nobody.
      const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' }
      for (const [asSpecified, invocation] of [
        ['archivo', command],
        ['registro', byRegistro],
      ] as const) {
        const cwd = join(project, asSpecified)
        await mkdir(cwd)
        await writeFile(join(cwd, 'package.json'), '{ "private": true }')
        await copyFile(tarball, join(cwd, basename(tarball)))
        if (asSpecified === 'registro') await writeFile(join(cwd, '.npmrc'), npmrc.replace(/https:\S+/, url))
        const [program = '', ...args] = invocation.split(' ')
        await runCommand(program, [...args, '--no-audit', '--cache', join(project, 'cache')], { cwd, env })
        expect(await runCommand('npx', ['--no', '--', 'guias', '--version'], { cwd, env }), asSpecified).toBe(
          `${VERSION}\n`,
        )
      }
      registro.close()
    },
  )

  it('brings a command that runs from there', async () => {
    expect(await node([join(packageName, 'bin/guias.js'), '--version'], { cwd: project })).toBe(`${VERSION}\n`)
    const { bin } = JSON.parse(await readFile(join(packageName, 'package.json'), 'utf8'))
    expect((await stat(join(packageName, bin.guias))).mode & 0o111).toBe(0o111)
  })

  it('is right for publint and for attw', FULL_RUN_ONLY, async () => {
    expect((await publint({ pkgDir: packageName, strict: true, pack: false })).messages).toEqual([])
    const output = await node([toolPath('@arethetypeswrong/cli/dist/index.js'), tarball, '--format', 'json'])
    const { analysis } = JSON.parse(output)
    expect(analysis.problems).toEqual([])
    expect(analysis.types).toEqual({ kind: 'included' })
  })

  it.each(['index', 'telefono', 'hoja'].flatMap((one) => [`${one}.d.ts`, `${one}.d.cts`]))(
    'has no any in %s, and no code of a generator',
    async (name) => {
      const tipos = (await readFile(join(packageName, 'dist', name), 'utf8')).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      expect(tipos.match(/.*\bany\b.*/g) ?? []).toEqual([])
      expect(tipos.match(/^import .*/gm) ?? []).toEqual([])
      expect(tipos).not.toMatch(/\bClient\b|RequestResult|ThrowOnError/)
    },
  )

  it.each([
    ["export { Guias, verificarWebhook } from '@guias/sdk'", 12],
    ["export * from '@guias/sdk'", 12],
    ["export { verificarWebhook } from '@guias/sdk'", 3.5],
    ["export { ErrorApi } from '@guias/sdk'", 1.5],
    ["export * from '@guias/sdk/telefono'", 3],
    ["export * from '@guias/sdk/hoja'", 5],
    ["export * from '@guias/sdk/verificar'", 3],
    ["export * from '@guias/sdk/webhooks'", 3.5],
    ["export * from '@guias/sdk/express'", 3.6],
  ])('%s is at most %d KB, min+gz, bundled as a user would', async (codigo, kb) => {
    const outDir = join(project, 'salida')
    await build({
      config: false,
      cwd: project,
      entry: [await file('peso.js', codigo)],
      outDir,
      format: 'esm',
      platform: 'browser',
      minify: true,
      dts: false,
      logLevel: 'silent',
      deps: { alwaysBundle: [/.*/], onlyBundle: false },
    })
    const [output = ''] = await readdir(outDir)
    const bytes = gzipSync(await readFile(join(outDir, output)), { level: 9 }).length
    expect(bytes).toBeGreaterThan(500)
    expect(bytes).toBeLessThanOrEqual(kb * 1024)
  })

  it('is at most 12,288 bytes, min+gz, bundled whole with esbuild', async () => {
    const { outputFiles } = await esbuild({
      stdin: { contents: "export * from '@guias/sdk'", resolveDir: project },
      bundle: true,
      minify: true,
      platform: 'browser',
      format: 'esm',
      write: false,
    })
    const bytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).length
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThanOrEqual(12_288)
  })
})

const USAGE = `
const { guia, external_ref } = await api.guias.crear(JSON.parse(entrada))
const vistas = []
for await (const una of api.guias.listar({ external_ref: external_ref ?? '' })) vistas.push(una.guia)
const cuerpo = JSON.stringify({ id: 'evt_1', tipo: 'guia.nota', creado_en: '', datos: {} })
const cabeceras = await firmarWebhook(cuerpo, { id: 'evt_1', secreto })
const aviso = await verificarWebhook(cuerpo, cabeceras, secreto)
let falla = ''
try { await api.guias.obtener('NADA') } catch (error) { falla = error instanceof ErrorNoEncontrado ? error.codigo : String(error) }
const salida = JSON.stringify({ bien: vistas.length === 1 && vistas[0] === guia, tipo: aviso.tipo, falla, e164: leerTelefono('3148 1676', 'GT').e164 })
`
const EXPECTED = { bien: true, tipo: 'guia.nota', falla: 'guia_desconocida', e164: '+50231481676' }
const NOMBRES = '{ ErrorNoEncontrado, firmarWebhook, Guias, verificarWebhook }'
const SECRETO = "const secreto = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='"
const ESM = `import ${NOMBRES} from '@guias/sdk'
import { leerTelefono } from '@guias/sdk/telefono'
${SECRETO}
const entrada = process.env.ENTRADA
const api = new Guias()
${USAGE}
console.log(salida)
`
const CJS = `const ${NOMBRES} = require('@guias/sdk')
const { leerTelefono } = require('@guias/sdk/telefono')
${SECRETO}
const entrada = process.env.ENTRADA
const api = new Guias()
;(async () => {${USAGE}
console.log(salida)
})()
`
const env = () => ({
  PATH: process.env.PATH,
  ...CHILD_ENVIRONMENT,
  HOME: project,
  GUIAS_LLAVE: comercio.llave,
  GUIAS_URL: environment.url,
  ENTRADA: JSON.stringify(buildGuia()),
})

describe('the package runs in', () => {
  it.each([
    ['uso.mjs', ESM],
    ['uso.cjs', CJS],
  ])('Node, %s', async (name, codigo) => {
    expect(JSON.parse(await node([await file(name, codigo)], { cwd: project, env: env() }))).toEqual(EXPECTED)
  })

  const isInPath = (program: string) =>
    (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)))
  // Their npm packages weigh 100 MB each: whoever starts the service must not have to fetch them.
  for (const program of ['deno', 'bun']) {
    if (!isInPath(program))
      console.warn(`\n*** There is no ${program} on the PATH: the SDK is NOT tested in it here. ***\n`)
  }
  it.skipIf(!isInPath('deno'))('Deno', async () => {
    const args = ['run', '--no-lock', '--node-modules-dir=manual', '--allow-env', '--allow-net', '--allow-read']
    const output = await runCommand('deno', [...args, await file('uso.mjs', ESM)], { cwd: project, env: env() })
    expect(JSON.parse(output)).toEqual(EXPECTED)
  })
  it.skipIf(!isInPath('bun'))('Bun', async () => {
    const output = await runCommand('bun', ['run', await file('uso.mjs', ESM)], { cwd: project, env: env() })
    expect(JSON.parse(output)).toEqual(EXPECTED)
  })

  it.skipIf(!hasBrowser)('Chromium, bundled, in a page of the same origin as the service', async () => {
    const outDir = join(project, 'pagina')
    await build({
      config: false,
      cwd: project,
      entry: [
        await file(
          'pagina.js',
          `import ${NOMBRES} from '@guias/sdk'
          import { leerTelefono } from '@guias/sdk/telefono'
          ${SECRETO}
          window.probar = async (llave, entrada) => {
            const api = new Guias({ llave, baseUrl: location.origin })
            ${USAGE}
            return salida
          }
          window.real = (llave) => { try { new Guias({ llave }) } catch (error) { return error.message } }`,
        ),
      ],
      outDir,
      format: 'iife',
      platform: 'browser',
      minify: true,
      dts: false,
      logLevel: 'silent',
      deps: { alwaysBundle: [/.*/], onlyBundle: false },
    })
    const [script = ''] = await readdir(outDir)
    const codigo = await readFile(join(outDir, script), 'utf8')
    const sentRequests: string[] = []
    const server = createServer(async (req, res) => {
      if (req.url === '/') {
        res.writeHead(200, { 'Content-Type': 'text/html' }).end(`<script>${codigo}</script>`)
      } else if (!req.url?.startsWith('/api/')) res.writeHead(204).end()
      else {
        sentRequests.push(
          `${req.method} ${Object.keys(req.headers)
            .filter((name) => name.startsWith('x-guias'))
            .join()}`,
        )
        const chunks: Buffer[] = []
        for await (const chunk of req) chunks.push(chunk)
        const { status, headers, body } = await environment.request(req.method!, req.url, {
          headers: { authorization: String(req.headers.authorization), 'content-type': 'application/json' },
          ...(chunks.length > 0 ? { raw: Buffer.concat(chunks).toString() } : {}),
        })
        res
          .writeHead(status, { 'Content-Type': headers.get('content-type') ?? '' })
          .end(body === undefined ? '' : JSON.stringify(body))
      }
    })
    await new Promise<void>((listo) => server.listen(0, '127.0.0.1', listo))
    let context: BrowserContext | undefined
    try {
      context = await openContext()
      const page = await context.newPage()
      const errores: string[] = []
      page.on('pageerror', (error) => errores.push(error.message))
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      const output = await page.evaluate(
        `probar(${JSON.stringify(comercio.llave)}, ${JSON.stringify(JSON.stringify(buildGuia()))})`,
      )
      expect(JSON.parse(output as string)).toEqual(EXPECTED)
      expect(sentRequests).toEqual(['POST ', 'GET ', 'GET '])
      expect(await page.evaluate(`real('guia_live_x')`)).toContain('permitirNavegador')
      expect(errores).toEqual([])
    } finally {
      await context?.close()
      server.closeAllConnections()
      server.close()
    }
  })
})

describe('the types compile with', FULL_RUN_ONLY, () => {
  const CODIGO = `
import { ErrorValidacion, Guias, verificarWebhook, type CuerpoDeAviso, type Guia, type Suceso } from '@guias/sdk'
import { leerTelefono } from '@guias/sdk/telefono'
export const e164 = (texto: string): string | undefined => {
  const leido = leerTelefono(texto, 'GT')
  return 'error' in leido ? undefined : leido.e164
}
const api = new Guias({ llave: 'guia_test_x', registro: (suceso: Suceso) => void suceso.ms })
export async function crear(): Promise<Guia> {
  const { datos, repetida } = await api.guias
    .crear({ telefono: '+50231481676', departamento: 'Guatemala', municipio: 'Mixco', recogida: { lat: 1, lng: 2 } }, { reintentos: 3 })
    .conRespuesta()
  const si: boolean = repetida
  return si ? datos : datos
}
export async function atender(cuerpo: string, cabeceras: Headers): Promise<string | null> {
  const aviso: CuerpoDeAviso = await verificarWebhook(cuerpo, cabeceras, 'whsec_x')
  return aviso.tipo === 'guia.entregado' ? aviso.datos.guia.external_ref : null
}
export async function seguir(cursor: string | undefined, reintentos: number | undefined, indicaciones?: string) {
  const { datos } = await api.eventos.listar({ cursor, limite: undefined }, { reintentos })
  api.guias.crearMuchas([{ telefono: '1', departamento: 'a', municipio: 'b', indicaciones }], { recogida: undefined })
  return datos.length
}
export function campos(error: unknown): string[] {
  return error instanceof ErrorValidacion ? error.errores.map(({ campo }) => campo) : []
}
// @ts-expect-error: what is misspelt is found
void api.guias.crear({ telefono: '1', departamento: 'a', municipio: 'b', recogida: { lat: 1, lng: 2 }, externalRef: 'x' })
// @ts-expect-error: and what does not exist
void api.guias.borrar('x')
`
  const NODE16 = { module: 'node16', moduleResolution: 'node16' }
  const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' }
  it.each([
    ['node16, ESM and CommonJS', ['uso.mts', 'uso.cts'], NODE16],
    ['bundler, in a page', ['uso.ts'], { ...BUNDLER, lib: ['ES2022', 'DOM'], types: [] }],
    ['bundler, in Node', ['uso.ts'], { ...BUNDLER, exactOptionalPropertyTypes: true }],
  ])('%s, strict and without skipLibCheck', async (_, names, opciones) => {
    for (const name of names) await file(name, CODIGO)
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2022'],
      types: ['node'],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      ...opciones,
    }
    const { options, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, project)
    const program = ts.createProgram(
      names.map((name) => join(project, name)),
      options,
    )
    // What the user writes and what the package declares; Node's own declarations are not ours to check.
    const projectFiles = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(project))
    expect(projectFiles.filter(({ fileName }) => fileName.startsWith(packageName)).length).toBeGreaterThan(0)
    const faults = [
      ...errors,
      ...program.getOptionsDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...projectFiles.flatMap((one) => [
        ...program.getSyntacticDiagnostics(one),
        ...program.getSemanticDiagnostics(one),
      ]),
    ]
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
  })
})

describe('the package', () => {
  const read = (name: string) => readFile(join(sdk, name), 'utf8')
  const codigo = async (name: string) => (await read(name)).replace(/\/\*[\s\S]*?\*\//g, '')

  it('loads with require too, and has no dependency', async () => {
    const cjs = createRequire(import.meta.url)('@guias/sdk') as typeof import('@guias/sdk')
    answer(json(200, GUIA))
    expect(await new cjs.Guias({ llave: LLAVE, baseUrl: server.baseUrl }).guias.obtener('A')).toEqual(GUIA)
    const foreignItems = (await Promise.all(['dist/index.js', 'dist/index.cjs'].map(codigo))).flatMap(
      (text) => text.match(/\b(require\(|from ["']|import\().*/g) ?? [],
    )
    expect(foreignItems).toEqual([])
  })

  it('has one version, and no any in what it declares', async () => {
    const { version, dependencies } = JSON.parse(await read('package.json')) as {
      version: string
      dependencies?: object
    }
    expect([VERSION, dependencies]).toEqual([version, undefined])
    expect((await codigo('dist/index.d.ts')).match(/.*\bany\b.*/g) ?? []).toEqual([])
  })
})
