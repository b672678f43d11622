import type { ValidateFunction } from 'ajv'
import type { Request, RequestHandler } from 'express'
import type { Advertencia, Falla } from '../../generated/contract/types/index.ts'
import { BODY_VALIDATORS, SCHEMA_VALIDATORS } from '../../generated/contract/validators.mjs'
import { MAX_FAULTS, MAX_WARNINGS, problemOfFaults } from '../../platform/errors.ts'
import type { OpenApiDocument, Operation, OperationId } from './contract.ts'
import type { Explainer } from './explainer.ts'
import { explainParameter, type Faults, unknownMemberFault } from './faults.ts'
import type { WithoutNulls } from './nulls.ts'
import { isWellWritten, judgeParameters, mountOpenApiValidator, type ParameterRejection } from './parameters.ts'
import { bodyRef, forInput, schemaRef } from './schemas.ts'
import type { PhoneContext } from './telephones.ts'

/** Validation of requests by the contract. */
export interface Validation {
  /** Loads express-openapi-validator and the explainer of faults, which most requests do not need. */
  load(): Promise<void>
  /** Middleware that waits for {@link load}. It goes before all others of the validation. */
  whenLoaded: RequestHandler
  /**
   * Returns the middlewares that run before an operation's handler. Each refuses only faults of its own part: first the
   * parameters, then the body.
   */
  validate(operation: Operation): RequestHandler[]
  /** Returns the faults of a body that the validator refused. */
  explainBody(operation: Operation, body: unknown, sender?: PhoneContext): Faults
  /** Returns the faults of a request's parameters. Called after the validator has refused at least one of them. */
  explainParameters(
    operation: Operation,
    refusal: ParameterRejection,
    values: Readonly<Record<string, unknown>>,
  ): Faults
  /** Returns a validator of one component schema, for operations that check values themselves. */
  validatorFor(schema: keyof typeof SCHEMA_VALIDATORS): BodyValidator
  /** Returns the warnings for members of a value that its component schema does not know. */
  warnUnknownMembers(schema: string, value: object): Advertencia[]
  /**
   * Requires a valid body of an operation, for callers that do not use HTTP.
   * @throws Problema 422
   */
  requireValidBody(operation: OperationId, body: unknown): Promise<void>
}

/** Validator of one component schema. */
export interface BodyValidator {
  /** Returns the value, without the nulls that count as absent; undefined if the value is invalid. */
  admit(value: unknown, sender: PhoneContext): WithoutNulls | undefined
  /** Returns the faults of an invalid value, at most `maximum`. */
  explain(value: unknown, maximum: number, sender: PhoneContext): Faults
}

/** Creates the checks of bodies. They explain the faults of a body with a module that `loadExplainer` loads. */
function createBodyChecks(original: OpenApiDocument) {
  // Loaded after the process is ready, because the module brings a compiler along.
  let loadedExplainer: Promise<Explainer> | undefined
  let loadedInstance: Explainer | undefined
  const loadExplainer = () => {
    loadedExplainer ??= import('./explainer.ts').then(({ Explainer: ExplainerClass }) => {
      loadedInstance = new ExplainerClass(() => forInput(original))
      return loadedInstance
    })
    return loadedExplainer
  }
  const requireExplainer = () => {
    if (!loadedInstance) throw new Error('the explainer of faults was not loaded')
    return loadedInstance
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
    const stripped = requireExplainer().withoutNulls(ref, value)
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
    const explainer = requireExplainer()
    return explainer.faults(ref, nullIsAbsent ? explainer.withoutNulls(ref, value).value : value, maximum, sender)
  }
  return { loadExplainer, requireExplainer, admit, explain }
}

