import type { Operaciones } from '../../generated/contract/operations.ts'
import type {
  Alcance,
  AlcanceDeOperacion,
  AlcanceDePersona,
  Cuenta,
  Modo,
} from '../../generated/contract/types/index.ts'
import type { NetworkRange } from './network.ts'

/** Members that a caller's identity has in addition if the caller is a person with a session and not a key. */
interface OfPersona {
  /** Public code of the person: per_… Undefined for a real key. */
  persona?: string
  /** Time of the last proof of the person's presence. */
  presencia_en?: Date
}

/**
 * Data of the caller, by security scheme of the contract. A scheme without an entry is a compile error in
 * {@link Authenticators}.
 */
export interface Identities {
  /** Merchant account of the key, read at most half a second ago, and the key's id. */
  llaveDeComercio: OfPersona &
    Readonly<Omit<Cuenta, 'alcances' | 'vence_en' | 'evidencia' | 'politica_de_intentos' | 'advertencias'>> & {
      comercioId: string
      llave: string
      alcances: readonly Alcance[]
      vence_en: Date | null
      /** Networks from which the key is admitted; empty: any network. */
      ranges: readonly NetworkRange[]
      /** True for a demonstration key, which is valid only on the service's own machine. */
      demostracion: boolean
    }
  llaveDeOperacion: OfPersona & {
    operadorId: string
    /** Public code of the operator: op_… */
    operador: string
    llave: string
    alcances: readonly AlcanceDeOperacion[]
    ranges: readonly NetworkRange[]
    demostracion: boolean
  }
  sesionDePersona: {
    personaId: string
    /** Public code of the person: per_… */
    persona: string
    nombre: string
    correo: string
    /** Digest of the session's token. */
    sesion: Uint8Array
    /** Public code of the session: ses_… */
    codigo: string
    /** Public code of the membership with which the session acts: mem_… */
    membresia: string
    /** Mode (test or live) of the data on which a merchant's person works. */
    modo: Modo
    /** Network of the sign-in, too wide to identify a person; null if unknown. */
    red: string | null
    creado_en: Date
    vence_en: Date
    /** End of the session unless somebody uses it, at most `vence_en`. */
    inactiva_en: Date
    /** Column `ambito` of the membership, and its scopes. */
    ambito: string
    permissions: readonly AlcanceDePersona[]
    /** Time of the last proof of the person's presence. */
    presencia_en: Date
    /** True if the session still lacks its second factor, so that it may call only few operations. */
    lacksSecondFactor: boolean
    demostracion: boolean
    /** Key with the scopes of the membership; undefined if its merchant no longer exists. */
    membresiaLlave: Identities['llaveDeComercio' | 'llaveDeOperacion'] | undefined
  }
  sesionDeRepartidor: {
    repartidorId: string
    /** Public code of the courier: rep_… */
    repartidor: string
    nombre: string
    /** Digest of the session's token, which identifies the courier's session. */
    sesion: Uint8Array<ArrayBuffer>
    vence_en: Date
    demostracion: boolean
  }
}

/** Security scheme of the contract. */
export type SecurityScheme = NonNullable<Operaciones[keyof Operaciones]['seguridad']>
/** Data of the caller under any security scheme. */
export type Identity = Identities[SecurityScheme]

/**
 * Function that runs the look-up of a credential that this process does not know yet.
 * @throws Problema 429 if it refuses to run the look-up
 */
export type LookUp = <T>(read: () => Promise<T>) => Promise<T>

/**
 * Authenticators by security scheme. Each turns a presented key or token into the caller's data. The result is
 * undefined for a credential of another scheme and for a credential that is not valid now.
 */
export type Authenticators = {
  readonly [E in SecurityScheme]: (presented: string, lookUp?: LookUp) => Promise<Identities[E] | undefined>
} & {
  /**
   * Reports whether a text belonged to a valid key or session when this process last looked it up. That key or session
   * may have ended since; the next look-up finds that out.
   */
  knows(presented: string): boolean
  /** Returns the public id of a well-formed key (llave_…), valid or not; undefined for another text. */
  identify(presented: string): string | undefined
}
