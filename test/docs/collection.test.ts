/** The collection, as Bruno's own importer reads it. `runners.test.ts` sends its requests. */
import { readFileSync } from 'node:fs'
import { postmanToBruno } from '@usebruno/converters'
import { expect, it } from 'vitest'
import { examplesOf, type JsonObject, operacionesOf } from '../../scripts/documentation/contract.ts'
import { withAddress } from '../../server/pages/docs/address.ts'
import { ROOT } from '../../server/platform/root.ts'
import { shareEnvironment } from '../environment.ts'
import { fillRelativeDays } from './days.ts'

interface ImportedItem {
  name: string
  type: 'folder' | 'http-request'
  items?: ImportedItem[]
  request: {
    url: string
    method: string
    auth: { mode: string }
    headers: { name: string; value: string; enabled: boolean }[]
    body: { json: string | null }
  }
}
interface Bruno {
  collection: {
    items: ImportedItem[]
    root: {
      request: { auth: { mode: string; bearer: { token: string } }; vars: { req: { name: string; value: string }[] } }
    }
  }
}

const environment = shareEnvironment()
const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`server/generated/contract/${file}`, ROOT), 'utf8')) as JsonObject
const contract = read('comercios.json')
const postmanCollection = JSON.parse(
  fillRelativeDays(JSON.stringify(read('coleccion.json')), { clock: () => new Date() }),
) as JsonObject
const { collection } = (await postmanToBruno(postmanCollection)) as Bruno
const solicitudes = collection.items.flatMap(({ items = [] }) => items)
/** Each operation's examples, in the collection's order: by tag, as the operations stand in the contract. */
const expectedItems = ((contract.tags ?? []) as JsonObject[]).flatMap(({ name }) =>
  operacionesOf(contract)
    .filter(({ definition }) => (definition.tags as string[])[0] === name)
    .flatMap((operacion) => {
      const examples = examplesOf(contract, operacion.definition.requestBody).map(([name]) => name)
      return (examples.length > 0 ? examples : ['']).map((example) => ({ operacion, example }))
    }),
)
it('is served', async () => {
  const response = await fetch(`${environment.url}/coleccion.json`)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await response.json()).toEqual(JSON.parse(withAddress(JSON.stringify(postmanCollection), environment.url)))
})

it('holds every operation, a key for all of them and what their paths name', () => {
  expect(solicitudes.map(({ request }) => request.method)).toEqual(
    expectedItems.map(({ operacion }) => operacion.method.toUpperCase()),
  )
  expect(new Set(solicitudes.map(({ name }) => name)).size).toBe(solicitudes.length)
  expect(collection.root.request.auth).toMatchObject({ mode: 'bearer', bearer: { token: '{{GUIAS_LLAVE}}' } })
  expect(solicitudes.every(({ request }) => request.auth.mode === 'inherit')).toBe(true)
  const declaredItems = new Set(collection.root.request.vars.req.map(({ name }) => name))
  const usedItems = solicitudes.flatMap(({ request }) =>
    [...`${request.url} ${JSON.stringify(request.headers)} ${request.body.json}`.matchAll(/\{\{(\w+)\}\}/g)].map(
      ([, one]) => one,
    ),
  )
  expect(usedItems.filter((one) => !declaredItems.has(one ?? ''))).toEqual([])
  const withKey = solicitudes.map(({ request }) => request.headers.some(({ name }) => name === 'Idempotency-Key'))
  expect(withKey).toEqual(expectedItems.map(({ operacion }) => operacion.definition['x-repetible'] === 'clave'))
})

it('names no thing of the examples that only its first sender has', () => {
  const examplePattern = /ejemplo\.com|7K3M9QX2A1B4|wh_4T8WQ2ZK7NHB/
  const solicitudesWithExample = solicitudes.filter(({ request }) =>
    examplePattern.test(`${request.url.split('?')[0]} ${request.body.json}`),
  )
  expect(solicitudesWithExample.map(({ name }) => name)).toEqual([])
})

it('prepares only for requests that it has', () => {
  const [before] = (postmanCollection.event as { script: { exec: string[] } }[]).map(({ script }) =>
    script.exec.join('\n'),
  )
  const needs = JSON.parse(/^const necesita = (\{.*\})\[/.exec(before!)![1]!)
  const names = solicitudes.map(({ name }) => name)
  expect(Object.keys(needs).filter((name) => !names.includes(name))).toEqual([])
  const withCodigo = solicitudes.filter(({ request }) => /\{\{(guia|webhook)\}\}/.test(request.url))
  expect(withCodigo.filter(({ name }) => !(name in needs)).map(({ name }) => name)).toEqual([])
})
