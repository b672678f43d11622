import type { Identities } from '../../api/http/identity.ts'
import { type Query, statement } from '../../data/db.ts'
import type { operador } from '../../generado/contrato/prisma/client.ts'
import { aprobacionCerrada, type ContenidoGuardado } from '../aprobaciones/aprobacion.ts'
import type { Anotacion } from '../bitacora/bitacora.ts'
import {
  estaVigente,
  exigirAlcancesPropios,
  exigirLlave,
  finDelSolapamiento,
  guardarLlaveDeOperador,
  loQuePuede,
  vencerLlave,
} from '../llaves/llave.ts'
import { alcancesDeEmpresa } from './persona.ts'

const OPERADOR = statement<Pick<operador, 'operador'>, Pick<operador, 'id' | 'revocado_en'>>(
  'equipo.operadorDeLlave',
  'select id, revocado_en from operador where operador = :operador',
)

/** Scopes that the person who decides may not give, because it does not have them. */
export const REMEDIO_DE_APROBAR = 'Que decida quien los tenga todos.'

interface Aprobada {
  ahora: Date
  identidad: Pick<Identities['llaveDeOperacion'], 'alcances'>
  contenido: ContenidoGuardado
}

/**
 * Stores an approved key, with the digest of the secret that the person who asked already has.
 * @throws Problema 403 if the person who decides lacks a scope; 409 if the operator was revoked or the key has expired
 */
export async function crearLlaveAprobada(
  consultar: Query,
  { ahora, identidad, contenido }: Aprobada,
): Promise<Omit<Anotacion, 'accion'>> {
  const { operador, id, redes, ...llave } = contenido.llave!
  const alcances = alcancesDeEmpresa(contenido.alcances)
  exigirAlcancesPropios(identidad, alcances, REMEDIO_DE_APROBAR)
  const [fila] = await consultar(OPERADOR, { operador })
  if (!fila || fila.revocado_en) throw aprobacionCerrada('El operador de la llave fue revocado.')
  const vence_en = llave.vence_en === null ? null : new Date(llave.vence_en)
  if (vence_en && vence_en <= ahora) throw aprobacionCerrada('La llave ya habría vencido.')
  const de = { operadorId: fila.id, operador, alcances, vence_en, redes: [...redes] }
  const hash = new Uint8Array(Buffer.from(contenido.secreto!.hash, 'base64'))
  const nueva = { id: id.replace(/^llave_/, ''), hash, llave: '' }
  const creada = await guardarLlaveDeOperador({ consultar }, ahora, de, nueva)
  return { sobre: ['llave', creada.id], despues: { operador, ...loQuePuede(creada) } }
}

/**
 * Stores an approved key that replaces another one. The replaced key stays valid for the hours of the overlap.
 * @throws Problema 403 if the person who decides lacks a scope; 409 if the replaced key has already ended
 */
export async function rotarLlaveAprobada(consultar: Query, de: Aprobada): Promise<Omit<Anotacion, 'accion'>> {
  const { llave, secreto } = de.contenido
  const vieja = await exigirLlave({ consultar }, llave!.rota!)
  if (!estaVigente(vieja, de.ahora)) throw aprobacionCerrada('La llave que se iba a rotar ya no vale.')
  await crearLlaveAprobada(consultar, de)
  const despues = await vencerLlave(consultar, vieja, finDelSolapamiento(de.ahora, secreto!.solapamiento_horas))
  return {
    sobre: ['llave', llave!.rota!],
    antes: { vence_en: vieja.vence_en },
    despues: { ...despues, nueva: llave!.id },
  }
}
