/**
 * Checks the promises of the version number. The contract, the SDK, the changelogs and the package must have the same
 * version. The merchants' contract may change since the last release tag (`v*`, before this commit) only as far as the
 * version says. Breaking changes need another path (`/api/v1`), additions a minor version, other changes a patch.
 * `node scripts/compatibilidad.ts v1.2.3`, before publishing, also checks that the version has this tag and that the
 * changelog gives its date.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { unescapeToken } from '../server/platform/jsonPointer.ts'
import { etiquetaAnterior, extraer } from './anterior/etiqueta.ts'

const ejecutar = promisify(execFile)
const REDOCLY = fileURLToPath(new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
const CONTRATO = 'openapi/comercios/openapi.yaml'

/** Files that contain the version, with the pattern that finds it. */
const LUGARES = {
  [CONTRATO]: /^ {2}version: (.+)$/m,
  'package.json': /^ {2}"version": "(.+)"/m,
  'sdk/package.json': /^ {2}"version": "(.+)"/m,
  'sdk/mcp/package.json': /^ {2}"version": "(.+)"/m,
  'sdk/src/version.ts': /VERSION = '(.+)'/,
  'CHANGELOG.md': /^## (\S+)/m,
  'openapi/comercios/guia/15-cambios.md': /^## (\S+)/m,
}
const IMPACTOS = ['patch', 'minor', 'major'] as const
type Impacto = (typeof IMPACTOS)[number]

interface Lado {
  pointer: string
  value: unknown
}
interface Cambio {
  path: string
  property?: string
  impact: Impacto
  verdicts: { ruleId: string; message: string }[]
  base?: Lado
  revision?: Lado
}
interface Contrato {
  info: { version: string }
  paths: Record<string, unknown>
}

/**
 * Returns every change between two contracts, with its impact according to Redocly, which judges requests and responses
 * separately.
 */
async function comparar(base: string, revision: string): Promise<Cambio[]> {
  const { stdout } = await redocly('diff', base, revision, '--fail-on=none', '--format=json')
  return (JSON.parse(stdout) as { changes: Cambio[] }).changes
}
const redocly = (...args: string[]) =>
  ejecutar(process.execPath, [REDOCLY, ...args], {
    maxBuffer: 1 << 28,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })

/**
 * Returns the impact of a change. The contract's chapter «Compatibilidad» permits two kinds of changes that Redocly
 * calls breaking, because clients ignore unknown values. Vocabularies marked `x-extensible` may grow, and limits, which
 * are the same in answers, may widen.
 */
function impacto(cambio: Cambio, contrato: unknown): Impacto {
  const permitido = cambio.verdicts.every(
    ({ ruleId }) =>
      (ruleId === 'enum-values-added' && esExtensible(contrato, cambio.revision?.pointer ?? '')) ||
      (ruleId === 'schema-constraint-changed' && esMasAmplio(cambio)),
  )
  return cambio.verdicts.length > 0 && permitido ? 'minor' : cambio.impact
}

/**
 * Tells if the schema of an enum is marked `x-extensible`.
 * @param puntero JSON pointer to the enum
 */
function esExtensible(contrato: unknown, puntero: string): boolean {
  const pasos = puntero.split('/').slice(1, -1)
  const esquema = pasos.reduce(
    (valor, paso) => (valor as Record<string, unknown> | undefined)?.[unescapeToken(paso)],
    contrato,
  )
  return (esquema as { 'x-extensible'?: boolean } | undefined)?.['x-extensible'] === true
}

function esMasAmplio({ property = '', base, revision }: Cambio): boolean {
  const [antes, ahora] = [base?.value, revision?.value]
  if (typeof antes !== 'number' || typeof ahora !== 'number') return false
  return /^(max|exclusiveMax)/.test(property) ? ahora > antes : /^(min|exclusiveMin)/.test(property) && ahora < antes
}

const version = (texto: string): number[] => {
  if (!/^\d+\.\d+\.\d+$/.test(texto)) throw new Error(`«${texto}» is not a version of the form major.minor.patch`)
  return texto.split('.').map(Number)
}
/** Returns the smallest version that may follow `base` after a change of this impact. */
function siguiente(base: string, cuanto: Impacto): string {
  const [mayor = 0, menor = 0, parche = 0] = version(base)
  return { major: `${mayor + 1}.0.0`, minor: `${mayor}.${menor + 1}.0`, patch: `${mayor}.${menor}.${parche + 1}` }[
    cuanto
  ]
}
function esMenor(una: string, otra: string): boolean {
  const [a, b] = [version(una), version(otra)]
  const i = a.findIndex((parte, i) => parte !== b[i])
  return i >= 0 && a[i]! < b[i]!
}

