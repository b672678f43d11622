import { statement } from '../../data/db.ts'
import type { Modo } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'
import type { Deps } from '../deps.ts'
import { takeStep } from '../eventos/evento.ts'
import type { Remember } from '../idempotencia/idempotencia.ts'
import { explainImplausible } from '../records/advertencias.ts'
import { encryptChanges } from '../records/correccionCipher.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import type { GuiaScope } from '../records/guiaLookup.ts'
import { dueAtCreationSql } from '../records/locationRequest.ts'
import { type LockedGuia, type LockedGuiaDeps, type LockedGuiaWriter, withLockedGuia } from '../records/lockedGuia.ts'
import { isSamePlace, linkToFollow, placeStep } from '../ubicacion/ubicacion.ts'
import {
  type CorrectedFields,
  type CorrectedGuia,
  correctGuia,
  requireCorrectable,
  requireFields,
} from './correctedGuia.ts'

export { admitsCorreccion } from './correctedGuia.ts'

/**
 * Maximum corrections of a guide. The webhook body of an earlier event is rebuilt by undoing each later correction, so
 * their number must be bounded.
 */
const MAX_CORRECCIONES = 30

/** Person or system that corrects a guide. */
export interface Corrector {
  ambito: GuiaScope
  /** Code of the merchant or operator, stored with the event; null for the recipient. */
  autor: string | null
  /** Origin of a location that this correction confirms. */
  origen: 'comercio' | 'operador' | 'destinatario'
  /** Default country of telephones without `+`. */
  pais: string | null
  /** True to reject an implausible location. Otherwise it only causes a warning. */
  estricto?: boolean
  /** Reason for the correction, shown in its event. */
  descripcion?: string
}

/**
 * Stores the telephone that a correction replaces in `telefono_anterior`, and drops the messages to it that were not
 * sent yet.
 */
const CHANGE_TELEFONO = statement<ReturnType<typeof guiaKeyOf> & { secuencia: number; telefono: string }>(
  'correcciones.changeTelefono',
  'merchant',
  `with a as (
     insert into telefono_anterior (comercio_id, modo, guia_id, secuencia, telefono)
     values (:comercio_id, :modo, :guia_id, :secuencia, :telefono)
   )
   update mensaje set estado = 'descartado', abierta = false
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and estado = 'pendiente'`,
)

/** Queues a message that asks the new telephone for the delivery location. */
const ASK_NEW_TELEFONO = statement<ReturnType<typeof guiaKeyOf> & { id: string; canal: string; now: Date }>(
  'correcciones.askNewTelefono',
  'merchant',
  `insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
   select comercio_id, modo, id, 1 + (select coalesce(max(numero), 0) from mensaje m where m.comercio_id = g.comercio_id
       and m.modo = g.modo and m.guia_id = g.id), :id::uuid, guia, :canal::text, 'solicitud_ubicacion', telefono, 'pendiente',
     ${dueAtCreationSql('modo', ':canal', ':now::timestamptz')}, :now
   from guia g where comercio_id = :comercio_id and modo = :modo and id = :guia_id`,
)

/**
 * Corrects fields of a guide. One transaction writes the guide, its event, the confirmation of a corrected destination,
 * and the message to a corrected telephone. Fields that already have these values change nothing; without any change,
 * nothing is written.
 * @param secuencia sequence number that the guide must have; undefined: any
 * @param remember stores the request's key in the same transaction
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `no_corregible`, `carrera_perdida` or `limite_de_correcciones`; 422 without a field to
 *   correct, or if `estricto` is true and the location would be implausible
 */
export const correctGuiaOf = async (
  deps: LockedGuiaDeps,
  caller: Corrector,
  code: string,
  { campos, secuencia }: { campos: CorrectedFields; secuencia?: number | undefined },
  remember: Remember,
): Promise<GuiaRow & { comercio: string }> => {
  requireFields(campos)
  return withLockedGuia(deps, caller.ambito, code, secuencia, remember, (writer, lockedGuia) =>
    correctLockedGuia(writer, caller, lockedGuia, campos),
  )
}

/**
 * Corrects fields of a locked guide.
 * @returns the guide's row afterwards
 * @throws Problema 409 `no_corregible` or `limite_de_correcciones`; 422
 */
export async function correctLockedGuia(
  writer: LockedGuiaWriter,
  caller: Corrector,
  { correcciones, solicitudes, ...storedGuia }: LockedGuia,
  fields: CorrectedFields,
): Promise<GuiaRow> {
  const decidedCorreccion = decideCorreccion(caller, storedGuia, fields)
  if (!decidedCorreccion) return storedGuia
  if (correcciones >= MAX_CORRECCIONES)
    throw new Problema('limite_de_correcciones', `La guía ya se corrigió ${MAX_CORRECCIONES} veces.`)
  return writeCorreccion(writer, caller, storedGuia, { ...decidedCorreccion, solicitudes })
}

/** Correction that changes at least one field, and the location that it confirms, if any. */
interface DecidedCorreccion {
  applied: CorrectedGuia
  lugar: PlaceProposal | undefined
}

