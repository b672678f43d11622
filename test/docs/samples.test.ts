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
const respuestasDe = (definition: JsonObject) =>
  Object.entries(definition.responses as JsonObject).map(
    ([status, one]) => [Number(status), resolveRef(contract, one)] as const,
  )
const exitosDe = (definition: JsonObject) => respuestasDe(definition).filter(([status]) => status < 300)
const muestraDe = (definition: JsonObject, etiqueta: string) => {
  const muestras = (definition['x-codeSamples'] ?? []) as JsonObject[]
  return String(muestras.find(({ label }) => label === etiqueta)?.source ?? '')
}

/** Operations whose samples create guides with references. */
const CREAN = ['crearGuia', 'crearLote']

const hayCurl = ['curl', 'bash'].every((program) => spawnSync(program, ['--version']).status === 0)
if (!hayCurl && !process.env.CI)
  console.warn('\n*** There is no curl or no bash here: the documentation’s curl lines are NOT run. ***\n')
const conCurl = !hayCurl && !process.env.CI

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
      expect(muestraDe(definition, etiqueta), `${id}: docs/como/muestra.md`).not.toBe('')
  })

  it.skipIf(conCurl)('does what its curl line says', { ...FULL_RUN_ONLY, concurrent: true }, async () => {
    const { comercio, add: poner } = await setUpScene(environment, receptor, operacion)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave, CURL_HOME: folder }
    const line = poner(muestraDe(definition, 'curl'))
    const { codigo, output, errores } = await runProgram(['bash', '-euc', line], { env, cwd: folder })
    expect({ codigo, errores }, line).toEqual({ codigo: 0, errores: '' })
    const status = Number(output.trim().split('\n').at(-1))
    expect(
      exitosDe(definition).map(([one]) => one),
      output,
    ).toContain(status)
  })

  for (const [lengua, program, file] of [
    ['Python', PYTHON, 'muestra.py'],
    ['PHP', PHP, 'muestra.php'],
  ] as const)
    it.skipIf(!program)(`does what its ${lengua} sample says`, { ...FULL_RUN_ONLY, concurrent: true }, async () => {
      const { comercio, add: poner } = await setUpScene(environment, receptor, operacion)
      const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
      const cwd = mkdtempSync(join(folder, `${id}-`))
      writeFileSync(join(cwd, file), poner(muestraDe(definition, lengua)))
      const { codigo, errores } = await runProgram([program!, file], { env, cwd })
      expect({ codigo, errores }).toEqual({ codigo: 0, errores: '' })
    })

  it('does what its SDK sample says', { concurrent: true }, async () => {
    const { comercio, add: poner } = await setUpScene(environment, receptor, operacion)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
    const { codigo, errores } = await runTypeScript(poner(muestraDe(definition, 'Node.js')), { env })
    expect(codigo, errores).toBe(0)
  })

  it.runIf(PYTHON && PHP && CREAN.includes(id))('creates the same in every language, once', async () => {
    const { comercio, add: poner } = await setUpScene(environment, receptor, operacion)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
    const cwd = mkdtempSync(join(folder, `${id}-`))
    const count = async () => (await comercio.api.guias.listar({ limite: 100 })).datos.length
    writeFileSync(join(cwd, 'muestra.py'), poner(muestraDe(definition, 'Python')))
    writeFileSync(join(cwd, 'muestra.php'), poner(muestraDe(definition, 'PHP')))
    const seen: number[] = []
    for (const correr of [
      () => runProgram([PYTHON!, 'muestra.py'], { env, cwd }),
      () => runProgram([PHP!, 'muestra.php'], { env, cwd }),
      () => runTypeScript(poner(muestraDe(definition, 'Node.js')), { env }),
    ]) {
      const { codigo, output, errores } = await correr()
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
      const { comercio, add: poner } = await setUpScene(environment, receptor, operacion, nombre)
      const query = parametersOf(contract, operacion)
        .filter((one) => one.in === 'query' && one.required === true)
        .map((one): [string, string] => [String(one.name), String(one.example)])
      const camino = operacion.path.replace(/\{(\w+)\}/g, (_, parametro) =>
        String(parametersOf(contract, operacion).find(({ name }) => name === parametro)?.example),
      )
      const send = () =>
        environment.request(method.toUpperCase(), poner(`${camino}?${new URLSearchParams(query)}`), {
          llave: comercio.llave,
          ...(example ? { cuerpo: JSON.parse(poner(JSON.stringify(example.value))) } : {}),
        })
      const { status, cuerpo } = await send()
      expect(
        exitosDe(definition).map(([one]) => one),
        `${nombre}: ${JSON.stringify(cuerpo)}`,
      ).toContain(status)
      seen.set(status, [...(seen.get(status) ?? []), cuerpo])
      if (nombre === cuerpos[0]?.[0] && exitosDe(definition).length > 1) {
        const other = await send()
        if (other.status < 300) seen.set(other.status, [...(seen.get(other.status) ?? []), other.cuerpo])
      }
    }
    for (const [status, response] of exitosDe(definition)) {
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
        const distintas = seen.get(status)!.map((real) => diferencia(value, real))
        expect(
          distintas.some((one) => one === undefined),
          `${id} ${status} «${summary}»: ${distintas[0]}`,
        ).toBe(true)
      }
    }
  })

  it('shows only errors that exist', () => {
    const problemas = schemasOf(contract).CodigoDeProblema?.['x-problemas'] as Record<string, JsonObject>
    for (const [status, { content }] of respuestasDe(definition)) {
      if (status < 400) continue
      const [translateRedoc = [], enRfc9457 = []] = ['application/json', 'application/problem+json'].map((tipo) => {
        const { schema, examples } = (content as JsonObject)[tipo] as { schema: { $ref: string }; examples: JsonObject }
        return Object.values(examples).map((one) => {
          const { value = null } = resolveRef(contract, one)
          expect(findSchemaFaults(schema.$ref, value), `${id} ${status} ${tipo}`).toBeUndefined()
          return value as JsonObject
        })
      })
      expect(translateRedoc.length, `${id} ${status}`).toBeGreaterThan(0)
      for (const [i, { codigo, titulo, mensaje, estado_http, documentacion }] of translateRedoc.entries()) {
        const declarado = problemas[String(codigo)]
        expect({ status, estado_http, titulo, documentacion, ajeno: false }).toEqual({
          status: declarado?.status,
          estado_http: status,
          titulo: declarado?.titulo,
          documentacion: `https://guias.ejemplo.com/docs#error-${codigo}`,
          ajeno: declarado?.ajeno ?? false,
        })
        const type = `urn:guias:problema:${codigo}`
        expect(enRfc9457[i]).toMatchObject({ type, title: titulo, status, detail: mensaje, codigo })
      }
    }
  })
})

