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
import { buildGuiaWithoutDestino, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { PHP, PYTHON } from '../interpreters.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { findSchemaFaults } from '../witness.ts'
import { runProgram, runTypeScript } from './run.ts'
import { setUpScene } from './scenes.ts'

const entorno = shareEnvironment()
const abrir = useReceivers()
let receptor: string
const contrato = JSON.parse(
  readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'),
) as JsonObject
const operaciones = operacionesOf(contrato)
const respuestasDe = (definicion: JsonObject) =>
  Object.entries(definicion.responses as JsonObject).map(
    ([status, una]) => [Number(status), resolveRef(contrato, una)] as const,
  )
const exitosDe = (definicion: JsonObject) => respuestasDe(definicion).filter(([status]) => status < 300)
const muestraDe = (definicion: JsonObject, etiqueta: string) => {
  const muestras = (definicion['x-codeSamples'] ?? []) as JsonObject[]
  return String(muestras.find(({ label }) => label === etiqueta)?.source ?? '')
}

/** Operations whose samples create guides with references. */
const CREAN = ['crearGuia', 'crearLote']

const hayCurl = ['curl', 'bash'].every((programa) => spawnSync(programa, ['--version']).status === 0)
if (!hayCurl && !process.env.CI)
  console.warn('\n*** There is no curl or no bash here: the documentation’s curl lines are NOT run. ***\n')
const conCurl = !hayCurl && !process.env.CI

const carpeta = mkdtempSync(join(tmpdir(), 'guias-muestras-'))
// curl's own way of being told what to add to a line that stays as it is written.
writeFileSync(join(carpeta, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n%{http_code}"\n')
afterAll(() => rmSync(carpeta, { recursive: true, force: true }))
beforeAll(async () => {
  receptor = (await abrir()).url
})

describe.each(operaciones.map((operacion) => [operacion.id, operacion] as const))('%s', (id, operacion) => {
  const { definition: definicion, method: metodo } = operacion

  it('has its samples', () => {
    for (const etiqueta of ['curl', 'Python', 'PHP', 'Node.js'])
      expect(muestraDe(definicion, etiqueta), `${id}: docs/como/muestra.md`).not.toBe('')
  })

  it.skipIf(conCurl)('does what its curl line says', { ...FULL_RUN_ONLY, concurrent: true }, async () => {
    const { comercio, add: poner } = await setUpScene(entorno, receptor, operacion)
    const env = { GUIAS_URL: entorno.url, GUIAS_LLAVE: comercio.llave, CURL_HOME: carpeta }
    const linea = poner(muestraDe(definicion, 'curl'))
    const { codigo, output: salida, errores } = await runProgram(['bash', '-euc', linea], { env, cwd: carpeta })
    expect({ codigo, errores }, linea).toEqual({ codigo: 0, errores: '' })
    const status = Number(salida.trim().split('\n').at(-1))
    expect(
      exitosDe(definicion).map(([uno]) => uno),
      salida,
    ).toContain(status)
  })

  for (const [lengua, programa, archivo] of [
    ['Python', PYTHON, 'muestra.py'],
    ['PHP', PHP, 'muestra.php'],
  ] as const)
    it.skipIf(!programa)(`does what its ${lengua} sample says`, { ...FULL_RUN_ONLY, concurrent: true }, async () => {
      const { comercio, add: poner } = await setUpScene(entorno, receptor, operacion)
      const env = { GUIAS_URL: entorno.url, GUIAS_LLAVE: comercio.llave }
      const cwd = mkdtempSync(join(carpeta, `${id}-`))
      writeFileSync(join(cwd, archivo), poner(muestraDe(definicion, lengua)))
      const { codigo, errores } = await runProgram([programa!, archivo], { env, cwd })
      expect({ codigo, errores }).toEqual({ codigo: 0, errores: '' })
    })

  it('does what its SDK sample says', { concurrent: true }, async () => {
    const { comercio, add: poner } = await setUpScene(entorno, receptor, operacion)
    const env = { GUIAS_URL: entorno.url, GUIAS_LLAVE: comercio.llave }
    const { codigo, errores } = await runTypeScript(poner(muestraDe(definicion, 'Node.js')), { env })
    expect(codigo, errores).toBe(0)
  })

  it.runIf(PYTHON && PHP && CREAN.includes(id))('creates the same in every language, once', async () => {
    const { comercio, add: poner } = await setUpScene(entorno, receptor, operacion)
    const env = { GUIAS_URL: entorno.url, GUIAS_LLAVE: comercio.llave }
    const cwd = mkdtempSync(join(carpeta, `${id}-`))
    const cuantas = async () => (await comercio.api.guias.listar({ limite: 100 })).datos.length
    writeFileSync(join(cwd, 'muestra.py'), poner(muestraDe(definicion, 'Python')))
    writeFileSync(join(cwd, 'muestra.php'), poner(muestraDe(definicion, 'PHP')))
    const vistas: number[] = []
    for (const correr of [
      () => runProgram([PYTHON!, 'muestra.py'], { env, cwd }),
      () => runProgram([PHP!, 'muestra.php'], { env, cwd }),
      () => runTypeScript(poner(muestraDe(definicion, 'Node.js')), { env }),
    ]) {
      const { codigo, output: salida, errores } = await correr()
      expect(codigo, salida + errores).toBe(0)
      expect(salida + errores).not.toContain('external_ref_en_conflicto')
      vistas.push(await cuantas())
    }
    expect(vistas[0]).toBeGreaterThan(0)
    expect(new Set(vistas).size, String(vistas)).toBe(1)
  })

  it('takes the requests, and gives the answers, that its examples show', async () => {
    const cuerpos = examplesOf(contrato, definicion.requestBody)
    const vistas = new Map<number, Json[]>()
    for (const [nombre, ejemplo] of cuerpos.length > 0 ? cuerpos : [['', undefined] as const]) {
      const { comercio, add: poner } = await setUpScene(entorno, receptor, operacion, nombre)
      const consulta = parametersOf(contrato, operacion)
        .filter((uno) => uno.in === 'query' && uno.required === true)
        .map((uno): [string, string] => [String(uno.name), String(uno.example)])
      const camino = operacion.path.replace(/\{(\w+)\}/g, (_, parametro) =>
        String(parametersOf(contrato, operacion).find(({ name }) => name === parametro)?.example),
      )
      const enviar = () =>
        entorno.request(metodo.toUpperCase(), poner(`${camino}?${new URLSearchParams(consulta)}`), {
          llave: comercio.llave,
          ...(ejemplo ? { cuerpo: JSON.parse(poner(JSON.stringify(ejemplo.value))) } : {}),
        })
      const { status, cuerpo } = await enviar()
      expect(
        exitosDe(definicion).map(([uno]) => uno),
        `${nombre}: ${JSON.stringify(cuerpo)}`,
      ).toContain(status)
      vistas.set(status, [...(vistas.get(status) ?? []), cuerpo])
      if (nombre === cuerpos[0]?.[0] && exitosDe(definicion).length > 1) {
        const otra = await enviar()
        if (otra.status < 300) vistas.set(otra.status, [...(vistas.get(otra.status) ?? []), otra.cuerpo])
      }
    }
    for (const [status, respuesta] of exitosDe(definicion)) {
      const json = (respuesta.content as JsonObject | undefined)?.['application/json'] as JsonObject | undefined
      if (!json) continue
      const ejemplos = Object.values((json.examples ?? {}) as JsonObject).map((uno) => resolveRef(contrato, uno))
      expect(ejemplos.length, `${id} ${status}: give the answer an example`).toBeGreaterThan(0)
      expect([...vistas.keys()], `${id}: no request example leads to ${status}`).toContain(status)
      for (const { value = null, summary } of ejemplos) {
        expect(
          findSchemaFaults(String((json.schema as JsonObject).$ref), value),
          `${id} ${status}: ${summary}`,
        ).toBeUndefined()
        const distintas = vistas.get(status)!.map((real) => diferencia(value, real))
        expect(
          distintas.some((una) => una === undefined),
          `${id} ${status} «${summary}»: ${distintas[0]}`,
        ).toBe(true)
      }
    }
  })

  it('shows only errors that exist', () => {
    const problemas = schemasOf(contrato).CodigoDeProblema?.['x-problemas'] as Record<string, JsonObject>
    for (const [status, { content }] of respuestasDe(definicion)) {
      if (status < 400) continue
      const [translateRedoc = [], enRfc9457 = []] = ['application/json', 'application/problem+json'].map((tipo) => {
        const { schema, examples } = (content as JsonObject)[tipo] as { schema: { $ref: string }; examples: JsonObject }
        return Object.values(examples).map((uno) => {
          const { value = null } = resolveRef(contrato, uno)
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
function diferencia(ejemplo: Json, real: Json, donde = ''): string | undefined {
  if (ejemplo === null || real === null) return undefined
  if (Array.isArray(ejemplo) && Array.isArray(real)) {
    if (real.length === 0) return undefined
    return ejemplo.map((uno, i) => diferencia(uno, real[i] ?? null, `${donde}/${i}`)).find(Boolean)
  }
  if (typeof ejemplo !== typeof real || Array.isArray(ejemplo) !== Array.isArray(real)) return `${donde}: another kind`
  if (typeof ejemplo !== 'object') return undefined
  // Headers of others, and merchants' own metadata: whatever they sent.
  if (/\/(cabeceras|metadatos)$/.test(donde)) return undefined
  const [suyas, reales] = [Object.keys(ejemplo).sort(), Object.keys(real as JsonObject).sort()]
  if (suyas.join() !== reales.join()) return `${donde || '/'}: shown ${suyas}, answered ${reales}`
  return suyas
    .map((clave) =>
      diferencia((ejemplo as JsonObject)[clave] ?? null, (real as JsonObject)[clave] ?? null, `${donde}/${clave}`),
    )
    .find(Boolean)
}

describe('the body for a webhook', () => {
  const ejemplos = new Map(
    Object.values(contrato.webhooks as Record<string, { post: JsonObject }>)
      .flatMap(({ post }) => examplesOf(contrato, post.requestBody))
      .map(([, { value }]) => [String((value as JsonObject).tipo), value as JsonObject]),
  )

  it('looks as its examples do', async () => {
    const propio = await abrir()
    const { api } = await entorno.nuevoComercio()
    const { webhook } = await api.webhooks.crear({ url: propio.url })
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
    await hasta(async () => propio.receivedWebhooks.length >= CUANTOS)
    const vistos = propio.receivedWebhooks.map(({ json }) => [
      json.tipo,
      diferencia(ejemplos.get(json.tipo) ?? {}, json),
    ])
    expect(new Set(vistos.map(([tipo]) => tipo)).size).toBe(CUANTOS)
    expect(vistos.filter(([, distinta]) => distinta)).toEqual([])
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
  const ejemplos = readdirSync(enEjemplos).map((archivo) => readFileSync(join(enEjemplos, archivo), 'utf8'))

  it('has only code that is run here', () => {
    const ajenos = capitulos.flatMap(({ archivo, bloques }) =>
      bloques
        .filter(({ lengua, codigo }) => !['bash', 'ts', 'text'].includes(lengua) && !ejemplos.includes(codigo))
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
    expect(/^## (.+)$/m.exec(texto)?.[1]).toBe((contrato.info as JsonObject).version)
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
    const leer = anfitrion.readFile.bind(anfitrion)
    anfitrion.readFile = (ruta) => modulos.get(ruta) ?? leer(ruta)
    const existe = anfitrion.fileExists.bind(anfitrion)
    anfitrion.fileExists = (ruta) => modulos.has(ruta) || existe(ruta)
    const programa = ts.createProgram([...modulos.keys()], options, anfitrion)
    const faltas = ts.getPreEmitDiagnostics(programa).map(({ file, messageText }) => [file?.fileName, messageText])
    expect(modulos.size).toBeGreaterThan(3)
    expect(faltas).toEqual([])
  })

  it.each(capitulos.filter((capitulo) => capitulo.ts))('$archivo: its program', async ({ ts: codigo, lineas }) => {
    const { comercio } = await setUpScene(entorno, receptor, GUIA)
    const env = { GUIAS_URL: entorno.url, GUIAS_LLAVE: comercio.llave }
    const { codigo: fin, output: salida, errores } = await runTypeScript(codigo, { env })
    expect({ fin, errores }).toEqual({ fin: 0, errores: '' })
    if (lineas.length > 0) expect(salida.trim().split('\n')).toEqual(lineas)
  })
})
