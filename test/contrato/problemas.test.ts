// Every error that the contract declares is told twice: with Spanish names, and with RFC 9457's for whoever asks for them.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ejemplosDe, type Objeto, operacionesDe, seguir } from '../../scripts/documentacion/contrato.ts'
import { RAIZ } from '../../server/contrato/raiz.ts'
import { comoRfc9457 } from '../../server/http/rfc9457.ts'
import { faltasDe } from '../testigo.ts'

interface Medio {
  schema: { $ref: string }
  examples: Record<string, { value: Parameters<typeof comoRfc9457>[0] }>
}

describe.each(['comercios', 'operaciones', 'publico'])('the errors of the contract %s', (nombre) => {
  const contrato = JSON.parse(readFileSync(new URL(`server/contrato/generado/${nombre}.json`, RAIZ), 'utf8')) as Objeto
  const errores = operacionesDe(contrato).flatMap(({ id, definicion }) =>
    Object.entries(definicion.responses as Objeto)
      .filter(([estado]) => Number(estado) >= 400)
      .map(([estado, respuesta]) => ({ cual: `${id} ${estado}`, respuesta: seguir(contrato, respuesta) }))
      // What /readyz says with a 503 is how it is, and no error of a request.
      .filter(({ cual }) => !/^comprobarDisponibilidad /.test(cual)),
  )

  it.each(errores)('$cual', ({ respuesta }) => {
    const { 'application/json': json, 'application/problem+json': rfc9457 } = respuesta.content as unknown as Record<
      string,
      Medio
    >
    expect([json?.schema.$ref, rfc9457?.schema.$ref]).toEqual(
      ['Problema', 'ProblemaRfc9457'].map((esquema) => `#/components/schemas/${esquema}`),
    )
    const ejemplos = ejemplosDe(contrato, respuesta)
    expect(ejemplos.length).toBeGreaterThan(0)
    for (const [clave, { value }] of ejemplos) {
      const suyo = rfc9457!.examples[clave]!.value
      expect(suyo).toEqual(comoRfc9457(value as never))
      expect(faltasDe(json!.schema.$ref, value)).toBeUndefined()
      expect(faltasDe(rfc9457!.schema.$ref, suyo)).toBeUndefined()
    }
  })
})