/** Where two values have not the same members or kinds of them; a null says nothing, nor does an empty list. */
function diferencia(example: Json, real: Json, donde = ''): string | undefined {
  if (example === null || real === null) return undefined
  if (Array.isArray(example) && Array.isArray(real)) {
    if (real.length === 0) return undefined
    return example.map((one, i) => diferencia(one, real[i] ?? null, `${donde}/${i}`)).find(Boolean)
  }
  if (typeof example !== typeof real || Array.isArray(example) !== Array.isArray(real)) return `${donde}: another kind`
  if (typeof example !== 'object') return undefined
  // Headers of others, and merchants' own metadata: whatever they sent.
  if (/\/(cabeceras|metadatos)$/.test(donde)) return undefined
  const [suyas, reales] = [Object.keys(example).sort(), Object.keys(real as JsonObject).sort()]
  if (suyas.join() !== reales.join()) return `${donde || '/'}: shown ${suyas}, answered ${reales}`
  return suyas
    .map((key) =>
      diferencia((example as JsonObject)[key] ?? null, (real as JsonObject)[key] ?? null, `${donde}/${key}`),
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
    const CUANTOS = 11
    await waitUntil(async () => own.receivedWebhooks.length >= CUANTOS)
    const seen = own.receivedWebhooks.map(({ json }) => [json.tipo, diferencia(examples.get(json.tipo) ?? {}, json)])
    expect(new Set(seen.map(([tipo]) => tipo)).size).toBe(CUANTOS)
    expect(seen.filter(([, distinta]) => distinta)).toEqual([])
  })
})

