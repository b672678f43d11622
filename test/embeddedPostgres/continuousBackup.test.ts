// BACKUP_DIR, on a service that is destroyed while it works: the process and PostgreSQL are killed, the folder is gone.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Guias } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BackupStatus } from '../../server/data/embedded/continuous/folder.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { listo, type TestProcess, useProcesses } from '../processes.ts'

const processes = useProcesses()
const backup = join(processes.base, 'respaldo')
const key = join(processes.base, 'clave.txt')
const BACKUP_ENV = { BACKUP_DIR: backup, BACKUP_KEY_FILE: key }
const TELEFONO = '+50255550901'

let dataDir = processes.nextFolder()
let service: TestProcess
let api: Guias
let llave = ''

const admin = async (args: string[], env: Record<string, string> = {}) => {
  const { fin, output, errores } = await processes.admin([...args, '--json'], { DATA_DIR: dataDir, ...env })
  return { codigo: fin?.codigo, output, errores }
}
const restore = (folder: string, ...more: string[]) =>
  admin(['respaldo', 'restaurar', '--archivo', backup, '--clave', key, '--carpeta', folder, ...more])
const estado = (): BackupStatus => JSON.parse(readFileSync(join(backup, 'estado.json'), 'utf8'))
/** Waits until all that was written before now is in the backup. */
const waitUntilCurrent = async () => {
  const now = new Date()
  await waitUntil(async () => new Date(estado().al_dia ?? 0) > now)
}
const postmasterOf = (folder: string) =>
  Number(readFileSync(join(folder, 'pgdata', 'postmaster.pid'), 'utf8').split('\n')[0])

async function startService(folder: string): Promise<void> {
  dataDir = folder
  service = processes.startService({ DATA_DIR: dataDir, ...BACKUP_ENV })
  const baseUrl = await listo(service)
  // A restored service makes itself another demo merchant.
  llave ||= JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')).llave
  api = new Guias({ llave, baseUrl })
}

async function destroy(): Promise<void> {
  const postgres = postmasterOf(dataDir)
  service.signalAll('SIGKILL')
  process.kill(postgres, 'SIGKILL')
  await service.waitForEnd()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
}

const create = async (datos: Parameters<typeof buildGuia>[0] = {}) => (await api.guias.crear(buildGuia(datos))).guia
const expectUnknown = (guia: string) =>
  expect(api.guias.obtener(guia)).rejects.toMatchObject({ codigo: 'guia_desconocida' })

beforeAll(async () => {
  writeFileSync(key, 'una clave larga de prueba\n')
  await startService(dataDir)
  await waitUntilCurrent() // with the first copy of the cluster
})

