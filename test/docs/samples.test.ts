/** Whatever the documentation shows is run, or held against what the server does. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  examplesOf,
  type Json,
  type JsonObject,
  operacionesOf,
  parametersOf,
  resolveRef,
  schemasOf,
} from '../../scripts/documentation/contract.ts'
import { readChapters } from '../../scripts/documentation/guide.ts'
import { ROOT } from '../../server/platform/root.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { PHP, PYTHON } from '../interpreters.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { findSchemaFaults } from '../witness.ts'
import { runProgram, runTypeScript } from './run.ts'
import { setUpScene } from './scenes.ts'

const environment = shareEnvironment()
const open = useReceivers()
let receptor: string
const contract = JSON.parse(
  readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'),
) as JsonObject
const operaciones = operacionesOf(contract)
const responsesOf = (definition: JsonObject) =>
  Object.entries(definition.responses as JsonObject).map(
    ([status, one]) => [Number(status), resolveRef(contract, one)] as const,
  )
const successesOf = (definition: JsonObject) => responsesOf(definition).filter(([status]) => status < 300)
const sampleOf = (definition: JsonObject, etiqueta: string) => {
  const samples = (definition['x-codeSamples'] ?? []) as JsonObject[]
  return String(samples.find(({ label }) => label === etiqueta)?.source ?? '')
}

/** Operations whose samples create guides with references. */
const CREATING_OPERATIONS = ['crearGuia', 'crearLote']

const hasCurl = ['curl', 'bash'].every((program) => spawnSync(program, ['--version']).status === 0)
if (!hasCurl && !process.env.CI)
  console.warn('\n*** There is no curl or no bash here: the documentation’s curl lines are NOT run. ***\n')
const withCurl = !hasCurl && !process.env.CI

const folder = mkdtempSync(join(tmpdir(), 'guias-muestras-'))
// curl's own way of being told what to add to a line that stays as it is written.
writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n%{http_code}"\n')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeAll(async () => {
  receptor = (await open()).url
})

