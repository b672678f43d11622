import { type Query, statement } from '../../data/db.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { FilaEvento } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/campos.ts'
import { type Cambios, cifrarCambios, descifrarCambios } from '../guias/correcciones.ts'

// Corrections of a guide, as the export and the erasure of a person read and replace them.

export type ClaveDeGuia = Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id'>

/** Correction of a guide with its decrypted values. */
export type Corregida = { secuencia: number; registrado_en: Date; cambios: Cambios }

const CORRECCIONES = statement<ClaveDeGuia, Pick<FilaEvento, 'secuencia' | 'cambios' | 'registrado_en'>>(
  'personas.correcciones',
  `select secuencia, cambios, registrado_en from evento
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and cambios is not null order by secuencia`,
)

/** Decrypted corrections of a guide. A correction that no master key decrypts has no values. */
export async function leerCorrecciones(consultar: Query, secretos: Secrets, clave: ClaveDeGuia): Promise<Corregida[]> {
  const filas = await consultar(CORRECCIONES, clave)
  return filas.map(({ secuencia, cambios, registrado_en }) => ({
    secuencia,
    registrado_en,
    cambios: legibles(secretos, { guia_id: clave.guia_id, secuencia }, cambios!),
  }))
}

/** Decrypted values of a correction; none if no master key decrypts them. */
export function legibles(
  secretos: Secrets,
  evento: { guia_id: string; secuencia: number },
  cifrado: Uint8Array,
): Cambios {
  try {
    return descifrarCambios(secretos, evento, cifrado)
  } catch {
    return {}
  }
}

const TOMAR = statement<ClaveDeGuia, FilaGuia>(
  'personas.tomarGuia',
  `select * from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id for update`,
)

/** Locks a guide and returns its row. */
export const tomarGuia = async (consultar: Query, clave: ClaveDeGuia): Promise<FilaGuia> =>
  (await consultar(TOMAR, clave))[0]!

const GUARDAR_CAMBIOS = statement<ClaveDeGuia & { secuencia: number; cambios: Buffer }>(
  'personas.guardarCambios',
  `update evento set cambios = :cambios
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia = :secuencia`,
)

/** Replaces the values of a correction. */
export const guardarCambios = (
  consultar: Query,
  secretos: Secrets,
  clave: ClaveDeGuia & { secuencia: number },
  cambios: Cambios,
): Promise<unknown> => consultar(GUARDAR_CAMBIOS, { ...clave, cambios: cifrarCambios(secretos, clave, cambios) })
