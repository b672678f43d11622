import type { ValidateFunction } from 'ajv'
import type { Request, RequestHandler } from 'express'
import type { Advertencia, Falla } from '../../generado/contrato/tipos/index.ts'
import { CUERPOS, ESQUEMAS } from '../../generado/contrato/validadores.mjs'
import { MAX_FAULTS, MAX_WARNINGS, problemOfFaults } from '../../platform/errors.ts'
import type { OpenApiDocument, Operation, OperationId } from './contract.ts'
import type { Explainer } from './explainer.ts'
import { explainParameter, type Faults, unknownMemberFault } from './faults.ts'
import type { WithoutNulls } from './nulls.ts'
import { isWellWritten, type ParameterRejection, ParameterValidators } from './parameters.ts'
import { bodyRef, forInput, schemaRef } from './schemas.ts'
import type { PhoneContext } from './telephones.ts'

/** Validation of requests by the contract. */
export interface Validation {
  /**
   * Loads the validators and the explainer, and finds an operation in express-openapi-validator. Called once for each
   * operation, before any request.
   */
  preparar(operacion: Operation): Promise<void>
  /**
   * Returns the middlewares that run before an operation's handler. express-openapi-validator checks the parameters,
   * and the compiled validator checks the body. Each middleware refuses only faults of its own part.
   */
  validar(operacion: Operation): RequestHandler[]
  /** Returns the faults of a body that the validator refused. */
  explicarCuerpo(operacion: Operation, cuerpo: unknown, remitente?: PhoneContext): Faults
  /** Returns the faults of a request's parameters. Called after the validator has refused at least one of them. */
  explicarParametros(
    operacion: Operation,
    rechazo: ParameterRejection,
    valores: Readonly<Record<string, unknown>>,
  ): Faults
  /** Returns a validator of one component schema, for operations that check values themselves. */
  validador(esquema: keyof typeof ESQUEMAS): BodyValidator
  /** Returns the warnings for members of a value that its component schema does not know. */
  advertirDesconocidos(esquema: string, valor: object): Advertencia[]
  /**
   * Requires a valid body of an operation, for callers that do not use HTTP.
   * @throws Problema 422
   */
  exigirCuerpo(operacion: OperationId, cuerpo: unknown): Promise<void>
}

/** Validator of one component schema. */
export interface BodyValidator {
  /** Returns the value, without the nulls that count as absent; undefined if the value is invalid. */
  admit(value: unknown, sender: PhoneContext): WithoutNulls | undefined
  /** Returns the faults of an invalid value, at most `maximo`. */
  explicar(valor: unknown, maximo: number, remitente: PhoneContext): Faults
}

/** Creates the checks of bodies. They explain the faults of a body with a module that `cargar` loads. */
function createBodyChecks(original: OpenApiDocument) {
  // Loaded with the first prepared operation, after the process is ready, because the module brings a compiler along.
  let cargado: Promise<Explainer> | undefined
  let explicador: Explainer | undefined
  const cargar = () => {
    cargado ??= import('./explainer.ts').then(({ Explainer: Clase }) => {
      explicador = new Clase(() => forInput(original))
      return explicador
    })
    return cargado
  }
  const yaCargado = () => {
    if (!explicador) throw new Error('no operation was prepared for validation')
    return explicador
  }
  /**
   * Returns a value that its compiled validator accepts as it is, or without the nulls that count as absent; undefined
   * if the validator refuses both.
   */
  const admit = (
    isValid: ValidateFunction,
    ref: string,
    value: unknown,
    sender: PhoneContext | undefined,
    nullIsAbsent = true,
  ): WithoutNulls | undefined => {
    if (isValid.call(sender, value)) return { value, nulls: NO_NULLS }
    if (!nullIsAbsent) return undefined
    const stripped = yaCargado().withoutNulls(ref, value)
    return stripped.nulls.length > 0 && isValid.call(sender, stripped.value) ? stripped : undefined
  }
  /** Returns the faults of a value that {@link admit} refused. Its absent nulls are not among them. */
  const explain = (
    ref: string,
    value: unknown,
    maximum: number,
    sender: PhoneContext | undefined,
    nullIsAbsent = true,
  ) => {
    const explainer = yaCargado()
    return explainer.faults(ref, nullIsAbsent ? explainer.withoutNulls(ref, value).value : value, maximum, sender)
  }
  return { cargar, yaCargado, admit, explain }
}

