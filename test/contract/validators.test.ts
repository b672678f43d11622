import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Operation, type OperationId, readContractText, readDocument } from '../../server/api/contract/contract.ts'
import { Explainer } from '../../server/api/contract/explainer.ts'
import { loadContract, requireCompiled } from '../../server/api/contract/load.ts'
import { bodyRef, carriesJson, forInput, schemaRef } from '../../server/api/contract/schemas.ts'
import { BODY_VALIDATORS, PATH_VALIDATORS, SCHEMA_VALIDATORS } from '../../server/generated/contract/validators.mjs'
import { ROOT } from '../../server/platform/root.ts'

const { operaciones } = loadContract()
const withBody = operaciones.filter(carriesJson)
const explainer = new Explainer(() => forInput(readDocument()))
const PAISES = [undefined, null, 'GT', 'MX']

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The contracts as they are published: what the server reads has no examples. */
const publishedContracts = ['comercios', 'operaciones', 'publico'].map(
  (name) =>
    JSON.parse(readFileSync(new URL(`server/generated/contract/${name}.json`, ROOT), 'utf8')) as ReturnType<
      typeof readDocument
    >,
)

interface Example {
  $ref?: string
  value: Json
}

/** The examples of an operation's body in the contract. */
function examplesOf({ path, method, tipos }: Operation): Json[] {
  const { paths, components } = publishedContracts.find((one) => path in one.paths)!
  const sharedExamples = (components as unknown as { examples: Record<string, Example> }).examples
  const { example, examples = {} } = paths[path]![method]!.requestBody!.content[tipos[0]!] as {
    example?: Json
    examples?: Record<string, Example>
  }
  const values = Object.values(examples).map(({ $ref, value }) =>
    $ref ? sharedExamples[$ref.split('/').at(-1)!]!.value : value,
  )
  return [example, ...values].filter((one) => one !== undefined)
}

const CUALQUIERA: fc.Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  fc.constantFrom(
    '',
    ' ',
    '+50255551234',
    '5555 1234',
    'GT',
    '2026-11-20T15:04:05Z',
    'https://maps.app.goo.gl/x',
    91,
    -1,
    1e3,
  ),
)

/** A value with one of its parts, somewhere, replaced, removed, or joined by another. */
function alter(value: Json, route: readonly number[], fresh: Json): Json {
  const [n = 0, ...rest] = route
  if (value === null || typeof value !== 'object') return fresh
  const keys = Object.keys(value)
  const key = keys[n % (keys.length + 2)]
  if (key === undefined) return Array.isArray(value) ? [...value, fresh] : { ...value, [`otra${n}`]: fresh }
  if (rest.length === 0 && n % 3 === 0)
    return Array.isArray(value)
      ? value.toSpliced(Number(key), 1)
      : Object.fromEntries(Object.entries(value).filter(([other]) => other !== key))
  const inside = alter((value as Record<string, Json>)[key]!, rest, fresh)
  return Array.isArray(value) ? value.with(Number(key), inside) : { ...value, [key]: inside }
}

describe('the validators that were compiled with the server', () => {
  it('are there for each JSON body and for the parameters of each path', () => {
    expect(Object.keys(BODY_VALIDATORS).sort()).toEqual(withBody.map(({ id }) => id).sort())
    const withPathParameter = operaciones.filter(({ parameters }) => parameters.some((one) => one.in === 'path'))
    expect(Object.keys(PATH_VALIDATORS).sort()).toEqual(withPathParameter.map(({ id }) => id).sort())
  })

  it('are of the contract that is served, and of no other', () => {
    const text = readContractText()
    expect(() => requireCompiled(text)).not.toThrow()
    expect(() => requireCompiled(text.replace('"maxLength":', '"minLength":'))).toThrow('npm run generate')
  })

  it.each(withBody.map((operacion) => [operacion.id, operacion] as const))(
    'admit of %s what the contract admits, read at run time, and nothing else',
    (id, operacion) => {
      const examples = examplesOf(operacion)
      expect(examples.length).toBeGreaterThan(0)
      const compare = (body: Json, pais: string | null | undefined) => {
        const admitido = BODY_VALIDATORS[id]!.call({ pais }, structuredClone(body))
        const { listedFaults } = explainer.faults(bodyRef(operacion), body, 1, { pais } as never)
        expect(admitido, JSON.stringify(body)).toBe(listedFaults.length === 0)
        return admitido
      }
      for (const example of examples) compare(example, undefined)
      fc.assert(
        fc.property(
          fc.constantFrom(...examples),
          fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }),
          CUALQUIERA,
          fc.constantFrom(...PAISES),
          (example, route, fresh, pais) => void compare(alter(example, route, fresh), pais),
        ),
        { numRuns: 200 },
      )
    },
  )

  it('judge a guide of a batch as the contract does', () => {
    const [example] = examplesOf(withBody.find(({ id }) => id === 'crearGuia')!)
    fc.assert(
      fc.property(fc.array(fc.nat(30), { maxLength: 2 }), CUALQUIERA, (route, fresh) => {
        const guia = route.length === 0 ? example! : alter(example!, route, fresh)
        const { listedFaults } = explainer.faults(schemaRef('GuiaIndividual'), guia, 1, undefined)
        expect(SCHEMA_VALIDATORS.GuiaIndividual(structuredClone(guia)), JSON.stringify(guia)).toBe(
          listedFaults.length === 0,
        )
      }),
    )
  })

  it('put in what the contract says of what is left out', () => {
    const expectAccepted = (id: OperationId, body: object) => {
      expect(BODY_VALIDATORS[id]!(body)).toBe(true)
      return body
    }
    expect(expectAccepted('rotarSecreto', {})).toEqual({ solapamiento_horas: 24 })
    expect(expectAccepted('simularUbicacion', {})).toMatchObject({ resultado: 'confirmada' })
    expect(expectAccepted('rotarLlave', { solapamiento_horas: 0 })).toEqual({ solapamiento_horas: 0 })
  })

  it('admit in a path what its parameters admit', () => {
    expect(PATH_VALIDATORS.obtenerGuia!({ guia: '7K3M9QX2A1B4' })).toBe(true)
    expect(PATH_VALIDATORS.obtenerGuia!({ guia: 'x'.repeat(20_000) })).toBe(false)
    expect(PATH_VALIDATORS.obtenerGuia!({ guia: '' })).toBe(false)
    expect(PATH_VALIDATORS.obtenerGuia!({})).toBe(false)
  })
})
