import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { _, Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js'
import names from 'ajv/dist/compile/names.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { ContractParameter, Operation } from '../../server/api/contract/contract.ts'
import { GENERATED_FOLDER, writeGenerated } from './places.ts'

/** Component schemas that operations validate themselves. */
const SCHEMA_NAMES = ['GuiaIndividual', 'EventoDeUnaGuia']

/** Types of the generated module. */
const DECLARATIONS = `import type { ValidateFunction } from 'ajv'
import type { OperationId } from '../../api/contract/contract.ts'

/** SHA-256, in hexadecimal, of the contract from which the validators were compiled. */
export declare const CONTRACT_SHA256: string
/** Validators of JSON bodies, by operation. */
export declare const BODY_VALIDATORS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of path parameters, by operation. They take an object of all path parameters. */
export declare const PATH_VALIDATORS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/**
 * Validators of query parameters, by operation. They take an object of all query parameters and add the defaults. An
 * operation with a query parameter that is a list or a union has none.
 */
export declare const QUERY_VALIDATORS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of the headers that an operation declares. They take the object of all headers from Node. */
export declare const HEADER_VALIDATORS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of component schemas, by the name of the schema. */
export declare const SCHEMA_VALIDATORS: Readonly<Record<${SCHEMA_NAMES.map((name) => `'${name}'`).join(' | ')}, ValidateFunction>>
`

/** Modules that Ajv's generated code requires, by their names in the output. */
const MODULES = { largo: 'ajv/dist/runtime/ucs2length', equal: 'ajv/dist/runtime/equal' }

/** Creates an Ajv that generates code for the contract's formats and keywords. */
function createAjv(
  formats: typeof import('../../server/api/contract/formats.ts').FORMATS,
  isValidTelephone: (...args: never[]) => boolean,
) {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    addUsedSchema: false,
    messages: false,
    // Ajv only warns about an unknown format and skips it, so a warning is an error here.
    logger: { log: fail, warn: fail, error: fail },
    // Members missing in a body get the defaults of its schema.
    useDefaults: true,
    // Validators receive the request's sender as `this`, and pass it on to keywords.
    passContext: true,
    code: { source: true, esm: true, formats: _`formatos` },
  })
  for (const [name, { validate }] of Object.entries(formats)) ajv.addFormat(name, validate)
  ajv.addKeyword({
    keyword: 'x-telefono',
    type: 'string',
    code(cxt: KeywordCxt) {
      const vale = cxt.gen.scopeValue('func', { ref: isValidTelephone, code: _`isValidTelephone` })
      const side = cxt.schema === 'solicitud' ? names.default.rootData : cxt.it.parentData
      cxt.fail(_`!${vale}.call(this, ${cxt.data}, ${side}, ${cxt.parentSchema.maxLength})`)
    },
  })
  return ajv
}

/**
 * Compiles the validators of requests: of each JSON body, of parameters, and of {@link SCHEMA_NAMES}. Compiling takes Ajv a
 * tenth of a second. With compiled validators, a process needs no Ajv before it is ready. The output also has a digest
 * of the contract, which the process compares with the contract that it reads.
 */
