/** The receivers that we show, each as a process of its own, on real HTTP, with what the service really sends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CuerpoDeAviso, firmarWebhook, type TodoAtendido } from '@guias/sdk'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atender } from '../../sdk/ejemplos/atender.ts'
import { DESCRIPCIONES_DE_EVENTO } from '../../server/generated/contract/vocabulary.ts'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { shareEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { NODE_20, PHP, PYTHON } from '../interpreters.ts'
import { findFreePort } from '../ports.ts'

const environment = shareEnvironment()
const root = fileURLToPath(new URL('../../', import.meta.url))
const examples = join(root, 'sdk/ejemplos')
const CON_HONO = "import { serve } from '@hono/node-server'"
/** What a shop has around each example. */
const TIENDAS = {
  'Express 5': `import './express.mjs'`,
  'Express 4': `import './express4.mjs'`,
  Fastify: `import Fastify from 'fastify'; import { recibirWebhooks } from '@guias/sdk/fastify'
    const app = Fastify()
    app.register(recibirWebhooks(guardar), { prefix: '/webhooks/guias' })
    await app.listen({ port: PORT, host: '127.0.0.1' })`,
  Hono: `${CON_HONO}; import { Hono } from 'hono'; import { recibirWebhooks } from '@guias/sdk/hono'
    const app = new Hono()
    app.post('/webhooks/guias', recibirWebhooks(guardar))
    serve({ fetch: app.fetch, port: PORT })`,
  // A route handler is a function from Request to Response, which is all that Next.js asks of it.
  'Next.js': `${CON_HONO}; import { recibirWebhooks } from '@guias/sdk/next'
    const POST = recibirWebhooks(guardar)
    serve({ fetch: POST, port: PORT })`,
}

/** Rejects when the receiver ends, or cannot be started. */
const ending = (child: ChildProcess) =>
  once(child, 'close').then(([codigo, senal]) => {
    throw new Error(`the receiver ended with ${codigo ?? senal}`)
  })

