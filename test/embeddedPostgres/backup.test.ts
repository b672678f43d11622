// The commands `respaldo …` of the console, on an installation whose service runs and writes meanwhile.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Guias } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { listo, type TestProcess, useProcesses } from '../processes.ts'

const procesos = useProcesses()
const dataDir = procesos.nextFolder()
const clave = join(procesos.base, 'clave.txt')
let servicio: TestProcess
let api: Guias
let entregada = ''

const admin = async (...args: string[]) => {
  const { fin, output: salida, errores } = await procesos.admin(['respaldo', ...args], { DATA_DIR: dataDir })
  return { codigo: fin?.codigo, output: salida, errores }
}
const llaveEn = (carpeta: string): string => JSON.parse(readFileSync(join(carpeta, 'demo.json'), 'utf8')).llave
const pruebaDe = (una: Guias) =>
  hasta(async () => {
    const prueba = await una.guias.pruebaEntrega(entregada).catch(() => undefined)
    return prueba?.pdf ? prueba : undefined
  })

beforeAll(async () => {
  writeFileSync(clave, 'una clave larga de prueba\n')
  servicio = procesos.startService({ DATA_DIR: dataDir })
  const baseUrl = await listo(servicio)
  api = new Guias({ llave: llaveEn(dataDir), baseUrl })
  entregada = (await api.guias.crear(buildGuia())).guia
  for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const)
    await api.simulador.avanzar(entregada, { estado })
  await pruebaDe(api)
  for (let i = 0; i < 2; i++) await api.guias.crear(buildGuia())
})

describe('a backup of a service that writes meanwhile', () => {
  it('comes back with guides, history, proof and keys, as of its end', async () => {
    const archivo = join(procesos.base, 'uno.respaldo')
    const antes = (await api.guias.crear(buildGuia())).guia
    let escribiendo = true
    const creadas: string[] = []
    const escritor = (async () => {
      while (escribiendo) creadas.push((await api.guias.crear(buildGuia())).guia)
    })()
    const hecho = await admin('crear', '--archivo', archivo, '--clave', clave, '--json')
    escribiendo = false
    await escritor
    const despues = (await api.guias.crear(buildGuia())).guia
    const { cursor_siguiente: cursor } = await api.eventos.listar({ desde: 'ahora' })
    expect([hecho.codigo, hecho.errores]).toEqual([0, ''])
    expect(creadas.length).toBeGreaterThan(0)

    const llave = llaveEn(dataDir)
    servicio.signalAll('SIGKILL')
    await servicio.waitForEnd()
    const nueva = procesos.nextFolder()
    expect(await admin('restaurar', '--archivo', archivo, '--clave', clave, '--carpeta', nueva)).toMatchObject({
      codigo: 0,
    })
    servicio = procesos.startService({ DATA_DIR: nueva })
    const baseUrl = await listo(servicio)
    const restaurada = new Guias({ llave, baseUrl })
    expect(await restaurada.guias.obtener(antes)).toMatchObject({ estado: 'aceptado' })
    await expect(restaurada.guias.obtener(despues)).rejects.toMatchObject({ codigo: 'guia_desconocida' })
    const { pdf, fotos } = await pruebaDe(restaurada)
    for (const { url } of [pdf!, ...fotos]) expect((await fetch(url)).status).toBe(200)
    const { guia } = await restaurada.guias.crear(buildGuia())
    // A reader who was further than the backup misses nothing that happens from now on.
    await hasta(async () =>
      (await restaurada.eventos.listar({ cursor: cursor! })).datos.some((uno) => uno.guia === guia),
    )
    servicio.signalAll('SIGINT')
    await servicio.waitForEnd()
  })

  it('is proved by the drill, which sees a file that is missing', FULL_RUN_ONLY, async () => {
    const bien = await admin('probar', '--clave', clave, '--json')
    expect([bien.codigo, bien.errores]).toEqual([0, ''])
    const prueba = JSON.parse(bien.output)
    expect(prueba).toMatchObject({ archivos: expect.any(Number), respaldo: 'uno hecho ahora', faltas: [] })
    expect(prueba.guias).toBeGreaterThan(2)
    expect(prueba.archivos).toBeGreaterThan(0)
    for (const cual of ['atraso_s', 'restauracion_s', 'perdida_s']) expect(prueba[cual]).toBeGreaterThanOrEqual(0)

    const archivos = join(dataDir, 'archivos')
    const [uno = ''] = readdirSync(archivos, { recursive: true, encoding: 'utf8' }).filter((ruta) =>
      ruta.includes('arch_'),
    )
    rmSync(join(archivos, uno))
    const mal = await admin('probar', '--clave', clave, '--json')
    expect(mal.codigo).toBe(1)
    expect(JSON.parse(mal.output).faltas).toEqual([`archivo ${uno.split('/').at(-1)}: falta`])
  })
})

describe('the commands', () => {
  it('overwrite nothing, and say what is wrong', async () => {
    const archivo = join(procesos.base, 'dos.respaldo')
    expect(await admin('crear', '--archivo', archivo, '--clave', clave)).toMatchObject({ codigo: 0 })
    expect((await admin('crear', '--archivo', archivo, '--clave', clave)).errores).toContain('ya existe')
    const corta = join(procesos.base, 'corta.txt')
    writeFileSync(corta, 'corta')
    expect((await admin('crear', '--archivo', `${archivo}2`, '--clave', corta)).errores).toContain(
      '20 caracteres o más',
    )

    const ocupada = join(procesos.base, 'ocupada')
    mkdirSync(ocupada)
    writeFileSync(join(ocupada, 'algo'), '')
    const restaurar = (carpeta: string, con = clave) =>
      admin('restaurar', '--archivo', archivo, '--clave', con, '--carpeta', carpeta)
    expect(await restaurar(ocupada)).toMatchObject({ codigo: 1, errores: expect.stringContaining('no está vacía') })
    const otra = join(procesos.base, 'otra.txt')
    writeFileSync(otra, 'otra clave igual de larga')
    const conOtra = await restaurar(join(procesos.base, 'nada'), otra)
    expect(conOtra).toMatchObject({
      codigo: 1,
      errores: 'La clave no es la de este respaldo, o el archivo está dañado.\n',
    })
    expect(existsSync(join(procesos.base, 'nada', 'pgdata'))).toBe(false)
    const { fin, errores } = await procesos.admin(['respaldo', 'crear', '--archivo', 'x', '--clave', clave], {
      DATABASE_URL: 'postgres://127.0.0.1/x',
      MASTER_KEYS: Buffer.alloc(32, 7).toString('base64'),
    })
    expect([fin?.codigo, errores]).toEqual([2, expect.stringContaining('respalde con las de PostgreSQL')])
  })
})
