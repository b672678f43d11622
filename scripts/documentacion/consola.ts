/** Operations for the documentation's API console: each with its parameters and the contract's own examples. */
import type { ConsoleParameter, Ejemplo, OperacionDeConsola } from '../../server/pages/consola/browser/operacion.ts'
import { ejemplosDe, type Json, type Objeto, operacionesDe, parametrosDe, pideLlave, seguirRef } from './contrato.ts'
import { enDireccion, sinMarcas } from './guia.ts'

/** Position of a parameter's value, by OpenAPI's `in`. The browser itself sends all headers but `Idempotency-Key`. */
const DONDE: Readonly<Record<string, ConsoleParameter['en']>> = { path: 'ruta', query: 'consulta', header: 'cabecera' }

function parametros(contrato: Objeto, suyos: readonly Objeto[]): ConsoleParameter[] {
  return suyos.flatMap(({ name, in: donde, required, example, description, schema }) => {
    const en = DONDE[String(donde)]
    if (!en || (en === 'cabecera' && name !== 'Idempotency-Key')) return []
    return {
      nombre: String(name),
      en,
      obligatorio: required === true,
      ejemplo: String([example as Json].flat()[0] ?? ''),
      descripcion: sinMarcas(String(description ?? seguirRef(contrato, schema).description ?? '')),
    }
  })
}

/** Lists the operations in the order of the contract's tags. */
export const operacionesDeConsola = (contrato: Objeto): OperacionDeConsola[] =>
  ((contrato.tags ?? []) as Objeto[]).flatMap(({ name }) =>
    operacionesDe(contrato)
      .filter(({ definicion }) => (definicion.tags as Json[])[0] === name)
      .map((operacion) => {
        const { id, metodo, ruta, definicion } = operacion
        return {
          id,
          grupo: String(name),
          metodo: metodo.toUpperCase(),
          ruta,
          resumen: String(definicion.summary),
          lugar: `/${enDireccion(String(name))}/${id.toLowerCase()}`,
          conLlave: pideLlave(contrato, definicion),
          parametros: parametros(contrato, parametrosDe(contrato, operacion)),
          ejemplos: ejemplosDe(contrato, definicion.requestBody).map(
            ([, { summary, value }]): Ejemplo => ({ nombre: String(summary), cuerpo: JSON.stringify(value, null, 2) }),
          ),
        }
      }),
  )
