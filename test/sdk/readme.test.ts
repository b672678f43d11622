import { execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'

const environment = shareEnvironment()
const root = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(root, 'sdk/dist/cli.js')
const readme = await readFile(join(root, 'sdk/README.md'), 'utf8')
const blocks = (language: string) =>
  [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, clase, codigo = '']) =>
    clase === language ? [codigo] : [],
  )
const TS = blocks('ts')
/** What the text shows whole is a file of the package, which is run as it is. */
const EXPRESS = await readFile(join(root, 'sdk/ejemplos/express.mjs'), 'utf8')

/** What the reader has around each block. */
const SURROUNDINGS = `
const api = new Guias()
const recogida = { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 }
interface Pedido { numero: string; telefono: string; departamento: string; municipio: string }
const unico = Math.random().toString(36).slice(2)
const unPedido: Pedido = { numero: unico, telefono: '+50231481676', departamento: 'Guatemala', municipio: 'Mixco' }
const pedido = { telefono: '+50231481676', departamento: 'Guatemala', municipio: 'Mixco', lat: 14.63, lng: -90.6, recogida, external_ref: unico }
const pedidos = Array.from({ length: 5 }, (_, i) => ({ ...pedido, external_ref: unico + i }))
const codigo = (await api.guias.crear({ ...pedido, external_ref: unico + 'previa' })).guia
const { webhook } = await api.webhooks.crear({ url: process.env.RECEPTOR! + '/' + unico })
let cursor: string | undefined
const aviso = JSON.parse('{"id":"evt_1","tipo":"guia.entregado","creado_en":"","datos":{"guia":{"external_ref":"R"},"evento":{}}}') as CuerpoDeAviso
const anotar = async (entrada: object, guia: string) => void [entrada, guia]
const atender = async (evento: Evento) => void evento.id
const guardar = async (siguiente: string) => void (cursor = siguiente)
const cerrarPedido = async (referencia: string | null) => void referencia
const avisarAlEquipo = async (url: string) => void url
const actualizar = async (una: GuiaDeAviso) => void una.secuencia
void [pedidos, codigo, webhook, cursor, aviso, anotar, atender, guardar, cerrarPedido, avisarAlEquipo, actualizar, unPedido]
`

/** For who reads of proofs. */
const DELIVERED_GUIA = `
const { guia: entregada } = await api.guias.crear({ ...pedido, external_ref: unico + 'entregada' })
for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const) await api.simulador.avanzar(entregada, { estado })
while (!(await api.guias.pruebaEntrega(entregada)).pdf) await new Promise((r) => setTimeout(r, 50))
`

let folder = ''
let comercio: Comercio
const arrivals: string[] = []
const receptor = createServer((req, res) => {
  arrivals.push(req.url!)
  res.writeHead(204).end()
})
let url = ''
const env = () => ({
  PATH: process.env.PATH,
  ...CHILD_ENVIRONMENT,
  HOME: folder,
  GUIAS_LLAVE: comercio.llave,
  GUIAS_URL: environment.url,
  RECEPTOR: url,
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guias-leeme-'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  comercio = await environment.createComercio()
  await new Promise<void>((listo) => receptor.listen(0, '127.0.0.1', listo))
  url = `http://127.0.0.1:${(receptor.address() as AddressInfo).port}`
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await Promise.all(TS.map((codigo, i) => writeFile(join(folder, `bloque${i}.mts`), modulo(codigo))))
})
afterAll(async () => {
  receptor.closeAllConnections()
  receptor.close()
  await rm(folder, { recursive: true, force: true })
})

/** The block's own imports, and the rest in a scope of its own: it may name what stands around it anew. */
function modulo(codigo: string): string {
  const importedNames = new Set(['Guias', 'type CuerpoDeAviso', 'type Evento', 'type Guia', 'type GuiaDeAviso'])
  const body = codigo
    .replace(/^import \{ (.*) \} from '@guias\/sdk'\n/gm, (_, names: string) => {
      for (const name of names.split(', ')) importedNames.add(name)
      return ''
    })
    .replaceAll('https://guias.ejemplo.com', environment.url)
    .replaceAll('https://tienda.ejemplo.com', url)
  const others = body.match(/^import .*\n/gm) ?? []
  return `import { ${[...importedNames].join(', ')} } from '@guias/sdk'
${others.join('')}${SURROUNDINGS}${/\bentregada\b/.test(body) ? DELIVERED_GUIA : ''}
{
${body.replace(/^import .*\n/gm, '')}
}
`
}

