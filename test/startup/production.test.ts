// What production takes (docs/operacion/installing.md), in a folder of its own: no sources to generate from, no generators.

import { cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { listo, requestSeparately, useProcesses } from '../processes.ts'

const procesos = useProcesses()

it('`npm ci --omit=dev` and the built output are a service, with its console', FULL_RUN_ONLY, async () => {
  const carpeta = join(procesos.base, 'produccion')
  await mkdir(carpeta)
  const libro = await readFile(new URL('docs/operacion/installing.md', ROOT), 'utf8')
  const [, lista = ''] = /^cp -r (.+) \/srv\/guias$/m.exec(libro) ?? []
  for (const una of lista.split(' '))
    await cp(fileURLToPath(new URL(una, ROOT)), join(carpeta, una), { recursive: true })
  const [instalar = ''] = /^npm ci .+$/m.exec(libro) ?? []
  const env = { NODE_ENV: 'production', DATA_DIR: join(carpeta, 'datos'), PORT: '0', LOG_LEVEL: 'warn' }
  const instalacion = procesos.runCommand([...instalar.split(' '), '--prefer-offline'], env, carpeta)
  expect(await instalacion.waitForEnd(), instalacion.errores).toEqual({ codigo: 0, signal: null })

  const instalados = await readdir(join(carpeta, 'node_modules'))
  expect(instalados).toEqual(expect.arrayContaining(['express', 'node', 'pg-boss', 'sharp']))
  for (const ajeno of ['prisma-cli', 'tsdown', 'vitest', '@redocly', '@biomejs', '@guias'])
    expect(instalados).not.toContain(ajeno)

  const servicio = procesos.runCommand(['npm', 'start', '--ignore-scripts'], env, carpeta)
  const url = await listo(servicio)
  const { llave } = JSON.parse(await readFile(join(carpeta, 'datos/demo.json'), 'utf8'))
  const creada = await requestSeparately(`${url}/api/v1/guias`, { method: 'POST', llave, cuerpo: buildGuia() })
  expect(creada).toMatchObject({ status: 201, cuerpo: { estado: 'aceptado' } })
  const { guia } = creada.cuerpo
  for (const estado of ['recolectado', 'en_ruta', 'entregado'])
    await requestSeparately(`${url}/api/v1/simulador/guias/${guia}/avanzar`, {
      method: 'POST',
      llave,
      cuerpo: { estado },
    })
  const prueba = await hasta(async () => {
    const { cuerpo } = await requestSeparately(`${url}/api/v1/guias/${guia}/prueba-entrega`, { llave })
    return cuerpo.pdf && cuerpo
  })
  expect((await requestSeparately(prueba.pdf.url)).texto.slice(0, 5)).toBe('%PDF-')
  expect((await requestSeparately(`${url}/docs`)).status).toBe(200)

  const consola = ['npm', 'run', '--silent', '--ignore-scripts', 'admin', '--', 'comercios', 'listar', '--json']
  const comercios = procesos.runCommand(consola, env, carpeta)
  expect(await comercios.waitForEnd(), comercios.errores).toEqual({ codigo: 0, signal: null })
  expect(JSON.parse(comercios.output)).toEqual([
    expect.objectContaining({ comercio: expect.stringMatching(/^com_/), nombre: expect.any(String) }),
  ])
  servicio.signalAll('SIGINT')
  await servicio.waitForEnd()
})
