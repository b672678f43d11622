/**
 * Checks the promises of the version number. The contract, the SDK, the changelogs and the package must have the same
 * version. The merchants' contract may change since the last release tag (`v*`, before this commit) only as far as the
 * version says. Breaking changes need another path (`/api/v1`), additions a minor version, other changes a patch.
 * `node scripts/checks/compatibility.ts v1.2.3`, before publishing, also checks that the version has this tag and that the
 * changelog gives its date.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { unescapeToken } from '../../server/platform/jsonPointer.ts'
import { extractTag, previousTag } from '../previous/tag.ts'

const execute = promisify(execFile)
const REDOCLY = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
const CONTRACT_PATH = 'openapi/comercios/openapi.yaml'

/** Files that contain the version, with the pattern that finds it. */
const VERSION_PATTERNS = {
  [CONTRACT_PATH]: /^ {2}version: (.+)$/m,
  'package.json': /^ {2}"version": "(.+)"/m,
  'sdk/package.json': /^ {2}"version": "(.+)"/m,
  'sdk/mcp/package.json': /^ {2}"version": "(.+)"/m,
  'sdk/src/version.ts': /VERSION = '(.+)'/,
  'CHANGELOG.md': /^## (\S+)/m,
  'openapi/comercios/guia/15-cambios.md': /^## (\S+)/m,
}
const IMPACTS = ['patch', 'minor', 'major'] as const
type Impact = (typeof IMPACTS)[number]

interface Side {
  pointer: string
  value: unknown
}
interface Change {
  path: string
  property?: string
  impact: Impact
  verdicts: { ruleId: string; message: string }[]
  base?: Side
  revision?: Side
}
interface Contract {
  info: { version: string }
  paths: Record<string, unknown>
}

/**
 * Returns every change between two contracts, with its impact according to Redocly, which judges requests and responses
 * separately.
 */
async function compareContracts(base: string, revision: string): Promise<Change[]> {
  const { stdout } = await runRedocly('diff', base, revision, '--fail-on=none', '--format=json')
  return (JSON.parse(stdout) as { changes: Change[] }).changes
}
const runRedocly = (...args: string[]) =>
  execute(process.execPath, [REDOCLY, ...args], {
    maxBuffer: 1 << 28,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })

/**
 * Returns the impact of a change. The contract's chapter «Compatibilidad» permits two kinds of changes that Redocly
 * calls breaking, because clients ignore unknown values. Vocabularies marked `x-extensible` may grow, and limits, which
 * are the same in answers, may widen.
 */
function impactOf(change: Change, contract: unknown): Impact {
  const isPermitted = change.verdicts.every(
    ({ ruleId }) =>
      (ruleId === 'enum-values-added' && isExtensibleEnum(contract, change.revision?.pointer ?? '')) ||
      (ruleId === 'schema-constraint-changed' && isWider(change)),
  )
  return change.verdicts.length > 0 && isPermitted ? 'minor' : change.impact
}

/**
 * Tells if the schema of an enum is marked `x-extensible`.
 * @param pointer JSON pointer to the enum
 */
function isExtensibleEnum(contract: unknown, pointer: string): boolean {
  const steps = pointer.split('/').slice(1, -1)
  const schema = steps.reduce(
    (value, step) => (value as Record<string, unknown> | undefined)?.[unescapeToken(step)],
    contract,
  )
  return (schema as { 'x-extensible'?: boolean } | undefined)?.['x-extensible'] === true
}

function isWider({ property = '', base, revision }: Change): boolean {
  const [before, now] = [base?.value, revision?.value]
  if (typeof before !== 'number' || typeof now !== 'number') return false
  return /^(max|exclusiveMax)/.test(property) ? now > before : /^(min|exclusiveMin)/.test(property) && now < before
}

