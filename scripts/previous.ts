/**
 * Entry point of `npm run test:previous`: tests the SDK of the last release, which merchants have installed, against
 * the current server. Takes `sdk/` and `test/sdk` from the release, and type-checks and runs them in a copy of this
 * tree. The helpers that these tests share (`test/environment.ts`…) are the current ones, which start the current server.
 * Prints a message if no release exists yet.
 */
import { cpSync } from 'node:fs'
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildVersion, linkPackages, runIn } from './previous/build.ts'
import { previousTag } from './previous/tag.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const SDK_FOLDERS = ['sdk', 'test/sdk']

const node = (folder: string, ...args: string[]) => runIn(folder, process.execPath, ...args)

async function mixVersions(before: string, now: string) {
  const excludedNames = new Set(['node_modules', '.git', '.datos', 'coverage'])
  cpSync(root, now, { recursive: true, filter: (path) => !excludedNames.has(basename(path)) })
  for (const path of SDK_FOLDERS) {
    await rm(join(now, path), { recursive: true })
    cpSync(join(before, path), join(now, path), {
      recursive: true,
      filter: (sdkPath) => basename(sdkPath) !== 'node_modules',
    })
  }
  // Restores helpers that were deleted since the release. `force: false` keeps the current files.
  cpSync(join(before, 'test'), join(now, 'test'), { recursive: true, force: false })
  await linkPackages(now)
  // `test/setup.ts` declares the types of the values that vitest provides to tests.
  const typeCheckConfig = { extends: './tsconfig.json', include: [...SDK_FOLDERS.slice(1), 'test/setup.ts'] }
  await writeFile(join(now, 'tsconfig.anterior.json'), JSON.stringify(typeCheckConfig))
}

async function testRelease(etiqueta: string) {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'guias-anterior-'))
  await chmod(folder, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
  try {
    const [before, now] = [join(folder, 'antes'), join(folder, 'ahora')]
    await buildVersion(etiqueta, before)
    await mixVersions(before, now)
    console.log(`Running the SDK of ${etiqueta} and its tests against the current server:`)
    await node(now, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.anterior.json')
    // No filter by tags, so that slow tests run too.
    await node(now, 'node_modules/vitest/vitest.mjs', 'run', ...SDK_FOLDERS.slice(1))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const etiqueta = await previousTag()
if (etiqueta) await testRelease(etiqueta)
else console.log('No earlier release to test: no tag v* before this commit.')
