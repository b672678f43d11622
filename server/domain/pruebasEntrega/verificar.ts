import type { ResultadoDeVerificacion } from '../../generado/contrato/tipos/index.ts'
import { tooMany } from '../../platform/errors.ts'
import { enHexadecimal } from '../archivos/archivo.ts'
import { buscarGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { buscarPrueba, leerArchivos } from './prueba.ts'

export const verificarPrueba: Handler<'verificarPrueba'> = async (
  { path, body, red },
  { db, limiteDeVerificacion },
) => {
  const espera = limiteDeVerificacion.take(red)
  if (espera > 0) throw tooMany('Llegaron muchas solicitudes seguidas desde su conexión', espera)
  const guia = await buscarGuia(db, 'todos', path.guia)
  const prueba = await buscarPrueba(db, guia)
  const pdf = prueba?.pdf ? (await leerArchivos(db, guia, [prueba.pdf])).get(prueba.pdf) : undefined
  const decir = (resultado: ResultadoDeVerificacion, manifiesto: string | null = null) =>
    ({ status: 200, body: { guia: guia.guia, resultado, manifiesto } }) as const
  if (!prueba) return decir('sin_prueba')
  if (!pdf) return decir('pendiente')
  // A client that has the file already knows all that the manifest says. Other clients do not get the manifest.
  return enHexadecimal(pdf.sha256) === body.sha256.toLowerCase()
    ? decir('autentica', prueba.manifiesto)
    : decir('no_coincide')
}
