/** The published test vectors of a webhook's signature (FirmaDeWebhook's `x-vectores`), read by all that we ship. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ErrorFirma, verificarWebhook } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { secretBytes, signingKeyOf, signWebhook } from '../../server/domain/webhooks/signature.ts'
import { waitUntil } from '../factories.ts'
import { NODE_20, PHP, PYTHON } from '../interpreters.ts'
import { findFreePort } from '../ports.ts'

interface Vectores {
  ahora: number
  secreto: string
  secreto_nuevo: string
  casos: { nombre: string; id: string; timestamp: number; cuerpo: string; firma: string; motivo: string | null }[]
}
const vectores = readDocument().components.schemas.FirmaDeWebhook!['x-vectores'] as Vectores
const { ahora, secreto, secreto_nuevo, casos } = vectores
const examples = fileURLToPath(new URL('../../sdk/ejemplos/', import.meta.url))
const expected = casos.map(({ nombre, motivo }) => [nombre, motivo === null])
const headers = ({ id, timestamp, firma }: Vectores['casos'][number]) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': firma,
})

describe('the vectors of a signature', () => {
  it('name each way to be good or bad', () => {
    expect(new Set(casos.map(({ motivo }) => motivo))).toEqual(new Set([null, 'firma', 'marca_de_tiempo']))
    expect(casos.length).toBeGreaterThanOrEqual(8)
  })

  it('are what the server signs, but for those that were altered', () => {
    const keys = [secreto_nuevo, secreto].map((one) => signingKeyOf(secretBytes(one)))
    for (const testCase of casos.filter(({ nombre }) => !/^alterada|otra versión/.test(nombre))) {
      const possibleKeys = [keys, keys.slice(0, 1), keys.slice(1)].map((unas) =>
        signWebhook(testCase.id, testCase.timestamp, testCase.cuerpo, unas),
      )
      expect(possibleKeys, testCase.nombre).toContainEqual(headers(testCase))
    }
  })

  it('are judged so by the SDK', async () => {
    for (const testCase of casos) {
      const seen = await verificarWebhook(testCase.cuerpo, headers(testCase), secreto, {
        ahora: new Date(ahora * 1000),
      }).then(
        () => null,
        (error) => (error instanceof ErrorFirma ? error.motivo : error),
      )
      expect(seen, testCase.nombre).toBe(testCase.motivo)
    }
  })

  const withInterpreter = (program: string, codigo: string) => {
    const datos = JSON.stringify({ ...vectores, casos: casos.map((one) => ({ ...one, cabeceras: headers(one) })) })
    const { stdout, stderr } = spawnSync(program, [program === PHP ? '-r' : '-c', codigo], {
      cwd: examples,
      input: datos,
      encoding: 'utf8',
      env: { PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual(expected)
  }

  it.skipIf(!PYTHON)('are judged so by receptor.py', () => {
    withInterpreter(
      PYTHON!,
      `import json, sys
sys.path.insert(0, '.')
from receptor import vale
v = json.load(sys.stdin)
print(json.dumps([[c['nombre'], vale(c['cuerpo'].encode(), c['cabeceras'], v['secreto'], v['ahora'])] for c in v['casos']]))`,
    )
  })

  it.skipIf(!PHP)('are judged so by receptor.php', () => {
    withInterpreter(
      PHP!,
      `require 'receptor.php';
$v = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(fn ($c) => [$c['nombre'], vale($c['cuerpo'], $c['cabeceras'], $v['secreto'], $v['ahora'])], $v['casos']));`,
    )
  })

  it.each([
    ['Node 20', NODE_20],
    ['this Node', process.execPath],
  ])('are judged so by receptor.mjs, %s', async (_, node) => {
    const port = await findFreePort()
    const avisos = await mkdtemp(join(tmpdir(), 'guias-vectores-'))
    const clock = `data:text/javascript,Date.now=()=>${ahora * 1000}`
    const child = spawn(node ?? process.execPath, ['--import', clock, join(examples, 'receptor.mjs')], {
      env: { PORT: String(port), GUIAS_SECRETO: secreto, GUIAS_AVISOS: avisos },
      stdio: 'ignore',
    })
    try {
      const url = `http://127.0.0.1:${port}`
      await waitUntil(() =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      )
      const seen: [string, boolean][] = []
      for (const testCase of casos) {
        const { status } = await fetch(url, { method: 'POST', body: testCase.cuerpo, headers: headers(testCase) })
        expect([204, 400]).toContain(status)
        seen.push([testCase.nombre, status === 204])
      }
      expect(seen).toEqual(expected)
    } finally {
      child.kill('SIGKILL')
      await rm(avisos, { recursive: true })
    }
  })
})
