import type { ResultadoDeVerificacion } from '../../generated/contract/types/index.ts'
import { tooMany } from '../../platform/errors.ts'
import { toHex } from '../archivos/archivo.ts'
import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { type PruebaRow, readArchivos, readPruebas } from './prueba.ts'

export const verificarPrueba: Handler<'verificarPrueba'> = async ({ path, body, red }, { db, verificationLimit }) => {
  const delay = verificationLimit.take(red)
  if (delay > 0) throw tooMany('Llegaron muchas solicitudes seguidas desde su conexión', delay)
  const guia = await findGuia(db, 'todos', path.guia)
  const pruebas = await readPruebas(db, guia)
  const archivos = await readArchivos(
    db,
    guia,
    pruebas.flatMap(({ pdf }) => pdf ?? []),
  )
  const hasThatPdf = ({ pdf }: PruebaRow) => {
    const archivo = pdf === null ? undefined : archivos.get(pdf)
    return archivo !== undefined && toHex(archivo.sha256) === body.sha256.toLowerCase()
  }
  const answer = (resultado: ResultadoDeVerificacion, manifiesto: string | null = null) =>
    ({ status: 200, body: { guia: guia.guia, resultado, manifiesto } }) as const
  // A client that has the file already knows all that the manifest says. Other clients do not get the manifest.
  const matchingPrueba = pruebas.find(hasThatPdf)
  if (matchingPrueba)
    return answer(matchingPrueba.rectificada_en ? 'rectificada' : 'autentica', matchingPrueba.manifiesto)
  const vale = pruebas.find(({ rectificada_en }) => rectificada_en === null)
  if (pruebas.length === 0) return answer('sin_prueba')
  return answer(vale && !archivos.has(vale.pdf ?? '') ? 'pendiente' : 'no_coincide')
}
