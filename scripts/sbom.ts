/**
 * Prints the software bill of materials (CycloneDX) of the packages in production, with npm's own `npm sbom`.
 * `npm sbom` leaves out shared packages when it skips workspaces, so it reads a copy with only the dependencies of
 * production.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const raiz = join(import.meta.dirname, '..')
const { name, version, license, dependencies } = JSON.parse(readFileSync(join(raiz, 'package.json'), 'utf8'))
const temporal = mkdtempSync(join(tmpdir(), 'guias-sbom-'))
// npm uses the folder's name as the name of the main component.
const carpeta = join(temporal, name)
const npm = (...args: string[]) =>
  execFileSync('npm', args, { cwd: carpeta, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

/**
 * Returns a lock file without workspaces. With them, npm would report dependencies as missing, because production does
 * not have these workspaces.
 */
function sinAreas(texto: string) {
  const { packages, ...resto } = JSON.parse(texto) as { packages: Record<string, { link?: boolean }> }
  const quedan = Object.entries(packages).filter(([ruta, { link }]) => ruta.startsWith('node_modules/') && !link)
  return { ...resto, packages: { '': packages[''], ...Object.fromEntries(quedan) } }
}

try {
  mkdirSync(carpeta)
  writeFileSync(join(carpeta, 'package.json'), JSON.stringify({ name, version, license, dependencies }))
  writeFileSync(
    join(carpeta, 'package-lock.json'),
    JSON.stringify(sinAreas(readFileSync(join(raiz, 'package-lock.json'), 'utf8'))),
  )
  npm('install', '--package-lock-only', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error')
  const sbom = JSON.parse(npm('sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error'))
  // Serial number and timestamp differ in every run. Without them, the same lock file gives the same document.
  delete sbom.serialNumber
  delete sbom.metadata.timestamp
  console.log(JSON.stringify(sbom, null, 2))
} finally {
  rmSync(temporal, { recursive: true })
}
