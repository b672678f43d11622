// The commands `respaldo …` of the console, on an installation whose service runs and writes meanwhile.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Guias } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { listo, type TestProcess, useProcesses } from '../processes.ts'

const processes = useProcesses()
const dataDir = processes.nextFolder()
const key = join(processes.base, 'clave.txt')
let service: TestProcess
let api: Guias
let deliveredGuia = ''

const admin = async (...args: string[]) => {
  const { fin, output, errores } = await processes.admin(['respaldo', ...args], { DATA_DIR: dataDir })
  return { codigo: fin?.codigo, output, errores }
}
const llaveIn = (folder: string): string => JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')).llave
const pruebaOf = (one: Guias) =>
  waitUntil(async () => {
    const prueba = await one.guias.pruebaEntrega(deliveredGuia).catch(() => undefined)
    return prueba?.pdf ? prueba : undefined
  })

beforeAll(async () => {
  writeFileSync(key, 'una clave larga de prueba\n')
  service = processes.startService({ DATA_DIR: dataDir })
  const baseUrl = await listo(service)
  api = new Guias({ llave: llaveIn(dataDir), baseUrl })
  deliveredGuia = (await api.guias.crear(buildGuia())).guia
  for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const)
    await api.simulador.avanzar(deliveredGuia, { estado })
  await pruebaOf(api)
  for (let i = 0; i < 2; i++) await api.guias.crear(buildGuia())
})

describe('a backup of a service that writes meanwhile', () => {
  it('comes back with guides, history, proof and keys, as of its end', async () => {
    const file = join(processes.base, 'uno.respaldo')
    const before = (await api.guias.crear(buildGuia())).guia
    let writing = true
    const created: string[] = []
    const writer = (async () => {
      while (writing) created.push((await api.guias.crear(buildGuia())).guia)
    })()
    const done = await admin('crear', '--archivo', file, '--clave', key, '--json')
    writing = false
    await writer
    const after = (await api.guias.crear(buildGuia())).guia
    const { cursor_siguiente: cursor } = await api.eventos.listar({ desde: 'ahora' })
    expect([done.codigo, done.errores]).toEqual([0, ''])
    expect(created.length).toBeGreaterThan(0)

    const llave = llaveIn(dataDir)
    service.signalAll('SIGKILL')
    await service.waitForEnd()
    const fresh = processes.nextFolder()
    expect(await admin('restaurar', '--archivo', file, '--clave', key, '--carpeta', fresh)).toMatchObject({
      codigo: 0,
    })
    service = processes.startService({ DATA_DIR: fresh })
    const baseUrl = await listo(service)
    const restoredClient = new Guias({ llave, baseUrl })
    expect(await restoredClient.guias.obtener(before)).toMatchObject({ estado: 'aceptado' })
    await expect(restoredClient.guias.obtener(after)).rejects.toMatchObject({ codigo: 'guia_desconocida' })
    const { pdf, fotos } = await pruebaOf(restoredClient)
    for (const { url } of [pdf!, ...fotos]) expect((await fetch(url)).status).toBe(200)
    const { guia } = await restoredClient.guias.crear(buildGuia())
    // A reader who was further than the backup misses nothing that happens from now on.
    await waitUntil(async () =>
      (await restoredClient.eventos.listar({ cursor: cursor! })).datos.some((one) => one.guia === guia),
    )
    service.signalAll('SIGINT')
    await service.waitForEnd()
  })

  it('is proved by the drill, which sees a file that is missing', FULL_RUN_ONLY, async () => {
    const tried = await admin('probar', '--clave', key, '--json')
    expect([tried.codigo, tried.errores]).toEqual([0, ''])
    const prueba = JSON.parse(tried.output)
    expect(prueba).toMatchObject({ archivos: expect.any(Number), respaldo: 'uno hecho ahora', faltas: [] })
    expect(prueba.guias).toBeGreaterThan(2)
    expect(prueba.archivos).toBeGreaterThan(0)
    for (const target of ['atraso_s', 'restauracion_s', 'perdida_s']) expect(prueba[target]).toBeGreaterThanOrEqual(0)

    const archivos = join(dataDir, 'archivos')
    const [one = ''] = readdirSync(archivos, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.includes('arch_'),
    )
    rmSync(join(archivos, one))
    const bad = await admin('probar', '--clave', key, '--json')
    expect(bad.codigo).toBe(1)
    expect(JSON.parse(bad.output).faltas).toEqual([`archivo ${one.split('/').at(-1)}: falta`])
  })
})

describe('the commands', () => {
  it('overwrite nothing, and say what is wrong', async () => {
    const file = join(processes.base, 'dos.respaldo')
    expect(await admin('crear', '--archivo', file, '--clave', key)).toMatchObject({ codigo: 0 })
    expect((await admin('crear', '--archivo', file, '--clave', key)).errores).toContain('ya existe')
    const shortOne = join(processes.base, 'corta.txt')
    writeFileSync(shortOne, 'corta')
    expect((await admin('crear', '--archivo', `${file}2`, '--clave', shortOne)).errores).toContain(
      '20 caracteres o más',
    )

    const occupiedFolder = join(processes.base, 'ocupada')
    mkdirSync(occupiedFolder)
    writeFileSync(join(occupiedFolder, 'algo'), '')
    const restore = (folder: string, givenKey = key) =>
      admin('restaurar', '--archivo', file, '--clave', givenKey, '--carpeta', folder)
    expect(await restore(occupiedFolder)).toMatchObject({
      codigo: 1,
      errores: expect.stringContaining('no está vacía'),
    })
    const other = join(processes.base, 'otra.txt')
    writeFileSync(other, 'otra clave igual de larga')
    const resultWithOther = await restore(join(processes.base, 'nada'), other)
    expect(resultWithOther).toMatchObject({
      codigo: 1,
      errores: 'La clave no es la de este respaldo, o el archivo está dañado.\n',
    })
    expect(existsSync(join(processes.base, 'nada', 'pgdata'))).toBe(false)
    const { fin, errores } = await processes.admin(['respaldo', 'crear', '--archivo', 'x', '--clave', key], {
      DATABASE_URL: 'postgres://127.0.0.1/x',
      MASTER_KEYS: Buffer.alloc(32, 7).toString('base64'),
    })
    expect([fin?.codigo, errores]).toEqual([2, expect.stringContaining('respalde con las de PostgreSQL')])
  })
})
