import { type FilaArchivo, presentarArchivo } from '../archivos/archivo.ts'
import type { Modo, PruebaDeEntrega, RecibidoPor } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import type { FilaGuia } from '../guias/guia.ts'

/** A row of `prueba_entrega`; columns carry the contract's names. */
export interface FilaPrueba {
  comercio_id: string
  modo: Modo
  guia_id: string
  /** Its job's. */
  id: string
  secuencia: number
  recibido_por: RecibidoPor
  lat: number | null
  lng: number | null
  precision_m: number | null
  distancia_m: number | null
  fotos: string[]
  firma: string | null
  /** null, like the two below, until its job has made it. */
  pdf: string | null
  manifiesto: string | null
  sal: string | null
  /** At making the PDF. */
  intentos: number
  entregado_en: Date
  registrado_en: Date
}

type LlaveDeGuia = Pick<FilaGuia, 'comercio_id' | 'modo' | 'id'>

const BUSCAR = sentencia(
  'pruebas.buscar',
  'select * from prueba_entrega where comercio_id = $1 and modo = $2 and guia_id = $3',
)

export async function buscarPrueba(db: Db, guia: LlaveDeGuia): Promise<FilaPrueba | undefined> {
  const [fila] = await db.consultar<FilaPrueba>(BUSCAR, [guia.comercio_id, guia.modo, guia.id])
  return fila
}

const BORRADA = sentencia(
  'pruebas.borrada',
  'select borrado_en from prueba_borrada where comercio_id = $1 and modo = $2 and guia_id = $3',
)

/** When the guide's proof was deleted because its time was over; undefined: it wasn't. */
export async function buscarBorrada(db: Db, guia: LlaveDeGuia): Promise<Date | undefined> {
  const [fila] = await db.consultar<{ borrado_en: Date }>(BORRADA, [guia.comercio_id, guia.modo, guia.id])
  return fila?.borrado_en
}

const ARCHIVOS = sentencia(
  'pruebas.archivos',
  'select * from archivo where comercio_id = $1 and modo = $2 and guia_id = $3 and archivo = any($4::text[])',
)

/** A guide's own files of those names. */
export async function leerArchivos(
  db: Db,
  guia: LlaveDeGuia,
  archivos: readonly string[],
): Promise<Map<string, FilaArchivo>> {
  const filas = await db.consultar<FilaArchivo>(ARCHIVOS, [guia.comercio_id, guia.modo, guia.id, archivos])
  return new Map(filas.map((fila) => [fila.archivo, fila]))
}

/** A proof → the contract's, with links that are new each time. */
export async function presentarPrueba(
  deps: Pick<Deps, 'db' | 'enlaces'>,
  guia: FilaGuia,
  prueba: FilaPrueba,
): Promise<PruebaDeEntrega> {
  const { fotos, firma, pdf } = prueba
  const archivos = await leerArchivos(
    deps.db,
    guia,
    [...fotos, firma, pdf].filter((archivo) => archivo !== null),
  )
  const uno = (archivo: string | null, disp?: 'attachment') => {
    const fila = archivo === null ? undefined : archivos.get(archivo)
    return fila ? presentarArchivo(deps, fila, disp) : null
  }
  return {
    guia: guia.guia,
    entregado_en: prueba.entregado_en.toISOString(),
    recibido_por: prueba.recibido_por,
    lat: prueba.lat,
    lng: prueba.lng,
    precision_m: prueba.precision_m,
    distancia_m: prueba.distancia_m,
    fotos: fotos.map((foto) => uno(foto)).filter((foto) => foto !== null),
    firma: uno(firma),
    pdf: uno(pdf, 'attachment'),
    manifiesto: prueba.manifiesto,
    sal: prueba.sal,
  }
}
