/** Days in the examples: what readers copy works on the day they read it. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { renderHelp } from '../../scripts/admin/line.ts'
import { collectionOf } from '../../scripts/documentation/collection.ts'
import { consoleOperacionesOf } from '../../scripts/documentation/console.ts'
import {
  type ContractOperacion,
  examplesOf,
  type Json,
  type JsonObject,
  operacionesOf,
  parametersOf,
  resolveRef,
} from '../../scripts/documentation/contract.ts'
import { readBundle } from '../../scripts/generate/places.ts'
import { toServed } from '../../scripts/generate/publish.ts'
import { toolsOf } from '../../scripts/generate/tools.ts'
import { listGenerated } from '../../server/pages/assets.ts'
import { ROOT } from '../../server/platform/root.ts'
import { addDays, dayIn } from '../../server/platform/time/day.ts'
import { withRelativeDays } from '../../server/platform/time/relativeDays.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useAssistants } from '../mcp/assistant.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { fillRelativeDays, hasRelativeDays } from './days.ts'
import { runProgram } from './run.ts'
import { setUpScene } from './scenes.ts'

const environment = useEnvironment()
const createAssistant = useAssistants(environment)
const open = useReceivers()
const ZONA = 'America/Guatemala'
const DIA = /(?<![\d-])\d{4}-\d\d-\d\d(?![\d-])/g
const readDocument = (file: string) => readFileSync(new URL(`server/generated/contract/${file}`, ROOT), 'utf8')
const isSunday = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay() === 0

describe('withRelativeDays', () => {
  it.each([
    ['0001-01-01', '2026-11-25', '2026-11-25'],
    ['0000-12-31', '2026-03-01', '2026-02-28'],
    ['0001-01-02', '2028-02-28', '2028-02-29'],
    ['0001-01-02', '2026-12-31', '2027-01-01'],
    // 29 November 2026 is a Sunday. Only a future Sunday moves.
    ['0001-01-05', '2026-11-25', '2026-11-30'],
    ['0001-01-01', '2026-11-29', '2026-11-29'],
    ['0000-12-25', '2026-12-06', '2026-11-29'],
    ['desde=0000-12-31T06%3A00', '2026-11-25', 'desde=2026-11-24T06%3A00'],
    ['"0001-01-01T06:00:00Z","0001-01-02"', '2026-11-25', '"2026-11-25T06:00:00Z","2026-11-26"'],
    [
      '10001-01-01 A-0001-01-01 0001-01-01-1 0002-01-01',
      '2026-11-25',
      '10001-01-01 A-0001-01-01 0001-01-01-1 0002-01-01',
    ],
  ])('writes %s on %s as %s', (text, today, written) => {
    expect(withRelativeDays(text, today)).toBe(written)
  })
})

/** Documents that the service serves, by path, each with the generated file that it comes from. */
const SERVED_FILES = new Map([
  ['/docs', 'pages/docs/documentacion.html'],
  ...['openapi.json', 'openapi.yaml', 'coleccion.json'].map((file) => [`/${file}`, file] as const),
  ...listGenerated('documentation/textos/').map((file) => [`/${file}`, `documentation/textos/${file}`] as const),
])

/** Request examples of an operation, with the parameters that a sample shows. */
const solicitudesOf = (contract: JsonObject, operacion: ContractOperacion) => {
  const cuerpos = examplesOf(contract, operacion.definition.requestBody).map(
    ([name, { value }]) => [name, value] as const,
  )
  const parameters = parametersOf(contract, operacion).filter(({ example }) => example !== undefined)
  const onRoute = new Map(parameters.map(({ name, example }) => [String(name), String(example)]))
  const query = parameters
    .filter((one) => one.in === 'query' && hasDay(one.example))
    .map(({ name, example }): [string, string] => [String(name), String(example)])
  return (cuerpos.length > 0 ? cuerpos : [['', undefined] as const])
    .filter(([, body]) => hasDay(body) || query.length > 0)
    .map(([nombre, body]) => ({
      nombre,
      body,
      path: `${operacion.path.replace(/\{(\w+)\}/g, (_, one) => onRoute.get(one)!)}?${new URLSearchParams(query)}`,
    }))
}
const hasDay = (value: Json | undefined) => JSON.stringify(value ?? null).search(DIA) >= 0

/** The first instant after another at which a test of an instant in UTC succeeds, by hours. */
function after(from: Date, vale: (instant: Date) => boolean): Date {
  const hour = new Date(Math.ceil(from.getTime() / 3_600_000) * 3_600_000)
  while (!vale(hour)) hour.setTime(hour.getTime() + 3_600_000)
  return hour
}
const dayInZone = (instant: Date) => dayIn(instant, ZONA)

