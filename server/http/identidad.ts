import type { Operaciones } from '../contrato/generado/operaciones.ts'
import type { Alcance, AlcanceDeOperacion, Cuenta } from '../contrato/generado/tipos/index.ts'
import type { Rango } from './red.ts'

/** Who calls, by the contract's security scheme; a scheme without its entry is a compile error in `Autenticadores`. */
export interface Identidades {
  /** The account that the key opens, as of half a second ago at most, and the key's id. */
  llaveDeComercio: Readonly<Omit<Cuenta, 'alcances' | 'vence_en' | 'advertencias'>> & {
    comercioId: string
    llave: string
    alcances: readonly Alcance[]
    vence_en: Date | null
    /** From where it is admitted; none: from anywhere. */
    rangos: readonly Rango[]
    /** Whether it was made for a first try, and is good on this machine alone. */
    demostracion: boolean
  }
  llaveDeOperacion: {
    operadorId: string
    /** The operator's code: op_… */
    operador: string
    llave: string
    alcances: readonly AlcanceDeOperacion[]
    rangos: readonly Rango[]
    demostracion: boolean
  }
  sesionDeRepartidor: {
    repartidorId: string
    /** The courier's code: rep_… */
    repartidor: string
    nombre: string
    /** Which of the courier's sessions calls: the digest of its token. */
    sesion: Uint8Array<ArrayBuffer>
    vence_en: Date
    demostracion: boolean
  }
}

export type Esquema = NonNullable<Operaciones[keyof Operaciones]['seguridad']>
export type Identidad = Identidades[Esquema]

/** How a credential that this process doesn't know yet is looked up; it may refuse to. @throws Problema 429 */
export type Averiguar = <T>(leer: () => Promise<T>) => Promise<T>

/**
 * By security scheme, how a presented key or token is turned into who calls; undefined for one that isn't of that
 * scheme, or isn't valid now.
 */
export type Autenticadores = {
  readonly [E in Esquema]: (presentada: string, averiguar?: Averiguar) => Promise<Identidades[E] | undefined>
} & {
  /** Whether a text was a valid key or session when this process last looked it up. */
  conoce(presentada: string): boolean
}