describe('a continuous backup', FULL_RUN_ONLY, () => {
  let juanToken = ''
  let deliveredGuia = ''
  let before = ''
  let after = ''
  let instant = ''

  it('restores the second before a mistake, and repeats the erasures since then before it serves', async () => {
    deliveredGuia = await create()
    for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const)
      await api.simulador.avanzar(deliveredGuia, { estado })
    await waitUntil(async () => (await api.guias.pruebaEntrega(deliveredGuia).catch(() => undefined))?.pdf)
    juanToken = await create({ telefono: TELEFONO })
    await api.guias.cancelar(juanToken)
    before = await create()
    await sleep(20)
    instant = new Date().toISOString()
    await sleep(20)
    after = await create()
    expect(await admin(['persona', 'olvidar', '--telefono', TELEFONO, '--si'])).toMatchObject({ codigo: 0 })
    const { cursor_siguiente: cursor } = await api.eventos.listar({ desde: 'ahora' })
    await waitUntilCurrent()
    await destroy()

    const other = processes.nextFolder()
    expect(await restore(other, '--hasta', instant)).toMatchObject({ codigo: 0, errores: '' })
    await startService(other)
    expect(await api.guias.obtener(before)).toMatchObject({ estado: 'aceptado' })
    await expectUnknown(after)
    expect((await api.guias.obtener(juanToken)).telefono).not.toBe(TELEFONO)
    const { pdf, fotos } = await api.guias.pruebaEntrega(deliveredGuia)
    for (const { url } of [pdf!, ...fotos]) expect((await fetch(url)).status).toBe(200)
    // A reader who was further than the instant misses nothing that happens from now on.
    const guia = await create()
    await waitUntil(async () => (await api.eventos.listar({ cursor: cursor! })).datos.some((one) => one.guia === guia))
  })

  it('goes on from a restored copy, whose last second it has after another disaster', async () => {
    const first = await create()
    await waitUntilCurrent()
    const last = await create()
    await sleep(3_000) // the log is written once a second
    await destroy()
    const other = processes.nextFolder()
    expect(await restore(other)).toMatchObject({ codigo: 0, errores: '' })
    await startService(other)
    for (const guia of [first, last, before]) expect(await api.guias.obtener(guia)).toMatchObject({ guia })
    await expectUnknown(after)
  })

  it('refuses an instant that it does not have, and one without a zone', async () => {
    const fresh = processes.nextFolder()
    expect(await restore(fresh, '--hasta', '2020-01-01T00:00:00Z')).toMatchObject({
      codigo: 1,
      errores: expect.stringContaining('no llega tan atrás: empieza el 2'),
    })
    expect((await restore(fresh, '--hasta', '2999-01-01T00:00:00Z')).errores).toContain(
      `--hasta: el respaldo llega hasta 2`,
    )
    expect((await restore(fresh, '--hasta', '2026-11-26 10:00')).errores).toContain('un instante con su zona')
    expect(existsSync(fresh)).toBe(false)
  })

  it('says where the log has a gap, and restores what is before', async () => {
    await waitUntilCurrent()
    const log = join(backup, 'log')
    const separateOne = join(processes.base, 'aparte')
    mkdirSync(separateOne)
    // Of the first life: the copy goes on with the first segment, and the second one is needed for what came after.
    const [, second = ''] = readdirSync(log).filter((one) => /^0{7}1[0-9A-F]{16}\.\d+$/.test(one))
    const bases = readdirSync(join(backup, 'bases')).filter((one) => !one.includes('-00000001'))
    for (const one of bases) renameSync(join(backup, 'bases', one), join(separateOne, one))
    const third = second.replace(
      /(.)\.\d+$/,
      (_, digit: string) => `${(Number.parseInt(digit, 16) + 2).toString(16).toUpperCase()}.0`,
    )
    writeFileSync(join(log, third), readFileSync(join(log, second)))
    expect(await restore(processes.nextFolder())).toMatchObject({
      codigo: 1,
      errores: expect.stringMatching(/Al respaldo le falta una parte después de 0{7}1/),
    })
    rmSync(join(log, third))
    for (const one of bases) renameSync(join(separateOne, one), join(backup, 'bases', one))
  })

  it('is proved by the drill', async () => {
    await waitUntilCurrent()
    const { codigo, output, errores } = await admin(['respaldo', 'probar', '--clave', key], BACKUP_ENV)
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(output)).toMatchObject({ respaldo: backup, faltas: [] })
    expect(JSON.parse(output).perdida_s).toBeLessThan(5)
  })

  it('stops a start with another passphrase or another database, and says the remedy', async () => {
    service.signalAll('SIGINT')
    await service.waitForEnd()
    const otherKeyFile = join(processes.base, 'otra.txt')
    writeFileSync(otherKeyFile, 'otra clave igual de larga')
    for (const [env, text] of [
      [{ BACKUP_KEY_FILE: otherKeyFile }, 'no es la clave del respaldo'],
      [{ DATA_DIR: processes.nextFolder() }, 'tiene el respaldo de otra base'],
      [{ BACKUP_KEY_FILE: '/nada' }, '20 caracteres o más'],
      [{ BACKUP_DIR: join(dataDir, 'respaldo') }, 'está dentro de DATA_DIR'],
      [{ BACKUP_KEY_FILE: '' }, 'BACKUP_KEY_FILE: hace falta con BACKUP_DIR'],
    ] as const) {
      const child = processes.startService({ ...BACKUP_ENV, DATA_DIR: dataDir, ...env })
      expect(await child.waitForEnd()).toMatchObject({ codigo: 1 })
      expect(child.errores).toContain(text)
    }
  })

  it('lets the server forget its log once the setting is gone', async () => {
    const slotPath = join(dataDir, 'pgdata', 'pg_replslot', 'guias_respaldo')
    expect(existsSync(slotPath)).toBe(true)
    service = processes.startService({ DATA_DIR: dataDir })
    await listo(service)
    expect(existsSync(slotPath)).toBe(false)
  })
})