/** Clocks in the order of {@link RELOJES}, which only move forward. */
const CLOCKS: readonly [nombre: string, vale: (instant: Date) => boolean][] = [
  ['today', () => true],
  ['at 04:30 UTC, when Guatemala still has yesterday', (one) => one.getUTCHours() === 4],
  ['on a Thursday, three days before a Sunday', (one) => one.getUTCHours() === 15 && one.getUTCDay() === 4],
  ['on a Saturday', (one) => one.getUTCHours() === 15 && one.getUTCDay() === 6],
  ['on a Sunday', (one) => one.getUTCHours() === 15 && one.getUTCDay() === 0],
  ['on 31 December at 23:30', (one) => dayInZone(one).endsWith('-12-31') && one.getUTCHours() === 5],
  ['on a leap day', (one) => dayInZone(one).endsWith('-02-29') && one.getUTCHours() === 15],
]

describe.each(CLOCKS)('the service %s', (nombre, vale) => {
  let today: string
  beforeAll(() => {
    const now = environment.clock()
    if (nombre !== 'today') {
      const minutes = nombre.includes(':30') ? 30 : 0
      environment.advance(after(now, vale).getTime() + minutes * 60_000 - now.getTime())
    }
    today = dayInZone(environment.clock())
  })

  it('serves no relative day, and no future day on a Sunday', async () => {
    let seen = 0
    for (const [path, file] of SERVED_FILES) {
      const text = await (await fetch(environment.url + path)).text()
      const fijos = new Set(readDocument(file).match(DIA))
      expect([path, hasRelativeDays(text)]).toEqual([path, false])
      const writtenDays = (text.match(DIA) ?? []).filter((day) => !fijos.has(day))
      seen += writtenDays.length
      expect([path, writtenDays.filter((day) => day > today && isSunday(day))]).toEqual([path, []])
      expect([path, writtenDays.filter((day) => day < addDays(today, -366) || day > addDays(today, 366))]).toEqual([
        path,
        [],
      ])
    }
    expect(seen).toBeGreaterThan(20)
    for (const [path, lleva] of [
      ['/docs/marca.css', `--hoy:"${today}"`],
      ['/docs/consola', `data-hoy="${today}"`],
    ] as const)
      expect(await (await fetch(environment.url + path)).text()).toContain(lleva)
  })

  it('offers assistants no relative day', async () => {
    const { llave } = await environment.createComercio()
    const { client } = await createAssistant(llave, { write: true })
    const { tools } = await client.listTools()
    const { properties } = tools.find(({ name }) => name === 'reintentarGuia')!.inputSchema
    expect(hasRelativeDays(JSON.stringify(tools))).toBe(false)
    expect((properties!.fecha as { examples: string[] }).examples).toEqual([withRelativeDays('0001-01-04', today)])
  })

  it('shows merchants requests that it accepts', async () => {
    const contract = (await (await fetch(`${environment.url}/openapi.json`)).json()) as JsonObject
    const { url } = await open()
    const sentRequests: string[] = []
    for (const operacion of operacionesOf(contract))
      for (const { nombre: example, body, path: route } of solicitudesOf(contract, operacion)) {
        const { comercio, add } = await setUpScene(environment, url, operacion, example)
        const { status, body: response } = await environment.request(operacion.method.toUpperCase(), add(route), {
          llave: comercio.llave,
          ...(body === undefined ? {} : { body: JSON.parse(add(JSON.stringify(body))) }),
        })
        expect(status, `${operacion.id} ${example}: ${JSON.stringify(response)}`).toBeLessThan(300)
        sentRequests.push(`${operacion.id}.${example}`)
      }
    expect(sentRequests).toEqual(expect.arrayContaining(['reintentarGuia.otroDia', 'recuperarAvisosDeWebhook.ensayo']))
  })

  it('shows operators an assignment that it accepts', async () => {
    const contract = JSON.parse(fillRelativeDays(readDocument('operaciones.json'), environment)) as JsonObject
    const asignar = operacionesOf(contract).find(({ id }) => id === 'asignarGuias')!
    const [[, { value }] = ['', {}]] = examplesOf(contract, asignar.definition.requestBody) as [string, JsonObject][]
    const { api } = await environment.createComercio()
    const { repartidor } = (await environment.asOperador('POST', '/repartidores', { nombre: 'Carlos Méndez' })).body
    const guias = [(await api.guias.crear(buildGuia())).guia]
    const { status, body } = await environment.asOperador('POST', '/asignaciones', {
      ...(value as JsonObject),
      guias,
      repartidor,
    })
    expect([status, body.resultados]).toMatchObject([200, [{ ok: true }]])
    const { fecha } = value as { fecha: string }
    expect((await environment.asOperador('GET', `/asignaciones?fecha=${fecha}`)).status).toBe(200)
  })
})

it('sends a served document again once the day has changed, and not before', async () => {
  const request = (etag = '') => fetch(`${environment.url}/openapi.json`, { headers: { 'If-None-Match': etag } })
  const etag = (await request()).headers.get('etag')!
  expect((await request(etag)).status).toBe(304)
  environment.advance(24 * 3_600_000)
  const other = await request(etag)
  expect(other.status).toBe(200)
  expect(other.headers.get('etag')).not.toBe(etag)
})

