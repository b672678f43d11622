import type { Db } from '../../data/db.ts'
import type { PruebaDeEntrega } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { presentArchivo } from '../archivos/archivo.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { findPrueba, type PruebaWithRepartidor, readArchivos } from './prueba.ts'

/** Shortest wait before the PDF is asked for again, in seconds. A PDF takes about a second. */
const MIN_WAIT_S = 2
/** Longest wait that `Retry-After` may tell, in seconds. */
const MAX_WAIT_S = 86_400

export const obtenerPruebaDeEntrega: Handler<'obtenerPruebaDeEntrega'> = async ({ path, identity }, deps) => {
  const { body, proximo_en } = await readPruebaOf(deps, await findGuia(deps.db, identity, path.guia))
  if (body.pdf) return { status: 200, headers: {}, body }
  const wait = Math.ceil((proximo_en.getTime() - deps.clock().getTime()) / 1_000)
  return { status: 200, headers: { 'Retry-After': String(Math.min(MAX_WAIT_S, Math.max(MIN_WAIT_S, wait))) }, body }
}

/**
 * Returns the proof of a guide's delivery, for its merchant or for operators, with new links each time. `proximo_en` is
 * the time of the next attempt to make its PDF.
 * @throws Problema 404 `prueba_no_disponible`
 */
export async function readPruebaOf(
  { db, archivoLinks }: Pick<Deps, 'db' | 'archivoLinks'>,
  guia: GuiaRow,
): Promise<{ body: PruebaDeEntrega; proximo_en: Date }> {
  const prueba = await findPrueba(db, guia)
  if (!prueba) throw new Problema('prueba_no_disponible', await explainMissingPrueba(db, guia), { estado: guia.estado })
  return { body: await presentPrueba({ db, archivoLinks }, guia, prueba), proximo_en: prueba.proximo_en }
}

async function explainMissingPrueba(db: Db, guia: GuiaRow): Promise<string> {
  if (guia.estado !== 'entregado') return `La guía está en ${guia.estado}; la prueba existe desde que se entrega.`
  const deletedPrueba = await db
    .forComercio(guia.comercio_id)
    .prisma.prueba_borrada.findUnique({ where: { comercio_id_modo_guia_id: guiaKeyOf(guia) } })
  if (!deletedPrueba) return 'La guía se entregó sin prueba.'
  const reason = deletedPrueba.motivo === 'peticion' ? 'a petición de la persona' : 'por la retención de datos'
  return `La guía se entregó, y su prueba se borró el ${deletedPrueba.borrado_en.toISOString()} ${reason}. Que se entregó, y cuándo, está en el historial.`
}

/** Returns a proof in the contract's form. */
export async function presentPrueba(
  deps: Pick<Deps, 'db' | 'archivoLinks'>,
  guia: GuiaRow,
  prueba: PruebaWithRepartidor,
): Promise<PruebaDeEntrega> {
  const { fotos, firma, pdf } = prueba
  const archivos = await readArchivos(
    deps.db,
    guia,
    [...fotos, firma, pdf].filter((archivo) => archivo !== null),
  )
  const presentOne = (archivo: string | null, disp?: 'attachment') => {
    const row = archivo === null ? undefined : archivos.get(archivo)
    return row ? presentArchivo(deps, row, disp) : null
  }
  return {
    guia: guia.guia,
    entregado_en: prueba.entregado_en.toISOString(),
    repartidor: prueba.repartidor,
    recibido_por: prueba.recibido_por,
    lat: prueba.lat,
    lng: prueba.lng,
    precision_m: prueba.precision_m,
    distancia_m: prueba.distancia_m,
    distancia_avisada_m: prueba.distancia_avisada_m,
    fotos: fotos.map((foto) => presentOne(foto)).filter((foto) => foto !== null),
    firma: presentOne(firma),
    sin_firma: prueba.sin_firma,
    evidencia: prueba.evidencia,
    pdf: presentOne(pdf, 'attachment'),
    manifiesto: prueba.manifiesto,
    sal: prueba.sal,
  }
}
