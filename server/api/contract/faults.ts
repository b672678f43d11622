import type { ErrorObject } from 'ajv'
import type { Advertencia, Falla } from '../../generado/contrato/tipos/index.ts'
import type { ContractParameter } from './contract.ts'
import { FORMATS } from './formats.ts'

type Esquema = Record<string, unknown> & {
  properties?: Record<string, unknown>
  'x-mensaje'?: string
  'x-mensajes-requeridos'?: Record<string, string>
}

const TIPOS: Record<string, string> = {
  string: 'texto',
  number: 'un número',
  integer: 'un número entero',
  boolean: 'true o false',
  object: 'un objeto',
  array: 'una lista',
  null: 'null',
}

const CODIGOS: Record<string, Falla['codigo']> = {
  required: 'requerido',
  additionalProperties: 'desconocido',
  unevaluatedProperties: 'desconocido',
  type: 'tipo_invalido',
  format: 'formato_invalido',
  'x-telefono': 'formato_invalido',
  pattern: 'formato_invalido',
  minLength: 'largo_invalido',
  maxLength: 'largo_invalido',
  minItems: 'largo_invalido',
  maxItems: 'largo_invalido',
  minimum: 'fuera_de_rango',
  maximum: 'fuera_de_rango',
  dependentRequired: 'incompatible',
  anyOf: 'incompatible',
  oneOf: 'incompatible',
}

const escapar = (clave: string) => clave.replace(/~/g, '~0').replace(/\//g, '~1')
const recortar = (texto: string, largo: number) => (texto.length > largo ? `${texto.slice(0, largo - 1)}…` : texto)

/** Faults of a value: the reported faults (`dichas`), and the number of errors left out (`omitidas`). */
export interface Faults {
  dichas: Falla[]
  omitidas: number
}

export const NO_FAULTS: Faults = { dichas: [], omitidas: 0 }

/**
 * Translates Ajv's errors to faults in Spanish, each with the field and the remedy. The contract's `x-mensaje` takes
 * precedence over a generated text.
 * @param maximo maximum number of reported faults; later errors are only counted, because the client controls their
 * number
 */
export function explainErrors(errores: readonly ErrorObject[], maximo: number): Faults {
  // An `anyOf` or `oneOf` with its own `x-mensaje` replaces the errors of its branches.
  const mudas = errores
    .filter(
      ({ keyword, parentSchema }) => ['anyOf', 'oneOf'].includes(keyword) && (parentSchema as Esquema)['x-mensaje'],
    )
    .flatMap(({ schema, schemaPath, instancePath }) => {
      const referidas = (schema as { $ref?: string }[]).flatMap(({ $ref }) => $ref ?? [])
      return [schemaPath, ...referidas].map((rama) => ({ rama: `${rama}/`, lugar: instancePath }))
    })
  const vistas = new Set<string>()
  const dichas: Falla[] = []
  let revisados = 0
  for (const error of errores) {
    if (dichas.length === maximo) break
    revisados++
    // Ajv reports a wrong key twice: by the rule that it breaks, and as a summary without a text.
    if (error.keyword === 'propertyNames') continue
    if (mudas.some(({ rama, lugar }) => error.schemaPath.includes(rama) && error.instancePath === lugar)) continue
    const falla = explicarUno(error)
    const clave = `${falla.campo}\n${falla.mensaje}`
    if (!vistas.has(clave)) dichas.push(falla)
    vistas.add(clave)
  }
  return { dichas, omitidas: errores.length - revisados }
}

function explicarUno(error: ErrorObject): Falla {
  const { keyword, params, data } = error
  const esquema = (error.parentSchema ?? {}) as Esquema
  const falla = (campo: string, mensaje: string): Falla => ({
    campo: recortar(campo, 300),
    codigo: CODIGOS[keyword] ?? 'valor_no_admitido',
    mensaje: recortar(mensaje, 500),
  })
  switch (keyword) {
    case 'required': {
      const clave = params.missingProperty as string
      const propio = esquema['x-mensajes-requeridos']?.[clave]
      return falla(`${error.instancePath}/${escapar(clave)}`, propio ?? 'falta; es obligatorio')
    }
    case 'dependentRequired':
      return falla(
        `${error.instancePath}/${escapar(params.missingProperty)}`,
        `falta: ${params.property} y ${params.missingProperty} van juntas`,
      )
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const clave = (params.additionalProperty ?? params.unevaluatedProperty) as string
      return falla(`${error.instancePath}/${escapar(clave)}`, desconocido(clave, Object.keys(esquema.properties ?? {})))
    }
    case 'type':
      if (data === null)
        return falla(
          error.instancePath,
          `no puede ser null; ${esquema['x-telefono'] ? esquema['x-mensaje'] : 'si no tiene valor, omita el campo'}`,
        )
      return falla(
        error.instancePath,
        esquema['x-mensaje'] ??
          `debe ser ${[params.type]
            .flat()
            .map((t: string) => TIPOS[t] ?? t)
            .join(' o ')}`,
      )
    case 'x-telefono':
      return falla(error.instancePath, error.message!)
    case 'format': {
      const formato = FORMATS[params.format as string]
      return falla(
        error.instancePath,
        formato && typeof data === 'string'
          ? formato.explicar(data)
          : (esquema['x-mensaje'] ?? 'no tiene la forma esperada'),
      )
    }
    default: {
      const { propertyName: clave } = error
      const lugar = clave === undefined ? error.instancePath : `${error.instancePath}/${escapar(clave)}`
      return falla(lugar, esquema['x-mensaje'] ?? generico(keyword, params, esquema))
    }
  }
}

