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
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'

const entorno = shareEnvironment()
const raiz = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(raiz, 'sdk/dist/cli.js')
const leeme = await readFile(join(raiz, 'sdk/README.md'), 'utf8')
const bloques = (lenguaje: string) =>
  [...leeme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, clase, codigo = '']) =>
    clase === lenguaje ? [codigo] : [],
  )
const TS = bloques('ts')
/** What the text shows whole is a file of the package, which is run as it is. */
const EXPRESS = await readFile(join(raiz, 'sdk/ejemplos/express.mjs'), 'utf8')

/** What the reader has around each block. */
const ALREDEDOR = `
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
const ENTREGADA = `
const { guia: entregada } = await api.guias.crear({ ...pedido, external_ref: unico + 'entregada' })
for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const) await api.simulador.avanzar(entregada, { estado })
while (!(await api.guias.pruebaEntrega(entregada)).pdf) await new Promise((r) => setTimeout(r, 50))
`

let carpeta = ''
let comercio: Comercio
const llegadas: string[] = []
const receptor = createServer((req, res) => {
  llegadas.push(req.url!)
  res.writeHead(204).end()
})
let url = ''
const env = () => ({
  PATH: process.env.PATH,
  ...CHILD_ENVIRONMENT,
  HOME: carpeta,
  GUIAS_LLAVE: comercio.llave,
  GUIAS_URL: entorno.url,
  RECEPTOR: url,
})

beforeAll(async () => {
  carpeta = await mkdtemp(join(tmpdir(), 'guias-leeme-'))
  await symlink(join(raiz, 'node_modules'), join(carpeta, 'node_modules'))
  comercio = await entorno.nuevoComercio()
  await new Promise<void>((listo) => receptor.listen(0, '127.0.0.1', listo))
  url = `http://127.0.0.1:${(receptor.address() as AddressInfo).port}`
  await writeFile(join(carpeta, 'package.json'), '{ "type": "module" }')
  await Promise.all(TS.map((codigo, i) => writeFile(join(carpeta, `bloque${i}.mts`), modulo(codigo))))
})
afterAll(async () => {
  receptor.closeAllConnections()
  receptor.close()
  await rm(carpeta, { recursive: true, force: true })
})

/** The block's own imports, and the rest in a scope of its own: it may name what stands around it anew. */
function modulo(codigo: string): string {
  const importados = new Set(['Guias', 'type CuerpoDeAviso', 'type Evento', 'type Guia', 'type GuiaDeAviso'])
  const cuerpo = codigo
    .replace(/^import \{ (.*) \} from '@guias\/sdk'\n/gm, (_, nombres: string) => {
      for (const nombre of nombres.split(', ')) importados.add(nombre)
      return ''
    })
    .replaceAll('https://guias.ejemplo.com', entorno.url)
    .replaceAll('https://tienda.ejemplo.com', url)
  const otros = cuerpo.match(/^import .*\n/gm) ?? []
  return `import { ${[...importados].join(', ')} } from '@guias/sdk'
${otros.join('')}${ALREDEDOR}${/\bentregada\b/.test(cuerpo) ? ENTREGADA : ''}
{
${cuerpo.replace(/^import .*\n/gm, '')}
}
`
}

