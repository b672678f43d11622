// BACKUP_DIR, on a service that is destroyed while it works: the process and PostgreSQL are killed, the folder is gone.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Guias } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BackupStatus } from '../../server/data/embedded/continuous/folder.ts'
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { listo, type TestProcess, useProcesses } from '../processes.ts'

const procesos = useProcesses()
const respaldo = join(procesos.base, 'respaldo')
const clave = join(procesos.base, 'clave.txt')
const RESPALDO = { BACKUP_DIR: respaldo, BACKUP_KEY_FILE: clave }
const TELEFONO = '+50255550901'

let dataDir = procesos.nextFolder()
let servicio: TestProcess
let api: Guias
let llave = ''

const admin = async (args: string[], env: Record<string, string> = {}) => {
  const { fin, output: salida, errores } = await procesos.admin([...args, '--json'], { DATA_DIR: dataDir, ...env })
  return { codigo: fin?.codigo, output: salida, errores }
}
const restaurar = (carpeta: string, ...mas: string[]) =>
  admin(['respaldo', 'restaurar', '--archivo', respaldo, '--clave', clave, '--carpeta', carpeta, ...mas])
const estado = (): BackupStatus => JSON.parse(readFileSync(join(respaldo, 'estado.json'), 'utf8'))
/** Waits until all that was written before now is in the backup. */
const alDia = async () => {
  const ahora = new Date()
  await hasta(async () => new Date(estado().al_dia ?? 0) > ahora)
}
const postmasterDe = (carpeta: string) =>
  Number(readFileSync(join(carpeta, 'pgdata', 'postmaster.pid'), 'utf8').split('\n')[0])

async function arrancar(carpeta: string): Promise<void> {
  dataDir = carpeta
  servicio = procesos.startService({ DATA_DIR: dataDir, ...RESPALDO })
  const baseUrl = await listo(servicio)
  // A restored service makes itself another demo merchant.
  llave ||= JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')).llave
  api = new Guias({ llave, baseUrl })
}

async function destruir(): Promise<void> {
  const postgres = postmasterDe(dataDir)
  servicio.signalAll('SIGKILL')
  process.kill(postgres, 'SIGKILL')
  await servicio.waitForEnd()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
}

const crear = async (datos: Parameters<typeof buildGuia>[0] = {}) => (await api.guias.crear(buildGuia(datos))).guia
const esDesconocida = (guia: string) =>
  expect(api.guias.obtener(guia)).rejects.toMatchObject({ codigo: 'guia_desconocida' })

beforeAll(async () => {
  writeFileSync(clave, 'una clave larga de prueba\n')
  await arrancar(dataDir)
  await alDia() // with the first copy of the cluster
})