describe.each(operaciones.map((operacion) => [operacion.id, operacion] as const))('%s', (id, operacion) => {
  const { definition, method } = operacion

  it('has its samples', () => {
    for (const etiqueta of ['curl', 'Python', 'PHP', 'Node.js'])
      expect(sampleOf(definition, etiqueta), `${id}: docs/como/muestra.md`).not.toBe('')
  })

  it.skipIf(withCurl)('does what its curl line says', { ...FULL_RUN_ONLY, concurrent: true }, async () => {
    const { comercio, add } = await setUpScene(environment, receptor, operacion)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave, CURL_HOME: folder }
    const line = add(sampleOf(definition, 'curl'))
    const { codigo, output, errores } = await runProgram(['bash', '-euc', line], { env, cwd: folder })
    expect({ codigo, errores }, line).toEqual({ codigo: 0, errores: '' })
    const status = Number(output.trim().split('\n').at(-1))
    expect(
      successesOf(definition).map(([one]) => one),
      output,
    ).toContain(status)
  })

  for (const [language, program, file] of [
    ['Python', PYTHON, 'muestra.py'],
    ['PHP', PHP, 'muestra.php'],
  ] as const)
    it.skipIf(!program)(`does what its ${language} sample says`, { ...FULL_RUN_ONLY, concurrent: true }, async () => {
      const { comercio, add } = await setUpScene(environment, receptor, operacion)
      const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
      const cwd = mkdtempSync(join(folder, `${id}-`))
      writeFileSync(join(cwd, file), add(sampleOf(definition, language)))
      const { codigo, errores } = await runProgram([program!, file], { env, cwd })
      expect({ codigo, errores }).toEqual({ codigo: 0, errores: '' })
    })

  it('does what its SDK sample says', { concurrent: true }, async () => {
    const { comercio, add } = await setUpScene(environment, receptor, operacion)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
    const { codigo, errores } = await runTypeScript(add(sampleOf(definition, 'Node.js')), { env })
    expect(codigo, errores).toBe(0)
  })

  it.runIf(PYTHON && PHP && CREATING_OPERATIONS.includes(id))('creates the same in every language, once', async () => {
    const { comercio, add } = await setUpScene(environment, receptor, operacion)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
    const cwd = mkdtempSync(join(folder, `${id}-`))
    const count = async () => (await comercio.api.guias.listar({ limite: 100 })).datos.length
    writeFileSync(join(cwd, 'muestra.py'), add(sampleOf(definition, 'Python')))
    writeFileSync(join(cwd, 'muestra.php'), add(sampleOf(definition, 'PHP')))
    const seen: number[] = []
    for (const runCommand of [
      () => runProgram([PYTHON!, 'muestra.py'], { env, cwd }),
      () => runProgram([PHP!, 'muestra.php'], { env, cwd }),
      () => runTypeScript(add(sampleOf(definition, 'Node.js')), { env }),
    ]) {
      const { codigo, output, errores } = await runCommand()
      expect(codigo, output + errores).toBe(0)
      expect(output + errores).not.toContain('external_ref_en_conflicto')
      seen.push(await count())
    }
    expect(seen[0]).toBeGreaterThan(0)
    expect(new Set(seen).size, String(seen)).toBe(1)
  })

  it('takes the requests, and gives the answers, that its examples show', async () => {
    const cuerpos = examplesOf(contract, definition.requestBody)
    const seen = new Map<number, Json[]>()
    for (const [nombre, example] of cuerpos.length > 0 ? cuerpos : [['', undefined] as const]) {
      const { comercio, add } = await setUpScene(environment, receptor, operacion, nombre)
      const query = parametersOf(contract, operacion)
        .filter((one) => one.in === 'query' && one.required === true)
        .map((one): [string, string] => [String(one.name), String(one.example)])
      const route = operacion.path.replace(/\{(\w+)\}/g, (_, parametro) =>
        String(parametersOf(contract, operacion).find(({ name }) => name === parametro)?.example),
      )
      const send = () =>
        environment.request(method.toUpperCase(), add(`${route}?${new URLSearchParams(query)}`), {
          llave: comercio.llave,
          ...(example ? { body: JSON.parse(add(JSON.stringify(example.value))) } : {}),
        })
      const { status, body } = await send()
      expect(
        successesOf(definition).map(([one]) => one),
        `${nombre}: ${JSON.stringify(body)}`,
      ).toContain(status)
      seen.set(status, [...(seen.get(status) ?? []), body])
      if (nombre === cuerpos[0]?.[0] && successesOf(definition).length > 1) {
        const other = await send()
        if (other.status < 300) seen.set(other.status, [...(seen.get(other.status) ?? []), other.body])
      }
    }
    for (const [status, response] of successesOf(definition)) {
      const json = (response.content as JsonObject | undefined)?.['application/json'] as JsonObject | undefined
      if (!json) continue
      const examples = Object.values((json.examples ?? {}) as JsonObject).map((one) => resolveRef(contract, one))
      expect(examples.length, `${id} ${status}: give the answer an example`).toBeGreaterThan(0)
      expect([...seen.keys()], `${id}: no request example leads to ${status}`).toContain(status)
      for (const { value = null, summary } of examples) {
        expect(
          findSchemaFaults(String((json.schema as JsonObject).$ref), value),
          `${id} ${status}: ${summary}`,
        ).toBeUndefined()
        const differences = seen.get(status)!.map((real) => findDifference(value, real))
        expect(
          differences.some((one) => one === undefined),
          `${id} ${status} «${summary}»: ${differences[0]}`,
        ).toBe(true)
      }
    }
  })

  it('shows only errors that exist', () => {
    const problemas = schemasOf(contract).CodigoDeProblema?.['x-problemas'] as Record<string, JsonObject>
    for (const [status, { content }] of responsesOf(definition)) {
      if (status < 400) continue
      const [translateRedoc = [], inRfc9457 = []] = ['application/json', 'application/problem+json'].map((tipo) => {
        const { schema, examples } = (content as JsonObject)[tipo] as { schema: { $ref: string }; examples: JsonObject }
        return Object.values(examples).map((one) => {
          const { value = null } = resolveRef(contract, one)
          expect(findSchemaFaults(schema.$ref, value), `${id} ${status} ${tipo}`).toBeUndefined()
          return value as JsonObject
        })
      })
      expect(translateRedoc.length, `${id} ${status}`).toBeGreaterThan(0)
      for (const [i, { codigo, titulo, mensaje, estado_http, documentacion }] of translateRedoc.entries()) {
        const declaredProblema = problemas[String(codigo)]
        expect({ status, estado_http, titulo, documentacion, ajeno: false }).toEqual({
          status: declaredProblema?.status,
          estado_http: status,
          titulo: declaredProblema?.titulo,
          documentacion: `https://guias.ejemplo.com/docs/errores#error-${codigo}`,
          ajeno: declaredProblema?.ajeno ?? false,
        })
        const type = `urn:guias:problema:${codigo}`
        expect(inRfc9457[i]).toMatchObject({ type, title: titulo, status, detail: mensaje, codigo })
      }
    }
  })
})

/** Where two values have not the same members or kinds of them; a null says nothing, nor does an empty list. */
function findDifference(example: Json, real: Json, path = ''): string | undefined {
  if (example === null || real === null) return undefined
  if (Array.isArray(example) && Array.isArray(real)) {
    if (real.length === 0) return undefined
    return example.map((one, i) => findDifference(one, real[i] ?? null, `${path}/${i}`)).find(Boolean)
  }
  if (typeof example !== typeof real || Array.isArray(example) !== Array.isArray(real)) return `${path}: another kind`
  if (typeof example !== 'object') return undefined
  // Headers of others, and merchants' own metadata: whatever they sent.
  if (/\/(cabeceras|metadatos)$/.test(path)) return undefined
  const [exampleKeys, actualKeys] = [Object.keys(example).sort(), Object.keys(real as JsonObject).sort()]
  if (exampleKeys.join() !== actualKeys.join()) return `${path || '/'}: shown ${exampleKeys}, answered ${actualKeys}`
  return exampleKeys
    .map((key) =>
      findDifference((example as JsonObject)[key] ?? null, (real as JsonObject)[key] ?? null, `${path}/${key}`),
    )
    .find(Boolean)
}

