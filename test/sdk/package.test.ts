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

const entorno = shareEnvironment()
const servidor = useFakeServer()
const { respondWith: contestar } = servidor
const raiz = fileURLToPath(new URL('../..', import.meta.url))
const sdk = join(raiz, 'sdk')
const ejecutar = promisify(execFile)
const correr = async (programa: string, args: string[], opciones: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) => {
  try {
    return (await ejecutar(programa, args, { maxBuffer: 1 << 24, ...opciones })).stdout
  } catch (causa) {
    const { stdout, stderr } = causa as { stdout: string; stderr: string }
    throw new Error(`${programa} ${args.join(' ')}\n${stdout}${stderr}`)
  }
}
const node = (args: string[], opciones?: Parameters<typeof correr>[2]) => correr(process.execPath, args, opciones)
const herramienta = (nombre: string) => join(raiz, 'node_modules', nombre)

/** Modules of the package that a merchant imports. */
const ENTRIES = ['index', 'telefono', 'hoja', 'verificar', 'webhooks', 'express', 'fastify', 'hono', 'next', 'pruebas']

/** A project of a merchant's, in which the package is what npm would publish. */
let proyecto = ''
let paquete = ''
let tgz = ''
let comercio: Comercio
beforeAll(async () => {
  proyecto = await realpath(await mkdtemp(join(tmpdir(), 'guias-consumidor-')))
  const [{ filename }] = JSON.parse(
    await correr('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', proyecto], { cwd: sdk }),
  )
  tgz = join(proyecto, filename)
  paquete = join(proyecto, 'node_modules/@guias/sdk')
  await mkdir(paquete, { recursive: true })
  await correr('tar', ['-xzf', tgz, '-C', paquete, '--strip-components=1'])
  await writeFile(join(proyecto, 'package.json'), '{ "private": true }')
  await mkdir(join(proyecto, 'node_modules/@types'), { recursive: true })
  for (const una of ['@types/node', 'undici-types']) {
    await symlink(herramienta(una), join(proyecto, 'node_modules', una))
  }
  comercio = await entorno.nuevoComercio()
})
afterAll(() => rm(proyecto, { recursive: true, force: true }))
const archivo = async (nombre: string, texto: string) => {
  await writeFile(join(proyecto, nombre), texto)
  return nombre
}

