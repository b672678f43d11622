import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { YAML } from '../deployment/compose.ts'
import { findWorkflowFaults, type WorkflowStep } from './workflows.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

interface PackageEntry {
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  link?: boolean
  dev?: boolean
  devOptional?: boolean
  name?: string
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}
/** All that npm installs by a lock file, without this repository's own packages. */
const packagesOfLock = (path: string) =>
  Object.entries((JSON.parse(read(path)) as { packages: Record<string, PackageEntry> }).packages).filter(
    ([folder, { link }]) => folder.includes('node_modules/') && !link,
  )
const installedPackages = packagesOfLock('package-lock.json')
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, PackageEntry> }
/** The runners of the collection, which one test installs for itself, without any script of theirs. */
const runners = packagesOfLock('test/runners/package-lock.json')

/** Paths of the packages that the service needs. The package for assistants has dependencies of its own. */
function findPackagesOfService(): Set<string> {
  const seen = new Set<string>()
  const locate = (from: string, name: string): string | undefined => {
    const path = `${from}${from ? '/' : ''}node_modules/${name}`
    if (path in packages) return path
    return from === '' ? undefined : locate(from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name)
  }
  const walk = (path: string) => {
    const { dependencies, optionalDependencies, peerDependencies } = packages[path]!
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const hallada = locate(path, name)
      if (hallada === undefined || seen.has(hallada)) continue
      seen.add(hallada)
      walk(hallada)
    }
  }
  walk('')
  return seen
}

/** Licences under which the service may be passed on; LGPL is libvips, which sharp links dynamically. */
const LICENSES = [
  'MIT',
  'ISC',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'Python-2.0',
  'LGPL-3.0-or-later',
  'CC0-1.0',
  'MIT-0',
]
/** Their package.json says it in a form that npm doesn't read; their LICENSE is MIT. */
const UNDECLARED_LICENSES = ['busboy', 'png-js', 'streamsearch']

describe('the supply chain', () => {
  it('is npm’s registry alone, each package with its digest', () => {
    expect(installedPackages.length).toBeGreaterThan(100)
    const oddValues = [...installedPackages, ...runners].filter(
      ([, { resolved, integrity }]) =>
        !(integrity?.startsWith('sha512-') && (!resolved || resolved.startsWith('https://registry.npmjs.org/'))),
    )
    expect(oddValues.map(([path]) => path)).toEqual([])
  })

  it('names exact versions', () => {
    for (const folder of ['', 'sdk/', 'sdk/mcp/', 'test/', 'test/runners/', 'bench/']) {
      const path = `${folder}package.json`
      const { dependencies = {}, devDependencies = {} } = JSON.parse(read(path)) as Record<string, object>
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
        expect([path, name, version]).toEqual([
          path,
          name,
          expect.stringMatching(/^(npm:(@?[\w./-]+)@)?\d+\.\d+\.\d+(-[\w.]+)?$/),
        ])
    }
  })

  it('runs install scripts only of who is named', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> }
    const packagesWithScript = installedPackages
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path)
    const names = new Set(packagesWithScript.map((path) => path.split('node_modules/').at(-1)!))
    expect([...names].filter((name) => !(name in allowScripts)).sort()).toEqual([])
  })

  it('has only permitted licences for the packages that production installs', () => {
    const foreign = installedPackages.flatMap(([path, { license, dev }]) => {
      const name = path.split('node_modules/').at(-1)!
      if (dev || (license === undefined && UNDECLARED_LICENSES.includes(name))) return []
      const licenses = (license ?? 'none').replace(/[()]/g, '').split(/ (?:AND|OR) /)
      return licenses.every((one) => LICENSES.includes(one)) ? [] : [[name, license]]
    })
    expect(foreign).toEqual([])
  })

  it('has a bill of materials of the packages that production installs', () => {
    const { stdout, status } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8' })
    expect(status).toBe(0)
    const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: { name: string }[] }
    const names = new Set(components.map(({ name }) => name))
    const reachedPackages = findPackagesOfService()
    // npm counts an optional peer that the lock has (`typescript`) as production's, but does not install it there.
    const productionPackages = installedPackages.flatMap(([path, { dev, devOptional, name }]) =>
      dev || devOptional || !reachedPackages.has(path) ? [] : [name ?? path.split('node_modules/').at(-1)!],
    )
    expect(bomFormat).toBe('CycloneDX')
    expect(productionPackages).toEqual(expect.arrayContaining(['express', 'pg', 'sharp']))
    expect(productionPackages.filter((name) => !names.has(name))).toEqual([])
    for (const foreign of ['@modelcontextprotocol/client', 'vitest', 'tsdown', '@biomejs/biome', 'fastify'])
      expect(names).not.toContain(foreign)
  })

  it('runs no tool that the lock does not name', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    expect(Object.entries(scripts).filter(([, command]) => /\b(?:npx|npm exec)\b/.test(command))).toEqual([])
  })
})

