// What production takes (docs/operacion/installing.md), in a folder of its own: no sources to generate from, no generators.

import { cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { listo, requestSeparately, useProcesses } from '../processes.ts'

const processes = useProcesses()

it('`npm ci --omit=dev` and the built output are a service, with its console', FULL_RUN_ONLY, async () => {
  const folder = join(processes.base, 'produccion')
  await mkdir(folder)
  const manual = await readFile(new URL('docs/operacion/installing.md', ROOT), 'utf8')
  const [, list = ''] = /^cp -r (.+) \/srv\/guias$/m.exec(manual) ?? []
  for (const one of list.split(' ')) await cp(fileURLToPath(new URL(one, ROOT)), join(folder, one), { recursive: true })
  const [install = ''] = /^npm ci .+$/m.exec(manual) ?? []
  const env = { NODE_ENV: 'production', DATA_DIR: join(folder, 'datos'), PORT: '0', LOG_LEVEL: 'warn' }
  const installation = processes.runCommand([...install.split(' '), '--prefer-offline'], env, folder)
  expect(await installation.waitForEnd(), installation.errores).toEqual({ codigo: 0, signal: null })

  const installedPackages = await readdir(join(folder, 'node_modules'))
  expect(installedPackages).toEqual(expect.arrayContaining(['express', 'node', 'pg-boss', 'sharp']))
  for (const foreign of ['prisma-cli', 'tsdown', 'vitest', '@redocly', '@biomejs', '@guias'])
    expect(installedPackages).not.toContain(foreign)

  const service = processes.runCommand(['npm', 'start', '--ignore-scripts'], env, folder)
  const url = await listo(service)
  const { llave } = JSON.parse(await readFile(join(folder, 'datos/demo.json'), 'utf8'))
  const created = await requestSeparately(`${url}/api/v1/guias`, { method: 'POST', llave, body: buildGuia() })
  expect(created).toMatchObject({ status: 201, body: { estado: 'aceptado' } })
  const { guia } = created.body
  for (const estado of ['recolectado', 'en_ruta', 'entregado'])
    await requestSeparately(`${url}/api/v1/simulador/guias/${guia}/avanzar`, {
      method: 'POST',
      llave,
      body: { estado },
    })
  const prueba = await waitUntil(async () => {
    const { body } = await requestSeparately(`${url}/api/v1/guias/${guia}/prueba-entrega`, { llave })
    return body.pdf && body
  })
  expect((await requestSeparately(prueba.pdf.url)).texto.slice(0, 5)).toBe('%PDF-')
  expect((await requestSeparately(`${url}/docs`)).status).toBe(200)

  const consola = ['npm', 'run', '--silent', '--ignore-scripts', 'admin', '--', 'comercios', 'listar', '--json']
  const comercios = processes.runCommand(consola, env, folder)
  expect(await comercios.waitForEnd(), comercios.errores).toEqual({ codigo: 0, signal: null })
  expect(JSON.parse(comercios.output)).toEqual([
    expect.objectContaining({ comercio: expect.stringMatching(/^com_/), nombre: expect.any(String) }),
  ])
  service.signalAll('SIGINT')
  await service.waitForEnd()
})
