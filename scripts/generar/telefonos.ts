import { readFile, writeFile } from 'node:fs/promises'
import type { MetadataJson } from 'libphonenumber-js/core'
import metadatos from 'libphonenumber-js/metadata.max.json'
import type { Objeto } from '../documentacion/contrato.ts'
import { escribir, leerBundle, RAIZ } from './lugares.ts'

/**
 * Metadata of one kind of number: its pattern, and its lengths if they differ from the country's. It is 0 if the
 * country has no numbers of this kind.
 */
type Tipo = readonly [patron: string, largos?: readonly number[]] | 0

/**
 * Entry of a country in the library's metadata (version 4). The members are identified by position; only those that
 * this generator reads are typed.
 */
type PlanDeLaBiblioteca = readonly [
  codigo: string,
  idd: string,
  general: string,
  largos: readonly number[],
  formatos: unknown,
  prefijo: unknown,
  regla: unknown,
  prefijoAlLeer: string | 0,
  ...(readonly unknown[]),
]
const TIPOS = 11

/**
 * Prefixes that people still write although the numbering plan has dropped them: those of Mexico for calls from and to
 * mobiles.
 */
const PREFIJOS_DE_ANTES: Record<string, string> = { MX: '1|01|04[45]' }

function planDe(pais: string) {
  const { version, countries } = metadatos as MetadataJson & { countries: Record<string, PlanDeLaBiblioteca> }
  if (version !== 4) throw new Error(`unsupported version ${version} of the phone library's metadata`)
  const plan = countries[pais]
  if (!plan) throw new Error(`the phone library has no numbering plan of ${pais}`)
  const [codigo, , general, largos, , , , prefijoAlLeer] = plan
  const [fijo, movil, ...otros] = (plan[TIPOS] as readonly Tipo[]).map((tipo) => tipo || undefined)
  return {
    pais,
    codigo,
    general,
    fijo: fijo![0],
    movil: movil![0],
    otros: otros.flatMap((tipo) => tipo?.[0] || []).join('|'),
    prefijo: PREFIJOS_DE_ANTES[pais] ?? (prefijoAlLeer || ''),
    largos,
    digitos: movil![1] ?? largos,
  }
}

/**
 * Writes the numbering plans of the served countries, for the server and for the SDK (`salida`). The plans come from
 * the metadata with which the phone library validates numbers. Also copies the server's code that reads with these
 * plans into the SDK.
 */
export async function generarTelefonos(salida: URL) {
  const { schemas } = (await leerBundle('operaciones')).components as { schemas: Record<string, Objeto> }
  const planes = (schemas.Pais!.enum as string[]).map(planDe)
  const texto = `/** ISO 3166-1 code of a country with a numbering plan in {@link PLANES}. */
export type PaisConPlan = ${planes.map(({ pais }) => `'${pais}'`).join(' | ')}

/**
 * Numbering plan of a country. \`general\`, \`fijo\`, \`movil\` and \`otros\` are regular expressions of national numbers: of
 * all numbers, landlines, mobiles and the other kinds. \`prefijo\` is the regular expression of a prefix dialled before
 * a national number, empty if the country has none.
 */
export interface Plan extends Record<'codigo' | 'general' | 'fijo' | 'movil' | 'otros' | 'prefijo', string> {
  pais: PaisConPlan
  /** Lengths of national numbers, in digits. */
  largos: readonly number[]
  /** Lengths of mobile numbers, in digits. */
  digitos: readonly number[]
}

/** Numbering plans of the countries that the service serves. */
export const PLANES: readonly Plan[] = ${JSON.stringify(planes, null, 2)}
`
  await escribir('planes.ts', texto)
  await writeFile(new URL('planes.ts', salida), texto)
  const lectura = await readFile(new URL('server/platform/telephones/interpret.ts', RAIZ), 'utf8')
  await writeFile(
    new URL('interpretar.ts', salida),
    lectura.replace(/'\.\.\/\.\.\/generado\/contrato\/planes\.ts'/, "'./planes.js'"),
  )
}
