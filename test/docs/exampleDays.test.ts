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

const entorno = useEnvironment()
const nuevoAsistente = useAssistants(entorno)
const abrir = useReceivers()
const ZONA = 'America/Guatemala'
const DIA = /(?<![\d-])\d{4}-\d\d-\d\d(?![\d-])/g
const deDisco = (archivo: string) => readFileSync(new URL(`server/generated/contract/${archivo}`, ROOT), 'utf8')
const esDomingo = (dia: string) => new Date(`${dia}T00:00:00Z`).getUTCDay() === 0

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
  ])('writes %s on %s as %s', (texto, hoy, escrito) => {
    expect(withRelativeDays(texto, hoy)).toBe(escrito)
  })
})

/** Documents that the service serves, by path, each with the generated file that it comes from. */
const SERVIDOS = new Map([
  ['/docs', 'pages/docs/documentacion.html'],
  ...['openapi.json', 'openapi.yaml', 'coleccion.json'].map((archivo) => [`/${archivo}`, archivo] as const),
  ...listGenerated('documentation/textos/').map(
    (archivo) => [`/${archivo}`, `documentation/textos/${archivo}`] as const,
  ),
])

/** Request examples of an operation, with the parameters that a sample shows. */
const solicitudesDe = (contrato: JsonObject, operacion: ContractOperacion) => {
  const cuerpos = examplesOf(contrato, operacion.definition.requestBody).map(
    ([nombre, { value }]) => [nombre, value] as const,
  )
  const parametros = parametersOf(contrato, operacion).filter(({ example }) => example !== undefined)
  const enRuta = new Map(parametros.map(({ name, example }) => [String(name), String(example)]))
  const consulta = parametros
    .filter((uno) => uno.in === 'query' && hasDay(uno.example))
    .map(({ name, example }): [string, string] => [String(name), String(example)])
  return (cuerpos.length > 0 ? cuerpos : [['', undefined] as const])
    .filter(([, cuerpo]) => hasDay(cuerpo) || consulta.length > 0)
    .map(([nombre, cuerpo]) => ({
      nombre,
      cuerpo,
      path: `${operacion.path.replace(/\{(\w+)\}/g, (_, uno) => enRuta.get(uno)!)}?${new URLSearchParams(consulta)}`,
    }))
}
const hasDay = (valor: Json | undefined) => JSON.stringify(valor ?? null).search(DIA) >= 0

/** The first instant after another at which a test of an instant in UTC succeeds, by hours. */
function despues(desde: Date, vale: (instante: Date) => boolean): Date {
  const hora = new Date(Math.ceil(desde.getTime() / 3_600_000) * 3_600_000)
  while (!vale(hora)) hora.setTime(hora.getTime() + 3_600_000)
  return hora
}
const enZona = (instante: Date) => dayIn(instante, ZONA)

/** Clocks in the order of {@link RELOJES}, which only move forward. */
const RELOJES: readonly [nombre: string, vale: (instante: Date) => boolean][] = [
  ['today', () => true],
  ['at 04:30 UTC, when Guatemala still has yesterday', (uno) => uno.getUTCHours() === 4],
  ['on a Thursday, three days before a Sunday', (uno) => uno.getUTCHours() === 15 && uno.getUTCDay() === 4],
  ['on a Saturday', (uno) => uno.getUTCHours() === 15 && uno.getUTCDay() === 6],
  ['on a Sunday', (uno) => uno.getUTCHours() === 15 && uno.getUTCDay() === 0],
  ['on 31 December at 23:30', (uno) => enZona(uno).endsWith('-12-31') && uno.getUTCHours() === 5],
  ['on a leap day', (uno) => enZona(uno).endsWith('-02-29') && uno.getUTCHours() === 15],
]

