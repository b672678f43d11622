import type { FilaArchivo } from '../archivos/archivo.ts'
import type { EntregaParaRegistrar, Modo, RecibidoPor } from '../contrato/generado/tipos/index.ts'
import { type Db, enTransaccion, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { Problema } from '../errores.ts'
import { darPaso, type EventoSinFoto, type Paso } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { distanciaKm } from '../mapas/punto.ts'

/** A row of `prueba_entrega`; columns carry the contract's names. */
export interface FilaPrueba {
  comercio_id: string
  modo: Modo
  guia_id: string
  /** The id of the job that makes the PDF. */
  id: string
  secuencia: number
  recibido_por: RecibidoPor
  lat: number | null
  lng: number | null
  precision_m: number | null
  distancia_m: number | null
  fotos: string[]
  firma: string | null
  /** The PDF's name; null, as manifest and salt are, until its job has made it. */
  pdf: string | null
  manifiesto: string | null
  sal: string | null
  /** How many times making the PDF has failed. */
  intentos: number
  entregado_en: Date
  registrado_en: Date
}

type LlaveDeGuia = Pick<FilaGuia, 'comercio_id' | 'modo' | 'id'>

const BUSCAR = sentencia(
  'pruebas.buscar',
  'select * from prueba_entrega where comercio_id = $1 and modo = $2 and guia_id = $3',
)

/** The proof of a guide's delivery; undefined if there is none, or none any more. */
export async function buscarPrueba(db: Db, guia: LlaveDeGuia): Promise<FilaPrueba | undefined> {
  const [fila] = await db.consultar<FilaPrueba>(BUSCAR, [guia.comercio_id, guia.modo, guia.id])
  return fila
}

const ARCHIVOS = sentencia(
  'pruebas.archivos',
  'select * from archivo where comercio_id = $1 and modo = $2 and guia_id = $3 and archivo = any($4::text[])',
)

/** The files of a guide that have these names, by name. */
export async function leerArchivos(
  db: Db,
  guia: LlaveDeGuia,
  archivos: readonly string[],
): Promise<Map<string, FilaArchivo>> {
  const filas = await db.consultar<FilaArchivo>(ARCHIVOS, [guia.comercio_id, guia.modo, guia.id, archivos])
  return new Map(filas.map((fila) => [fila.archivo, fila]))
}

const USAR = sentencia(
  'archivos.usar',
  `update archivo set usado_en = $5::timestamptz
   where comercio_id = $1 and modo = $2 and guia_id = $3 and archivo = any($4::text[]) and usado_en is null
   returning archivo`,
)

/**
 * Takes a step together with the files that prove it and what `escribir` writes of them, or nothing at all. It is undefined
 * when somebody else moved the guide meanwhile; then the files are free.
 * @throws Problema 409 when a file went since it was looked at
 */
async function darPasoUsando(
  { db, avisarTrabajo }: Pick<Deps, 'db' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: Paso,
  archivos: readonly string[],
  escribir: (consultar: Db['consultar'], evento: EventoSinFoto) => Promise<unknown>,
): ReturnType<typeof darPaso> {
  const dado = await enTransaccion(db, async (consultar) => {
    const dado = await darPaso({ db: { ...db, consultar }, avisarTrabajo: () => {} }, guia, paso)
    if (!dado) return undefined
    const usados = await consultar(USAR, [guia.comercio_id, guia.modo, guia.id, archivos, paso.registrado_en])
    if (usados.length !== archivos.length)
      throw new Problema('carrera_perdida', 'Un archivo se borró mientras tanto. Súbalo otra vez.')
    await escribir(consultar, dado.evento)
    return dado
  })
  // Once it is committed.
  if (dado) avisarTrabajo()
  return dado
}

const PROBAR_ENTREGA = sentencia(
  'entregas.probar',
  `insert into prueba_entrega (comercio_id, modo, guia_id, id, secuencia, recibido_por, lat, lng, precision_m, fotos, firma,
     distancia_m, entregado_en, registrado_en, proximo_en)
   values ($1, $2, $3, $4, $5, $6::jsonb, $7::float8, $8::float8, $9::float8, $10::text[], $11, $12::int, $13::timestamptz,
     $14::timestamptz, $14::timestamptz)`,
)

/** The part of a delivery that proves it. */
export type Evidencia = Pick<EntregaParaRegistrar, 'recibido_por' | 'fotos' | 'firma' | 'lat' | 'lng' | 'precision_m'>

/** Takes the step of a delivery together with its proof; undefined when somebody else moved the guide meanwhile. */
export async function entregar(
  { db, nuevoId, avisarTrabajo }: Pick<Deps, 'db' | 'nuevoId' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: Paso,
  evidencia: Evidencia,
): Promise<{ guia: FilaGuia; evento: EventoSinFoto; distancia_m: number | null } | undefined> {
  const { recibido_por, fotos, firma, lat, lng, precision_m } = evidencia
  const distancia_m = distanciaDe(guia, evidencia)
  const archivos = firma === undefined ? fotos : [...fotos, firma]
  const dado = await darPasoUsando({ db, avisarTrabajo }, guia, paso, archivos, (consultar, { secuencia }) =>
    consultar(PROBAR_ENTREGA, [
      ...[guia.comercio_id, guia.modo, guia.id, nuevoId().id, secuencia],
      ...[{ documento: null, relacion: null, ...recibido_por }, lat ?? null, lng ?? null, precision_m ?? null],
      ...[fotos, firma ?? null, distancia_m, paso.ocurrido_en, paso.registrado_en],
    ]),
  )
  return dado && { ...dado, distancia_m }
}

/** The metres from where a parcel was handed over to the confirmed place; null where one of the two isn't known. */
function distanciaDe({ ubicacion_lat, ubicacion_lng }: FilaGuia, { lat, lng }: Evidencia): number | null {
  if (lat === undefined || lng === undefined || ubicacion_lat === null || ubicacion_lng === null) return null
  return Math.round(distanciaKm({ lat, lng }, { lat: ubicacion_lat, lng: ubicacion_lng }) * 1_000)
}

const PROBAR_INTENTO = sentencia(
  'intentos.probar',
  `insert into prueba_intento (comercio_id, modo, guia_id, secuencia, fotos, ocurrido_en)
   values ($1, $2, $3, $4, $5::text[], $6::timestamptz)`,
)

/**
 * Takes the step of a failed attempt together with its photos; undefined when somebody else moved the guide meanwhile.
 */
export const anotarIntento = (
  deps: Pick<Deps, 'db' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: Paso,
  fotos: readonly string[],
): ReturnType<typeof darPaso> =>
  darPasoUsando(deps, guia, paso, fotos, (consultar, { secuencia }) =>
    consultar(PROBAR_INTENTO, [guia.comercio_id, guia.modo, guia.id, secuencia, fotos, paso.ocurrido_en]),
  )
