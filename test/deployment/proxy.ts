import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { waitUntil } from '../factories.ts'
import type { Paso } from '../resilience/steps.ts'
import { readArchivo } from './compose.ts'

/** Whether there is a Caddy to stand before the service. */
export const HAS_CADDY = spawnSync('caddy', ['version']).error === undefined

/** What differs on one machine, where nothing may be trusted, stored or listened on that isn't ours. */
const renderLocalOptions = (folder: string) => `{
	admin off
	skip_install_trust
	auto_https disable_redirects
	storage file_system ${folder}
}
`

/**
 * Caddy as `despliegue/Caddyfile` says, with certificates of its own making.
 * @param toLocal where the names of compose's network stand on this machine
 * @returns the path of the authority's certificate
 */
export async function startProxy(
  steps: Paso[],
  toLocal: (text: string) => string,
  env: Readonly<Record<string, string>>,
  onComplaint: (complaint: string) => void,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'guias-proxy-'))
  steps.push(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'Caddyfile')
  await writeFile(file, renderLocalOptions(folder) + toLocal(readArchivo('despliegue/Caddyfile')))
  const child = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      ...CHILD_ENVIRONMENT,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const end = once(child, 'exit')
  steps.push(async () => {
    child.kill('SIGKILL')
    await end
  })
  createInterface(child.stderr).on('line', (line) => {
    if (line.includes('"level":"error"')) onComplaint(`proxy: ${line.slice(0, 400)}`)
  })
  const authorityPath = join(folder, 'pki/authorities/local/root.crt')
  return waitUntil(async () => {
    if (child.exitCode !== null) throw new Error('caddy ended instead of serving')
    return (await readFile(authorityPath).catch(() => undefined)) && authorityPath
  })
}
