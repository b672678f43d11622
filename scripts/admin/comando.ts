import { CONSOLA as NOMBRE } from '../../server/bitacora/bitacora.ts'
import { ALCANCES_DE_OPERACION } from '../../server/contrato/generado/vocabulario.ts'
import type { DepsDeOperacion } from '../../server/deps.ts'

export const OPCIONES = [
  'nombre',
  'pais',
  'estricto',
  'ritmos',
  'comercio',
  'operador',
  'modo',
  'alcances',
  'vence',
  'redes',
  'llave',
  'solapamiento',
  'telefono',
  'repartidor',
  'quien',
  'accion',
  'sobre',
  'desde',
  'hasta',
  'carpeta',
] as const
/** `si` has no value. */
export type Opcion = (typeof OPCIONES)[number] | 'si'
export type Opciones = Partial<Record<Opcion, string>>

export interface Comando {
  exige: readonly Opcion[]
  admite?: readonly Opcion[]
  /** `llaves revocar llave_…` reads as well as `--llave llave_…`. */
  objeto?: Opcion
  ejecutar: (deps: DepsDeOperacion, opciones: Opciones) => Promise<unknown>
  /** What a person is asked first, unless `--si` answers it. */
  pregunta?: (opciones: Opciones) => string
  /** Whether it needs the storage of files, wherever that is. */
  conArchivos?: true
  /** Whether its answer is a document, which is JSON for people, too. */
  documento?: true
  /** Whether what it found means that something is wrong: then it ends with 1. */
  falla?: (resultado: never) => boolean
  /** What a table for people shows of a row; left out, all of it. */
  resumir?: (fila: never) => object
}

/** The console is an operator: the operations' own handlers do its work, so that the two can't drift apart. */
export const CONSOLA = {
  path: undefined,
  query: undefined,
  body: undefined,
  identidad: {
    operadorId: '',
    operador: NOMBRE,
    llave: '',
    alcances: ALCANCES_DE_OPERACION,
    rangos: [],
    demostracion: false,
  },
  cookie: '',
  idSolicitud: NOMBRE,
  red: '',
  soloCabeceras: false,
  reenviada: () => false,
  alAbandonar: () => new AbortController().signal,
}
