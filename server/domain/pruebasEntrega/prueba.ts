import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { prueba_entrega } from '../../generado/contrato/prisma/client.ts'
import type {
  EntregaParaRegistrar,
  EvidenciaDePrueba,
  Modo,
  MotivoSinFirma,
  QuienReparte,
  RecibidoPor,
} from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import { distanceBetween } from '../../platform/maps/point.ts'
import type { FilaArchivo } from '../archivos/archivo.ts'
import type { Deps } from '../deps.ts'
import {
  type darPaso,
  darPasoCon,
  deGuia,
  type EventoSinFoto,
  type FilaEvento,
  type PasoConConsecuencias,
  type PasoDeGuia,
} from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { type Exigencia, juzgarEvidencia } from './evidencia.ts'

/** Row of `prueba_entrega`; columns have the contract's names. */
export type FilaPrueba = RowOf<
  prueba_entrega,
  { modo: Modo; recibido_por: RecibidoPor; sin_firma: MotivoSinFirma | null; evidencia: EvidenciaDePrueba }
>

/** Proof with the courier who handed the parcel over, as named in the event. */
export type PruebaConQuien = FilaPrueba & { repartidor: QuienReparte | null }

const RELACIONES: Readonly<Record<string, string>> = {
  destinatario: 'Es el destinatario',
  familiar: 'Familiar',
  companero: 'Compañero de trabajo',
  vigilante: 'Vigilante',
  vecino: 'Vecino',
  otro: 'Otra persona',
}

/** Returns who received the parcel, in the words of the document; null if unknown. */
export const relacionEnPalabras = ({ relacion }: RecibidoPor) => relacion && (RELACIONES[relacion] ?? relacion)

/** SQL of the courier named in the event of `p`, a row of `prueba_entrega`. */
export const QUIEN_ENTREGO = `(select e.datos -> 'repartidor' from evento e where e.comercio_id = p.comercio_id
  and e.modo = p.modo and e.guia_id = p.guia_id and e.secuencia = p.secuencia) as repartidor`

/** Columns that identify the guide of a proof. */
export type LlaveDePrueba = Pick<FilaPrueba, 'comercio_id' | 'modo' | 'guia_id'>

/** SQL condition that `p`, a row of `prueba_entrega`, is the guide's proof: its delivery was not undone. */
export const VALE = 'p.rectificada_en is null'

const BUSCAR = statement<LlaveDePrueba, PruebaConQuien>(
  'pruebas.buscar',
  `select p.*, ${QUIEN_ENTREGO} from prueba_entrega p
   where p.comercio_id = :comercio_id and p.modo = :modo and p.guia_id = :guia_id and ${VALE}`,
)

/** Returns the proof of a guide's delivery; undefined if it does not exist, was deleted or belongs to a delivery that was undone. */
export async function buscarPrueba(db: Db, guia: FilaGuia): Promise<PruebaConQuien | undefined> {
  const [fila] = await db.consultar(BUSCAR, deGuia(guia))
  return fila
}

const TODAS = statement<LlaveDePrueba, FilaPrueba>(
  'pruebas.todas',
  `select * from prueba_entrega where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
   order by secuencia desc`,
)

/** Returns the proofs of a guide, also those of deliveries that were undone, newest first. */
export const leerPruebas = (db: Db, guia: FilaGuia): Promise<FilaPrueba[]> => db.consultar(TODAS, deGuia(guia))

const ARCHIVOS = statement<LlaveDePrueba & { archivos: readonly string[] }, FilaArchivo>(
  'pruebas.archivos',
  `select * from archivo where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and archivo = any(:archivos::text[])`,
)

/** Returns the files of a guide that have these names, by name. */
export async function leerArchivos(
  db: Db,
  guia: FilaGuia,
  archivos: readonly string[],
): Promise<Map<string, FilaArchivo>> {
  const filas = await db.consultar(ARCHIVOS, { ...deGuia(guia), archivos })
  return new Map(filas.map((fila) => [fila.archivo, fila]))
}

const USAR = statement<LlaveDePrueba & { archivos: readonly string[]; usado_en: Date }>(
  'archivos.usar',
  `update archivo set usado_en = :usado_en::timestamptz
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and archivo = any(:archivos::text[])
     and usado_en is null
   returning archivo`,
)

/**
 * Writes an event, marks the files that prove it as used, and runs `escribir`, all in one transaction. Returns
 * undefined if another request changed the guide; then the files stay unused.
 * @throws Problema 409 if a file was deleted after it was checked
 */
async function darPasoUsando(
  { db, avisarTrabajo }: Pick<Deps, 'db' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: PasoConConsecuencias,
  archivos: readonly string[],
  escribir: (consultar: Query, evento: EventoSinFoto) => Promise<unknown>,
): ReturnType<typeof darPaso> {
  const dado = await darPasoCon({ db, avisarTrabajo }, guia, paso, async (consultar, evento) => {
    const usados = await consultar(USAR, { ...deGuia(guia), archivos, usado_en: paso.registrado_en })
    if (usados.length !== archivos.length)
      throw new Problema('carrera_perdida', 'Un archivo se borró mientras tanto. Súbalo otra vez.')
    await escribir(consultar, evento)
  })
  // Making the proof's document is background work that must be announced, too.
  if (dado) avisarTrabajo()
  return dado
}

