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
import { hasta } from '../factories.ts'
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
const ejemplos = fileURLToPath(new URL('../../sdk/ejemplos/', import.meta.url))
const esperado = casos.map(({ nombre, motivo }) => [nombre, motivo === null])
const cabeceras = ({ id, timestamp, firma }: Vectores['casos'][number]) => ({
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
    const claves = [secreto_nuevo, secreto].map((uno) => signingKeyOf(secretBytes(uno)))
    for (const caso of casos.filter(({ nombre }) => !/^alterada|otra versión/.test(nombre))) {
      const posibles = [claves, claves.slice(0, 1), claves.slice(1)].map((unas) =>
        signWebhook(caso.id, caso.timestamp, caso.cuerpo, unas),
      )
      expect(posibles, caso.nombre).toContainEqual(cabeceras(caso))
    }
  })

  it('are judged so by the SDK', async () => {
    for (const caso of casos) {
      const visto = await verificarWebhook(caso.cuerpo, cabeceras(caso), secreto, {
        ahora: new Date(ahora * 1000),
      }).then(
        () => null,
        (error) => (error instanceof ErrorFirma ? error.motivo : error),
      )
      expect(visto, caso.nombre).toBe(caso.motivo)
    }
  })

  const conInterprete = (programa: string, codigo: string) => {
    const datos = JSON.stringify({ ...vectores, casos: casos.map((uno) => ({ ...uno, cabeceras: cabeceras(uno) })) })
    const { stdout, stderr } = spawnSync(programa, [programa === PHP ? '-r' : '-c', codigo], {
      cwd: ejemplos,
      input: datos,
      encoding: 'utf8',
      env: { PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual(esperado)
  }

  it.skipIf(!PYTHON)('are judged so by receptor.py', () => {
    conInterprete(
      PYTHON!,
      `import json, sys
sys.path.insert(0, '.')
from receptor import vale
v = json.load(sys.stdin)
print(json.dumps([[c['nombre'], vale(c['cuerpo'].encode(), c['cabeceras'], v['secreto'], v['ahora'])] for c in v['casos']]))`,
    )
  })

  it.skipIf(!PHP)('are judged so by receptor.php', () => {
    conInterprete(
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
    const puerto = await findFreePort()
    const avisos = await mkdtemp(join(tmpdir(), 'guias-vectores-'))
    const reloj = `data:text/javascript,Date.now=()=>${ahora * 1000}`
    const hijo = spawn(node ?? process.execPath, ['--import', reloj, join(ejemplos, 'receptor.mjs')], {
      env: { PORT: String(puerto), GUIAS_SECRETO: secreto, GUIAS_AVISOS: avisos },
      stdio: 'ignore',
    })
    try {
      const url = `http://127.0.0.1:${puerto}`
      await hasta(() =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      )
      const vistos: [string, boolean][] = []
      for (const caso of casos) {
        const { status } = await fetch(url, { method: 'POST', body: caso.cuerpo, headers: cabeceras(caso) })
        expect([204, 400]).toContain(status)
        vistos.push([caso.nombre, status === 204])
      }
      expect(vistos).toEqual(esperado)
    } finally {
      hijo.kill('SIGKILL')
      await rm(avisos, { recursive: true })
    }
  })
})