it('generates the same bytes on any day', async () => {
  const contract = await readBundle('comercios')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-05-17T04:30:00Z') })
  try {
    expect(JSON.stringify(toServed(contract), null, 2)).toBe(readDocument('openapi.json'))
    expect(JSON.stringify(collectionOf(contract), null, 2)).toBe(readDocument('coleccion.json'))
    expect(JSON.stringify(consoleOperacionesOf(contract))).toBe(readDocument('documentation/operaciones.json'))
    expect(toolsOf(contract)).toEqual(JSON.parse(readDocument('herramientas.json')).herramientas)
  } finally {
    vi.useRealTimers()
  }
})

it.each(['reintentar', 'listar', 'webhooks recuperar'])('guias %s --help names days near today', async (command) => {
  const program = fileURLToPath(new URL('sdk/bin/guias.js', ROOT))
  const { codigo, output } = await runProgram([process.execPath, program, ...command.split(' '), '--help'])
  expect([codigo, hasRelativeDays(output)]).toEqual([0, false])
  const today = dayIn(new Date(), 'UTC')
  for (const day of output.match(DIA) ?? []) {
    expect(day > addDays(today, -40) && day < addDays(today, 40), day).toBe(true)
    if (command === 'reintentar') expect(day > today, day).toBe(true)
  }
})

it('npm run admin shows a day near today where a command takes one', () => {
  const today = dayIn(new Date(), 'UTC')
  const [, vence = ''] = /--vence (\S+?)\]/.exec(renderHelp()) ?? []
  expect(hasRelativeDays(renderHelp())).toBe(false)
  expect(vence > addDays(today, 80)).toBe(true)
})

it.each([
  'README.md',
  ...globSync(['sdk/**/README.md', 'docs/*.md', 'docs/{operacion,como}/*.md', 'despliegue/**/*.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  }),
])('%s has no command with a fixed day', (file) => {
  const text = readFileSync(new URL(file, ROOT), 'utf8')
  const blocks = [...text.matchAll(/^ *```(?:bash|sh|console)\n([\s\S]*?)^ *```/gm)].map(([, block]) => block!)
  const lines = [...text.matchAll(/`([^`\n]*(?:--\w|curl )[^`\n]*)`/g)].map(([, line]) => line!)
  expect([...blocks, ...lines].flatMap((one) => one.match(DIA) ?? [])).toEqual([])
})

/** Lists the examples that a request's schema shows for days and instants, with the place of each. */
function findDayExamples(
  contract: JsonObject,
  schema: Json | undefined,
  path: string,
  seen = new Set<Json>(),
): string[] {
  if (schema === null || typeof schema !== 'object' || seen.has(schema)) return []
  seen.add(schema)
  if (Array.isArray(schema)) return schema.flatMap((one) => findDayExamples(contract, one, path, seen))
  const whole = resolveRef(contract, schema)
  const days = String(whole.format ?? '').startsWith('date') ? ((whole.examples ?? []) as Json[]) : []
  return [
    ...days.map((day) => `${path} ${day}`),
    ...['items', 'anyOf', 'oneOf', 'allOf'].flatMap((key) => findDayExamples(contract, whole[key], path, seen)),
    ...Object.entries((whole.properties ?? {}) as JsonObject).flatMap(([key, one]) =>
      findDayExamples(contract, one, `${path}/${key}`, seen),
    ),
  ]
}

it.each(['comercios', 'operaciones', 'publico'])('the requests of %s name no fixed day', async (documento) => {
  const contract = JSON.parse(readDocument(`${documento}.json`)) as JsonObject
  const mentionedTexts = operacionesOf(contract).flatMap((operacion) => {
    const { id, definition } = operacion
    const contenido = (resolveRef(contract, definition.requestBody).content ?? {}) as Record<string, JsonObject>
    const samples = ((definition['x-codeSamples'] ?? []) as JsonObject[]).map(({ source }) => source)
    const texts = [
      ...examplesOf(contract, definition.requestBody).map(([, { value }]) => value),
      ...parametersOf(contract, operacion).flatMap((one) => [one.example, one.examples]),
      ...samples,
    ].map((one) => JSON.stringify(one ?? null))
    const fromSchemas = [
      ...Object.values(contenido).flatMap(({ schema }) => findDayExamples(contract, schema, id)),
      ...parametersOf(contract, operacion).flatMap(({ name, schema }) =>
        findDayExamples(contract, schema, `${id} ${name}`),
      ),
    ]
    return [...texts.map((text) => `${id} ${text}`), ...fromSchemas]
  })
  const days = mentionedTexts.flatMap((text) =>
    (text.match(DIA) ?? []).map((day) => [day, text.slice(0, 200)] as const),
  )
  expect(days.length).toBeGreaterThan(0)
  expect(days.filter(([day]) => !hasRelativeDays(day))).toEqual([])
})
