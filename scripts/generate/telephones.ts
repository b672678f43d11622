import { readFile, writeFile } from 'node:fs/promises'
import type { MetadataJson } from 'libphonenumber-js/core'
import metadatos from 'libphonenumber-js/metadata.max.json'
import type { JsonObject } from '../documentation/contract.ts'
import { REPOSITORY_URL, readBundle, writeGenerated } from './places.ts'

/**
 * Metadata of one kind of number: its pattern, and its lengths if they differ from the country's. It is 0 if the
 * country has no numbers of this kind.
 */
type NumberKind = readonly [pattern: string, lengths?: readonly number[]] | 0

/**
 * Entry of a country in the library's metadata (version 4). The members are identified by position; only those that
 * this generator reads are typed.
 */
type LibraryPlan = readonly [
  codigo: string,
  idd: string,
  general: string,
  lengths: readonly number[],
  formats: unknown,
  nationalPrefix: unknown,
  prefixRule: unknown,
  parsingPrefix: string | 0,
  ...(readonly unknown[]),
]
const KINDS_INDEX = 11

/**
 * Prefixes that people still write although the numbering plan has dropped them: those of Mexico for calls from and to
 * mobiles.
 */
const FORMER_PREFIXES: Record<string, string> = { MX: '1|01|04[45]' }

function planOf(pais: string) {
  const { version, countries } = metadatos as MetadataJson & { countries: Record<string, LibraryPlan> }
  if (version !== 4) throw new Error(`unsupported version ${version} of the phone library's metadata`)
  const plan = countries[pais]
  if (!plan) throw new Error(`the phone library has no numbering plan of ${pais}`)
  const [callingCode, , general, lengths, , , , parsingPrefix] = plan
  const [landline, mobile, ...others] = (plan[KINDS_INDEX] as readonly NumberKind[]).map((type) => type || undefined)
  return {
    pais,
    callingCode,
    general,
    landline: landline![0],
    mobile: mobile![0],
    others: others.flatMap((type) => type?.[0] || []).join('|'),
    prefix: FORMER_PREFIXES[pais] ?? (parsingPrefix || ''),
    lengths,
    mobileLengths: mobile![1] ?? lengths,
  }
}

/**
 * Writes the numbering plans of the served countries, for the server and for the SDK (`outputUrl`). The plans come from
 * the metadata with which the phone library validates numbers. Also copies the server's code that reads with these
 * plans into the SDK.
 */
export async function generateTelefonos(outputUrl: URL) {
  const { schemas } = (await readBundle('operaciones')).components as { schemas: Record<string, JsonObject> }
  const plans = (schemas.Pais!.enum as string[]).map(planOf)
  const text = `/** ISO 3166-1 code of a country with a numbering plan in {@link NUMBERING_PLANS}. */
export type PaisConPlan = ${plans.map(({ pais }) => `'${pais}'`).join(' | ')}

/**
 * Numbering plan of a country. \`general\`, \`landline\`, \`mobile\` and \`others\` are regular expressions of national numbers: of
 * all numbers, landlines, mobiles and the other kinds. \`prefix\` is the regular expression of a prefix dialled before
 * a national number, empty if the country has none.
 */
export interface Plan extends Record<'callingCode' | 'general' | 'landline' | 'mobile' | 'others' | 'prefix', string> {
  pais: PaisConPlan
  /** Lengths of national numbers, in digits. */
  lengths: readonly number[]
  /** Lengths of mobile numbers, in digits. */
  mobileLengths: readonly number[]
}

/** Numbering plans of the countries that the service serves. */
export const NUMBERING_PLANS: readonly Plan[] = ${JSON.stringify(plans, null, 2)}
`
  await writeGenerated('plans.ts', text)
  await writeFile(new URL('plans.ts', outputUrl), text)
  const reading = await readFile(new URL('server/platform/telephones/interpret.ts', REPOSITORY_URL), 'utf8')
  await writeFile(
    new URL('interpret.ts', outputUrl),
    reading.replace(/'\.\.\/\.\.\/generated\/contract\/plans\.ts'/, "'./plans.js'"),
  )
}
