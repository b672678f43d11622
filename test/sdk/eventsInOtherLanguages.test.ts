/** What follows the feed without the SDK, as the guide prints it. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, hasta } from '../factories.ts'
import { PHP, PYTHON } from '../interpreters.ts'

const entorno = shareEnvironment()
const carpeta = mkdtempSync(join(tmpdir(), 'guias-eventos-'))
afterAll(() => rmSync(carpeta, { recursive: true }))

describe.each([
  ['eventos.py', PYTHON],
  ['eventos.php', PHP],
])('%s', (programa, interprete) => {
  it.skipIf(!interprete)('prints each event once, over several pages, and goes on where it ended', async () => {
    const { api, llave } = await entorno.nuevoComercio()
    const cwd = mkdtempSync(join(carpeta, 'tienda-'))
    const archivo = fileURLToPath(new URL(`../../sdk/ejemplos/${programa}`, import.meta.url))
    const env = { ...process.env, GUIAS_URL: entorno.url, GUIAS_LLAVE: llave }
    const leidas: string[] = []
    const leer = async () => {
      const { stdout } = await promisify(execFile)(interprete!, [archivo], { cwd, env })
      leidas.push(...stdout.split('\n').filter(Boolean))
      return leidas.length
    }
    const creadas: string[] = []
    for (const cuantas of [70, 50]) {
      const { resultados } = await api.guias.crearLote({ guias: Array.from({ length: cuantas }, () => buildGuia()) })
      for (const uno of resultados) if (uno.ok) creadas.push(`${uno.guia} guia.aceptado`)
      if (cuantas === 50) await hasta(async () => (await leer()) >= 120)
    }
    const { guia } = await api.guias.crear(buildGuia())
    await hasta(async () => (await leer()) >= 121)
    expect(leidas.toSorted()).toEqual([...creadas, `${guia} guia.aceptado`].toSorted())
  })
})