const PROBAR_ENTREGA = statement<
  Omit<FilaPrueba, 'fotos' | 'pdf' | 'manifiesto' | 'sal' | 'intentos' | 'proximo_en' | 'rectificada_en'> & {
    fotos: readonly string[]
  }
>(
  'entregas.probar',
  `insert into prueba_entrega (comercio_id, modo, guia_id, id, secuencia, recibido_por, lat, lng, precision_m, fotos, firma,
     sin_firma, evidencia, distancia_m, distancia_avisada_m, entregado_en, registrado_en, proximo_en)
   values (:comercio_id, :modo, :guia_id, :id, :secuencia, :recibido_por::jsonb, :lat::float8, :lng::float8,
     :precision_m::float8, :fotos::text[], :firma, :sin_firma, :evidencia::jsonb, :distancia_m::int, :distancia_avisada_m::int, :entregado_en::timestamptz,
     :registrado_en::timestamptz, :registrado_en::timestamptz)`,
)

/** Statements that run in the transaction of an event. */
type EnLaTransaccion = (consultar: Query) => Promise<unknown>

/** Members of a delivery that serve as proof. */
export type Evidencia = Pick<
  EntregaParaRegistrar,
  'recibido_por' | 'fotos' | 'firma' | 'sin_firma' | 'lat' | 'lng' | 'precision_m' | 'distancia_avisada_m'
>

/**
 * Checks a delivery against its merchant's evidence policy, and writes its event together with its proof. Returns
 * undefined if another request changed the guide.
 * @param alFinal runs last in the transaction
 * @throws Problema 422 if the delivery lacks evidence that the merchant needs
 */
export async function entregar(
  { db, nuevoId, avisarTrabajo }: Pick<Deps, 'db' | 'nuevoId' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: PasoDeGuia,
  evidencia: Evidencia,
  { politica, pedida }: Exigencia,
  alFinal: EnLaTransaccion = async () => {},
): Promise<{ guia: FilaGuia; evento: EventoSinFoto; distancia_m: number | null } | undefined> {
  const { admitida, juicio } = juzgarEvidencia(politica, pedida, evidencia)
  const { recibido_por, fotos, firma, sin_firma, lat, lng, precision_m, distancia_avisada_m } = admitida
  const distancia_m = distanciaDe(guia, admitida)
  const archivos = firma === undefined ? fotos : [...fotos, firma]
  const dado = await darPasoUsando({ db, avisarTrabajo }, guia, paso, archivos, async (consultar, { secuencia }) => {
    await consultar(PROBAR_ENTREGA, {
      ...deGuia(guia),
      id: nuevoId().id,
      secuencia,
      recibido_por: { documento: null, relacion: null, ...recibido_por },
      lat: lat ?? null,
      lng: lng ?? null,
      precision_m: precision_m ?? null,
      fotos,
      firma: firma ?? null,
      sin_firma: sin_firma ?? null,
      evidencia: juicio,
      distancia_m,
      distancia_avisada_m: distancia_avisada_m ?? null,
      entregado_en: paso.ocurrido_en,
      registrado_en: paso.registrado_en,
    })
    await alFinal(consultar)
  })
  return dado && { ...dado, distancia_m }
}

/** Returns the metres from the position of the handover to the confirmed location; null if either is unknown. */
const distanciaDe = ({ ubicacion_lat, ubicacion_lng }: FilaGuia, { lat, lng }: Evidencia) =>
  distanceBetween({ lat: lat ?? null, lng: lng ?? null }, { lat: ubicacion_lat, lng: ubicacion_lng })

const PROBAR_INTENTO = statement<
  Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id' | 'secuencia' | 'registrado_en'> & { fotos: readonly string[] }
>(
  'intentos.probar',
  `insert into prueba_intento (comercio_id, modo, guia_id, secuencia, fotos, registrado_en)
   values (:comercio_id, :modo, :guia_id, :secuencia, :fotos::text[], :registrado_en::timestamptz)`,
)

/**
 * Writes the event of a failed attempt together with its photos. Returns undefined if another request changed the
 * guide.
 * @param alFinal runs last in the transaction
 */
export const anotarIntento = (
  deps: Pick<Deps, 'db' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: PasoConConsecuencias,
  fotos: readonly string[],
  alFinal: EnLaTransaccion = async () => {},
): ReturnType<typeof darPaso> =>
  darPasoUsando(deps, guia, paso, fotos, async (consultar, { secuencia }) => {
    await consultar(PROBAR_INTENTO, { ...deGuia(guia), secuencia, fotos, registrado_en: paso.registrado_en })
    await alFinal(consultar)
  })