/** Returns the path prefixes with a major version, such as `/api/v1`. Well-known paths (RFC 8615) have no version. */
const rutasMayores = ({ paths }: Contrato) =>
  new Set(Object.keys(paths).flatMap((ruta) => /^\/api\/v\d+/.exec(ruta)?.[0] ?? []))

async function versionesQueDifieren(): Promise<string[]> {
  const halladas = await Promise.all(
    Object.entries(LUGARES).map(async ([archivo, lugar]) => {
      return [archivo, lugar.exec(await readFile(archivo, 'utf8'))?.[1] ?? 'none'] as const
    }),
  )
  const distintas = new Set(halladas.map(([, hallada]) => hallada))
  return distintas.size === 1
    ? []
    : ['The versions differ:', ...halladas.map(([archivo, hallada]) => `  ${hallada}  ${archivo}`)]
}

async function contratoCambiado(etiqueta: string): Promise<string[]> {
  const carpeta = await mkdtemp(join(tmpdir(), 'guias-anterior-'))
  try {
    await extraer(etiqueta, carpeta, ['openapi'])
    const archivos = [join(carpeta, 'base.json'), join(carpeta, 'revision.json')] as const
    const origenes = [join(carpeta, CONTRATO), CONTRATO]
    await Promise.all(archivos.map((archivo, i) => redocly('bundle', origenes[i]!, '-o', archivo)))
    const [base, revision] = (await Promise.all(
      archivos.map(async (archivo) => JSON.parse(await readFile(archivo, 'utf8'))),
    )) as [Contrato, Contrato]
    const cambios = (await comparar(...archivos)).map((cambio) => ({ ...cambio, impact: impacto(cambio, revision) }))
    const cuenta = (cual: Impacto) => cambios.filter(({ impact }) => impact === cual).length
    console.log(`The contract since ${etiqueta}: ${IMPACTOS.map((cual) => `${cuenta(cual)} ${cual}`).join(', ')}.`)
    const mayor = IMPACTOS.findLast((cual) => cuenta(cual) > 0)
    if (!mayor) return []
    const antes = rutasMayores(base)
    const otraRuta = rutasMayores(revision).isDisjointFrom(antes)
    if (mayor === 'major' && !otraRuta) {
      const rotos = cambios.filter(({ impact }) => impact === 'major')
      return [
        `These changes break clients of ${[...antes].join(', ')}; they need a new major path:`,
        ...rotos.flatMap(({ path, verdicts }) => verdicts.map(({ message }) => `  ${message} ${path}`)),
      ]
    }
    const minima = siguiente(base.info.version, mayor)
    return esMenor(revision.info.version, minima)
      ? [`${base.info.version} → ${revision.info.version}: these changes (${mayor}) need ${minima} at least.`]
      : []
  } finally {
    await rm(carpeta, { recursive: true, force: true })
  }
}

async function noPublicable(etiqueta: string): Promise<string[]> {
  const { version: esta } = JSON.parse(await readFile('sdk/package.json', 'utf8')) as { version: string }
  const [titulo = ''] = /^## .*/m.exec(await readFile('CHANGELOG.md', 'utf8')) ?? []
  return [
    ...(etiqueta === `v${esta}` ? [] : [`The tag is ${etiqueta}, the version ${esta}.`]),
    ...(/^## \S+ \(\d{4}-\d\d-\d\d\)$/.test(titulo) ? [] : [`CHANGELOG.md: «${titulo}» has no date.`]),
  ]
}

const [publicar] = process.argv.slice(2)
const anterior = await etiquetaAnterior()
if (!anterior) console.log('No earlier release to compare with: no tag v* before this commit.')
const faltas = [
  ...(await versionesQueDifieren()),
  ...(anterior ? await contratoCambiado(anterior) : []),
  ...(publicar ? await noPublicable(publicar) : []),
]
for (const falta of faltas) console.error(falta)
if (faltas.length > 0) process.exitCode = 1