/** All blocks in one process, one after the other, each with the key of a merchant of its own; it says what each wrote. */
const RUNNER = `
for (const [i, llave] of JSON.parse(process.env.LLAVES).entries()) {
  process.env.GUIAS_LLAVE = llave
  let message = ''
  process.stdout.write = process.stderr.write = (text) => (message += text, true)
  const fault = await import('./bloque' + i + '.mts').then(() => '', (error) => String(error?.stack ?? error))
  process.send({ i, message, fault })
}
process.disconnect()
`
interface BlockRun {
  i: number
  message: string
  fault: string
}
function runBlocks(llaves: string[]) {
  const runs = llaves.map(() => Promise.withResolvers<BlockRun>())
  const child = fork(join(folder, 'corredor.mjs'), {
    cwd: folder,
    env: { ...env(), LLAVES: JSON.stringify(llaves) },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  child.on('message', (blockRun: BlockRun) => runs[blockRun.i]?.resolve(blockRun))
  const fin = once(child, 'exit')
  fin.then(() => {
    for (const [i, { resolve }] of runs.entries()) resolve({ i, message: '', fault: 'the process ended before it' })
  })
  return { runs: runs.map(({ promise }) => promise), fin }
}

describe('sdk/README.md', () => {
  let blockRuns: ReturnType<typeof runBlocks>
  beforeAll(async () => {
    await writeFile(join(folder, 'corredor.mjs'), RUNNER)
    // Each makes a webhook, of which a merchant has few.
    const comercios = await Promise.all(TS.map(() => environment.createComercio()))
    blockRuns = runBlocks(comercios.map(({ llave }) => llave))
  })

  it('has its blocks', () => {
    expect(TS.length).toBeGreaterThanOrEqual(16)
  })

  it('shows the receiver that the package brings', () => {
    expect(blocks('js')).toEqual([EXPRESS])
  })

  it('shows TypeScript that compiles', FULL_RUN_ONLY, async () => {
    const compilerOptions = {
      target: 'ES2023',
      module: 'nodenext',
      types: ['node', 'express'],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }))
    const tsc = [join(root, 'node_modules/typescript-7/bin/tsc'), '-p', folder]
    const faults = await promisify(execFile)(process.execPath, tsc).then(
      () => '',
      ({ stdout }) => stdout,
    )
    expect(faults).toBe('')
  })

  it.each(
    TS.map((codigo, i) => [
      i,
      codigo
        .trim()
        .split('\n')
        .find((line) => !/^(import|$)/.test(line)),
    ]),
  )('block %i runs: %s', async (i) => {
    const { message, fault } = (await blockRuns.runs[i])!
    expect(fault).toBe('')
    if (/\bverificarPrueba\b/.test(TS[i]!)) expect(message).toMatch(/ pdf$/m)
    // What a block says in its comment that it writes.
    const [, expected] = /console\.log\(.*\) \/\/ (true)$/m.exec(TS[i]!) ?? []
    if (expected) expect(message.trim()).toBe(expected)
  })

  it('and after its blocks nothing is left that runs', async () => {
    expect(await blockRuns.fin).toEqual([0, null])
  })

  const [, commands, listenForEvents] = blocks('bash')

  it('shows commands that work', FULL_RUN_ONLY, async () => {
    const { recogida: _, external_ref, ...guia } = buildGuia()
    await writeFile(
      join(folder, 'pedidos.csv'),
      `${[...Object.keys(guia), 'external_ref'].join()}\n${[...Object.values(guia), external_ref].join()}\n`,
    )
    const { guia: codigo } = await comercio.api.guias.crear(buildGuia())
    const script = `npx() { shift; '${process.execPath}' '${CLI}' "$@"; }\n${commands!.replaceAll('7K3M9QX2A1B4', codigo)}`
    const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', script], { cwd: folder, env: env() })
    expect(stdout).toMatch(
      /aceptado, ubicación solicitada\n1 leídas: 1 creadas, 0 fallidas.*\netiquetas.pdf {2}1 etiqueta\n\w+ {2}entregado/,
    )
    expect(stdout).toContain('guia.aceptado')
    expect(stdout).toContain(`Auténtica  ${codigo}`)
    expect(await readFile(join(folder, 'pendientes.csv'), 'utf8')).toContain(external_ref)
    expect(await readFile(join(folder, 'pedidos.resultados.csv'), 'utf8')).toContain(external_ref)
  })

  it('and a listener that listens', async () => {
    const args = listenForEvents!.trim().replace('http://localhost:4000', url).split(' ').slice(2)
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: folder,
      env: env(),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errores = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errores += text
    })
    await waitUntil(async () => errores.includes('Escuchando'))
    await comercio.api.guias.crear(buildGuia())
    await waitUntil(async () => arrivals.includes('/webhooks'))
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
