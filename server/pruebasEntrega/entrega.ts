import { distanciaKm } from '../catalogo/catalogo.ts'
import type { EntregaParaRegistrar } from '../contrato/generado/tipos/index.ts'
import { sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import type { FilaEvento, Paso } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { darPasoUsando } from './uso.ts'

const PROBAR = sentencia(
  'entregas.probar',
  `insert into prueba_entrega (comercio_id, modo, guia_id, id, secuencia, recibido_por, lat, lng, precision_m, fotos, firma,
     distancia_m, entregado_en, registrado_en, proximo_en)
   values ($1, $2, $3, $4, $5, $6::jsonb, $7::float8, $8::float8, $9::float8, $10::text[], $11, $12::int, $13::timestamptz,
     $14::timestamptz, $14::timestamptz)`,
)

/** What proves a delivery. */
export type Evidencia = Pick<EntregaParaRegistrar, 'recibido_por' | 'fotos' | 'firma' | 'lat' | 'lng' | 'precision_m'>

/** The step and its proof, together; undefined: somebody else moved the guide meanwhile, and nothing was written. */
export async function entregar(
  { db, nuevoId, avisarTrabajo }: Pick<Deps, 'db' | 'nuevoId' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: Paso,
  evidencia: Evidencia,
): Promise<{ guia: FilaGuia; evento: FilaEvento; distancia_m: number | null } | undefined> {
  const { recibido_por, fotos, firma, lat, lng, precision_m } = evidencia
  const distancia_m = distanciaDe(guia, evidencia)
  const archivos = firma === undefined ? fotos : [...fotos, firma]
  const dado = await darPasoUsando({ db, avisarTrabajo }, guia, paso, archivos, (consultar, { secuencia }) =>
    consultar(PROBAR, [
      ...[guia.comercio_id, guia.modo, guia.id, nuevoId().id, secuencia],
      ...[{ documento: null, relacion: null, ...recibido_por }, lat ?? null, lng ?? null, precision_m ?? null],
      ...[fotos, firma ?? null, distancia_m, paso.ocurrido_en, paso.registrado_en],
    ]),
  )
  return dado && { ...dado, distancia_m }
}

/** Metres to the confirmed place; null where one of the two isn't known. */
function distanciaDe({ ubicacion_lat, ubicacion_lng }: FilaGuia, { lat, lng }: Evidencia): number | null {
  if (lat === undefined || lng === undefined || ubicacion_lat === null || ubicacion_lng === null) return null
  return Math.round(distanciaKm({ lat, lng }, { lat: ubicacion_lat, lng: ubicacion_lng }) * 1_000)
}
