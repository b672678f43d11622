import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { _, Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js'
import nombres from 'ajv/dist/compile/names.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { ContractParameter, Operation } from '../../server/api/contract/contract.ts'
import { CARPETA, escribir } from './lugares.ts'

/** Component schemas that operations validate themselves. */
const ESQUEMAS = ['GuiaIndividual', 'EventoDeUnaGuia']

/** Types of the generated module. */
const DECLARATIONS = `import type { ValidateFunction } from 'ajv'
import type { OperationId } from '../../api/contract/contract.ts'

/** SHA-256, in hexadecimal, of the contract from which the validators were compiled. */
export declare const CONTRATO_SHA256: string
/** Validators of JSON bodies, by operation. */
export declare const CUERPOS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of path parameters, by operation. They take an object of all path parameters. */
export declare const RUTAS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/**
 * Validators of query parameters, by operation. They take an object of all query parameters and add the defaults. An
 * operation with a query parameter that is a list or a union has none.
 */
export declare const CONSULTAS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of the headers that an operation declares. They take the object of all headers from Node. */
export declare const CABECERAS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of component schemas, by the name of the schema. */
export declare const ESQUEMAS: Readonly<Record<${ESQUEMAS.map((nombre) => `'${nombre}'`).join(' | ')}, ValidateFunction>>
`

/** Modules that Ajv's generated code requires, by their names in the output. */
const MODULOS = { largo: 'ajv/dist/runtime/ucs2length', igual: 'ajv/dist/runtime/equal' }

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
    logger: { log: fallar, warn: fallar, error: fallar },
    // Members missing in a body get the defaults of its schema.
    useDefaults: true,
    // Validators receive the request's sender as `this`, and pass it on to keywords.
    passContext: true,
    code: { source: true, esm: true, formats: _`formatos` },
  })
  for (const [nombre, { validate }] of Object.entries(formats)) ajv.addFormat(nombre, validate)
  ajv.addKeyword({
    keyword: 'x-telefono',
    type: 'string',
    code(cxt: KeywordCxt) {
      const vale = cxt.gen.scopeValue('func', { ref: isValidTelephone, code: _`isValidTelephone` })
      const lado = cxt.schema === 'solicitud' ? nombres.default.rootData : cxt.it.parentData
      cxt.fail(_`!${vale}.call(this, ${cxt.data}, ${lado}, ${cxt.parentSchema.maxLength})`)
    },
  })
  return ajv
}

/**
 * Compiles the validators of requests: of each JSON body, of parameters, and of {@link ESQUEMAS}. Compiling takes Ajv a
 * tenth of a second. With compiled validators, a process needs no Ajv before it is ready. The output also has a digest
 * of the contract, which the process compares with the contract that it reads.
 */
