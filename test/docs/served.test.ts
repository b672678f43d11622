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
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { findFreePort } from '../ports.ts'

const entorno = shareEnvironment()
const en = (ruta: string) => fileURLToPath(new URL(ruta, ROOT))
const traer = async (ruta: string) => (await fetch(entorno.url + ruta)).text()

let carpeta = ''
let servido: JsonObject = {}
beforeAll(async () => {
  const memoria = en('node_modules/.cache/guias/')
  await mkdir(memoria, { recursive: true })
  carpeta = await mkdtemp(join(memoria, 'servido-'))
  const texto = await traer('/openapi.json')
  servido = JSON.parse(texto)
  await writeFile(join(carpeta, 'openapi.json'), texto)
})
afterAll(() => rm(carpeta, { recursive: true }))

describe('the contract as it is served', () => {
  it('names the address that serves it, and no other of the service', async () => {
    expect(servido.servers).toEqual([{ url: entorno.url, description: 'La dirección del servicio' }])
    for (const ruta of ['/openapi.json', '/openapi.yaml', '/coleccion.json']) {
      const texto = await traer(ruta)
      expect([ruta, texto.includes(entorno.url)]).toEqual([ruta, true])
      expect([ruta, /127\.0\.0\.1:3000|guias\.ejemplo\.com/.exec(texto)?.[0]]).toEqual([ruta, undefined])
    }
    expect(await traer('/openapi.yaml')).toContain(`  - url: ${entorno.url}\n`)
  })

  it('has a short description, and links that lead to the guide from any viewer', async () => {
    const { info, externalDocs } = servido as Record<string, JsonObject>
    expect(String(info!.description).length).toBeLessThan(1000)
    expect(info).not.toHaveProperty('x-guia')
    expect(externalDocs!.url).toBe(`${entorno.url}/docs`)
    const text = JSON.stringify(servido)
    expect(text.includes(`](${entorno.url}/docs/consola)`)).toBe(true)
    expect(text.match(/\]\([#/][^)]*\)/g)).toBeNull()
    expect(await traer('/docs')).toContain('id="section/recibir-webhooks"')
  })

  it('has no fault for swagger-parser', async () => {
    await expect(SwaggerParser.validate(join(carpeta, 'openapi.json'))).resolves.toBeTruthy()
    const malo = { ...servido, servers: [{ url: '{a}', variables: { a: { default: 'x', descripcion: 'y' } } }] }
    await writeFile(join(carpeta, 'malo.json'), JSON.stringify(malo))
    await expect(SwaggerParser.validate(join(carpeta, 'malo.json'))).rejects.toThrow(/#\/servers\/0\/variables/)
  })

  it('gives hey-api the address of its client', async () => {
    const path = join(carpeta, 'cliente')
    await createClient({
      logs: { level: 'silent' },
      input: join(carpeta, 'openapi.json'),
      output: { path },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    })
    expect(await readFile(join(path, 'client.gen.ts'), 'utf8')).toContain(`baseUrl: '${entorno.url}'`)
    const tipos = await readFile(join(path, 'types.gen.ts'), 'utf8')
    expect(/export type CrearGuiaResponses = \{([^}]*)\}/.exec(tipos)?.[1]).toMatch(/201: Guia;[\s\S]*'2XX': Guia;/)
  })
})

describe('the mock server of prism', () => {
  let prism: ReturnType<typeof spawn> | undefined
  afterAll(() => void prism?.kill('SIGKILL'))

  it('creates a guide with 201, as the service does', FULL_RUN_ONLY, async () => {
    const puerto = String(await findFreePort())
    const programa = en('node_modules/@stoplight/prism-cli/dist/index.js')
    prism = spawn(process.execPath, [programa, 'mock', join(carpeta, 'openapi.json'), '--port', puerto])
    let dicho = ''
    prism.stdout?.on('data', (trozo) => {
      dicho += trozo
    })
    await hasta(async () => dicho.includes('is listening'))
    const { llave } = await entorno.nuevoComercio()
    const cuerpo = JSON.stringify(buildGuia())
    const pedir = (url: string) =>
      fetch(`${url}/api/v1/guias`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
        body: cuerpo,
      })
    expect((await pedir(`http://127.0.0.1:${puerto}`)).status).toBe(201)
    expect([(await pedir(entorno.url)).status, (await pedir(entorno.url)).status]).toEqual([201, 200])
  })
})
