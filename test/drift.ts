import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { PrismaPg } from '@prisma/adapter-pg'
import * as motor from '@prisma/schema-engine-wasm/schema_engine_bg'
import { ROOT } from '../server/platform/root.ts'

const require = createRequire(import.meta.url)
const { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } = createRequire(require.resolve('@prisma/adapter-pg'))(
  '@prisma/driver-adapter-utils',
)
/** PostgreSQL's one-byte "char", which its catalogues use and adapter-pg refuses: the engine takes it as a character. */
const CHAR = 18
const TEXT = 25
type Interno = { performIO(query: unknown): Promise<{ fields: { dataTypeID: number }[] }> }

class CharAdapterFactory extends PrismaPg {
  override async connect() {
    const adapter = await super.connect()
    const interno = adapter as unknown as Interno
    const performIO = interno.performIO.bind(adapter)
    const queryRaw = adapter.queryRaw.bind(adapter)
    let charColumns: number[] = []
    interno.performIO = async (query) => {
      const result = await performIO(query)
      charColumns = [...result.fields.keys()].filter((i) => result.fields[i]!.dataTypeID === CHAR)
      for (const i of charColumns) result.fields[i]!.dataTypeID = TEXT
      return result
    }
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query)
      for (const i of charColumns) result.columnTypes[i] = ColumnTypeEnum.Character
      return result
    }
    return adapter
  }
}

// biome-ignore lint/suspicious/noExplicitAny: without the DOM's types, TypeScript knows no WebAssembly
const { WebAssembly } = globalThis as any
const wasm = readFileSync(require.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm'))
const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': { ...motor } })
motor.__wbg_set_wasm(instance.exports)
instance.exports.__wbindgen_start()
const PRISMA_WASM_PANIC_REGISTRY = { set_message: (mensaje: string) => console.error(mensaje) }
Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY })

/** What would have to change for the database to be what prisma/schema.prisma says, as SQL; '' when nothing. */
export async function findDrift(url: string): Promise<string> {
  const schemaFile = { path: 'schema.prisma', content: readFileSync(new URL('prisma/schema.prisma', ROOT), 'utf8') }
  const link = bindMigrationAwareSqlAdapterFactory(
    new CharAdapterFactory({ connectionString: url, max: 1, idleTimeoutMillis: 1 }),
  )
  const engine = await motor.SchemaEngine.new({ datamodels: [[schemaFile.path, schemaFile.content]] }, () => {}, link)
  const filters = { externalTables: [], externalEnums: [] }
  const from = { tag: 'schemaDatasource' as const, files: [schemaFile], configDir: '.' }
  const to = { tag: 'schemaDatamodel' as const, files: [schemaFile] }
  const { exitCode, stdout } = await engine.diff({ from, to, script: true, exitCode: true, filters })
  engine.free()
  return exitCode === 0 ? '' : (stdout ?? 'something')
}