/**
 * Returns the changes that a correction makes; undefined if the guide already has all its values.
 * @throws Problema 409 `no_corregible`; 422
 */
function decideCorreccion(
  caller: Corrector,
  storedGuia: GuiaRow,
  fields: CorrectedFields,
): DecidedCorreccion | undefined {
  requireCorrectable(storedGuia, fields)
  const applied = correctGuia(storedGuia, fields, caller)
  const givenPlace = proposedPlace(caller, fields)
  requirePlausible(caller, applied, givenPlace)
  const lugar = givenPlace && !isSamePlace(storedGuia, givenPlace) ? givenPlace : undefined
  return applied.campos.length > 0 || lugar ? { applied, lugar } : undefined
}

type PlaceProposal = NonNullable<ReturnType<typeof proposedPlace>>

/** Returns the location that a corrected destination confirms. Coordinates take precedence over a link. */
function proposedPlace({ origen }: Corrector, { lat, lng, maps_url }: CorrectedFields) {
  if (lat === undefined && maps_url === undefined) return undefined
  const link = lat === undefined ? readLinkedPlace(maps_url!) : undefined
  const linkCoordinates = link?.tipo === 'coordenadas' ? link.coordinates : undefined
  return {
    enlace: link ? maps_url! : null,
    lat: lat ?? linkCoordinates?.lat ?? null,
    lng: lng ?? linkCoordinates?.lng ?? null,
    referencia: null,
    precision_m: null,
    origen,
  }
}

/**
 * Rejects an implausible location if the correction is strict.
 * @throws Problema 422
 */
function requirePlausible(
  { estricto = false }: Corrector,
  { guia, cambios }: CorrectedGuia,
  place?: PlaceProposal,
): void {
  if (!estricto) return
  const destinoPointer = 'departamento' in cambios ? '/departamento' : 'municipio' in cambios ? '/municipio' : undefined
  if (!place && !destinoPointer) return
  const faults = place
    ? explainImplausible({ ...guia, ...placeStep(guia, place, guia.actualizado_en).ubicacion }, place.enlace !== null)
    : explainImplausible(guia, false).map((fault) => ({ ...fault, campo: destinoPointer! }))
  if (faults.length > 0) throw problemOfFaults('validacion', faults)
}

/** Writes a correction of a locked guide, with its event and messages. */
async function writeCorreccion(
  { query, notifyJobs, clock, newId, secretos, channelOf }: LockedGuiaWriter,
  { autor, descripcion }: Corrector,
  storedGuia: GuiaRow,
  { applied: { values, cambios, campos, guia }, lugar, solicitudes }: DecidedCorreccion & { solicitudes: number },
): Promise<GuiaRow> {
  const now = clock()
  const stepDeps = { db: { query }, notifyJobs }
  const commonFields = {
    ocurrido_en: now,
    registrado_en: now,
    autor,
    ...(descripcion === undefined ? {} : { descripcion }),
  }
  let currentGuia = storedGuia
  if (campos.length > 0) {
    const hasOtherTelefono = 'telefono' in cambios && storedGuia.telefono !== null
    const mustAsk = hasOtherTelefono && storedGuia.ubicacion_estado !== 'confirmada' && !lugar
    const evento = { guia_id: storedGuia.id, secuencia: storedGuia.secuencia + 1 }
    const step = await takeStep(stepDeps, storedGuia, {
      ...commonFields,
      tipo: 'guia.corregida',
      datos: { campos },
      ubicacion: {
        ...guia,
        ...(mustAsk ? { ubicacion_extra: withRequest(guia, solicitudes + 1, channelOf, now) } : {}),
      },
      correccion: { values, advertencias: guia.advertencias, cambios: encryptChanges(secretos, evento, cambios) },
    })
    currentGuia = step!.guia
    if (hasOtherTelefono)
      await query(CHANGE_TELEFONO, {
        ...guiaKeyOf(storedGuia),
        secuencia: evento.secuencia,
        telefono: storedGuia.telefono!,
      })
    if (mustAsk) {
      await query(ASK_NEW_TELEFONO, {
        ...guiaKeyOf(storedGuia),
        id: newId().id,
        canal: channelOf(storedGuia.modo),
        now,
      })
      notifyJobs()
    }
  }
  if (!lugar) return currentGuia
  const step = await takeStep(stepDeps, currentGuia, {
    ...placeStep(currentGuia, lugar, now),
    ...commonFields,
    shortLink: linkToFollow(lugar.enlace, newId),
  })
  return step!.guia
}

/** Returns the guide's location data with a new location request that was not sent yet. */
const withRequest = (
  { modo, ubicacion_extra }: GuiaRow,
  numero: number,
  channelOf: (modo: Modo) => ReturnType<Deps['channelOf']>,
  now: Date,
): GuiaRow['ubicacion_extra'] => ({
  ...ubicacion_extra,
  solicitud: { numero, canal: channelOf(modo), estado: 'pendiente', creado_en: now.toISOString() },
})