let folder = ''
const hijos: ChildProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guias-ejemplos-'))
  await cp(examples, folder, { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const express = await readFile(join(examples, 'express.mjs'), 'utf8')
  await writeFile(join(folder, 'express4.mjs'), express.replace("from 'express'", "from 'express4'"))
  // Every shop stores notices as the example does.
  const { GUARDAR } = /(?<GUARDAR>^import .* from 'node:fs[\s\S]*?)^import \{ recibir/m.exec(express)!.groups!
  const guardar = [
    GUARDAR,
    "const { GUIAS_AVISOS = 'avisos' } = process.env",
    express.slice(express.indexOf('/** Guarda')),
  ]
  for (const [name, codigo] of Object.entries(TIENDAS))
    await writeFile(
      join(folder, `${name}.mjs`),
      `const PORT = Number(process.env.PORT)\n${guardar.join('\n')}\n${codigo}\n`,
    )
})
afterAll(async () => {
  for (const child of hijos) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const nodes = { 'Node 20': NODE_20, 'this Node': process.execPath }
const RECEPTORES: [nombre: string, programa: string | undefined, args: (port: number) => string[]][] = [
  ...Object.entries(nodes).flatMap(([version, node]) =>
    [...Object.keys(TIENDAS), 'receptor'].map((name): (typeof RECEPTORES)[number] => [
      `${name === 'receptor' ? 'receptor.mjs' : name}, ${version}`,
      node,
      () => [`${name}.mjs`],
    ]),
  ),
  ['receptor.py', PYTHON, () => ['receptor.py']],
  ['receptor.php', PHP, (port) => ['-S', `127.0.0.1:${port}`, 'receptor.php']],
]

describe.each(RECEPTORES)('%s', (name, program, args) => {
  const options = name.includes('Node 20') ? FULL_RUN_ONLY : {}
  it.skipIf(!program)('takes what the service sends, once, and outlives what nobody should send', options, async () => {
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}/webhooks/guias`
    const avisos = join(folder, `avisos de ${name}`)
    await mkdir(avisos)
    const { api } = await environment.createComercio()
    const { webhook, secreto } = await api.webhooks.crear({ url })
    const child = spawn(program!, args(port), {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        GUIAS_SECRETO: secreto,
        GUIAS_AVISOS: avisos,
        ...CHILD_ENVIRONMENT,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    hijos.push(child)
    let dicho = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        dicho += chunk
      })
    const send = (body: string, headers: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } })
    const contesta = async (...como: Parameters<typeof send>) => (await send(...como)).status
    const escucha = waitUntil(() =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    )
    await Promise.race([ending(child), escucha]).catch((error) => {
      throw new Error(`${error.message}, and had said: ${dicho}`)
    })

    const { aviso, evento } = await api.webhooks.probar(webhook)
    await waitUntil(async () => (await api.webhooks.obtenerAviso(webhook, aviso)).estado === 'entregado')
    expect(await readdir(avisos), dicho).toEqual([`${evento}.json`])

    const id = 'evt_7K3M9QX2A1B4_1'
    const cuerpo = JSON.stringify({
      id,
      tipo: 'guia.nota',
      creado_en: '',
      datos: { guia: {}, evento: { x: 'Ñuño' } },
    })
    const firmadas = await firmarWebhook(cuerpo, { id, secreto })
    expect(await contesta('', {}), dicho).toBe(400)
    expect(await contesta(cuerpo), dicho).toBe(400)
    expect(await contesta(cuerpo, { ...firmadas, 'webhook-timestamp': 'ayer' }), dicho).toBe(400)
    expect(await contesta(cuerpo.replace('Ñuño', 'Nuno'), firmadas), dicho).toBe(400)
    expect((await fetch(url, { method: 'POST' })).status, dicho).toBe(400)
    // Whoever is refused while he still sends may lose the connection before he reads why.
    const enorme = request(url, { method: 'POST', body: 'x'.repeat(2 * 1024 * 1024), headers: firmadas, reset: true })
    expect(
      await enorme.then(
        ({ statusCode, body }) => body.dump().then(() => statusCode),
        () => 413,
      ),
      dicho,
    ).toBe(413)
    const cortada = connect(port, '127.0.0.1')
    await once(cortada, 'connect')
    cortada.write(
      'POST /webhooks/guias HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    )
    cortada.resetAndDestroy()

    await rm(avisos, { recursive: true })
    expect(await contesta(cuerpo, firmadas), dicho).toBe(500)
    await mkdir(avisos)
    expect(await contesta(cuerpo, firmadas), dicho).toBe(204)
    expect(await contesta(cuerpo, firmadas), dicho).toBe(204)
    expect(await readdir(avisos)).toEqual([`${id}.json`])
    expect(JSON.parse(await readFile(join(avisos, `${id}.json`), 'utf8'))).toEqual(JSON.parse(cuerpo))
    expect(dicho).not.toContain('whsec_')
    expect(child.exitCode, dicho).toBeNull()
    child.kill()
  })
})

describe.skipIf(!NODE_20)('the chapter of webhooks, as it is printed', () => {
  it('has an Express receiver that Node 20 runs', async () => {
    const capitulo = await (await fetch(`${environment.url}/docs/guia/recibir-webhooks.md`)).text()
    const propia = await mkdtemp(join(tmpdir(), 'guias-express-'))
    try {
      await symlink(join(root, 'node_modules'), join(propia, 'node_modules'))
      await mkdir(join(propia, 'avisos'))
      const impresos = [...capitulo.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, codigo = '']) => codigo)
      expect(impresos).toHaveLength(1)
      expect(capitulo).toContain('`express.mjs`')
      await writeFile(join(propia, 'express.mjs'), impresos[0]!)
      const port = await findFreePort()
      const { api } = await environment.createComercio()
      const { webhook, secreto } = await api.webhooks.crear({ url: `http://127.0.0.1:${port}/webhooks/guias` })
      const env = { PATH: process.env.PATH, PORT: String(port), GUIAS_SECRETO: secreto, ...CHILD_ENVIRONMENT }
      const child = spawn(NODE_20!, ['express.mjs'], { cwd: propia, env, stdio: ['ignore', 'pipe', 'inherit'] })
      hijos.push(child)
      await Promise.race([ending(child), once(child.stdout, 'data')])
      const { evento } = await api.webhooks.probar(webhook)
      await waitUntil(async () => (await readdir(join(propia, 'avisos'))).includes(`${evento}.json`))
    } finally {
      await rm(propia, { recursive: true, force: true })
    }
  })
})

describe('receptor.mjs', () => {
  it('does not start with a secret that is none', async () => {
    const child = spawn(process.execPath, ['receptor.mjs'], { cwd: folder, env: { GUIAS_SECRETO: 'corto' } })
    hijos.push(child)
    let dicho = ''
    child.stderr.on('data', (chunk) => {
      dicho += chunk
    })
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(dicho).toContain('GUIAS_SECRETO no es el secreto de un webhook')
  })
})

describe('the exhaustive switch', () => {
  const aviso = (tipo: string) =>
    ({
      id: '',
      tipo,
      creado_en: '',
      datos: { guia: { guia: 'G' }, evento: { decision: {} }, webhook: {} },
    }) as CuerpoDeAviso

  it('in the example knows every type', () => {
    for (const tipo of Object.keys(DESCRIPCIONES_DE_EVENTO)) expect(atender(aviso(tipo))).not.toBe('G: novedad')
    for (const tipo of ['guia.de_manana', 'de.manana']) expect(atender(aviso(tipo))).toBe('G: novedad')
  })

  it('does not compile when one is missing, and the error names it (this compiles)', () => {
    const faltan = (aviso: CuerpoDeAviso) => {
      switch (aviso.tipo) {
        case 'guia.aceptado':
        case 'guia.recolectado':
        case 'guia.en_bodega':
        case 'guia.en_transito':
        case 'guia.en_ruta':
        case 'guia.entregado':
        case 'guia.intento_fallido':
        case 'guia.en_devolucion':
        case 'guia.devuelto':
        case 'guia.extraviado':
        case 'guia.cancelado':
        case 'guia.nota':
        case 'guia.escaneo_tardio':
        case 'ubicacion.solicitada':
        case 'ubicacion.confirmada':
        case 'ubicacion.vencida':
        case 'webhook.prueba':
        case 'webhook.deshabilitado':
          return true
        default: {
          const cual: TodoAtendido<typeof aviso.tipo> = 'ubicacion.fallida'
          // @ts-expect-error: ubicacion.fallida has no case
          true satisfies TodoAtendido<typeof aviso.tipo>
          return cual
        }
      }
    }
    expect(faltan({ tipo: 'guia.nota' } as CuerpoDeAviso)).toBe(true)
  })
})
