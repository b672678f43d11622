/**
 * Prints the software bill of materials (CycloneDX) of the packages in production, with npm's own `npm sbom`.
 * `npm sbom` leaves out shared packages when it skips workspaces, so it reads a copy with only the dependencies of
 * production.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const { name, version, license, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const temporal = mkdtempSync(join(tmpdir(), 'guias-sbom-'))
// npm uses the folder's name as the name of the main component.
const folder = join(temporal, name)
const npm = (...args: string[]) =>
  execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

/**
 * Returns a lock file without workspaces. With them, npm would report dependencies as missing, because production does
 * not have these workspaces.
 */
function withoutWorkspaces(text: string) {
  const { packages, ...rest } = JSON.parse(text) as { packages: Record<string, { link?: boolean }> }
  const keptPackages = Object.entries(packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link)
  return { ...rest, packages: { '': packages[''], ...Object.fromEntries(keptPackages) } }
}

try {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, license, dependencies }))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify(withoutWorkspaces(readFileSync(join(root, 'package-lock.json'), 'utf8'))),
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