/** Creates the validation of requests by the contract. */
export function createValidation(original: OpenApiDocument, operations: readonly Operation[]): Validation {
  const { loadExplainer, requireExplainer, admit, explain } = createBodyChecks(original)
  let loading: Promise<void> | undefined
  let loadedValidator: RequestHandler | undefined
  const load = async () => {
    const [validator] = await Promise.all([mountOpenApiValidator(operations), loadExplainer()])
    loadedValidator = validator
  }

  const checkParameter = (operation: Operation, nombre: string, value: unknown): Falla[] => {
    const parameter = operation.parameters.find(({ name }) => name === nombre)
    const isValid =
      parameter &&
      isWellWritten(parameter, value) &&
      (value === undefined ? !parameter.required : value !== '' && requireExplainer().admits(parameter, value))
    return isValid ? [] : [explainParameter(nombre, parameter, value, operation.parameters)]
  }

  const validation: Validation = {
    load() {
      loading ??= load()
      return loading
    },
    whenLoaded(_req, _res, next) {
      if (loadedValidator) next()
      else validation.load().then(() => next(), next)
    },
    validate(operation) {
      const compiledBody = BODY_VALIDATORS[operation.id]
      const ref = compiledBody && bodyRef(operation)
      const judges = ref
        ? [createJudge(operation, (body, sender) => admit(compiledBody, ref, body, sender, isNullAbsent(operation)))]
        : []
      // Without declared parameters, the validator of the body is enough. `requireKnownQuery` has already refused unknown
      // names.
      const isBodyEnough = compiledBody && operation.parameters.length === 0
      return isBodyEnough ? judges : [judgeParameters(operation, () => loadedValidator!), ...judges]
    },
    explainBody: (operation, body, sender) =>
      body === undefined
        ? MISSING_BODY
        : explain(bodyRef(operation), body, MAX_FAULTS, sender, isNullAbsent(operation)),
    explainParameters(operation, refusal, values) {
      const declaredNames = operation.parameters.map(({ name }) => name)
      const foreignNames = Object.keys(values).filter((name) => !declaredNames.includes(name))
      // The client controls the number of unknown names. The first of them are explained, and the others only counted.
      const checkedNames = [...declaredNames, ...foreignNames.slice(0, MAX_FAULTS)]
      const listedFaults = checkedNames.flatMap((name) => checkParameter(operation, name, values[name]))
      if (listedFaults.length > 0) return { listedFaults, omittedCount: Math.max(0, foreignNames.length - MAX_FAULTS) }
      // The validator found a fault that this code does not find. The answer then repeats the place that the validator
      // named.
      const foundFaults = (refusal.errors ?? []).slice(0, MAX_FAULTS).map(({ path }) => ({
        campo: (path.split('/')[2] ?? path).slice(0, 300),
        codigo: 'formato_invalido' as const,
        mensaje: 'no tiene la forma esperada',
      }))
      return { listedFaults: foundFaults, omittedCount: (refusal.errors ?? []).length - foundFaults.length }
    },
    validatorFor(schema) {
      const isValid = SCHEMA_VALIDATORS[schema]
      const ref = schemaRef(schema)
      return {
        admit: (value, sender) => admit(isValid, ref, value, sender),
        explain: (value, maximum, sender) => explain(ref, value, maximum, sender),
      }
    },
    warnUnknownMembers(schema, value) {
      const knownMembers = Object.keys(original.components.schemas[schema]!.properties!)
      const unknownMembers = Object.keys(value).filter((member) => !knownMembers.includes(member))
      return unknownMembers.slice(0, MAX_WARNINGS).map((member) => unknownMemberFault(member, knownMembers))
    },
    async requireValidBody(id, body) {
      await loadExplainer()
      const operation = operations.find((o) => o.id === id)!
      const { listedFaults, omittedCount } = validation.explainBody(operation, body)
      if (listedFaults.length > 0) throw problemOfFaults('validacion', listedFaults, omittedCount)
    },
  }
  return validation
}

const MISSING_BODY: Faults = {
  listedFaults: [{ campo: '', codigo: 'requerido', mensaje: 'falta el cuerpo: un objeto JSON' }],
  omittedCount: 0,
}

const NO_NULLS: readonly string[] = []

/** Reports whether a null counts as absent in an operation's body. In a correction it clears the member instead. */
const isNullAbsent = ({ method }: Operation) => method !== 'patch'

/**
 * Creates the middleware that validates a body by its schema, which was compiled when the server was generated. The
 * schema's defaults are filled in. A refusal is explained in the same way as express-openapi-validator's refusals.
 */
const createJudge = (
  operation: Operation,
  admit: (body: unknown, sender: PhoneContext | undefined) => WithoutNulls | undefined,
): RequestHandler => {
  const refused = () => Object.assign(new Error('the body is invalid'), { status: 400, errors: [{ path: '/body' }] })
  return (req, _res, next) => {
    if (req.body === undefined) return next(operation.bodyRequired ? refused() : undefined)
    const admitted = admit(req.body, phoneContextOf(req))
    if (!admitted) return next(refused())
    if (admitted.nulls.length > 0) {
      req.body = admitted.value
      req.solicitud.nulls = admitted.nulls
    }
    next()
  }
}

/** Returns the caller of a request; undefined in operations that need no key. */
export const phoneContextOf = ({ solicitud }: Request): PhoneContext | undefined =>
  solicitud?.identity as PhoneContext | undefined
