import type { ValidateFunction } from 'ajv'
import type { Request, RequestHandler } from 'express'
import { MAXIMO_DE_ADVERTENCIAS, MAXIMO_DE_FALLAS, problemaDeFallas } from '../errores.ts'
import type { Documento, Operacion, OperationId } from './contrato.ts'
import { deEntrada, refDelCuerpo, refDelEsquema } from './esquemas.ts'
import type { Explicador } from './explicador.ts'
import { advertirDesconocido, explicarParametro, type Fallas } from './fallas.ts'
import type { Advertencia, Falla } from './generado/tipos/index.ts'
import { CUERPOS, ESQUEMAS } from './generado/validadores.mjs'
import { bienEscrito, Parametros, type Rechazo } from './parametros.ts'
import type { Remitente } from './telefonos.ts'

export interface Validacion {
  /** Loads what judges and explains, and looks an operation up in express-openapi-validator: once, before any request. */
  preparar(operacion: Operacion): Promise<void>
  /**
   * Middlewares that stand before an operation's handler: express-openapi-validator's for its parameters, and the compiled
   * judge of its body. Each refuses what is wrong with its part alone.
   */
  validar(operacion: Operacion): RequestHandler[]
  /** The faults of a body, once the validator has refused it. */
  explicarCuerpo(operacion: Operacion, cuerpo: unknown, remitente?: Remitente): Fallas
  /** The faults of the parameters, once the validator has refused one. */
  explicarParametros(operacion: Operacion, rechazo: Rechazo, valores: Readonly<Record<string, unknown>>): Fallas
  /** A validator of one component schema, for what the operation checks by itself. */
  validador(esquema: keyof typeof ESQUEMAS): Validador
  /** The warnings for the members of a value that its component schema doesn't know. */
  advertirDesconocidos(esquema: string, valor: object): Advertencia[]
  /**
   * @throws Problema 422 unless the value is a valid body of that operation (for callers that don't come over HTTP).
   */
  exigirCuerpo(operacion: OperationId, cuerpo: unknown): Promise<void>
}

export interface Validador {
  vale(valor: unknown, remitente: Remitente): boolean
  /** Why it isn't valid; at most `maximo` faults are told. */
  explicar(valor: unknown, maximo: number, remitente: Remitente): Fallas
}

export function crearValidacion(original: Documento, operaciones: readonly Operacion[]): Validacion {
  // Loaded with the first operation that is prepared, after the process is ready: both bring compilers along.
  let cargado: Promise<Explicador> | undefined
  let explicador: Explicador | undefined
  const cargar = () => {
    cargado ??= import('./explicador.ts').then(({ Explicador: Clase }) => {
      explicador = new Clase(() => deEntrada(original))
      return explicador
    })
    return cargado
  }
  const yaCargado = () => {
    if (!explicador) throw new Error('no operation was prepared')
    return explicador
  }
  const parametros = new Parametros(operaciones)

  const revisarParametro = (operacion: Operacion, nombre: string, valor: unknown): Falla[] => {
    const parametro = operacion.parametros.find(({ name }) => name === nombre)
    const valido =
      parametro &&
      bienEscrito(parametro, valor) &&
      (valor === undefined ? !parametro.required : valor !== '' && yaCargado().admite(parametro, valor))
    return valido ? [] : [explicarParametro(nombre, parametro, valor, operacion.parametros)]
  }

  const validacion: Validacion = {
    async preparar(operacion) {
      await Promise.all([parametros.preparar(operacion), cargar()])
    },
    validar(operacion) {
      const compilado = CUERPOS[operacion.id]
      const juez = compilado ? [crearJuez(operacion, compilado)] : []
      // Names that no parameter has are refused before (`exigirConsulta`).
      return compilado && operacion.parametros.length === 0 ? juez : [parametros.juzgar(operacion), ...juez]
    },
    explicarCuerpo: (operacion, cuerpo, remitente) =>
      cuerpo === undefined
        ? SIN_CUERPO
        : yaCargado().fallas(refDelCuerpo(operacion), cuerpo, MAXIMO_DE_FALLAS, remitente),
    explicarParametros(operacion, rechazo, valores) {
      const declarados = operacion.parametros.map(({ name }) => name)
      const ajenos = Object.keys(valores).filter((nombre) => !declarados.includes(nombre))
      // Whoever calls chooses how many there are: the first few are explained, the others counted.
      const revisados = [...declarados, ...ajenos.slice(0, MAXIMO_DE_FALLAS)]
      const dichas = revisados.flatMap((nombre) => revisarParametro(operacion, nombre, valores[nombre]))
      if (dichas.length > 0) return { dichas, omitidas: Math.max(0, ajenos.length - MAXIMO_DE_FALLAS) }
      // The validator found what we don't: name what it named.
      const halladas = (rechazo.errors ?? []).slice(0, MAXIMO_DE_FALLAS).map(({ path }) => ({
        campo: (path.split('/')[2] ?? path).slice(0, 300),
        codigo: 'formato_invalido' as const,
        mensaje: 'no tiene la forma esperada',
      }))
      return { dichas: halladas, omitidas: (rechazo.errors ?? []).length - halladas.length }
    },
    validador(esquema) {
      const vale = ESQUEMAS[esquema]
      return {
        vale: (valor, remitente) => vale.call(remitente, valor) === true,
        explicar: (valor, maximo, remitente) => yaCargado().fallas(refDelEsquema(esquema), valor, maximo, remitente),
      }
    },
    advertirDesconocidos(esquema, valor) {
      const conocidos = Object.keys(original.components.schemas[esquema]!.properties!)
      const sobran = Object.keys(valor).filter((miembro) => !conocidos.includes(miembro))
      return sobran.slice(0, MAXIMO_DE_ADVERTENCIAS).map((miembro) => advertirDesconocido(miembro, conocidos))
    },
    async exigirCuerpo(id, cuerpo) {
      await cargar()
      const operacion = operaciones.find((o) => o.id === id)!
      const { dichas, omitidas } = validacion.explicarCuerpo(operacion, cuerpo)
      if (dichas.length > 0) throw problemaDeFallas('validacion', dichas, omitidas)
    },
  }
  return validacion
}

const SIN_CUERPO: Fallas = {
  dichas: [{ campo: '', codigo: 'requerido', mensaje: 'falta el cuerpo: un objeto JSON' }],
  omitidas: 0,
}

/**
 * Judges a body by its schema, compiled when the server was generated; it puts in what the schema says of what is left out.
 * What is refused is explained as express-openapi-validator's refusals are.
 */
const crearJuez =
  ({ cuerpoObligatorio }: Operacion, vale: ValidateFunction): RequestHandler =>
  (req, _res, next) => {
    const admitido = req.body === undefined ? !cuerpoObligatorio : vale.call(remitenteDe(req), req.body)
    if (admitido) next()
    else next(Object.assign(new Error('the body is refused'), { status: 400, errors: [{ path: '/body' }] }))
  }

/** Whose request it is; before anybody is known, as in the self-check, nobody's. */
export const remitenteDe = ({ solicitud }: Request): Remitente | undefined =>
  solicitud?.identidad as Remitente | undefined
