// Data of a person who hands over the parcels: the contact of a guide's pickup, present or replaced by a correction. The
// guide belongs to another recipient, whose data stays.

import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { isFinalState } from '../estados/estados.ts'
import type { CorrectionChanges } from '../records/correccionCipher.ts'
import { type GuiaRow, guiaKeyOf, type StoredRecogida } from '../records/guiaFields.ts'
import {
  type DatedCorreccion,
  type GuiaKey,
  lockGuia,
  readCorrecciones,
  saveChanges,
  toReadable,
} from './correccionesOfPersona.ts'
import {
  de,
  deleteAnswersSql,
  ERASED_RECOGIDA,
  ERASED_RECOGIDA_SQL,
  FIRST_ID,
  HAS_ENDED,
  inEachPart,
  type PersonQuery,
} from './persona.ts'

/**
 * Maximum number of guides that one statement scans. No index has the telephone of a pickup: it would cost each creation,
 * and only these rare requests would use it.
 */
const MAX_SCANNED_GUIAS = 2_000
/** Maximum number of guides per transaction. */
const GUIAS_PER_TRANSACTION = 100

type RecogidaGuiaRow = Pick<GuiaRow, 'comercio_id' | 'modo' | 'id' | 'guia' | 'recogida'> & {
  comercio: string
  nombre: string
  terminada: boolean
  /** Corrections in the order of their events; null if there are none. */
  correcciones: { secuencia: number; registrado_en: string; cambios: string }[] | null
}

/**
 * Scans the next guides. Returns those with this telephone in the pickup or with corrections, which are encrypted, and
 * the last guide of the scan.
 */
const GUIAS = statement<PersonQuery & { desde: string }, RecogidaGuiaRow>(
  'personas.pickupContacts',
  'part',
  `with v as materialized (
     select comercio_id, modo, id, guia, recogida, ultima_correccion, ${HAS_ENDED} as terminada from guia
     where (:comercio_id::uuid is null or comercio_id = :comercio_id) and id > :desde order by id limit ${MAX_SCANNED_GUIAS}
   )
   select v.comercio_id, v.modo, v.id, v.guia, v.recogida, v.terminada, c.comercio, c.nombre,
     (select json_agg(json_build_object('secuencia', e.secuencia, 'registrado_en', e.registrado_en,
         'cambios', encode(e.cambios, 'base64')) order by e.secuencia)
       from evento e where ${de('e')} and e.cambios is not null) as correcciones
   from v join comercio c on c.id = v.comercio_id
   where v.recogida ->> 'telefono' = :telefono or v.ultima_correccion is not null
     or v.id = (select u.id from v u order by u.id desc limit 1)
   order by v.id`,
)

/** Guide in whose pickup a telephone stands or stood. */
interface MatchedRecogida extends Omit<RecogidaGuiaRow, 'correcciones'> {
  /** True if the telephone stands in the present pickup. */
  current: boolean
  correcciones: readonly DatedCorreccion[]
}

const isOfTelefono = (telefono: string, recogida: StoredRecogida | undefined) => recogida?.telefono === telefono

/** Returns the pickups in a correction that have the telephone. */
function ownValuesIn(
  telefono: string,
  { recogida }: CorrectionChanges,
): { antes?: StoredRecogida; despues?: StoredRecogida } {
  const { antes, despues } = recogida ?? {}
  return {
    ...(antes && isOfTelefono(telefono, antes) && { antes }),
    ...(despues && isOfTelefono(telefono, despues) && { despues }),
  }
}

const hasOwnValues = (telefono: string, changes: CorrectionChanges) =>
  Object.keys(ownValuesIn(telefono, changes)).length > 0

function decryptCorrecciones(secrets: Secrets, { id, correcciones }: RecogidaGuiaRow): DatedCorreccion[] {
  return (correcciones ?? []).map(({ secuencia, registrado_en, cambios }) => ({
    secuencia,
    registrado_en: new Date(registrado_en),
    cambios: toReadable(secrets, { guia_id: id, secuencia }, Buffer.from(cambios, 'base64')),
  }))
}

/**
 * Yields the guides whose pickup contact has this telephone, now or before a correction. Reads all guides in question.
 */
async function* readGuiasWithRecogida(
  query: Query,
  secrets: Secrets,
  person: PersonQuery,
): AsyncGenerator<MatchedRecogida> {
  const { telefono } = person
  for (let desde: string | undefined = FIRST_ID; desde !== undefined; ) {
    const guiaRows: RecogidaGuiaRow[] = await query(GUIAS, { ...person, desde })
    for (const guiaRow of guiaRows) {
      const current = isOfTelefono(telefono, guiaRow.recogida)
      const correcciones = decryptCorrecciones(secrets, guiaRow)
      if (current || correcciones.some(({ cambios }) => hasOwnValues(telefono, cambios)))
        yield { ...guiaRow, current, correcciones }
    }
    desde = guiaRows.at(-1)?.id
  }
}

