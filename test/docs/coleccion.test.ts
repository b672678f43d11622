/** The collection, as Bruno's own importer reads it: each of its requests is sent. */
import { readFileSync } from 'node:fs'
import { postmanToBruno } from '@usebruno/converters'
import { beforeAll, expect, it } from 'vitest'
import { ejemplosDe, type Objeto, operacionesDe } from '../../scripts/documentacion/contrato.ts'
import { ROOT } from '../../server/platform/root.ts'
import { compartirEntorno } from '../entorno.ts'
import { usarReceptores } from '../webhooks/receptor.ts'
import { montar } from './escenas.ts'

interface Importada {
  name: string
  type: 'folder' | 'http-request'
  items?: Importada[]
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
    items: Importada[]
    root: {
      request: { auth: { mode: string; bearer: { token: string } }; vars: { req: { name: string; value: string }[] } }
    }
  }
}

const entorno = compartirEntorno()
const abrir = usarReceptores()
const leer = (archivo: string) =>
  JSON.parse(readFileSync(new URL(`server/generado/contrato/${archivo}`, ROOT), 'utf8')) as Objeto
const contrato = leer('comercios.json')
const coleccion = leer('coleccion.json')
const { collection } = (await postmanToBruno(coleccion)) as Bruno
const solicitudes = collection.items.flatMap(({ items = [] }) => items)
/** Each operation's examples, in the collection's order: by tag, as the operations stand in the contract. */
const esperadas = ((contrato.tags ?? []) as Objeto[]).flatMap(({ name }) =>
  operacionesDe(contrato)
    .filter(({ definicion }) => (definicion.tags as string[])[0] === name)
    .flatMap((operacion) => {
      const ejemplos = ejemplosDe(contrato, operacion.definicion.requestBody).map(([nombre]) => nombre)
      return (ejemplos.length > 0 ? ejemplos : ['']).map((ejemplo) => ({ operacion, ejemplo }))
    }),
)
let receptor: string
beforeAll(async () => {
  receptor = (await abrir()).url
})

it('is served', async () => {
  const respuesta = await fetch(`${entorno.url}/coleccion.json`)
  expect(respuesta.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await respuesta.json()).toEqual(coleccion)
})

it('holds every operation, a key for all of them and what their paths name', () => {
  expect(solicitudes.map(({ request }) => request.method)).toEqual(
    esperadas.map(({ operacion }) => operacion.metodo.toUpperCase()),
  )
  expect(new Set(solicitudes.map(({ name }) => name)).size).toBe(solicitudes.length)
  expect(collection.root.request.auth).toMatchObject({ mode: 'bearer', bearer: { token: '{{GUIAS_LLAVE}}' } })
  expect(solicitudes.every(({ request }) => request.auth.mode === 'inherit')).toBe(true)
  const declaradas = new Set(collection.root.request.vars.req.map(({ name }) => name))
  const usadas = solicitudes.flatMap(({ request }) => [...request.url.matchAll(/\{\{(\w+)\}\}/g)].map(([, una]) => una))
  expect(usadas.filter((una) => !declaradas.has(una ?? ''))).toEqual([])
})

it.each(solicitudes.map((solicitud, i) => [solicitud.name, solicitud.request, esperadas[i]!] as const))(
  '%s',
  async (_, { url, method, headers, body }, { operacion, ejemplo }) => {
    const { comercio, poner } = await montar(entorno, receptor, operacion, ejemplo)
    const variables = Object.fromEntries(
      collection.root.request.vars.req.map(({ name, value }) => [name, poner(value)]),
    )
    const con = (texto: string) => texto.replace(/\{\{(\w+)\}\}/g, (_marca, nombre) => variables[nombre] ?? '')
    const respuesta = await fetch(poner(con(url)), {
      method,
      headers: {
        Authorization: `Bearer ${comercio.llave}`,
        ...Object.fromEntries(headers.filter(({ enabled }) => enabled).map(({ name, value }) => [name, value])),
      },
      body: body.json === null ? null : poner(body.json),
    })
    const exitos = Object.keys(operacion.definicion.responses as Objeto).filter((status) => status.startsWith('2'))
    expect(exitos, await respuesta.text()).toContain(String(respuesta.status))
  },
)
