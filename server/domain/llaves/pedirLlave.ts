import type { Query } from '../../data/db.ts'
import type { AlcanceDeOperacion, AprobacionDeLlave } from '../../generado/contrato/tipos/index.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import { type DepsDeAprobacion, type PideAprobacion, pedirAprobacion } from '../equipo/aprobable.ts'
import { llavePublica, nuevaLlave } from './llave.ts'

/** Request of a person for an operator's key. */
interface LlavePedida {
  operador: { operador: string; nombre: string }
  alcances: readonly AlcanceDeOperacion[]
  vence_en: Date | null
  redes: string[]
  /** Public identifier of the key that the new one replaces, and the hours for which both are valid. */
  rotacion?: { rota: string; solapamiento_horas: number }
}

/**
 * Opens an approval if a person asks for an operator's key with the scope `administrar`, and another person has that
 * scope, too. The person gets the whole key at once. Its row is stored only when the request is approved, so the key is
 * not valid until then.
 * @returns undefined if no approval is needed
 */
export async function pedirLlave(
  consultar: Query,
  deps: DepsDeAprobacion,
  quien: Quien & { identidad: PideAprobacion },
  { operador: { operador, nombre }, alcances, vence_en, redes, rotacion }: LlavePedida,
): Promise<AprobacionDeLlave | undefined> {
  if (!alcances.includes('administrar')) return undefined
  const { id, hash, llave } = nuevaLlave('oper')
  const { rota = null, solapamiento_horas = 0 } = rotacion ?? {}
  const aprobacion = await pedirAprobacion(consultar, deps, quien, {
    accion: rotacion ? 'rotarLlave' : 'crearLlaveDeOperador',
    tipo: rotacion ? 'rotar_llave' : 'crear_llave',
    contenido: {
      correo: null,
      nombre,
      persona: null,
      membresia: null,
      alcances: [...alcances],
      llave: { id: llavePublica(id), operador, redes, vence_en: vence_en?.toISOString() ?? null, rota },
      secreto: { hash: Buffer.from(hash).toString('base64'), solapamiento_horas },
    },
  })
  return aprobacion && { ...aprobacion, llave }
}