/** Returns each pickup with the telephone, present and former, by guide. */
export async function exportRecogidas({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, person: PersonQuery) {
  const exportedByPart = await inEachPart(db, person, async ({ query }) => {
    const guias = []
    for await (const matched of readGuiasWithRecogida(query, secretos, person)) {
      const { guia, comercio, nombre, modo, current, recogida, correcciones } = matched
      guias.push({
        guia,
        comercio: { comercio, nombre },
        modo,
        recogida: current ? recogida : null,
        correcciones: correcciones.flatMap(({ secuencia, registrado_en, cambios }) =>
          hasOwnValues(person.telefono, cambios)
            ? [
                {
                  secuencia,
                  registrado_en: registrado_en.toISOString(),
                  recogida: ownValuesIn(person.telefono, cambios),
                },
              ]
            : [],
        ),
      })
    }
    return guias
  })
  return exportedByPart.flat()
}

/**
 * Empties the pickup of a guide if it has the telephone. Also erases the responses of merchants' servers, which may
 * repeat a pickup.
 */
const ERASE_RECOGIDA = statement<GuiaKey & { telefono: string }>(
  'personas.eraseRecogida',
  'merchant',
  `with v as (
     select comercio_id, modo, id from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id
   ), ${deleteAnswersSql()}
   update guia g set recogida = ${ERASED_RECOGIDA_SQL} from v
   where g.comercio_id = v.comercio_id and g.modo = v.modo and g.id = v.id and g.recogida ->> 'telefono' = :telefono`,
)

/** Returns the values of a correction without the pickups that have the telephone. */
function withoutOwnValues(telefono: string, changes: CorrectionChanges): CorrectionChanges {
  const withoutOwn = (recogida: StoredRecogida) => (isOfTelefono(telefono, recogida) ? ERASED_RECOGIDA : recogida)
  const { antes, despues } = changes.recogida!
  return { ...changes, recogida: { antes: withoutOwn(antes), despues: withoutOwn(despues) } }
}

/** @returns false if the guide keeps the pickup, because a courier may still need it */
async function eraseRecogida(query: Query, secrets: Secrets, telefono: string, key: GuiaKey): Promise<boolean> {
  const { recogida, estado } = await lockGuia(query, key)
  if (isOfTelefono(telefono, recogida) && !isFinalState(estado)) return false
  for (const { secuencia, cambios } of await readCorrecciones(query, secrets, key)) {
    if (hasOwnValues(telefono, cambios))
      await saveChanges(query, secrets, { ...key, secuencia }, withoutOwnValues(telefono, cambios))
  }
  await query(ERASE_RECOGIDA, { ...key, telefono })
  return true
}

/** Result of the erasure of a contact of pickups. */
interface RecogidaErasure {
  /** Number of guides in which something was erased. */
  recogidas: number
  /** Codes of the guides that have not ended, and whose present pickup has the telephone. */
  ongoing: string[]
}

/**
 * Erases the pickups with the telephone in ended guides, and the replaced ones in all guides. The present pickup of a
 * guide under way stays, because the parcel may return there.
 */
export async function eraseRecogidas(
  { db, secretos, bitacora }: Pick<Deps, 'db' | 'secretos' | 'bitacora'>,
  actor: Actor,
  person: PersonQuery,
): Promise<RecogidaErasure> {
  const ongoing: string[] = []
  let recogidas = 0
  await inEachPart(db, person, async (part) => {
    const toErase: MatchedRecogida[] = []
    for await (const matched of readGuiasWithRecogida(part.query, secretos, person)) {
      if (matched.current && !matched.terminada) ongoing.push(matched.guia)
      else toErase.push(matched)
    }
    while (toErase.length > 0) {
      const batch = toErase.splice(0, GUIAS_PER_TRANSACTION)
      recogidas += await inTransaction(part, async (query) => {
        let guias = 0
        for (const pendingGuia of batch) {
          if (await eraseRecogida(query, secretos, person.telefono, guiaKeyOf(pendingGuia))) guias++
          else ongoing.push(pendingGuia.guia)
        }
        await bitacora.record(query, actor, { accion: 'olvidarPersona', campos: ['telefono'], despues: { guias } })
        return guias
      })
    }
  })
  return { recogidas, ongoing }
}