const version = (text: string): number[] => {
  if (!/^\d+\.\d+\.\d+$/.test(text)) throw new Error(`«${text}» is not a version of the form major.minor.patch`)
  return text.split('.').map(Number)
}
/** Returns the smallest version that may follow `base` after a change of this impact. */
function nextVersion(base: string, level: Impact): string {
  const [major = 0, minor = 0, patch = 0] = version(base)
  return { major: `${major + 1}.0.0`, minor: `${major}.${minor + 1}.0`, patch: `${major}.${minor}.${patch + 1}` }[level]
}
function isLower(left: string, right: string): boolean {
  const [a, b] = [version(left), version(right)]
  const i = a.findIndex((part, i) => part !== b[i])
  return i >= 0 && a[i]! < b[i]!
}

/** Returns the path prefixes with a major version, such as `/api/v1`. Well-known paths (RFC 8615) have no version. */
const majorPaths = ({ paths }: Contract) =>
  new Set(Object.keys(paths).flatMap((path) => /^\/api\/v\d+/.exec(path)?.[0] ?? []))

async function findDifferingVersions(): Promise<string[]> {
  const foundVersions = await Promise.all(
    Object.entries(VERSION_PATTERNS).map(async ([file, place]) => {
      return [file, place.exec(await readFile(file, 'utf8'))?.[1] ?? 'none'] as const
    }),
  )
  const distinctVersions = new Set(foundVersions.map(([, foundVersion]) => foundVersion))
  return distinctVersions.size === 1
    ? []
    : ['The versions differ:', ...foundVersions.map(([file, foundVersion]) => `  ${foundVersion}  ${file}`)]
}

async function checkContractChange(etiqueta: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'guias-anterior-'))
  try {
    await extractTag(etiqueta, folder, ['openapi'])
    const files = [join(folder, 'base.json'), join(folder, 'revision.json')] as const
    const sources = [join(folder, CONTRACT_PATH), CONTRACT_PATH]
    await Promise.all(files.map((file, i) => runRedocly('bundle', sources[i]!, '-o', file)))
    const [base, revision] = (await Promise.all(
      files.map(async (file) => JSON.parse(await readFile(file, 'utf8'))),
    )) as [Contract, Contract]
    const changes = (await compareContracts(...files)).map((change) => ({
      ...change,
      impact: impactOf(change, revision),
    }))
    const countOf = (level: Impact) => changes.filter(({ impact }) => impact === level).length
    console.log(`The contract since ${etiqueta}: ${IMPACTS.map((level) => `${countOf(level)} ${level}`).join(', ')}.`)
    const major = IMPACTS.findLast((level) => countOf(level) > 0)
    if (!major) return []
    const before = majorPaths(base)
    const hasNewPath = majorPaths(revision).isDisjointFrom(before)
    if (major === 'major' && !hasNewPath) {
      const breakingChanges = changes.filter(({ impact }) => impact === 'major')
      return [
        `These changes break clients of ${[...before].join(', ')}; they need a new major path:`,
        ...breakingChanges.flatMap(({ path, verdicts }) => verdicts.map(({ message }) => `  ${message} ${path}`)),
      ]
    }
    const requiredVersion = nextVersion(base.info.version, major)
    return isLower(revision.info.version, requiredVersion)
      ? [`${base.info.version} → ${revision.info.version}: these changes (${major}) need ${requiredVersion} at least.`]
      : []
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function checkPublishable(etiqueta: string): Promise<string[]> {
  const { version: currentVersion } = JSON.parse(await readFile('sdk/package.json', 'utf8')) as { version: string }
  const [title = ''] = /^## .*/m.exec(await readFile('CHANGELOG.md', 'utf8')) ?? []
  return [
    ...(etiqueta === `v${currentVersion}` ? [] : [`The tag is ${etiqueta}, the version ${currentVersion}.`]),
    ...(/^## \S+ \(\d{4}-\d\d-\d\d\)$/.test(title) ? [] : [`CHANGELOG.md: «${title}» has no date.`]),
  ]
}

const [tagToPublish] = process.argv.slice(2)
const previous = await previousTag()
if (!previous) console.log('No earlier release to compare with: no tag v* before this commit.')
const faltas = [
  ...(await findDifferingVersions()),
  ...(previous ? await checkContractChange(previous) : []),
  ...(tagToPublish ? await checkPublishable(tagToPublish) : []),
]
for (const fault of faltas) console.error(fault)
if (faltas.length > 0) process.exitCode = 1