function generico(keyword: string, params: Record<string, unknown>, esquema: Esquema): string {
  switch (keyword) {
    case 'enum':
      return `debe ser uno de: ${(esquema.enum as unknown[]).join(', ')}`
    case 'const':
      return `debe ser ${String(params.allowedValue)}`
    case 'minLength':
      return params.limit === 1
        ? 'no puede estar vacío; si no tiene valor, omita el campo'
        : `debe tener ${params.limit} caracteres o más`
    case 'maxLength':
      return `debe tener ${params.limit} caracteres o menos`
    case 'minItems':
      return `debe tener ${params.limit} elementos o más`
    case 'maxItems':
      return `debe tener ${params.limit} elementos o menos`
    case 'minimum':
      return `debe ser ${params.limit} o más`
    case 'maximum':
      return `debe ser ${params.limit} o menos`
    case 'uniqueItems':
      return 'no puede tener elementos repetidos'
    default:
      return 'no vale; compare el campo con la documentación'
  }
}

function desconocido(clave: string, conocidas: readonly string[], que = 'no existe'): string {
  const parecida = buscarParecida(clave, conocidas)
  return parecida ? `${que}; ¿quiso decir ${parecida}?` : `${que}; los campos son: ${conocidas.join(', ')}`
}

const buscarParecida = (clave: string, conocidas: readonly string[]) =>
  conocidas.find((otra) => seParecen(clave.toLowerCase(), otra, Math.max(1, Math.floor(otra.length / 4))))

/** Returns the warning for an unknown member that need not fail the request. */
export const unknownMemberFault = (clave: string, conocidas: readonly string[]): Advertencia => ({
  codigo: 'campo_desconocido',
  campo: recortar(`/${escapar(clave)}`, 300),
  mensaje: recortar(desconocido(clave, conocidas, 'no existe y no se tomó en cuenta'), 500),
  sugerencia: buscarParecida(clave, conocidas) ?? null,
})

/**
 * Reports whether the Levenshtein distance of two texts is at most `cuantas`. Texts whose lengths differ by more are
 * not compared.
 */
function seParecen(a: string, b: string, cuantas: number): boolean {
  if (Math.abs(a.length - b.length) > cuantas) return false
  let fila = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letra] of [...a].entries()) {
    const siguiente = [i + 1]
    for (let j = 1; j <= b.length; j++) {
      siguiente[j] = Math.min(fila[j]! + 1, siguiente[j - 1]! + 1, fila[j - 1]! + (letra === b[j - 1] ? 0 : 1))
    }
    fila = siguiente
  }
  return fila[b.length]! <= cuantas
}

/**
 * Returns the fault of a refused parameter. `parametro` is undefined if the operation has no parameter of that name.
 */
export function explainParameter(
  nombre: string,
  parametro: ContractParameter | undefined,
  valor: unknown,
  declarados: readonly ContractParameter[],
): Falla {
  if (!parametro) {
    const consulta = declarados.filter((p) => p.in === 'query').map((p) => p.name)
    const mensaje =
      consulta.length > 0 ? desconocido(nombre, consulta) : 'no existe; esta operación no tiene parámetros de consulta'
    return { campo: recortar(nombre, 300), codigo: 'desconocido', mensaje: recortar(mensaje, 500) }
  }
  const esquema = parametro.schema as Esquema
  if (valor === undefined) return { campo: nombre, codigo: 'requerido', mensaje: 'falta; es obligatorio' }
  if (Array.isArray(valor) && esquema.type !== 'array') {
    return { campo: nombre, codigo: 'valor_no_admitido', mensaje: 'va una sola vez' }
  }
  if (valor === '')
    return { campo: nombre, codigo: 'largo_invalido', mensaje: 'no puede estar vacío; si no lo necesita, omítalo' }
  const formato = FORMATS[esquema.format as string]
  const elementos = (esquema.items as Esquema | undefined)?.enum ?? esquema.enum
  const mensaje =
    formato && typeof valor === 'string' && !formato.validate(valor)
      ? formato.explicar(valor)
      : (esquema['x-mensaje'] ??
        (elementos
          ? `debe ser uno de: ${(elementos as unknown[]).join(', ')}${esquema.type === 'array' ? ', sin repetir' : ''}`
          : 'no tiene la forma esperada'))
  const codigo = elementos ? 'valor_no_admitido' : esquema.type === 'integer' ? 'fuera_de_rango' : 'formato_invalido'
  return { campo: nombre, codigo, mensaje: recortar(mensaje, 500) }
}