describe('the body for a webhook', () => {
  const examples = new Map(
    Object.values(contract.webhooks as Record<string, { post: JsonObject }>)
      .flatMap(({ post }) => examplesOf(contract, post.requestBody))
      .map(([, { value }]) => [String((value as JsonObject).tipo), value as JsonObject]),
  )

  it('looks as its examples do', async () => {
    const own = await open()
    const { api } = await environment.createComercio()
    const { webhook } = await api.webhooks.crear({ url: own.url })
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino({ telefono: '+50249000001' }))
    await api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })
    await api.guias.confirmarUbicacion(guia, { lat: 14.7, lng: -90.5 })
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    await api.simulador.avanzar(guia, { estado: 'en_ruta' })
    await api.simulador.avanzar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await api.simulador.avanzar(guia, { estado: 'en_devolucion', motivo: 'intentos_agotados' })
    await api.simulador.avanzar(guia, { estado: 'devuelto' })
    await api.webhooks.probar(webhook)
    const COUNT = 11
    await waitUntil(async () => own.receivedWebhooks.length >= COUNT)
    const seen = own.receivedWebhooks.map(({ json }) => [
      json.tipo,
      findDifference(examples.get(json.tipo) ?? {}, json),
    ])
    expect(new Set(seen.map(([tipo]) => tipo)).size).toBe(COUNT)
    expect(seen.filter(([, differentOne]) => differentOne)).toEqual([])
  })
})

describe('the guide', () => {
  const chapters = readChapters().map(({ archivo, texto: text }) => {
    const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', codigo = '']) => ({
      language,
      codigo,
    }))
    // Files of one program in one module: they don't import each other.
    const blocksIn = (target: string) =>
      blocks
        .filter(({ language }) => language === target)
        .map(({ codigo }) => codigo.replace(/^import .* from '\.\/.*'\n/gm, ''))
        .join('\n')
    return { archivo, blocks, ts: blocksIn('ts'), lineas: blocksIn('text').trim().split('\n').filter(Boolean) }
  })
  const GUIA = { id: 'guía', path: '', method: '' }
  /** Whole files of the SDK's, which test/sdk runs. */
  const examplesFolder = fileURLToPath(new URL('sdk/ejemplos/', ROOT))
  const examples = readdirSync(examplesFolder).map((file) => readFileSync(join(examplesFolder, file), 'utf8'))

  it('has only code that is run here', () => {
    const foreignItems = chapters.flatMap(({ archivo, blocks }) =>
      blocks
        .filter(({ language, codigo }) => !['bash', 'ts', 'text'].includes(language) && !examples.includes(codigo))
        .map(({ language }) => [archivo, language]),
    )
    expect(foreignItems).toEqual([])
  })

  it('has its lines for a terminal where home.test.ts and package.test.ts run them', () => {
    const withBash = chapters.filter(({ blocks }) => blocks.some(({ language }) => language === 'bash'))
    expect(withBash.map(({ archivo }) => archivo)).toEqual([
      '01-inicio-rapido.md',
      '01b-sdk.md',
      '01c-linea-de-ordenes.md',
    ])
  })

  it('tells the changes of this version first', () => {
    const { texto: text } = readChapters().find(({ archivo }) => archivo === '15-cambios.md')!
    expect(/^## (.+)$/m.exec(text)?.[1]).toBe((contract.info as JsonObject).version)
  })

  it('has TypeScript without faults', () => {
    const modules = new Map(
      chapters
        .filter((chapter) => chapter.ts)
        .map((chapter) => [
          fileURLToPath(new URL(`openapi/comercios/muestras/${chapter.archivo}.ts`, ROOT)),
          chapter.ts,
        ]),
    )
    const { config } = ts.readConfigFile(fileURLToPath(new URL('tsconfig.json', ROOT)), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, fileURLToPath(ROOT))
    const targetHost = ts.createCompilerHost(options)
    const read = targetHost.readFile.bind(targetHost)
    targetHost.readFile = (path) => modules.get(path) ?? read(path)
    const exists = targetHost.fileExists.bind(targetHost)
    targetHost.fileExists = (path) => modules.has(path) || exists(path)
    const program = ts.createProgram([...modules.keys()], options, targetHost)
    const faltas = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => [file?.fileName, messageText])
    expect(modules.size).toBeGreaterThan(3)
    expect(faltas).toEqual([])
  })

  it.each(chapters.filter((chapter) => chapter.ts))('$archivo: its program', async ({ ts: codigo, lineas: lines }) => {
    const { comercio } = await setUpScene(environment, receptor, GUIA)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
    const { codigo: fin, output, errores } = await runTypeScript(codigo, { env })
    expect({ fin, errores }).toEqual({ fin: 0, errores: '' })
    if (lines.length > 0) expect(output.trim().split('\n')).toEqual(lines)
  })
})