describe('the guide', () => {
  const capitulos = readChapters().map(({ archivo, texto }) => {
    const bloques = [...texto.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, lengua = '', codigo = '']) => ({
      lengua,
      codigo,
    }))
    // Files of one program in one module: they don't import each other.
    const de = (cual: string) =>
      bloques
        .filter(({ lengua }) => lengua === cual)
        .map(({ codigo }) => codigo.replace(/^import .* from '\.\/.*'\n/gm, ''))
        .join('\n')
    return { archivo, bloques, ts: de('ts'), lineas: de('text').trim().split('\n').filter(Boolean) }
  })
  const GUIA = { id: 'guía', path: '', method: '' }
  /** Whole files of the SDK's, which test/sdk runs. */
  const enEjemplos = fileURLToPath(new URL('sdk/ejemplos/', ROOT))
  const examples = readdirSync(enEjemplos).map((file) => readFileSync(join(enEjemplos, file), 'utf8'))

  it('has only code that is run here', () => {
    const ajenos = capitulos.flatMap(({ archivo, bloques }) =>
      bloques
        .filter(({ lengua, codigo }) => !['bash', 'ts', 'text'].includes(lengua) && !examples.includes(codigo))
        .map(({ lengua }) => [archivo, lengua]),
    )
    expect(ajenos).toEqual([])
  })

  it('has its lines for a terminal where home.test.ts and package.test.ts run them', () => {
    const conBash = capitulos.filter(({ bloques }) => bloques.some(({ lengua }) => lengua === 'bash'))
    expect(conBash.map(({ archivo }) => archivo)).toEqual([
      '01-inicio-rapido.md',
      '01b-sdk.md',
      '01c-linea-de-ordenes.md',
    ])
  })

  it('tells the changes of this version first', () => {
    const { texto } = readChapters().find(({ archivo }) => archivo === '15-cambios.md')!
    expect(/^## (.+)$/m.exec(texto)?.[1]).toBe((contract.info as JsonObject).version)
  })

  it('has TypeScript without faults', () => {
    const modulos = new Map(
      capitulos
        .filter((capitulo) => capitulo.ts)
        .map((capitulo) => [
          fileURLToPath(new URL(`openapi/comercios/muestras/${capitulo.archivo}.ts`, ROOT)),
          capitulo.ts,
        ]),
    )
    const { config } = ts.readConfigFile(fileURLToPath(new URL('tsconfig.json', ROOT)), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, fileURLToPath(ROOT))
    const anfitrion = ts.createCompilerHost(options)
    const read = anfitrion.readFile.bind(anfitrion)
    anfitrion.readFile = (path) => modulos.get(path) ?? read(path)
    const existe = anfitrion.fileExists.bind(anfitrion)
    anfitrion.fileExists = (path) => modulos.has(path) || existe(path)
    const program = ts.createProgram([...modulos.keys()], options, anfitrion)
    const faltas = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => [file?.fileName, messageText])
    expect(modulos.size).toBeGreaterThan(3)
    expect(faltas).toEqual([])
  })

  it.each(capitulos.filter((capitulo) => capitulo.ts))('$archivo: its program', async ({ ts: codigo, lineas }) => {
    const { comercio } = await setUpScene(environment, receptor, GUIA)
    const env = { GUIAS_URL: environment.url, GUIAS_LLAVE: comercio.llave }
    const { codigo: fin, output, errores } = await runTypeScript(codigo, { env })
    expect({ fin, errores }).toEqual({ fin: 0, errores: '' })
    if (lineas.length > 0) expect(output.trim().split('\n')).toEqual(lineas)
  })
})