describe.each(RELOJES)('the service %s', (nombre, vale) => {
  let hoy: string
  beforeAll(() => {
    const ahora = entorno.clock()
    if (nombre !== 'today') {
      const minutos = nombre.includes(':30') ? 30 : 0
      entorno.advance(despues(ahora, vale).getTime() + minutos * 60_000 - ahora.getTime())
    }
    hoy = enZona(entorno.clock())
  })

  it('serves no relative day, and no future day on a Sunday', async () => {
    let vistos = 0
    for (const [ruta, archivo] of SERVIDOS) {
      const texto = await (await fetch(entorno.url + ruta)).text()
      const fijos = new Set(deDisco(archivo).match(DIA))
      expect([ruta, hasRelativeDays(texto)]).toEqual([ruta, false])
      const escritos = (texto.match(DIA) ?? []).filter((dia) => !fijos.has(dia))
      vistos += escritos.length
      expect([ruta, escritos.filter((dia) => dia > hoy && esDomingo(dia))]).toEqual([ruta, []])
      expect([ruta, escritos.filter((dia) => dia < addDays(hoy, -366) || dia > addDays(hoy, 366))]).toEqual([ruta, []])
    }
    expect(vistos).toBeGreaterThan(20)
    for (const [ruta, lleva] of [
      ['/docs/marca.css', `--hoy:"${hoy}"`],
      ['/docs/consola', `data-hoy="${hoy}"`],
    ] as const)
      expect(await (await fetch(entorno.url + ruta)).text()).toContain(lleva)
  })

  it('offers assistants no relative day', async () => {
    const { llave } = await entorno.nuevoComercio()
    const { client } = await nuevoAsistente(llave, { write: true })
    const { tools } = await client.listTools()
    const { properties } = tools.find(({ name }) => name === 'reintentarGuia')!.inputSchema
    expect(hasRelativeDays(JSON.stringify(tools))).toBe(false)
    expect((properties!.fecha as { examples: string[] }).examples).toEqual([withRelativeDays('0001-01-04', hoy)])
  })

  it('shows merchants requests that it accepts', async () => {
    const contrato = (await (await fetch(`${entorno.url}/openapi.json`)).json()) as JsonObject
    const { url } = await abrir()
    const enviadas: string[] = []
    for (const operacion of operacionesOf(contrato))
      for (const { nombre: ejemplo, cuerpo, path: camino } of solicitudesDe(contrato, operacion)) {
        const { comercio, add: poner } = await setUpScene(entorno, url, operacion, ejemplo)
        const { status, cuerpo: respuesta } = await entorno.request(operacion.method.toUpperCase(), poner(camino), {
          llave: comercio.llave,
          ...(cuerpo === undefined ? {} : { cuerpo: JSON.parse(poner(JSON.stringify(cuerpo))) }),
        })
        expect(status, `${operacion.id} ${ejemplo}: ${JSON.stringify(respuesta)}`).toBeLessThan(300)
        enviadas.push(`${operacion.id}.${ejemplo}`)
      }
    expect(enviadas).toEqual(expect.arrayContaining(['reintentarGuia.otroDia', 'recuperarAvisosDeWebhook.ensayo']))
  })

  it('shows operators an assignment that it accepts', async () => {
    const contrato = JSON.parse(fillRelativeDays(deDisco('operaciones.json'), entorno)) as JsonObject
    const asignar = operacionesOf(contrato).find(({ id }) => id === 'asignarGuias')!
    const [[, { value }] = ['', {}]] = examplesOf(contrato, asignar.definition.requestBody) as [string, JsonObject][]
    const { api } = await entorno.nuevoComercio()
    const { repartidor } = (await entorno.operar('POST', '/repartidores', { nombre: 'Carlos Méndez' })).cuerpo
    const guias = [(await api.guias.crear(buildGuia())).guia]
    const { status, cuerpo } = await entorno.operar('POST', '/asignaciones', {
      ...(value as JsonObject),
      guias,
      repartidor,
    })
    expect([status, cuerpo.resultados]).toMatchObject([200, [{ ok: true }]])
    const { fecha } = value as { fecha: string }
    expect((await entorno.operar('GET', `/asignaciones?fecha=${fecha}`)).status).toBe(200)
  })
})

it('sends a served document again once the day has changed, and not before', async () => {
  const pedir = (etag = '') => fetch(`${entorno.url}/openapi.json`, { headers: { 'If-None-Match': etag } })
  const etag = (await pedir()).headers.get('etag')!
  expect((await pedir(etag)).status).toBe(304)
  entorno.advance(24 * 3_600_000)
  const otra = await pedir(etag)
  expect(otra.status).toBe(200)
  expect(otra.headers.get('etag')).not.toBe(etag)
})

it('generates the same bytes on any day', async () => {
  const contrato = await readBundle('comercios')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-05-17T04:30:00Z') })
  try {
    expect(JSON.stringify(toServed(contrato), null, 2)).toBe(deDisco('openapi.json'))
    expect(JSON.stringify(collectionOf(contrato), null, 2)).toBe(deDisco('coleccion.json'))
    expect(JSON.stringify(consoleOperacionesOf(contrato))).toBe(deDisco('documentation/operaciones.json'))
    expect(toolsOf(contrato)).toEqual(JSON.parse(deDisco('herramientas.json')).herramientas)
  } finally {
    vi.useRealTimers()
  }
})

