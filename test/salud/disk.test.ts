import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fillDisk } from '../disk.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { admin, dropTestDatabase } from '../postgres.ts'

// A disk of our own, as large as a database and a little more.

/** Only root may mount one, beside a PostgreSQL of this machine. */
const disco = process.platform === 'linux' && process.getuid?.() === 0 && !process.env.POSTGRES_URL
const BYTES = 64 * 1024 * 1024

describe.skipIf(!disco)('a full disk (as root alone, who may mount one)', () => {
  let point = ''
  let base = ''
  // Before the environment's own, or hooks would take the disk away from under its database.
  afterAll(async () => {
    await dropTestDatabase(base)
    await admin((client) => client.query('drop tablespace if exists disco_lleno'))
    expect(spawnSync('umount', [point]).status).toBe(0)
    rmdirSync(point)
  })
  const environment = useEnvironment({}, async (databaseUrl) => {
    base = new URL(databaseUrl).pathname.slice(1)
    point = mkdtempSync(join(tmpdir(), 'guias-disco-'))
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${BYTES}`, 'tmpfs', point]).status).toBe(0)
    await admin(async (client) => {
      const { rows } = await client.query<{ datos: string }>(`select current_setting('data_directory') as datos`)
      const { uid, gid } = statSync(rows[0]!.datos)
      chownSync(point, uid, gid)
      await client.query(`create tablespace disco_lleno location '${point}'`)
      await client.query(`alter database ${base} set tablespace disco_lleno`)
    })
    return {}
  })
  const ballastPath = () => join(point, 'lastre')
  const read = () => environment.request('GET', '/readyz')

  it('is told by 503 with Retry-After and by /readyz, and everything goes on once there is room', async () => {
    const { llave, api } = await environment.createComercio()
    // Each asks its recipient for the place: a job writes, too.
    const create = () => environment.request('POST', '/api/v1/guias', { llave, body: buildGuiaWithoutDestino() })
    expect([(await create()).status, (await read()).status]).toEqual([201, 200])
    // As autovacuum does where databases come and go. It removes a cache file, which the next connection writes again.
    await environment.db.pool.query('analyze pg_database')
    fillDisk(ballastPath())
    // Pages that exist have room for some rows.
    const rechazada = await waitUntil(async () => {
      const response = await create()
      expect([201, 503]).toContain(response.status)
      return response.status === 503 && response
    })
    expect(rechazada.body.mensaje).toMatch(/^El servicio no puede guardar cambios/)
    expect(rechazada.headers.get('retry-after')).toBe('2')
    const { status, body } = await read()
    expect([status, body]).toEqual([
      503,
      { ok: false, base_de_datos: true, escritura: false, cola: true, migraciones: true },
    ])
    // Refusals cost no connections, or new ones would be needed to read.
    for (let i = 0; i < 20; i++) await create()
    for (let i = 0; i < 20; i++) expect((await api.guias.listar({ limite: 1 }).primeros(1)).length).toBe(1)
    rmSync(ballastPath())
    await waitUntil(async () => (await read()).status === 200)
    expect((await create()).status).toBe(201)
    await environment.waitForQuiet()
  })
})
