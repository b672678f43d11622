import type { Operaciones } from '../contrato/generado/operaciones.ts'
import type { Alcance } from '../contrato/generado/tipos/index.ts'

/** Who calls, by the contract's security scheme. A scheme without its entry is a compile error in `Autenticadores`. */
export interface Identidades {
  llaveDeComercio: {
    comercioId: string
    /** com_… */
    comercio: string
    modo: 'test' | 'live'
    llave: string
    alcances: readonly Alcance[]
  }
  llaveDeOperacion: {
    operadorId: string
    /** op_… */
    operador: string
    llave: string
  }
  sesionDeRepartidor: {
    repartidorId: string
    /** rep_… */
    repartidor: string
    nombre: string
    /** The digest of its token: which of the courier's sessions it is. */
    sesion: Uint8Array
    vence_en: Date
  }
}

export type Esquema = NonNullable<Operaciones[keyof Operaciones]['seguridad']>
export type Identidad = Identidades[Esquema]

/** From the presented key or token to who calls; undefined: not one of this scheme, or not valid now. Total over the contract. */
export type Autenticadores = { readonly [E in Esquema]: (presentada: string) => Promise<Identidades[E] | undefined> }