export async function generateValidators() {
  // The modules are imported dynamically, because they import files that earlier generators write.
  const [{ readOperations }, schemas, { FORMATS }, { isValidTelephone }] = await Promise.all([
    import('../../server/api/contract/contract.ts'),
    import('../../server/api/contract/schemas.ts'),
    import('../../server/api/contract/formats.ts'),
    import('../../server/api/contract/telephones.ts'),
  ])
  const text = await readFile(new URL('contrato.json', GENERATED_FOLDER), 'utf8')
  const document = JSON.parse(text)
  const operations = readOperations(document)

  const ajv = createAjv(FORMATS, isValidTelephone)
  ajv.addSchema(schemas.prune(schemas.forInput(document), ['x-telefono']), 'contrato')

  const exportedNames: Record<string, string> = {}
  /** Adds a schema to the compilation and returns the name of its export. Equal schemas share an export. */
  const compileSchema = (schema: object) => {
    const key = JSON.stringify(schema)
    const name = `v${hash('sha256', key).slice(0, 12)}`
    if (!(name in exportedNames)) ajv.addSchema(schema, name)
    exportedNames[name] = name
    return name
  }
  const fromRef = (ref: string) => compileSchema({ $ref: `contrato#${ref}` })
  const renderTable = (entries: readonly (readonly [string, string])[]) =>
    `{${entries.map(([name, compiledName]) => `\n  ${JSON.stringify(name)}: ${compiledName},`).join('')}\n}`

  const parameters = (where: ContractParameter['in']) =>
    operations.flatMap((operation) => {
      const schema = parameterSchema(operation, where)
      return schema ? [[operation.id, compileSchema(schema)] as const] : []
    })
  const tables = {
    BODY_VALIDATORS: operations
      .filter(schemas.carriesJson)
      .map((operation) => [operation.id, fromRef(schemas.bodyRef(operation))] as const),
    PATH_VALIDATORS: parameters('path'),
    QUERY_VALIDATORS: parameters('query'),
    HEADER_VALIDATORS: parameters('header'),
    SCHEMA_VALIDATORS: SCHEMA_NAMES.map((name) => [name, fromRef(schemas.schemaRef(name))] as const),
  }
  await writeGenerated(
    'validators.mjs',
    `// Written by scripts/generate/validators.ts.
${Object.entries(MODULES)
  .map(([name, moduleName]) => `import ${name}DeAjv from '${moduleName}.js'`)
  .join('\n')}
import { FORMATS } from '../../api/contract/formats.ts'
import { isValidTelephone } from '../../api/contract/telephones.ts'
const formatos = Object.fromEntries(Object.entries(FORMATS).map(([nombre, { validate }]) => [nombre, validate]))
${Object.keys(MODULES)
  // A bundler may have unwrapped the default export of the CommonJS module.
  .map((name) => `const ${name} = { default: ${name}DeAjv.default ?? ${name}DeAjv }`)
  .join('\n')}
export const CONTRACT_SHA256 = '${hash('sha256', text)}'
${replaceRequires(standalone.default(ajv, exportedNames))}
${Object.entries(tables)
  .map(([name, entries]) => `export const ${name} = ${renderTable(entries)}`)
  .join('\n')}
`,
  )
  await writeGenerated('validators.d.mts', DECLARATIONS)
}

function fail(...messages: unknown[]): never {
  throw new Error(messages.join(' '))
}

/**
 * Replaces the `require` calls that Ajv writes even as ESM.
 * @throws if a module is not in {@link MODULES}
 */
const replaceRequires = (code: string) =>
  code.replace(/require\("([^"]+)"\)/g, (_match, moduleName: string) => {
    const [name] = Object.entries(MODULES).find(([, requiredModule]) => requiredModule === moduleName) ?? []
    if (!name)
      throw new Error(`compiled validators require ${moduleName}, which scripts/generate/validators.ts doesn't know`)
    return name
  })

/**
 * Tells if the validators can check a parameter: all except query parameters that are lists or unions, which
 * express-openapi-validator reads.
 */
const isSimple = ({ in: where, schema }: ContractParameter) =>
  where !== 'query' || ['string', 'integer', 'object'].includes(`${schema.type}`)

/** Returns the schema of an operation's parameters of one kind; undefined if the operation has none. */
function parameterSchema({ parameters }: Operation, where: ContractParameter['in']): object | undefined {
  const ownParameters = parameters.filter((parameter) => parameter.in === where)
  if (ownParameters.length === 0) return undefined
  const nameOf = ({ name }: ContractParameter) => (where === 'header' ? name.toLowerCase() : name)
  return {
    type: 'object',
    required: ownParameters.filter(({ required }) => required).map(nameOf),
    properties: Object.fromEntries(
      ownParameters.filter(isSimple).map((parameter) => [nameOf(parameter), parameter.schema]),
    ),
    // A query with a parameter that the compiled validators do not cover is left to express-openapi-validator.
    ...(where === 'query' ? { additionalProperties: false } : {}),
  }
}
