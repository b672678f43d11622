/** What checks a proof without the SDK, with a real one and with each way to be false. */
import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ClavesPublicas } from '@guias/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { shareEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { PHP, PYTHON_CON_CRYPTOGRAPHY } from '../interpreters.ts'

const environment = shareEnvironment()
const examples = fileURLToPath(new URL('../../sdk/ejemplos/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'guias-prueba-'))
afterAll(() => rmSync(folder, { recursive: true }))

let guia: string
let entregado: string
let manifiesto: string
let keys: ClavesPublicas
let archivos: Uint8Array[]
beforeAll(async () => {
  const comercio = await environment.createComercio()
  guia = (await createDeliveredGuia(environment, comercio)).guia
  const { pdf, fotos, ...prueba } = await waitUntil(async () => {
    const read = await comercio.api.guias.pruebaEntrega(guia)
    return read.pdf !== null && read
  })
  manifiesto = prueba.manifiesto!
  entregado = prueba.entregado_en
  keys = await comercio.api.guias.clavesPublicas()
  archivos = await Promise.all(
    [pdf!, fotos[0]!].map(async ({ url }) => new Uint8Array(await (await fetch(url)).arrayBuffer())),
  )
})

describe.each([
  ['prueba.py', PYTHON_CON_CRYPTOGRAPHY],
  ['prueba.php', PHP],
])('%s', (program, interpreter) => {
  /** What it says of a proof of which something was changed. */
  function dice(cambios: { de?: string; jws?: string; claves?: object; archivos?: Uint8Array[] } = {}) {
    const write = (name: string, kind: string | Uint8Array) => {
      writeFileSync(join(folder, name), kind)
      return join(folder, name)
    }
    const args = [
      cambios.de ?? guia,
      write('manifiesto.txt', `${cambios.jws ?? manifiesto}\n`),
      write('jwks.json', JSON.stringify(cambios.claves ?? keys)),
      ...(cambios.archivos ?? archivos).map((bytes, i) => write(`archivo${i}`, bytes)),
    ]
    const { status, stdout, stderr } = spawnSync(interpreter!, [join(examples, program), ...args], {
      encoding: 'utf8',
    })
    return [status, stdout + stderr]
  }
  const base64url = (kind: object) => Buffer.from(JSON.stringify(kind)).toString('base64url')

  it.skipIf(!interpreter)('takes a proof with its files', () => {
    expect(dice()).toEqual([0, `vale: ${guia} ${entregado}\n`])
    expect(dice({ archivos: [] })[0]).toBe(0)
  })

  it.skipIf(!interpreter)('refuses an altered proof, and says what is wrong', () => {
    const [head = '', body = '', firma = ''] = manifiesto.split('.')
    const contenido = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
    const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as Record<string, unknown>
    const foreign = generateKeyPairSync('ed25519')
    const ofOther = `${head}.${body}`
    const cases: [Parameters<typeof dice>[0], string][] = [
      [{ archivos: [archivos[0]!, Uint8Array.from([...archivos[1]!, 0])] }, 'el archivo 2 no es de esta prueba'],
      [{ de: '2Q9ZT4C7XK0Y' }, `la prueba es de la guía ${guia}`],
      [{ jws: `${head}.${base64url({ ...contenido, entregado_en: 'ayer' })}.${firma}` }, 'la firma no corresponde'],
      [
        { jws: `${ofOther}.${sign(null, Buffer.from(ofOther), foreign.privateKey).toString('base64url')}` },
        'la firma no corresponde',
      ],
      [{ jws: `${ofOther}.${firma.slice(0, 40)}` }, 'la firma no corresponde'],
      [{ jws: `${base64url({ ...header, alg: 'none' })}.${body}.${firma}` }, 'no es una prueba de entrega'],
      [{ jws: `${base64url({ ...header, typ: 'JWT' })}.${body}.${firma}` }, 'no es una prueba de entrega'],
      [{ claves: { keys: [] } }, 'la clave que firmó no está'],
      [{ jws: createHash('sha256').update('x').digest('hex') }, 'el manifiesto no se puede leer'],
    ]
    for (const [cambios, explanation] of cases) {
      const [status, message] = dice(cambios)
      expect(status, explanation).toBe(1)
      expect(message).toContain(`NO VALE: ${explanation}`)
    }
  })
})
