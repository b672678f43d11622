// The contract as the service serves it, and the tools that others made of which a merchant's program begins.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SwaggerParser from '@apidevtools/swagger-parser'
import { createClient } from '@hey-api/openapi-ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../scripts/documentation/contract.ts'
import { ROOT } from '../../server/platform/root.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'

const environment = shareEnvironment()
const pathOf = (path: string) => fileURLToPath(new URL(path, ROOT))
const fetchText = async (path: string) => (await fetch(environment.url + path)).text()

let folder = ''
let servedContract: JsonObject = {}
beforeAll(async () => {
  const memoria = pathOf('node_modules/.cache/guias/')
  await mkdir(memoria, { recursive: true })
  folder = await mkdtemp(join(memoria, 'servido-'))
  const text = await fetchText('/openapi.json')
  servedContract = JSON.parse(text)
  await writeFile(join(folder, 'openapi.json'), text)
})
afterAll(() => rm(folder, { recursive: true }))

describe('the contract as it is served', () => {
  it('names the address that serves it, and no other of the service', async () => {
    expect(servedContract.servers).toEqual([{ url: environment.url, description: 'La dirección del servicio' }])
    for (const path of ['/openapi.json', '/openapi.yaml', '/coleccion.json']) {
      const text = await fetchText(path)
      expect([path, text.includes(environment.url)]).toEqual([path, true])
      expect([path, /127\.0\.0\.1:3000|guias\.ejemplo\.com/.exec(text)?.[0]]).toEqual([path, undefined])
    }
    expect(await fetchText('/openapi.yaml')).toContain(`  - url: ${environment.url}\n`)
  })

  it('has a short description, and links that lead to the guide from any viewer', async () => {
    const { info, externalDocs } = servedContract as Record<string, JsonObject>
    expect(String(info!.description).length).toBeLessThan(1000)
    expect(info).not.toHaveProperty('x-guia')
    expect(externalDocs!.url).toBe(`${environment.url}/docs`)
    const text = JSON.stringify(servedContract)
    expect(text.includes(`](${environment.url}/docs/consola)`)).toBe(true)
    expect(text.match(/\]\([#/][^)]*\)/g)).toBeNull()
    expect(await fetchText('/docs')).toContain('href="docs/recibir-webhooks"')
  })

  it('has no fault for swagger-parser', async () => {
    await expect(SwaggerParser.validate(join(folder, 'openapi.json'))).resolves.toBeTruthy()
    const bad = { ...servedContract, servers: [{ url: '{a}', variables: { a: { default: 'x', descripcion: 'y' } } }] }
    await writeFile(join(folder, 'malo.json'), JSON.stringify(bad))
    await expect(SwaggerParser.validate(join(folder, 'malo.json'))).rejects.toThrow(/#\/servers\/0\/variables/)
  })

  it('gives hey-api the address of its client', async () => {
    const path = join(folder, 'cliente')
    await createClient({
      logs: { level: 'silent' },
      input: join(folder, 'openapi.json'),
      output: { path },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    })
    expect(await readFile(join(path, 'client.gen.ts'), 'utf8')).toContain(`baseUrl: '${environment.url}'`)
    const tipos = await readFile(join(path, 'types.gen.ts'), 'utf8')
    expect(/export type CrearGuiaResponses = \{([^}]*)\}/.exec(tipos)?.[1]).toMatch(/201: Guia;[\s\S]*'2XX': Guia;/)
  })
})

describe('the mock server of prism', () => {
  let prism: ReturnType<typeof spawn> | undefined
  afterAll(() => void prism?.kill('SIGKILL'))

  it('creates a guide with 201, as the service does', FULL_RUN_ONLY, async () => {
    const port = String(await findFreePort())
    const program = pathOf('node_modules/@stoplight/prism-cli/dist/index.js')
    prism = spawn(process.execPath, [program, 'mock', join(folder, 'openapi.json'), '--port', port])
    let message = ''
    prism.stdout?.on('data', (chunk) => {
      message += chunk
    })
    await waitUntil(async () => message.includes('is listening'))
    const { llave } = await environment.createComercio()
    const body = JSON.stringify(buildGuia())
    const request = (url: string) =>
      fetch(`${url}/api/v1/guias`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
        body,
      })
    expect((await request(`http://127.0.0.1:${port}`)).status).toBe(201)
    expect([(await request(environment.url)).status, (await request(environment.url)).status]).toEqual([201, 200])
  })
})