/** Creates the validation of requests by the contract. */
export function createValidation(original: OpenApiDocument, operaciones: readonly Operation[]): Validation {
  const { cargar, yaCargado, admit, explain } = createBodyChecks(original)
  const parametros = new ParameterValidators(operaciones)

  const revisarParametro = (operacion: Operation, nombre: string, valor: unknown): Falla[] => {
    const parametro = operacion.parametros.find(({ name }) => name === nombre)
    const valido =
      parametro &&
      isWellWritten(parametro, valor) &&
      (valor === undefined ? !parametro.required : valor !== '' && yaCargado().admits(parametro, valor))
    return valido ? [] : [explainParameter(nombre, parametro, valor, operacion.parametros)]
  }

  const validacion: Validation = {
    async preparar(operacion) {
      await Promise.all([parametros.prepare(operacion), cargar()])
    },
    validar(operacion) {
      const compilado = CUERPOS[operacion.id]
      const ref = compilado && bodyRef(operacion)
      const juez = ref
        ? [createJudge(operacion, (body, sender) => admit(compilado, ref, body, sender, isNullAbsent(operacion)))]
        : []
      // Without declared parameters, the validator of the body is enough. `exigirConsulta` has already refused unknown
      // names.
      return compilado && operacion.parametros.length === 0 ? juez : [parametros.judge(operacion), ...juez]
    },
    explicarCuerpo: (operacion, cuerpo, remitente) =>
      cuerpo === undefined
        ? SIN_CUERPO
        : explain(bodyRef(operacion), cuerpo, MAX_FAULTS, remitente, isNullAbsent(operacion)),
    explicarParametros(operacion, rechazo, valores) {
      const declarados = operacion.parametros.map(({ name }) => name)
      const ajenos = Object.keys(valores).filter((nombre) => !declarados.includes(nombre))
      // The client controls the number of unknown names. The first of them are explained, and the others only counted.
      const revisados = [...declarados, ...ajenos.slice(0, MAX_FAULTS)]
      const dichas = revisados.flatMap((nombre) => revisarParametro(operacion, nombre, valores[nombre]))
      if (dichas.length > 0) return { dichas, omitidas: Math.max(0, ajenos.length - MAX_FAULTS) }
      // The validator found a fault that this code does not find. The answer then repeats the place that the validator
      // named.
      const halladas = (rechazo.errors ?? []).slice(0, MAX_FAULTS).map(({ path }) => ({
        campo: (path.split('/')[2] ?? path).slice(0, 300),
        codigo: 'formato_invalido' as const,
        mensaje: 'no tiene la forma esperada',
      }))
      return { dichas: halladas, omitidas: (rechazo.errors ?? []).length - halladas.length }
    },
    validador(esquema) {
      const isValid = ESQUEMAS[esquema]
      const ref = schemaRef(esquema)
      return {
        admit: (value, sender) => admit(isValid, ref, value, sender),
        explicar: (valor, maximo, remitente) => explain(ref, valor, maximo, remitente),
      }
    },
    advertirDesconocidos(esquema, valor) {
      const conocidos = Object.keys(original.components.schemas[esquema]!.properties!)
      const sobran = Object.keys(valor).filter((miembro) => !conocidos.includes(miembro))
      return sobran.slice(0, MAX_WARNINGS).map((miembro) => unknownMemberFault(miembro, conocidos))
    },
    async exigirCuerpo(id, cuerpo) {
      await cargar()
      const operacion = operaciones.find((o) => o.id === id)!
      const { dichas, omitidas } = validacion.explicarCuerpo(operacion, cuerpo)
      if (dichas.length > 0) throw problemOfFaults('validacion', dichas, omitidas)
    },
  }
  return validacion
}

const SIN_CUERPO: Faults = {
  dichas: [{ campo: '', codigo: 'requerido', mensaje: 'falta el cuerpo: un objeto JSON' }],
  omitidas: 0,
}

const NO_NULLS: readonly string[] = []

/** Reports whether a null counts as absent in an operation's body. In a correction it clears the member instead. */
const isNullAbsent = ({ metodo }: Operation) => metodo !== 'patch'

/**
 * Creates the middleware that validates a body by its schema, which was compiled when the server was generated. The
 * schema's defaults are filled in. A refusal is explained in the same way as express-openapi-validator's refusals.
 */
const createJudge = (
  operacion: Operation,
  admit: (body: unknown, sender: PhoneContext | undefined) => WithoutNulls | undefined,
): RequestHandler => {
  const refused = () => Object.assign(new Error('the body is invalid'), { status: 400, errors: [{ path: '/body' }] })
  return (req, _res, next) => {
    if (req.body === undefined) return next(operacion.cuerpoObligatorio ? refused() : undefined)
    const admitted = admit(req.body, phoneContextOf(req))
    if (!admitted) return next(refused())
    if (admitted.nulls.length > 0) {
      req.body = admitted.value
      req.solicitud.nulls = admitted.nulls
    }
    next()
  }
}

/** Returns the caller of a request; undefined before authentication, as in the self-check. */
export const phoneContextOf = ({ solicitud }: Request): PhoneContext | undefined =>
  solicitud?.identidad as PhoneContext | undefined
