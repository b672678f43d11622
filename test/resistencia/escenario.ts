import { setTimeout as dormir } from 'node:timers/promises'
import type { Arnes } from './arnes.ts'
import type { Resultado } from './libro.ts'

export interface MedidaDeEscenario {
  veces: number
  /** Of isolation: what waits behind the endpoint that hangs. Of the receiver that is down: for how long, in seconds. Of the killed worker: how many proofs. */
  tamano?: number
}

export interface Escenario {
  clave: string
  titulo: string
  /** Why it can't be tried here, in words. */
  falta?: () => Promise<string | undefined>
  correr: (medida: MedidaDeEscenario) => Promise<Resultado>
  /** For `npm test`, and for `npm run test:resistencia`. */
  ci: MedidaDeEscenario
  completo: MedidaDeEscenario
}

export const azarEntre = (menos: number, mas: number, azar = Math.random) => menos + azar() * (mas - menos)

/** A receiver that takes its time. */
export const LENTO: Arnes['receptor']['atender'] = async () => {
  await dormir(azarEntre(0, 40))
  return 204
}
