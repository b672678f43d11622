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
import { hasta } from '../factories.ts'
import { PHP, PYTHON_CON_CRYPTOGRAPHY } from '../interpreters.ts'

const entorno = shareEnvironment()
const ejemplos = fileURLToPath(new URL('../../sdk/ejemplos/', import.meta.url))
const carpeta = mkdtempSync(join(tmpdir(), 'guias-prueba-'))
afterAll(() => rmSync(carpeta, { recursive: true }))

let guia: string
let entregado: string
let manifiesto: string
let claves: ClavesPublicas
let archivos: Uint8Array[]
beforeAll(async () => {
  const comercio = await entorno.nuevoComercio()
  guia = (await createDeliveredGuia(entorno, comercio)).guia
  const { pdf, fotos, ...prueba } = await hasta(async () => {
    const leida = await comercio.api.guias.pruebaEntrega(guia)
    return leida.pdf !== null && leida
  })
  manifiesto = prueba.manifiesto!
  entregado = prueba.entregado_en
  claves = await comercio.api.guias.clavesPublicas()
  archivos = await Promise.all(
    [pdf!, fotos[0]!].map(async ({ url }) => new Uint8Array(await (await fetch(url)).arrayBuffer())),
  )
})

describe.each([
  ['prueba.py', PYTHON_CON_CRYPTOGRAPHY],
  ['prueba.php', PHP],
])('%s', (programa, interprete) => {
  /** What it says of a proof of which something was changed. */
  function dice(cambios: { de?: string; jws?: string; claves?: object; archivos?: Uint8Array[] } = {}) {
    const escribir = (nombre: string, que: string | Uint8Array) => {
      writeFileSync(join(carpeta, nombre), que)
      return join(carpeta, nombre)
    }
    const args = [
      cambios.de ?? guia,
      escribir('manifiesto.txt', `${cambios.jws ?? manifiesto}\n`),
      escribir('jwks.json', JSON.stringify(cambios.claves ?? claves)),
      ...(cambios.archivos ?? archivos).map((bytes, i) => escribir(`archivo${i}`, bytes)),
    ]
    const { status, stdout, stderr } = spawnSync(interprete!, [join(ejemplos, programa), ...args], {
      encoding: 'utf8',
    })
    return [status, stdout + stderr]
  }
  const base64url = (que: object) => Buffer.from(JSON.stringify(que)).toString('base64url')

  it.skipIf(!interprete)('takes a proof with its files', () => {
    expect(dice()).toEqual([0, `vale: ${guia} ${entregado}\n`])
    expect(dice({ archivos: [] })[0]).toBe(0)
  })

  it.skipIf(!interprete)('refuses an altered proof, and says what is wrong', () => {
    const [cabeza = '', cuerpo = '', firma = ''] = manifiesto.split('.')
    const contenido = JSON.parse(Buffer.from(cuerpo, 'base64url').toString()) as Record<string, unknown>
    const cabecera = JSON.parse(Buffer.from(cabeza, 'base64url').toString()) as Record<string, unknown>
    const ajena = generateKeyPairSync('ed25519')
    const deOtro = `${cabeza}.${cuerpo}`
    const casos: [Parameters<typeof dice>[0], string][] = [
      [{ archivos: [archivos[0]!, Uint8Array.from([...archivos[1]!, 0])] }, 'el archivo 2 no es de esta prueba'],
      [{ de: '2Q9ZT4C7XK0Y' }, `la prueba es de la guía ${guia}`],
      [{ jws: `${cabeza}.${base64url({ ...contenido, entregado_en: 'ayer' })}.${firma}` }, 'la firma no corresponde'],
      [
        { jws: `${deOtro}.${sign(null, Buffer.from(deOtro), ajena.privateKey).toString('base64url')}` },
        'la firma no corresponde',
      ],
      [{ jws: `${deOtro}.${firma.slice(0, 40)}` }, 'la firma no corresponde'],
      [{ jws: `${base64url({ ...cabecera, alg: 'none' })}.${cuerpo}.${firma}` }, 'no es una prueba de entrega'],
      [{ jws: `${base64url({ ...cabecera, typ: 'JWT' })}.${cuerpo}.${firma}` }, 'no es una prueba de entrega'],
      [{ claves: { keys: [] } }, 'la clave que firmó no está'],
      [{ jws: createHash('sha256').update('x').digest('hex') }, 'el manifiesto no se puede leer'],
    ]
    for (const [cambios, porque] of casos) {
      const [status, dicho] = dice(cambios)
      expect(status, porque).toBe(1)
      expect(dicho).toContain(`NO VALE: ${porque}`)
    }
  })
})
