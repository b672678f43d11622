import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { prueba_entrega } from '../../generated/contract/prisma/client.ts'
import type {
  EntregaParaRegistrar,
  EvidenciaDePrueba,
  Modo,
  MotivoSinFirma,
  QuienReparte,
  RecibidoPor,
} from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { distanceBetween } from '../../platform/maps/point.ts'
import type { ArchivoRow } from '../archivos/archivo.ts'
import type { Deps } from '../deps.ts'
import {
  type EventoRow,
  type EventoWithoutFoto,
  type GuiaStep,
  type StepWithConsequences,
  type takeStep,
  takeStepAnd,
} from '../eventos/evento.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { type EvidencePolicies, judgeEvidence } from './evidence.ts'

/** Row of `prueba_entrega`; columns have the contract's names. */
export type PruebaRow = RowOf<
  prueba_entrega,
  { modo: Modo; recibido_por: RecibidoPor; sin_firma: MotivoSinFirma | null; evidencia: EvidenciaDePrueba }
>

/** Proof with the courier who handed the parcel over, as named in the event. */
export type PruebaWithRepartidor = PruebaRow & { repartidor: QuienReparte | null }

const RELATIONS: Readonly<Record<string, string>> = {
  destinatario: 'Es el destinatario',
  familiar: 'Familiar',
  companero: 'Compañero de trabajo',
  vigilante: 'Vigilante',
  vecino: 'Vecino',
  otro: 'Otra persona',
}

/** Returns who received the parcel, in the words of the document; null if unknown. */
export const relationInWords = ({ relacion }: RecibidoPor) => relacion && (RELATIONS[relacion] ?? relacion)

/** SQL of the courier named in the event of `p`, a row of `prueba_entrega`. */
export const ENTREGA_REPARTIDOR = `(select e.datos -> 'repartidor' from evento e where e.comercio_id = p.comercio_id
  and e.modo = p.modo and e.guia_id = p.guia_id and e.secuencia = p.secuencia) as repartidor`

/** Columns that identify the guide of a proof. */
export type PruebaKey = Pick<PruebaRow, 'comercio_id' | 'modo' | 'guia_id'>

/** SQL condition that `p`, a row of `prueba_entrega`, is the guide's proof: its delivery was not undone. */
export const VALE = 'p.rectificada_en is null'

const FIND_PRUEBA = statement<PruebaKey, PruebaWithRepartidor>(
  'pruebas.findPrueba',
  'merchant',
  `select p.*, ${ENTREGA_REPARTIDOR} from prueba_entrega p
   where p.comercio_id = :comercio_id and p.modo = :modo and p.guia_id = :guia_id and ${VALE}`,
)

/** Returns the proof of a guide's delivery; undefined if it does not exist, was deleted or belongs to a delivery that was undone. */
export async function findPrueba(db: Db, guia: GuiaRow): Promise<PruebaWithRepartidor | undefined> {
  const [row] = await db.query(FIND_PRUEBA, guiaKeyOf(guia))
  return row
}

const ALL_PRUEBAS = statement<PruebaKey, PruebaWithRepartidor>(
  'pruebas.allPruebas',
  'merchant',
  `select p.*, ${ENTREGA_REPARTIDOR} from prueba_entrega p
   where p.comercio_id = :comercio_id and p.modo = :modo and p.guia_id = :guia_id order by p.secuencia desc`,
)

/** Returns the proofs of a guide, also those of deliveries that were undone, newest first. */
export const readPruebas = (db: Db, guia: GuiaRow): Promise<PruebaWithRepartidor[]> =>
  db.query(ALL_PRUEBAS, guiaKeyOf(guia))

const ARCHIVOS = statement<PruebaKey & { archivos: readonly string[] }, ArchivoRow>(
  'pruebas.archivos',
  'merchant',
  `select * from archivo where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and archivo = any(:archivos::text[])`,
)

/** Returns the files of a guide that have these names, by name. */
export async function readArchivos(
  db: Db,
  guia: GuiaRow,
  archivos: readonly string[],
): Promise<Map<string, ArchivoRow>> {
  const rows = await db.query(ARCHIVOS, { ...guiaKeyOf(guia), archivos })
  return new Map(rows.map((row) => [row.archivo, row]))
}

const USE_ARCHIVOS = statement<PruebaKey & { archivos: readonly string[]; usado_en: Date }>(
  'archivos.useArchivos',
  'merchant',
  `update archivo set usado_en = :usado_en::timestamptz
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and archivo = any(:archivos::text[])
     and usado_en is null
   returning archivo`,
)

/**
 * Writes an event, marks the files that prove it as used, and runs `write`, all in one transaction. Returns
 * undefined if another request changed the guide; then the files stay unused.
 * @throws Problema 409 if a file was deleted after it was checked
 */
async function takeStepUsing(
  { db, notifyJobs }: Pick<Deps, 'db' | 'notifyJobs'>,
  guia: GuiaRow,
  step: StepWithConsequences,
  archivos: readonly string[],
  write: (query: Query, evento: EventoWithoutFoto) => Promise<unknown>,
): ReturnType<typeof takeStep> {
  const takenStep = await takeStepAnd({ db, notifyJobs }, guia, step, async (query, evento) => {
    const used = await query(USE_ARCHIVOS, { ...guiaKeyOf(guia), archivos, usado_en: step.registrado_en })
    if (used.length !== archivos.length)
      throw new Problema('carrera_perdida', 'Un archivo se borró mientras tanto. Súbalo otra vez.')
    await write(query, evento)
  })
  // Making the proof's document is background work that must be announced, too.
  if (takenStep) notifyJobs()
  return takenStep
}

