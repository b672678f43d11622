import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CLOCK_ENVIRONMENT } from '../clockEnvironment.ts'
import { hasta } from '../fabricas.ts'
import type { Paso } from '../resistencia/pasos.ts'
import { leerArchivo } from './compose.ts'

/** Whether there is a Caddy to stand before the service. */
export const HAY_CADDY = spawnSync('caddy', ['version']).error === undefined

/** What differs on one machine, where nothing may be trusted, stored or listened on that isn't ours. */
const DE_AQUI = (carpeta: string) => `{
	admin off
	skip_install_trust
	auto_https disable_redirects
	storage file_system ${carpeta}
}
`

/**
 * Caddy as `despliegue/Caddyfile` says, with certificates of its own making.
 * @param aqui where the names of compose's network stand on this machine
 * @returns the path of the authority's certificate
 */
export async function startProxy(
  pasos: Paso[],
  aqui: (texto: string) => string,
  env: Readonly<Record<string, string>>,
  alQuejarse: (queja: string) => void,
): Promise<string> {
  const carpeta = await mkdtemp(join(tmpdir(), 'guias-proxy-'))
  pasos.push(() => rm(carpeta, { recursive: true, force: true }))
  const archivo = join(carpeta, 'Caddyfile')
  await writeFile(archivo, DE_AQUI(carpeta) + aqui(leerArchivo('despliegue/Caddyfile')))
  const hijo = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', archivo], {
    env: {
      PATH: process.env.PATH,
      HOME: carpeta,
      XDG_CONFIG_HOME: carpeta,
      XDG_DATA_HOME: carpeta,
      ...CLOCK_ENVIRONMENT,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const fin = once(hijo, 'exit')
  pasos.push(async () => {
    hijo.kill('SIGKILL')
    await fin
  })
  createInterface(hijo.stderr).on('line', (linea) => {
    if (linea.includes('"level":"error"')) alQuejarse(`proxy: ${linea.slice(0, 400)}`)
  })
  const autoridad = join(carpeta, 'pki/authorities/local/root.crt')
  return hasta(async () => {
    if (hijo.exitCode !== null) throw new Error('caddy ended instead of serving')
    return (await readFile(autoridad).catch(() => undefined)) && autoridad
  })
}
