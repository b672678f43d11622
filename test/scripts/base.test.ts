// The release from which an upgrade is rehearsed (scripts/previous/migration.ts), in repositories of its own.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const MODULE = pathToFileURL(join(import.meta.dirname, '../../scripts/previous/migration.ts')).href
const CODE = `import { findBase } from '${MODULE}'
console.log(JSON.stringify(await findBase().catch((error) => ({ error: error.message }))))`

let folder = ''
const git = async (...args: string[]) => {
  const author = ['-c', 'user.name=x', '-c', 'user.email=x@ejemplo.com', '-c', 'core.hooksPath=/dev/null']
  return (await run('git', [...author, ...args], { cwd: folder })).stdout.trim()
}
async function migration(name: string, sql: string) {
  await mkdir(join(folder, 'prisma/migrations', name), { recursive: true })
  await writeFile(join(folder, 'prisma/migrations', name, 'migration.sql'), sql)
}
async function commit() {
  await git('add', '--all')
  await git('commit', '-q', '--allow-empty', '-m', 'x')
  return git('rev-parse', 'HEAD')
}
const findBase = async () =>
  JSON.parse((await run(process.execPath, ['--input-type=module', '-e', CODE], { cwd: folder })).stdout)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guias-base-'))
  await git('init', '-q')
  await migration('1_first', 'select 1;')
  await commit()
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('before the first release', () => {
  it('says that there is nothing to upgrade from, also after the first migration was edited', async () => {
    const reason = { missing: expect.stringMatching(/no release .* 1_first is the only migration/) }
    expect(await findBase()).toEqual(reason)
    await migration('1_first', 'select 2;')
    expect(await findBase()).toEqual(reason)
    await commit()
    expect(await findBase()).toEqual(reason)
    await git('tag', 'v0.1.0')
    expect(await findBase()).toEqual(reason)
  })

  it('refuses a second migration', async () => {
    await migration('2_second', 'select 2;')
    expect(await findBase()).toEqual({ error: expect.stringMatching(/2_second upgrades nothing/) })
  })
})

describe('after a release', () => {
  let released = ''
  beforeEach(async () => {
    await git('tag', 'v0.1.0')
    released = await git('rev-parse', 'HEAD')
    await commit()
  })

  it('finds the release and the later migrations, committed or not', async () => {
    expect(await findBase()).toEqual({ missing: 'v0.1.0 has the present schema' })
    await migration('2_second', 'select 2;')
    expect(await findBase()).toEqual({ tag: 'v0.1.0', commit: released, migrations: ['2_second'] })
    await commit()
    await migration('3_third', 'select 3;')
    expect(await findBase()).toEqual({ tag: 'v0.1.0', commit: released, migrations: ['2_second', '3_third'] })
  })

  it.each([
    ['edited', () => migration('1_first', 'select 2;')],
    ['removed', () => rm(join(folder, 'prisma/migrations/1_first'), { recursive: true })],
    ['renamed', () => git('mv', 'prisma/migrations/1_first', 'prisma/migrations/0_first')],
  ])('refuses a migration of the release that was %s', async (_how, change) => {
    await change()
    expect(await findBase()).toEqual({ error: expect.stringMatching(/^1_first changed after v0\.1\.0/) })
  })

  it('lets a later migration change until the next release', async () => {
    await migration('2_second', 'select 2;')
    await commit()
    await migration('2_second', 'select 3;')
    expect(await findBase()).toMatchObject({ tag: 'v0.1.0', migrations: ['2_second'] })
    await commit()
    await git('tag', 'v0.2.0')
    await commit()
    expect(await findBase()).toEqual({ missing: 'v0.2.0 has the present schema' })
    await migration('2_second', 'select 4;')
    expect(await findBase()).toEqual({ error: expect.stringMatching(/^2_second changed after v0\.2\.0/) })
  })
})
