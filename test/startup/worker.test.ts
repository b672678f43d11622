import { randomBytes } from 'node:crypto'
import { expect, inject, it } from 'vitest'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { migrate } from '../../server/startup/migrations.ts'
import { startWorkerProcess } from '../../server/startup/workerProcess.ts'
import { MASTER_KEY } from '../environment.ts'
import { admin } from '../postgres.ts'

it('several workers start together on a new database, where one of them makes the queue', async () => {
  const name = `w_${randomBytes(6).toString('hex')}`
  await admin((client) => client.query(`create database ${name}`))
  const url = new URL(inject('postgres'))
  url.pathname = `/${name}`
  await migrate(url.href)
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => lines.push(line) })
  const env = { DATABASE_URL: url.href, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon', DATA_DIR: inject('runFolder') }
  const config = readConfig(env, '/')
  const workers = await Promise.all(Array.from({ length: 4 }, () => startWorkerProcess(config, log)))
  await Promise.all(workers.map((worker) => worker.stop()))
  expect(lines).toEqual([])
  await admin((client) => client.query(`drop database ${name} with (force)`))
})