describe('a continuous backup', FULL_RUN_ONLY, () => {
  let deJuan = ''
  let entregada = ''
  let antes = ''
  let despues = ''
  let instante = ''

  it('restores the second before a mistake, and repeats the erasures since then before it serves', async () => {
    entregada = await crear()
    for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const)
      await api.simulador.avanzar(entregada, { estado })
    await hasta(async () => (await api.guias.pruebaEntrega(entregada).catch(() => undefined))?.pdf)
    deJuan = await crear({ telefono: TELEFONO })
    await api.guias.cancelar(deJuan)
    antes = await crear()
    await sleep(20)
    instante = new Date().toISOString()
    await sleep(20)
    despues = await crear()
    expect(await admin(['persona', 'olvidar', '--telefono', TELEFONO, '--si'])).toMatchObject({ codigo: 0 })
    const { cursor_siguiente: cursor } = await api.eventos.listar({ desde: 'ahora' })
    await alDia()
    await destruir()

    const otra = procesos.nextFolder()
    expect(await restaurar(otra, '--hasta', instante)).toMatchObject({ codigo: 0, errores: '' })
    await arrancar(otra)
    expect(await api.guias.obtener(antes)).toMatchObject({ estado: 'aceptado' })
    await esDesconocida(despues)
    expect((await api.guias.obtener(deJuan)).telefono).not.toBe(TELEFONO)
    const { pdf, fotos } = await api.guias.pruebaEntrega(entregada)
    for (const { url } of [pdf!, ...fotos]) expect((await fetch(url)).status).toBe(200)
    // A reader who was further than the instant misses nothing that happens from now on.
    const guia = await crear()
    await hasta(async () => (await api.eventos.listar({ cursor: cursor! })).datos.some((uno) => uno.guia === guia))
  })

  it('goes on from a restored copy, whose last second it has after another disaster', async () => {
    const primera = await crear()
    await alDia()
    const ultima = await crear()
    await sleep(3_000) // the log is written once a second
    await destruir()
    const otra = procesos.nextFolder()
    expect(await restaurar(otra)).toMatchObject({ codigo: 0, errores: '' })
    await arrancar(otra)
    for (const guia of [primera, ultima, antes]) expect(await api.guias.obtener(guia)).toMatchObject({ guia })
    await esDesconocida(despues)
  })

  it('refuses an instant that it does not have, and one without a zone', async () => {
    const nueva = procesos.nextFolder()
    expect(await restaurar(nueva, '--hasta', '2020-01-01T00:00:00Z')).toMatchObject({
      codigo: 1,
      errores: expect.stringContaining('no llega tan atrás: empieza el 2'),
    })
    expect((await restaurar(nueva, '--hasta', '2999-01-01T00:00:00Z')).errores).toContain(
      `--hasta: el respaldo llega hasta 2`,
    )
    expect((await restaurar(nueva, '--hasta', '2026-11-26 10:00')).errores).toContain('un instante con su zona')
    expect(existsSync(nueva)).toBe(false)
  })

  it('says where the log has a gap, and restores what is before', async () => {
    await alDia()
    const log = join(respaldo, 'log')
    const aparte = join(procesos.base, 'aparte')
    mkdirSync(aparte)
    // Of the first life: the copy goes on with the first segment, and the second one is needed for what came after.
    const [, segundo = ''] = readdirSync(log).filter((uno) => /^0{7}1[0-9A-F]{16}\.\d+$/.test(uno))
    const bases = readdirSync(join(respaldo, 'bases')).filter((uno) => !uno.includes('-00000001'))
    for (const uno of bases) renameSync(join(respaldo, 'bases', uno), join(aparte, uno))
    const tercero = segundo.replace(
      /(.)\.\d+$/,
      (_, cifra: string) => `${(Number.parseInt(cifra, 16) + 2).toString(16).toUpperCase()}.0`,
    )
    writeFileSync(join(log, tercero), readFileSync(join(log, segundo)))
    expect(await restaurar(procesos.nextFolder())).toMatchObject({
      codigo: 1,
      errores: expect.stringMatching(/Al respaldo le falta una parte después de 0{7}1/),
    })
    rmSync(join(log, tercero))
    for (const uno of bases) renameSync(join(aparte, uno), join(respaldo, 'bases', uno))
  })

  it('is proved by the drill', async () => {
    await alDia()
    const { codigo, output: salida, errores } = await admin(['respaldo', 'probar', '--clave', clave], RESPALDO)
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(salida)).toMatchObject({ respaldo, faltas: [] })
    expect(JSON.parse(salida).perdida_s).toBeLessThan(5)
  })

  it('stops a start with another passphrase or another database, and says the remedy', async () => {
    servicio.signalAll('SIGINT')
    await servicio.waitForEnd()
    const otraClave = join(procesos.base, 'otra.txt')
    writeFileSync(otraClave, 'otra clave igual de larga')
    for (const [env, texto] of [
      [{ BACKUP_KEY_FILE: otraClave }, 'no es la clave del respaldo'],
      [{ DATA_DIR: procesos.nextFolder() }, 'tiene el respaldo de otra base'],
      [{ BACKUP_KEY_FILE: '/nada' }, '20 caracteres o más'],
      [{ BACKUP_DIR: join(dataDir, 'respaldo') }, 'está dentro de DATA_DIR'],
      [{ BACKUP_KEY_FILE: '' }, 'BACKUP_KEY_FILE: hace falta con BACKUP_DIR'],
    ] as const) {
      const proceso = procesos.startService({ ...RESPALDO, DATA_DIR: dataDir, ...env })
      expect(await proceso.waitForEnd()).toMatchObject({ codigo: 1 })
      expect(proceso.errores).toContain(texto)
    }
  })

  it('lets the server forget its log once the setting is gone', async () => {
    const ranura = join(dataDir, 'pgdata', 'pg_replslot', 'guias_respaldo')
    expect(existsSync(ranura)).toBe(true)
    servicio = procesos.startService({ DATA_DIR: dataDir })
    await listo(servicio)
    expect(existsSync(ranura)).toBe(false)
  })
})
