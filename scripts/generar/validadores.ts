import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { _, Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { Operacion, Parametro } from '../../server/contrato/contrato.ts'
import { CARPETA, escribir } from './lugares.ts'

/** Component schemas that operations judge by themselves. */
const ESQUEMAS = ['GuiaIndividual']

/** Modules that Ajv's code requires, by the name that they have here. */
const MODULOS = { largo: 'ajv/dist/runtime/ucs2length', igual: 'ajv/dist/runtime/equal' }

/**
 * Compiles the validators of requests: of each JSON body, of parameters, and of {@link ESQUEMAS}. Ajv takes a
 * tenth of a second for them, and a process that finds them here doesn't need Ajv before it is ready. The digest of the
 * contract stands beside them; the process compares it with the contract that it reads.
 */
export async function generarValidadores() {
  // Not before what these import is generated.
  const [{ leerOperaciones }, esquemas, { FORMATOS }, { valeTelefono }] = await Promise.all([
    import('../../server/contrato/contrato.ts'),
    import('../../server/contrato/esquemas.ts'),
    import('../../server/contrato/formatos.ts'),
    import('../../server/contrato/telefonos.ts'),
  ])
  const texto = await readFile(new URL('contrato.json', CARPETA), 'utf8')
  const documento = JSON.parse(texto)
  const operaciones = leerOperaciones(documento)

  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    addUsedSchema: false,
    messages: false,
    // It would leave out a format that it doesn't know, and say so.
    logger: { log: fallar, warn: fallar, error: fallar },
    // A body gets what its schema says of what is left out.
    useDefaults: true,
    // Whose request it is goes along as `this`, down to the keywords.
    passContext: true,
    code: { source: true, esm: true, formats: _`formatos` },
  })
  for (const [nombre, { validate }] of Object.entries(FORMATOS)) ajv.addFormat(nombre, validate)
  ajv.addKeyword({
    keyword: 'x-telefono',
    type: 'string',
    code(cxt: KeywordCxt) {
      const vale = cxt.gen.scopeValue('func', { ref: valeTelefono, code: _`valeTelefono` })
      cxt.fail(_`!${vale}.call(this, ${cxt.data}, ${cxt.it.parentData}, ${cxt.parentSchema.maxLength})`)
    },
  })
  ajv.addSchema(esquemas.podar(esquemas.deEntrada(documento), ['x-telefono']), 'contrato')

  const exportados: Record<string, string> = {}
  /** Compiles a schema, and gives the name by which it is exported: equal ones have one. */
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

  const parametros = (donde: Parametro['in']) =>
    operaciones.flatMap((operacion) => {
      const esquema = esquemaDeParametros(operacion, donde)
      return esquema ? [[operacion.id, compilar(esquema)] as const] : []
    })
  const tablas = {
    CUERPOS: operaciones.filter(esquemas.llevaJson).map((una) => [una.id, deRef(esquemas.refDelCuerpo(una))] as const),
    RUTAS: parametros('path'),
    CONSULTAS: parametros('query'),
    CABECERAS: parametros('header'),
    ESQUEMAS: ESQUEMAS.map((nombre) => [nombre, deRef(esquemas.refDelEsquema(nombre))] as const),
  }
  await escribir(
    'validadores.mjs',
    `// Written by scripts/generar/validadores.ts.
${Object.entries(MODULOS)
  .map(([nombre, modulo]) => `import ${nombre}DeAjv from '${modulo}.js'`)
  .join('\n')}
import { FORMATOS } from '../formatos.ts'
import { valeTelefono } from '../telefonos.ts'
const formatos = Object.fromEntries(Object.entries(FORMATOS).map(([nombre, { validate }]) => [nombre, validate]))
${Object.keys(MODULOS)
  // A bundler may have taken the default export out of CommonJS already.
  .map((nombre) => `const ${nombre} = { default: ${nombre}DeAjv.default ?? ${nombre}DeAjv }`)
  .join('\n')}
export const CONTRATO_SHA256 = '${hash('sha256', texto)}'
${sinRequire(standalone.default(ajv, exportados))}
${Object.entries(tablas)
  .map(([nombre, entradas]) => `export const ${nombre} = ${tabla(entradas)}`)
  .join('\n')}
`,
  )
  await escribir(
    'validadores.d.mts',
    `import type { ValidateFunction } from 'ajv'
import type { OperationId } from '../contrato.ts'

/** SHA-256, in hexadecimal, of the contract that these were compiled of. */
export declare const CONTRATO_SHA256: string
/** Validators of JSON bodies. */
export declare const CUERPOS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of the parameters in an operation's path, as an object. */
export declare const RUTAS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of a query whose values are texts and whole numbers, as an object; they put defaults in. */
export declare const CONSULTAS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of the headers that an operation declares, as the object that Node makes of all. */
export declare const CABECERAS: Readonly<Partial<Record<OperationId, ValidateFunction>>>
/** Validators of component schemas. */
export declare const ESQUEMAS: Readonly<Record<${ESQUEMAS.map((nombre) => `'${nombre}'`).join(' | ')}, ValidateFunction>>
`,
  )
}

function fallar(...dicho: unknown[]): never {
  throw new Error(dicho.join(' '))
}

/** Ajv's code requires its modules even as ESM. @throws Error for one that isn't in {@link MODULOS} */
const sinRequire = (codigo: string) =>
  codigo.replace(/require\("([^"]+)"\)/g, (_todo, modulo: string) => {
    const [nombre] = Object.entries(MODULOS).find(([, suyo]) => suyo === modulo) ?? []
    if (!nombre)
      throw new Error(`compiled validators require ${modulo}, which scripts/generar/validadores.ts doesn't know`)
    return nombre
  })

/** Parameters of a query whose value is one text or whole number; lists and choices are express-openapi-validator's to read. */
const esSencillo = ({ in: donde, schema }: Parametro) =>
  donde !== 'query' || ['string', 'integer'].includes(`${schema.type}`)

/** The schema of an operation's parameters of one kind; undefined if it has none. */
function esquemaDeParametros({ parametros }: Operacion, donde: Parametro['in']): object | undefined {
  const suyos = parametros.filter((parametro) => parametro.in === donde)
  if (suyos.length === 0) return undefined
  const nombrar = ({ name }: Parametro) => (donde === 'header' ? name.toLowerCase() : name)
  return {
    type: 'object',
    required: suyos.filter(({ required }) => required).map(nombrar),
    properties: Object.fromEntries(suyos.filter(esSencillo).map((uno) => [nombrar(uno), uno.schema])),
    // Where there is anything else, express-openapi-validator reads the query.
    ...(donde === 'query' ? { additionalProperties: false } : {}),
  }
}
