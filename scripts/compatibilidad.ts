/**
 * What a version number promises. Contract, SDK, changelogs and package agree on one; and the merchants' contract has
 * since the last release tag (`v*`, before this commit) changed by no more than it says: nothing that breaks a merchant
 * while the path is the same (`/api/v1`), additions with a minor version, anything else with a patch.
 * `node scripts/compatibilidad.ts v1.2.3`, before publishing: also, that this is the tag, and the changelog has its date.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { etiquetaAnterior, extraer } from './anterior/etiqueta.ts'

const ejecutar = promisify(execFile)
const REDOCLY = fileURLToPath(new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
const CONTRATO = 'openapi/comercios/openapi.yaml'

/** Where the version stands, and the words before it. */
const LUGARES = {
  [CONTRATO]: /^ {2}version: (.+)$/m,
  'package.json': /^ {2}"version": "(.+)"/m,
  'sdk/package.json': /^ {2}"version": "(.+)"/m,
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

/** Redocly says of every change, request and response apart, what it is worth. */
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
 * The contract's own promise («Compatibilidad») is wider than the tool's rules in two points, since clients ignore what they
 * don't know: vocabularies marked `x-extensible` may grow, and limits, which are the same in answers, may widen.
 */
function impacto(cambio: Cambio, contrato: unknown): Impacto {
  const permitido = cambio.verdicts.every(
    ({ ruleId }) =>
      (ruleId === 'enum-values-added' && esExtensible(contrato, cambio.revision?.pointer ?? '')) ||
      (ruleId === 'schema-constraint-changed' && esMasAmplio(cambio)),
  )
  return cambio.verdicts.length > 0 && permitido ? 'minor' : cambio.impact
}

/** @param puntero to the enum, in the schema that is marked or not */
function esExtensible(contrato: unknown, puntero: string): boolean {
  const pasos = puntero.split('/').slice(1, -1)
  const esquema = pasos.reduce(
    (valor, paso) => (valor as Record<string, unknown> | undefined)?.[paso.replaceAll('~1', '/').replaceAll('~0', '~')],
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
  if (!/^\d+\.\d+\.\d+$/.test(texto)) throw new Error(`«${texto}» is no version: major.minor.patch`)
  return texto.split('.').map(Number)
}
/** The least version that may follow. */
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

/** Well-known addresses (RFC 8615) have no version of their own. */
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
        `These break who uses ${[...antes].join(', ')}; they need another major path:`,
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