it.each(['reintentar', 'listar', 'webhooks recuperar'])('guias %s --help names days near today', async (orden) => {
  const programa = fileURLToPath(new URL('sdk/bin/guias.js', ROOT))
  const { codigo, output: salida } = await runProgram([process.execPath, programa, ...orden.split(' '), '--help'])
  expect([codigo, hasRelativeDays(salida)]).toEqual([0, false])
  const hoy = dayIn(new Date(), 'UTC')
  for (const dia of salida.match(DIA) ?? []) {
    expect(dia > addDays(hoy, -40) && dia < addDays(hoy, 40), dia).toBe(true)
    if (orden === 'reintentar') expect(dia > hoy, dia).toBe(true)
  }
})

it('npm run admin shows a day near today where a command takes one', () => {
  const hoy = dayIn(new Date(), 'UTC')
  const [, vence = ''] = /--vence (\S+?)\]/.exec(renderHelp()) ?? []
  expect(hasRelativeDays(renderHelp())).toBe(false)
  expect(vence > addDays(hoy, 80)).toBe(true)
})

it.each([
  'README.md',
  ...globSync(['sdk/**/README.md', 'docs/*.md', 'docs/{operacion,como}/*.md', 'despliegue/**/*.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  }),
])('%s has no command with a fixed day', (archivo) => {
  const texto = readFileSync(new URL(archivo, ROOT), 'utf8')
  const bloques = [...texto.matchAll(/^ *```(?:bash|sh|console)\n([\s\S]*?)^ *```/gm)].map(([, bloque]) => bloque!)
  const lineas = [...texto.matchAll(/`([^`\n]*(?:--\w|curl )[^`\n]*)`/g)].map(([, linea]) => linea!)
  expect([...bloques, ...lineas].flatMap((uno) => uno.match(DIA) ?? [])).toEqual([])
})

/** Lists the examples that a request's schema shows for days and instants, with the place of each. */
function ejemplosDeDias(
  contrato: JsonObject,
  esquema: Json | undefined,
  donde: string,
  vistos = new Set<Json>(),
): string[] {
  if (esquema === null || typeof esquema !== 'object' || vistos.has(esquema)) return []
  vistos.add(esquema)
  if (Array.isArray(esquema)) return esquema.flatMap((uno) => ejemplosDeDias(contrato, uno, donde, vistos))
  const entero = resolveRef(contrato, esquema)
  const dias = String(entero.format ?? '').startsWith('date') ? ((entero.examples ?? []) as Json[]) : []
  return [
    ...dias.map((dia) => `${donde} ${dia}`),
    ...['items', 'anyOf', 'oneOf', 'allOf'].flatMap((clave) => ejemplosDeDias(contrato, entero[clave], donde, vistos)),
    ...Object.entries((entero.properties ?? {}) as JsonObject).flatMap(([clave, uno]) =>
      ejemplosDeDias(contrato, uno, `${donde}/${clave}`, vistos),
    ),
  ]
}

it.each(['comercios', 'operaciones', 'publico'])('the requests of %s name no fixed day', async (documento) => {
  const contrato = JSON.parse(deDisco(`${documento}.json`)) as JsonObject
  const nombrados = operacionesOf(contrato).flatMap((operacion) => {
    const { id, definition: definicion } = operacion
    const contenido = (resolveRef(contrato, definicion.requestBody).content ?? {}) as Record<string, JsonObject>
    const muestras = ((definicion['x-codeSamples'] ?? []) as JsonObject[]).map(({ source }) => source)
    const textos = [
      ...examplesOf(contrato, definicion.requestBody).map(([, { value }]) => value),
      ...parametersOf(contrato, operacion).flatMap((uno) => [uno.example, uno.examples]),
      ...muestras,
    ].map((uno) => JSON.stringify(uno ?? null))
    const deEsquemas = [
      ...Object.values(contenido).flatMap(({ schema }) => ejemplosDeDias(contrato, schema, id)),
      ...parametersOf(contrato, operacion).flatMap(({ name, schema }) =>
        ejemplosDeDias(contrato, schema, `${id} ${name}`),
      ),
    ]
    return [...textos.map((texto) => `${id} ${texto}`), ...deEsquemas]
  })
  const dias = nombrados.flatMap((texto) => (texto.match(DIA) ?? []).map((dia) => [dia, texto.slice(0, 200)] as const))
  expect(dias.length).toBeGreaterThan(0)
  expect(dias.filter(([dia]) => !hasRelativeDays(dia))).toEqual([])
})