describe('the published package', () => {
  it('is what it takes, and depends on nothing', async () => {
    const lista = await readdir(paquete, { recursive: true, withFileTypes: true })
    const archivos = lista
      .filter((uno) => uno.isFile())
      .map((uno) => join(uno.parentPath, uno.name).slice(paquete.length + 1))
    expect(archivos.filter((uno) => !/^(bin|dist|ejemplos)\//.test(uno)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
    ])
    const iguales = { LICENSE: 'LICENSE', 'CHANGELOG.md': 'openapi/comercios/guia/15-cambios.md' }
    for (const [suyo, nuestro] of Object.entries(iguales))
      expect(await readFile(join(paquete, suyo), 'utf8')).toBe(await readFile(join(raiz, nuestro), 'utf8'))
    expect(archivos).toEqual(
      expect.arrayContaining(
        ENTRIES.flatMap((uno) => ['js', 'cjs', 'd.ts', 'd.cts'].map((tipo) => `dist/${uno}.${tipo}`)),
      ),
    )
    const { dependencies, peerDependencies, optionalDependencies, scripts } = JSON.parse(
      await readFile(join(paquete, 'package.json'), 'utf8'),
    )
    expect([dependencies, peerDependencies, optionalDependencies, scripts.postinstall, scripts.install]).toEqual(
      Array(5).fill(undefined),
    )
  })

  it('has the sources of its code in maps, and no address that is nobody’s', async () => {
    for (const nombre of ['cli.js', ...ENTRIES.flatMap((uno) => [`${uno}.js`, `${uno}.cjs`])]) {
      const codigo = await readFile(join(paquete, 'dist', nombre), 'utf8')
      const [, mapa = ''] = /^\/\/# sourceMappingURL=(.+)$/m.exec(codigo) ?? []
      const { sources, sourcesContent } = JSON.parse(await readFile(join(paquete, 'dist', mapa), 'utf8'))
      expect(sources.length).toBeGreaterThan(0)
      for (const [i, fuente] of (sources as string[]).entries())
        expect([fuente, sourcesContent[i]]).toEqual([
          expect.stringMatching(/^\.\.\/(src|cli|entries|pruebas)\//),
          expect.any(String),
        ])
    }
    const { repository, homepage, bugs } = JSON.parse(await readFile(join(paquete, 'package.json'), 'utf8'))
    expect([repository, homepage, bugs]).toEqual([undefined, undefined, undefined])
  })

  it('shows its sources to Node with --enable-source-maps', async () => {
    const codigo = `import { Guias } from '@guias/sdk'\ntry { new Guias({ llave: ' ' }) } catch (error) { console.log(error.stack) }`
    const pila = await node(['--enable-source-maps', await archivo('pila.mjs', codigo)], { cwd: proyecto })
    expect(pila).toMatch(/src\/guias\.ts:\d+/)
  })

  it('is what `npm publish` would send, under the name, version and access that it should have', async () => {
    // Nobody listens there: what exists already is no question of the content.
    const sinRegistro = ['--registry=http://127.0.0.1:9/', '--fetch-retries=0', '--loglevel=error']
    const args = ['publish', '--dry-run', '--json', '--access', 'public', ...sinRegistro]
    const salida = JSON.parse(await correr('npm', args, { cwd: sdk }))
    const { id, files, bundled } = salida['@guias/sdk'] ?? salida // npm 11 names the package, npm 10 doesn't
    expect([id, bundled]).toEqual([`@guias/sdk@${VERSION}`, []])
    const enPaquete = (await readdir(paquete, { recursive: true, withFileTypes: true })).filter((uno) => uno.isFile())
    expect(files.map(({ path }: { path: string }) => path).sort()).toEqual(
      enPaquete.map((uno) => join(uno.parentPath, uno.name).slice(paquete.length + 1)).sort(),
    )
  })

  it(
    'is installed as its README says: from its file, or from a private registry, and never from the public one',
    FULL_RUN_ONLY,
    async () => {
      const leeme = await readFile(join(paquete, 'README.md'), 'utf8')
      const manifiesto = JSON.parse(await readFile(join(paquete, 'package.json'), 'utf8'))
      const [orden = '', porRegistro = ''] = leeme.match(/\bnpm install [^`\n]+/g) ?? []
      const [, npmrc = ''] = /^```ini\n([\s\S]*?)^```$/m.exec(leeme) ?? []
      const registro = createServer((req, res) => {
        if (req.url === '/paquete.tgz') return void readFile(tgz).then((bytes) => res.end(bytes))
        const version = { ...manifiesto, dist: { tarball: `${url}paquete.tgz` } }
        const todo = { name: '@guias/sdk', 'dist-tags': { latest: VERSION }, versions: { [VERSION]: version } }
        res.statusCode = req.url === '/@guias%2fsdk' ? 200 : 404
        res.end(JSON.stringify(todo))
      })
      await new Promise<void>((listo) => registro.listen(0, '127.0.0.1', listo))
      const url = `http://127.0.0.1:${(registro.address() as AddressInfo).port}/`
      // Whoever asked the public registry would find nobody.
      const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' }
      for (const [como, comando] of [
        ['archivo', orden],
        ['registro', porRegistro],
      ] as const) {
        const cwd = join(proyecto, como)
        await mkdir(cwd)
        await writeFile(join(cwd, 'package.json'), '{ "private": true }')
        await copyFile(tgz, join(cwd, basename(tgz)))
        if (como === 'registro') await writeFile(join(cwd, '.npmrc'), npmrc.replace(/https:\S+/, url))
        const [programa = '', ...args] = comando.split(' ')
        await correr(programa, [...args, '--no-audit', '--cache', join(proyecto, 'cache')], { cwd, env })
        expect(await correr('npx', ['--no', '--', 'guias', '--version'], { cwd, env }), como).toBe(`${VERSION}\n`)
      }
      registro.close()
    },
  )

  it('brings a command that runs from there', async () => {
    expect(await node([join(paquete, 'bin/guias.js'), '--version'], { cwd: proyecto })).toBe(`${VERSION}\n`)
    const { bin } = JSON.parse(await readFile(join(paquete, 'package.json'), 'utf8'))
    expect((await stat(join(paquete, bin.guias))).mode & 0o111).toBe(0o111)
  })

  it('is right for publint and for attw', FULL_RUN_ONLY, async () => {
    expect((await publint({ pkgDir: paquete, strict: true, pack: false })).messages).toEqual([])
    const salida = await node([herramienta('@arethetypeswrong/cli/dist/index.js'), tgz, '--format', 'json'])
    const { analysis } = JSON.parse(salida)
    expect(analysis.problems).toEqual([])
    expect(analysis.types).toEqual({ kind: 'included' })
  })

  it.each(['index', 'telefono', 'hoja'].flatMap((uno) => [`${uno}.d.ts`, `${uno}.d.cts`]))(
    'has no any in %s, and no code of a generator',
    async (nombre) => {
      const tipos = (await readFile(join(paquete, 'dist', nombre), 'utf8')).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
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
    const outDir = join(proyecto, 'salida')
    await build({
      config: false,
      cwd: proyecto,
      entry: [await archivo('peso.js', codigo)],
      outDir,
      format: 'esm',
      platform: 'browser',
      minify: true,
      dts: false,
      logLevel: 'silent',
      deps: { alwaysBundle: [/.*/], onlyBundle: false },
    })
    const [salida = ''] = await readdir(outDir)
    const bytes = gzipSync(await readFile(join(outDir, salida)), { level: 9 }).length
    expect(bytes).toBeGreaterThan(500)
    expect(bytes).toBeLessThanOrEqual(kb * 1024)
  })

  it('is at most 12,288 bytes, min+gz, bundled whole with esbuild', async () => {
    const { outputFiles } = await esbuild({
      stdin: { contents: "export * from '@guias/sdk'", resolveDir: proyecto },
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

const USO = `
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
const ESPERADO = { bien: true, tipo: 'guia.nota', falla: 'guia_desconocida', e164: '+50231481676' }
const NOMBRES = '{ ErrorNoEncontrado, firmarWebhook, Guias, verificarWebhook }'
const SECRETO = "const secreto = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='"
const ESM = `import ${NOMBRES} from '@guias/sdk'
import { leerTelefono } from '@guias/sdk/telefono'
${SECRETO}
const entrada = process.env.ENTRADA
const api = new Guias()
${USO}
console.log(salida)
`
const CJS = `const ${NOMBRES} = require('@guias/sdk')
const { leerTelefono } = require('@guias/sdk/telefono')
${SECRETO}
const entrada = process.env.ENTRADA
const api = new Guias()
;(async () => {${USO}
console.log(salida)
})()
`
const env = () => ({
  PATH: process.env.PATH,
  ...CHILD_ENVIRONMENT,
  HOME: proyecto,
  GUIAS_LLAVE: comercio.llave,
  GUIAS_URL: entorno.url,
  ENTRADA: JSON.stringify(buildGuia()),
})

describe('the package runs in', () => {
  it.each([
    ['uso.mjs', ESM],
    ['uso.cjs', CJS],
  ])('Node, %s', async (nombre, codigo) => {
    expect(JSON.parse(await node([await archivo(nombre, codigo)], { cwd: proyecto, env: env() }))).toEqual(ESPERADO)
  })

  const enPath = (programa: string) =>
    (process.env.PATH ?? '').split(':').some((carpeta) => existsSync(join(carpeta, programa)))
  // Their npm packages weigh 100 MB each: whoever starts the service must not have to fetch them.
  for (const programa of ['deno', 'bun']) {
    if (!enPath(programa))
      console.warn(`\n*** There is no ${programa} on the PATH: the SDK is NOT tested in it here. ***\n`)
  }
  it.skipIf(!enPath('deno'))('Deno', async () => {
    const args = ['run', '--no-lock', '--node-modules-dir=manual', '--allow-env', '--allow-net', '--allow-read']
    const salida = await correr('deno', [...args, await archivo('uso.mjs', ESM)], { cwd: proyecto, env: env() })
    expect(JSON.parse(salida)).toEqual(ESPERADO)
  })
  it.skipIf(!enPath('bun'))('Bun', async () => {
    const salida = await correr('bun', ['run', await archivo('uso.mjs', ESM)], { cwd: proyecto, env: env() })
    expect(JSON.parse(salida)).toEqual(ESPERADO)
  })

  it.skipIf(!hasBrowser)('Chromium, bundled, in a page of the same origin as the service', async () => {
    const outDir = join(proyecto, 'pagina')
    await build({
      config: false,
      cwd: proyecto,
      entry: [
        await archivo(
          'pagina.js',
          `import ${NOMBRES} from '@guias/sdk'
          import { leerTelefono } from '@guias/sdk/telefono'
          ${SECRETO}
          window.probar = async (llave, entrada) => {
            const api = new Guias({ llave, baseUrl: location.origin })
            ${USO}
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
    const [guion = ''] = await readdir(outDir)
    const codigo = await readFile(join(outDir, guion), 'utf8')
    const pedidas: string[] = []
    const servidor = createServer(async (req, res) => {
      if (req.url === '/') {
        res.writeHead(200, { 'Content-Type': 'text/html' }).end(`<script>${codigo}</script>`)
      } else if (!req.url?.startsWith('/api/')) res.writeHead(204).end()
      else {
        pedidas.push(
          `${req.method} ${Object.keys(req.headers)
            .filter((nombre) => nombre.startsWith('x-guias'))
            .join()}`,
        )
        const trozos: Buffer[] = []
        for await (const trozo of req) trozos.push(trozo)
        const { status, cabeceras, cuerpo } = await entorno.request(req.method!, req.url, {
          cabeceras: { authorization: String(req.headers.authorization), 'content-type': 'application/json' },
          ...(trozos.length > 0 ? { raw: Buffer.concat(trozos).toString() } : {}),
        })
        res
          .writeHead(status, { 'Content-Type': cabeceras.get('content-type') ?? '' })
          .end(cuerpo === undefined ? '' : JSON.stringify(cuerpo))
      }
    })
    await new Promise<void>((listo) => servidor.listen(0, '127.0.0.1', listo))
    let contexto: BrowserContext | undefined
    try {
      contexto = await openContext()
      const pagina = await contexto.newPage()
      const errores: string[] = []
      pagina.on('pageerror', (error) => errores.push(error.message))
      await pagina.goto(`http://127.0.0.1:${(servidor.address() as AddressInfo).port}/`)
      const salida = await pagina.evaluate(
        `probar(${JSON.stringify(comercio.llave)}, ${JSON.stringify(JSON.stringify(buildGuia()))})`,
      )
      expect(JSON.parse(salida as string)).toEqual(ESPERADO)
      expect(pedidas).toEqual(['POST ', 'GET ', 'GET '])
      expect(await pagina.evaluate(`real('guia_live_x')`)).toContain('permitirNavegador')
      expect(errores).toEqual([])
    } finally {
      await contexto?.close()
      servidor.closeAllConnections()
      servidor.close()
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
  ])('%s, strict and without skipLibCheck', async (_, nombres, opciones) => {
    for (const nombre of nombres) await archivo(nombre, CODIGO)
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2022'],
      types: ['node'],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      ...opciones,
    }
    const { options, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, proyecto)
    const programa = ts.createProgram(
      nombres.map((nombre) => join(proyecto, nombre)),
      options,
    )
    // What the user writes and what the package declares; Node's own declarations are not ours to check.
    const nuestros = programa.getSourceFiles().filter(({ fileName }) => fileName.startsWith(proyecto))
    expect(nuestros.filter(({ fileName }) => fileName.startsWith(paquete)).length).toBeGreaterThan(0)
    const fallas = [
      ...errors,
      ...programa.getOptionsDiagnostics(),
      ...programa.getGlobalDiagnostics(),
      ...nuestros.flatMap((uno) => [...programa.getSyntacticDiagnostics(uno), ...programa.getSemanticDiagnostics(uno)]),
    ]
    expect(fallas.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
  })
})

describe('the package', () => {
  const leer = (nombre: string) => readFile(join(sdk, nombre), 'utf8')
  const codigo = async (nombre: string) => (await leer(nombre)).replace(/\/\*[\s\S]*?\*\//g, '')

  it('loads with require too, and has no dependency', async () => {
    const cjs = createRequire(import.meta.url)('@guias/sdk') as typeof import('@guias/sdk')
    contestar(json(200, GUIA))
    expect(await new cjs.Guias({ llave: LLAVE, baseUrl: servidor.baseUrl }).guias.obtener('A')).toEqual(GUIA)
    const ajenos = (await Promise.all(['dist/index.js', 'dist/index.cjs'].map(codigo))).flatMap(
      (texto) => texto.match(/\b(require\(|from ["']|import\().*/g) ?? [],
    )
    expect(ajenos).toEqual([])
  })

  it('has one version, and no any in what it declares', async () => {
    const { version, dependencies } = JSON.parse(await leer('package.json')) as {
      version: string
      dependencies?: object
    }
    expect([VERSION, dependencies]).toEqual([version, undefined])
    expect((await codigo('dist/index.d.ts')).match(/.*\bany\b.*/g) ?? []).toEqual([])
  })
})