/** All blocks in one process, one after the other, each with the key of a merchant of its own; it says what each wrote. */
const CORREDOR = `
for (const [i, llave] of JSON.parse(process.env.LLAVES).entries()) {
  process.env.GUIAS_LLAVE = llave
  let dicho = ''
  process.stdout.write = process.stderr.write = (texto) => (dicho += texto, true)
  const falla = await import('./bloque' + i + '.mts').then(() => '', (error) => String(error?.stack ?? error))
  process.send({ i, dicho, falla })
}
process.disconnect()
`
interface Corrido {
  i: number
  dicho: string
  falla: string
}
function correrBloques(llaves: string[]) {
  const corridos = llaves.map(() => Promise.withResolvers<Corrido>())
  const hijo = fork(join(carpeta, 'corredor.mjs'), {
    cwd: carpeta,
    env: { ...env(), LLAVES: JSON.stringify(llaves) },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  hijo.on('message', (corrido: Corrido) => corridos[corrido.i]?.resolve(corrido))
  const fin = once(hijo, 'exit')
  fin.then(() => {
    for (const [i, { resolve }] of corridos.entries()) resolve({ i, dicho: '', falla: 'the process ended before it' })
  })
  return { corridos: corridos.map(({ promise }) => promise), fin }
}

describe('sdk/README.md', () => {
  let bloquesCorridos: ReturnType<typeof correrBloques>
  beforeAll(async () => {
    await writeFile(join(carpeta, 'corredor.mjs'), CORREDOR)
    // Each makes a webhook, of which a merchant has few.
    const comercios = await Promise.all(TS.map(() => entorno.nuevoComercio()))
    bloquesCorridos = correrBloques(comercios.map(({ llave }) => llave))
  })

  it('has its blocks', () => {
    expect(TS.length).toBeGreaterThanOrEqual(16)
  })

  it('shows the receiver that the package brings', () => {
    expect(bloques('js')).toEqual([EXPRESS])
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
    await writeFile(join(carpeta, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }))
    const tsc = [join(raiz, 'node_modules/typescript-7/bin/tsc'), '-p', carpeta]
    const fallas = await promisify(execFile)(process.execPath, tsc).then(
      () => '',
      ({ stdout }) => stdout,
    )
    expect(fallas).toBe('')
  })

  it.each(
    TS.map((codigo, i) => [
      i,
      codigo
        .trim()
        .split('\n')
        .find((linea) => !/^(import|$)/.test(linea)),
    ]),
  )('block %i runs: %s', async (i) => {
    const { dicho, falla } = (await bloquesCorridos.corridos[i])!
    expect(falla).toBe('')
    if (/\bverificarPrueba\b/.test(TS[i]!)) expect(dicho).toMatch(/ pdf$/m)
    // What a block says in its comment that it writes.
    const [, esperado] = /console\.log\(.*\) \/\/ (true)$/m.exec(TS[i]!) ?? []
    if (esperado) expect(dicho.trim()).toBe(esperado)
  })

  it('and after its blocks nothing is left that runs', async () => {
    expect(await bloquesCorridos.fin).toEqual([0, null])
  })

  const [, ordenes, escuchar] = bloques('bash')

  it('shows commands that work', FULL_RUN_ONLY, async () => {
    const { recogida: _, external_ref, ...guia } = buildGuia()
    await writeFile(
      join(carpeta, 'pedidos.csv'),
      `${[...Object.keys(guia), 'external_ref'].join()}\n${[...Object.values(guia), external_ref].join()}\n`,
    )
    const { guia: codigo } = await comercio.api.guias.crear(buildGuia())
    const guion = `npx() { shift; '${process.execPath}' '${CLI}' "$@"; }\n${ordenes!.replaceAll('7K3M9QX2A1B4', codigo)}`
    const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', guion], { cwd: carpeta, env: env() })
    expect(stdout).toMatch(
      /aceptado, ubicación solicitada\n1 leídas: 1 creadas, 0 fallidas.*\netiquetas.pdf {2}1 etiqueta\n\w+ {2}entregado/,
    )
    expect(stdout).toContain('guia.aceptado')
    expect(stdout).toContain(`Auténtica  ${codigo}`)
    expect(await readFile(join(carpeta, 'pendientes.csv'), 'utf8')).toContain(external_ref)
    expect(await readFile(join(carpeta, 'pedidos.resultados.csv'), 'utf8')).toContain(external_ref)
  })

  it('and a listener that listens', async () => {
    const args = escuchar!.trim().replace('http://localhost:4000', url).split(' ').slice(2)
    const hijo = spawn(process.execPath, [CLI, ...args], {
      cwd: carpeta,
      env: env(),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errores = ''
    hijo.stderr.setEncoding('utf8').on('data', (texto: string) => {
      errores += texto
    })
    await hasta(async () => errores.includes('Escuchando'))
    await comercio.api.guias.crear(buildGuia())
    await hasta(async () => llegadas.includes('/webhooks'))
    hijo.kill('SIGINT')
    expect(await once(hijo, 'exit')).toEqual([0, null])
  })
})