const PROVE_ENTREGA = statement<
  Omit<PruebaRow, 'fotos' | 'pdf' | 'manifiesto' | 'sal' | 'intentos' | 'proximo_en' | 'rectificada_en'> & {
    fotos: readonly string[]
  }
>(
  'entregas.proveEntrega',
  'merchant',
  `insert into prueba_entrega (comercio_id, modo, guia_id, id, secuencia, recibido_por, lat, lng, precision_m, fotos, firma,
     sin_firma, evidencia, distancia_m, distancia_avisada_m, entregado_en, registrado_en, proximo_en)
   values (:comercio_id, :modo, :guia_id, :id, :secuencia, :recibido_por::jsonb, :lat::float8, :lng::float8,
     :precision_m::float8, :fotos::text[], :firma, :sin_firma, :evidencia::jsonb, :distancia_m::int, :distancia_avisada_m::int, :entregado_en::timestamptz,
     :registrado_en::timestamptz, :registrado_en::timestamptz)`,
)

/** Statements that run in the transaction of an event. */
type InTransaction = (query: Query) => Promise<unknown>

/** Members of a delivery that serve as proof. */
export type PruebaEvidence = Pick<
  EntregaParaRegistrar,
  'recibido_por' | 'fotos' | 'firma' | 'sin_firma' | 'lat' | 'lng' | 'precision_m' | 'distancia_avisada_m'
>

/**
 * Checks a delivery against its merchant's evidence policy, and writes its event together with its proof. Returns
 * undefined if another request changed the guide.
 * @param runLast runs last in the transaction
 * @throws Problema 422 if the delivery lacks evidence that the merchant needs
 */
export async function deliver(
  { db, newId, notifyJobs }: Pick<Deps, 'db' | 'newId' | 'notifyJobs'>,
  guia: GuiaRow,
  step: GuiaStep,
  evidencia: PruebaEvidence,
  { politica, doorPolicy }: EvidencePolicies,
  runLast: InTransaction = async () => {},
): Promise<{ guia: GuiaRow; evento: EventoWithoutFoto; distancia_m: number | null } | undefined> {
  const { admitted, judgement } = judgeEvidence(politica, doorPolicy, evidencia)
  const { recibido_por, fotos, firma, sin_firma, lat, lng, precision_m, distancia_avisada_m } = admitted
  const distancia_m = distanceOf(guia, admitted)
  const archivos = firma === undefined ? fotos : [...fotos, firma]
  const takenStep = await takeStepUsing({ db, notifyJobs }, guia, step, archivos, async (query, { secuencia }) => {
    await query(PROVE_ENTREGA, {
      ...guiaKeyOf(guia),
      id: newId().id,
      secuencia,
      recibido_por: { documento: null, relacion: null, ...recibido_por },
      lat: lat ?? null,
      lng: lng ?? null,
      precision_m: precision_m ?? null,
      fotos,
      firma: firma ?? null,
      sin_firma: sin_firma ?? null,
      evidencia: judgement,
      distancia_m,
      distancia_avisada_m: distancia_avisada_m ?? null,
      entregado_en: step.ocurrido_en,
      registrado_en: step.registrado_en,
    })
    await runLast(query)
  })
  return takenStep && { ...takenStep, distancia_m }
}

/** Returns the metres from the position of the handover to the confirmed location; null if either is unknown. */
const distanceOf = ({ ubicacion_lat, ubicacion_lng }: GuiaRow, { lat, lng }: PruebaEvidence) =>
  distanceBetween({ lat: lat ?? null, lng: lng ?? null }, { lat: ubicacion_lat, lng: ubicacion_lng })

const PROVE_INTENTO = statement<
  Pick<EventoRow, 'comercio_id' | 'modo' | 'guia_id' | 'secuencia' | 'registrado_en'> & { fotos: readonly string[] }
>(
  'intentos.proveIntento',
  'merchant',
  `insert into prueba_intento (comercio_id, modo, guia_id, secuencia, fotos, registrado_en)
   values (:comercio_id, :modo, :guia_id, :secuencia, :fotos::text[], :registrado_en::timestamptz)`,
)

/**
 * Writes the event of a failed attempt together with its photos. Returns undefined if another request changed the
 * guide.
 * @param runLast runs last in the transaction
 */
export const recordIntento = (
  deps: Pick<Deps, 'db' | 'notifyJobs'>,
  guia: GuiaRow,
  step: StepWithConsequences,
  fotos: readonly string[],
  runLast: InTransaction = async () => {},
): ReturnType<typeof takeStep> =>
  takeStepUsing(deps, guia, step, fotos, async (query, { secuencia }) => {
    await query(PROVE_INTENTO, { ...guiaKeyOf(guia), secuencia, fotos, registrado_en: step.registrado_en })
    await runLast(query)
  })
