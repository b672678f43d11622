import { PERSON_CHALLENGE } from '../../api/http/authenticate.ts'
import type { Identities } from '../../api/http/identity.ts'
import { type Db, inTransaction, statement } from '../../data/db.ts'
import type { sesion_persona } from '../../generado/contrato/prisma/client.ts'
import type { Modo, SesionAbierta } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { quedaInactiva } from './inactividad.ts'
import { type FilaMembresia, membresiaDesconocida } from './persona.ts'
import { venceSesion } from './sesion.ts'

type SesionPropia = Identities['sesionDePersona']

const LISTAR = statement<
  { persona_id: string; ahora: Date },
  Pick<sesion_persona, 'sesion' | 'dispositivo' | 'red' | 'creado_en' | 'vence_en' | 'inactiva_en'>
>(
  'equipo.listarSesiones',
  `select sesion, dispositivo, red, creado_en, vence_en, least(vence_en, inactiva_en) as inactiva_en from sesion_persona
   where persona_id = :persona_id and least(vence_en, inactiva_en) > :ahora order by creado_en desc, sesion`,
)

/** Returns the sessions of a person that are valid now, newest first. */
export async function leerSesiones(
  { db, reloj }: { db: Pick<Db, 'consultar'>; reloj: () => Date },
  { personaId, codigo }: Pick<SesionPropia, 'personaId' | 'codigo'>,
): Promise<SesionAbierta[]> {
  const filas = await db.consultar(LISTAR, { persona_id: personaId, ahora: reloj() })
  return filas.map(({ sesion, dispositivo, red, creado_en, vence_en, inactiva_en }) => ({
    sesion,
    actual: sesion === codigo,
    dispositivo,
    red,
    creado_en: creado_en.toISOString(),
    vence_en: vence_en.toISOString(),
    inactiva_en: inactiva_en.toISOString(),
  }))
}

const CERRAR = statement<{ persona_id: string; sesion: string }, { sesion: string }>(
  'equipo.cerrarSesion',
  'delete from sesion_persona where persona_id = :persona_id and sesion = :sesion returning sesion',
)

/** Ends one of the person's own sessions. Returns false if the person has no such session. */
export const cerrarSesionDe = (
  { db, bitacora }: Pick<Deps, 'db' | 'bitacora'>,
  quien: Quien & { identidad: SesionPropia },
  sesion: string,
  accion: string,
): Promise<boolean> =>
  inTransaction(db.central, async (consultar) => {
    const { personaId: persona_id, persona } = quien.identidad
    const [cerrada] = await consultar(CERRAR, { persona_id, sesion })
    if (!cerrada) return false
    await bitacora.anotar(consultar, quien, { accion, sobre: ['persona', persona], campos: ['sesion'] })
    return true
  })

const PROPIA = statement<{ persona_id: string; membresia: string }, Pick<FilaMembresia, 'id' | 'ambito' | 'alcances'>>(
  'equipo.membresiaPropia',
  'select id, ambito, alcances from membresia where persona_id = :persona_id and membresia = :membresia',
)

const ELEGIR = statement<{ hash: Uint8Array; membresia_id: string; modo: string; vence_en: Date; inactiva_en: Date }>(
  'equipo.elegirMembresia',
  `update sesion_persona set membresia_id = :membresia_id, modo = :modo, vence_en = :vence_en, inactiva_en = :inactiva_en
   where hash = :hash`,
)

/**
 * Switches a session to another membership of its person. The session then ends as if it had begun with that
 * membership.
 * @throws Problema 404 if the person has no such membership; 401 if the session would then already be over
 */
export async function elegir(
  { db, reloj, ajustes, bitacora }: Pick<Deps, 'db' | 'reloj' | 'ajustes' | 'bitacora'>,
  quien: Quien & { identidad: SesionPropia },
  { membresia, modo = 'live' }: { membresia: string; modo?: Modo | undefined },
): Promise<SesionPropia> {
  const { identidad } = quien
  const { personaId: persona_id, persona, sesion: hash, creado_en } = identidad
  const [suya] = await db.consultar(PROPIA, { persona_id, membresia })
  if (!suya) throw membresiaDesconocida()
  const vence_en = venceSesion(creado_en, suya.ambito)
  if (vence_en <= reloj())
    throw new Problema('sesion_invalida', 'Pasaron más de 12 horas desde que entró. Entre otra vez.', {
      cabeceras: PERSON_CHALLENGE,
    })
  const inactiva_en = quedaInactiva({ reloj, ajustes }, suya)
  await inTransaction(db.central, async (consultar) => {
    await consultar(ELEGIR, { hash, membresia_id: suya.id, modo, vence_en, inactiva_en })
    const sobre = ['persona', persona] as const
    const antes = { membresia: identidad.membresia, modo: identidad.modo }
    await bitacora.anotar(consultar, quien, { accion: 'elegirMembresia', sobre, antes, despues: { membresia, modo } })
  })
  return { ...identidad, membresia, modo, vence_en, inactiva_en }
}