describe('the workflows', () => {
  const publishWorkflow = read('.github/workflows/publish.yml')

  it.each(readdirSync(new URL('.github/workflows/', root)))(
    '%s pins everything and runs nothing beside a token',
    (file) => {
      expect(findWorkflowFaults(read(`.github/workflows/${file}`))).toEqual([])
    },
  )

  const PUBLISH_STEP = '      - run: npm publish ./sdk.tgz'
  it.each([
    [
      'an action by its tag',
      /actions\/checkout@[0-9a-f]{40}/,
      'actions/checkout@v4',
      'action actions/checkout@v4 without commit',
    ],
    ['a container without digest', /(container: [^@\n]+)@\S+/, '$1', 'image node:24.21.0-bookworm without digest'],
    ['npx', 'npm run --silent sbom', 'npx --yes sbom', 'unlocked tool'],
    [
      'an installation beside the token',
      PUBLISH_STEP,
      `      - run: npm ci\n${PUBLISH_STEP}`,
      '«npm ci» beside the token',
    ],
    [
      'a script beside the token',
      PUBLISH_STEP,
      `      - run: node scripts/prepare.mjs\n${PUBLISH_STEP}`,
      'beside the token',
    ],
    ['the scripts of a package beside the token', '--ignore-scripts ', '', 'beside the token'],
    [
      'a checkout beside the token',
      PUBLISH_STEP,
      `      - uses: actions/checkout@${'0'.repeat(40)}\n${PUBLISH_STEP}`,
      'beside the token',
    ],
    ['a token in the job that builds', 'contents: read', 'id-token: write', '«.ci/run» beside the token'],
    ['a token for every job', 'permissions: {}', 'permissions: write-all', 'permissions to every job'],
  ])('are refused with %s', (_description, before, after, missing) => {
    const changedResult = publishWorkflow.replace(before, after)
    expect(changedResult).not.toBe(publishWorkflow)
    expect(findWorkflowFaults(changedResult).join('\n')).toContain(missing)
  })

  it('publish the tarball only if its digest is the one of the job that built it', () => {
    const { jobs } = YAML.parse(publishWorkflow) as {
      jobs: Record<string, { needs?: string[]; outputs?: Record<string, string>; steps: WorkflowStep[] }>
    }
    const { pack, publish: last } = jobs as Record<'pack' | 'publish', (typeof jobs)[string]>
    const comprobar = last.steps.findIndex(({ run }) => run?.includes('sha256sum --check'))
    const send = last.steps.findIndex(({ run }) => run?.startsWith('npm publish'))
    expect(last.needs).toEqual(['test', 'pack'])
    expect(last.steps[comprobar]!.env!.SHA256).toContain('needs.pack.outputs.sha256')
    expect(comprobar).toBeLessThan(send)

    // Runs the three shell lines on a real file, as it was built and as somebody changed it in between.
    const folder = mkdtempSync(join(tmpdir(), 'guias-publicar-'))
    try {
      mkdirSync(join(folder, 'paquete'))
      writeFileSync(join(folder, 'paquete/sdk.tgz'), 'built')
      const output = join(folder, 'salida')
      const sh = (command: string, env: Record<string, string>) =>
        spawnSync('bash', ['-e', '-o', 'pipefail', '-c', command], { cwd: folder, env: { ...process.env, ...env } })
          .status
      expect(sh(pack.steps.find(({ id }) => id === 'digest')!.run!, { GITHUB_OUTPUT: output })).toBe(0)
      const [, SHA256 = ''] = /^sha256=([0-9a-f]{64})$/m.exec(readFileSync(output, 'utf8')) ?? []
      const command = last.steps[comprobar]!.run!
      for (const [contenido, codigo] of [
        ['built', 0],
        ['changed', 1],
      ] as const) {
        writeFileSync(join(folder, 'sdk.tgz'), contenido)
        expect([contenido, sh(command, { SHA256 })]).toEqual([contenido, codigo])
      }
      expect(sh(command, { SHA256: '' })).not.toBe(0)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
