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
const SHOPS = {
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
  once(child, 'close').then(([codigo, signal]) => {
    throw new Error(`the receiver ended with ${codigo ?? signal}`)
  })

let folder = ''
const children: ChildProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guias-ejemplos-'))
  await cp(examples, folder, { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const express = await readFile(join(examples, 'express.mjs'), 'utf8')
  await writeFile(join(folder, 'express4.mjs'), express.replace("from 'express'", "from 'express4'"))
  // Every shop stores notices as the example does.
  const { GUARDAR: SAVE_CODE } = /(?<GUARDAR>^import .* from 'node:fs[\s\S]*?)^import \{ recibir/m.exec(express)!
    .groups!
  const save = [
    SAVE_CODE,
    "const { GUIAS_AVISOS = 'avisos' } = process.env",
    express.slice(express.indexOf('/** Guarda')),
  ]
  for (const [name, codigo] of Object.entries(SHOPS))
    await writeFile(
      join(folder, `${name}.mjs`),
      `const PORT = Number(process.env.PORT)\n${save.join('\n')}\n${codigo}\n`,
    )
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const nodes = { 'Node 20': NODE_20, 'this Node': process.execPath }
const RECEIVERS: [name: string, program: string | undefined, args: (port: number) => string[]][] = [
  ...Object.entries(nodes).flatMap(([version, node]) =>
    [...Object.keys(SHOPS), 'receptor'].map((name): (typeof RECEIVERS)[number] => [
      `${name === 'receptor' ? 'receptor.mjs' : name}, ${version}`,
      node,
      () => [`${name}.mjs`],
    ]),
  ),
  ['receptor.py', PYTHON, () => ['receptor.py']],
  ['receptor.php', PHP, (port) => ['-S', `127.0.0.1:${port}`, 'receptor.php']],
]

describe.each(RECEIVERS)('%s', (name, program, args) => {
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
    children.push(child)
    let message = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        message += chunk
      })
    const send = (body: string, headers: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } })
    const receiverAnswer = async (...asSpecified: Parameters<typeof send>) => (await send(...asSpecified)).status
    const listener = waitUntil(() =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    )
    await Promise.race([ending(child), listener]).catch((error) => {
      throw new Error(`${error.message}, and had said: ${message}`)
    })

    const { aviso, evento } = await api.webhooks.probar(webhook)
    await waitUntil(async () => (await api.webhooks.obtenerAviso(webhook, aviso)).estado === 'entregado')
    expect(await readdir(avisos), message).toEqual([`${evento}.json`])

    const id = 'evt_7K3M9QX2A1B4_1'
    const cuerpo = JSON.stringify({
      id,
      tipo: 'guia.nota',
      creado_en: '',
      datos: { guia: {}, evento: { x: 'Ñuño' } },
    })
    const signedHeaders = await firmarWebhook(cuerpo, { id, secreto })
    expect(await receiverAnswer('', {}), message).toBe(400)
    expect(await receiverAnswer(cuerpo), message).toBe(400)
    expect(await receiverAnswer(cuerpo, { ...signedHeaders, 'webhook-timestamp': 'ayer' }), message).toBe(400)
    expect(await receiverAnswer(cuerpo.replace('Ñuño', 'Nuno'), signedHeaders), message).toBe(400)
    expect((await fetch(url, { method: 'POST' })).status, message).toBe(400)
    // Whoever is refused while he still sends may lose the connection before he reads why.
    const hugeOne = request(url, {
      method: 'POST',
      body: 'x'.repeat(2 * 1024 * 1024),
      headers: signedHeaders,
      reset: true,
    })
    expect(
      await hugeOne.then(
        ({ statusCode, body }) => body.dump().then(() => statusCode),
        () => 413,
      ),
      message,
    ).toBe(413)
    const cortada = connect(port, '127.0.0.1')
    await once(cortada, 'connect')
    cortada.write(
      'POST /webhooks/guias HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    )
    cortada.resetAndDestroy()

    await rm(avisos, { recursive: true })
    expect(await receiverAnswer(cuerpo, signedHeaders), message).toBe(500)
    await mkdir(avisos)
    expect(await receiverAnswer(cuerpo, signedHeaders), message).toBe(204)
    expect(await receiverAnswer(cuerpo, signedHeaders), message).toBe(204)
    expect(await readdir(avisos)).toEqual([`${id}.json`])
    expect(JSON.parse(await readFile(join(avisos, `${id}.json`), 'utf8'))).toEqual(JSON.parse(cuerpo))
    expect(message).not.toContain('whsec_')
    expect(child.exitCode, message).toBeNull()
    child.kill()
  })
})

describe.skipIf(!NODE_20)('the chapter of webhooks, as it is printed', () => {
  it('has an Express receiver that Node 20 runs', async () => {
    const chapter = await (await fetch(`${environment.url}/docs/guia/recibir-webhooks.md`)).text()
    const propia = await mkdtemp(join(tmpdir(), 'guias-express-'))
    try {
      await symlink(join(root, 'node_modules'), join(propia, 'node_modules'))
      await mkdir(join(propia, 'avisos'))
      const printedBlocks = [...chapter.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, codigo = '']) => codigo)
      expect(printedBlocks).toHaveLength(1)
      expect(chapter).toContain('`express.mjs`')
      await writeFile(join(propia, 'express.mjs'), printedBlocks[0]!)
      const port = await findFreePort()
      const { api } = await environment.createComercio()
      const { webhook, secreto } = await api.webhooks.crear({ url: `http://127.0.0.1:${port}/webhooks/guias` })
      const env = { PATH: process.env.PATH, PORT: String(port), GUIAS_SECRETO: secreto, ...CHILD_ENVIRONMENT }
      const child = spawn(NODE_20!, ['express.mjs'], { cwd: propia, env, stdio: ['ignore', 'pipe', 'inherit'] })
      children.push(child)
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
    children.push(child)
    let message = ''
    child.stderr.on('data', (chunk) => {
      message += chunk
    })
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(message).toContain('GUIAS_SECRETO no es el secreto de un webhook')
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
    const missing = (aviso: CuerpoDeAviso) => {
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
          const target: TodoAtendido<typeof aviso.tipo> = 'ubicacion.fallida'
          // @ts-expect-error: ubicacion.fallida has no case
          true satisfies TodoAtendido<typeof aviso.tipo>
          return target
        }
      }
    }
    expect(missing({ tipo: 'guia.nota' } as CuerpoDeAviso)).toBe(true)
  })
})