export async function generarValidadores() {
  // The modules are imported dynamically, because they import files that earlier generators write.
  const [{ readOperations }, esquemas, { FORMATS }, { isValidTelephone }] = await Promise.all([
    import('../../server/api/contract/contract.ts'),
    import('../../server/api/contract/schemas.ts'),
    import('../../server/api/contract/formats.ts'),
    import('../../server/api/contract/telephones.ts'),
  ])
  const texto = await readFile(new URL('contrato.json', CARPETA), 'utf8')
  const documento = JSON.parse(texto)
  const operaciones = readOperations(documento)

  const ajv = createAjv(FORMATS, isValidTelephone)
  ajv.addSchema(esquemas.prune(esquemas.forInput(documento), ['x-telefono']), 'contrato')

  const exportados: Record<string, string> = {}
  /** Adds a schema to the compilation and returns the name of its export. Equal schemas share an export. */
  const compilar = (esquema: object) => {
    const clave = JSON.stringify(esquema)
    const nombre = `v${hash('sha256', clave).slice(0, 12)}`
    if (!(nombre in exportados)) ajv.addSchema(esquema, nombre)
    exportados[nombre] = nombre
    return nombre
  }
  const deRef = (ref: string) => compilar({ $ref: `contrato#${ref}` })
  const tabla = (entradas: readonly (readonly [string, string])[]) =>
    `{${entradas.map(([nombre, compilado]) => `\n  ${JSON.stringify(nombre)}: ${compilado},`).join('')}\n}`

  const parametros = (donde: ContractParameter['in']) =>
    operaciones.flatMap((operacion) => {
      const esquema = esquemaDeParametros(operacion, donde)
      return esquema ? [[operacion.id, compilar(esquema)] as const] : []
    })
  const tablas = {
    CUERPOS: operaciones.filter(esquemas.carriesJson).map((una) => [una.id, deRef(esquemas.bodyRef(una))] as const),
    RUTAS: parametros('path'),
    CONSULTAS: parametros('query'),
    CABECERAS: parametros('header'),
    ESQUEMAS: ESQUEMAS.map((nombre) => [nombre, deRef(esquemas.schemaRef(nombre))] as const),
  }
  await escribir(
    'validadores.mjs',
    `// Written by scripts/generar/validadores.ts.
${Object.entries(MODULOS)
  .map(([nombre, modulo]) => `import ${nombre}DeAjv from '${modulo}.js'`)
  .join('\n')}
import { FORMATS } from '../../api/contract/formats.ts'
import { isValidTelephone } from '../../api/contract/telephones.ts'
const formatos = Object.fromEntries(Object.entries(FORMATS).map(([nombre, { validate }]) => [nombre, validate]))
${Object.keys(MODULOS)
  // A bundler may have unwrapped the default export of the CommonJS module.
  .map((nombre) => `const ${nombre} = { default: ${nombre}DeAjv.default ?? ${nombre}DeAjv }`)
  .join('\n')}
export const CONTRATO_SHA256 = '${hash('sha256', texto)}'
${sinRequire(standalone.default(ajv, exportados))}
${Object.entries(tablas)
  .map(([nombre, entradas]) => `export const ${nombre} = ${tabla(entradas)}`)
  .join('\n')}
`,
  )
  await escribir('validadores.d.mts', DECLARATIONS)
}

function fallar(...dicho: unknown[]): never {
  throw new Error(dicho.join(' '))
}

/**
 * Replaces the `require` calls that Ajv writes even as ESM.
 * @throws if a module is not in {@link MODULOS}
 */
const sinRequire = (codigo: string) =>
  codigo.replace(/require\("([^"]+)"\)/g, (_todo, modulo: string) => {
    const [nombre] = Object.entries(MODULOS).find(([, suyo]) => suyo === modulo) ?? []
    if (!nombre)
      throw new Error(`compiled validators require ${modulo}, which scripts/generar/validadores.ts doesn't know`)
    return nombre
  })

/**
 * Tells if the validators can check a parameter: all except query parameters that are lists or unions, which
 * express-openapi-validator reads.
 */
const esSencillo = ({ in: donde, schema }: ContractParameter) =>
  donde !== 'query' || ['string', 'integer', 'object'].includes(`${schema.type}`)

/** Returns the schema of an operation's parameters of one kind; undefined if the operation has none. */
function esquemaDeParametros({ parametros }: Operation, donde: ContractParameter['in']): object | undefined {
  const suyos = parametros.filter((parametro) => parametro.in === donde)
  if (suyos.length === 0) return undefined
  const nombrar = ({ name }: ContractParameter) => (donde === 'header' ? name.toLowerCase() : name)
  return {
    type: 'object',
    required: suyos.filter(({ required }) => required).map(nombrar),
    properties: Object.fromEntries(suyos.filter(esSencillo).map((uno) => [nombrar(uno), uno.schema])),
    // A query with a parameter that the compiled validators do not cover is left to express-openapi-validator.
    ...(donde === 'query' ? { additionalProperties: false } : {}),
  }
}
