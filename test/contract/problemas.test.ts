// Every error that the contract declares is told twice: with Spanish names, and with RFC 9457's for whoever asks for them.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  examplesOf,
  type JsonObject,
  operacionesOf,
  resolveRef,
  schemasOf,
} from '../../scripts/documentation/contract.ts'
import { readDocument } from '../../server/api/contract/contract.ts'
import { asRfc9457 } from '../../server/api/http/rfc9457.ts'
import { ROOT } from '../../server/platform/root.ts'
import { findSchemaFaults } from '../witness.ts'

interface MediaType {
  schema: { $ref: string }
  examples: Record<string, { value: Parameters<typeof asRfc9457>[0] }>
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`server/generated/contract/${name}.json`, ROOT), 'utf8')) as JsonObject

describe.each(['comercios', 'operaciones', 'publico'])('the errors of the contract %s', (name) => {
  const contract = read(name)
  const errores = operacionesOf(contract).flatMap(({ id, definition }) =>
    Object.entries(definition.responses as JsonObject)
      .filter(([estado]) => Number(estado) >= 400)
      .map(([estado, response]) => ({ target: `${id} ${estado}`, respuesta: resolveRef(contract, response) }))
      // What /readyz says with a 503 is how it is, and no error of a request.
      .filter(({ target }) => !/^comprobarDisponibilidad /.test(target)),
  )

  it.each(errores)('$cual', ({ respuesta: response }) => {
    const { 'application/json': json, 'application/problem+json': rfc9457 } = response.content as unknown as Record<
      string,
      MediaType
    >
    expect([json?.schema.$ref, rfc9457?.schema.$ref]).toEqual(
      ['Problema', 'ProblemaRfc9457'].map((schema) => `#/components/schemas/${schema}`),
    )
    const examples = examplesOf(contract, response)
    expect(examples.length).toBeGreaterThan(0)
    for (const [key, { value }] of examples) {
      const example = rfc9457!.examples[key]!.value
      expect(example).toEqual(asRfc9457(value as never))
      expect(findSchemaFaults(json!.schema.$ref, value)).toBeUndefined()
      expect(findSchemaFaults(rfc9457!.schema.$ref, example)).toBeUndefined()
    }
  })
})

describe('the list of codes', () => {
  const problemas = readDocument().components.schemas.CodigoDeProblema!['x-problemas'] as Record<
    string,
    { ajeno?: boolean }
  >
  const ownNames = Object.keys(problemas).filter((codigo) => !problemas[codigo]!.ajeno)
  const listOf = (name: string) => {
    const { CodigoDeProblema = {} } = schemasOf(read(name))
    return { enum: CodigoDeProblema.enum, tabla: Object.keys(CodigoDeProblema['x-problemas'] as JsonObject) }
  }

  it('is, for merchants, what merchants can get: none of the couriers’ and operators’', () => {
    expect(ownNames.length).toBeLessThan(Object.keys(problemas).length)
    expect(listOf('comercios')).toEqual({ enum: ownNames, tabla: ownNames })
    expect(listOf('operaciones').enum).toEqual(Object.keys(problemas))
  })

  it('is the same in the SDK and in the guide', () => {
    const tipos = readFileSync(new URL('sdk/src/generated/types.gen.ts', ROOT), 'utf8')
    const [, typeOfSdk = ''] = /export type CodigoDeProblema = ([^;]+);/.exec(tipos) ?? []
    expect([...typeOfSdk.matchAll(/'(\w+)'/g)].map(([, codigo]) => codigo)).toEqual(ownNames)
    const guia = JSON.stringify(read('comercios'))
    const anchors = [...guia.matchAll(/id=\\"error-(\w+)\\"/g)].map(([, codigo]) => codigo)
    expect(anchors.sort()).toEqual([...ownNames].sort())
  })
})
