/** What follows the feed without the SDK, as the guide prints it. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { PHP, PYTHON } from '../interpreters.ts'

const environment = shareEnvironment()
const folder = mkdtempSync(join(tmpdir(), 'guias-eventos-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.each([
  ['eventos.py', PYTHON],
  ['eventos.php', PHP],
])('%s', (program, interpreter) => {
  it.skipIf(!interpreter)('prints each event once, over several pages, and goes on where it ended', async () => {
    const { api, llave } = await environment.createComercio()
    const cwd = mkdtempSync(join(folder, 'tienda-'))
    const file = fileURLToPath(new URL(`../../sdk/ejemplos/${program}`, import.meta.url))
    const env = { ...process.env, GUIAS_URL: environment.url, GUIAS_LLAVE: llave }
    const readLines: string[] = []
    const read = async () => {
      const { stdout } = await promisify(execFile)(interpreter!, [file], { cwd, env })
      readLines.push(...stdout.split('\n').filter(Boolean))
      return readLines.length
    }
    const created: string[] = []
    for (const count of [70, 50]) {
      const { resultados } = await api.guias.crearLote({ guias: Array.from({ length: count }, () => buildGuia()) })
      for (const one of resultados) if (one.ok) created.push(`${one.guia} guia.aceptado`)
      if (count === 50) await waitUntil(async () => (await read()) >= 120)
    }
    const { guia } = await api.guias.crear(buildGuia())
    await waitUntil(async () => (await read()) >= 121)
    expect(readLines.toSorted()).toEqual([...created, `${guia} guia.aceptado`].toSorted())
  })
})
