import { readFile, writeFile } from 'node:fs/promises'
import type { MetadataJson } from 'libphonenumber-js/core'
import metadatos from 'libphonenumber-js/metadata.max.json'
import type { Objeto } from '../documentacion/contrato.ts'
import { escribir, leerBundle, RAIZ } from './lugares.ts'

/** A kind of number: its pattern, and its lengths where they aren't the country's. */
type Tipo = readonly [patron: string, largos?: readonly number[]] | 0

/** What the library's metadata (version 4) says of a country, as far as it is needed here, by position. */
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

/** What people still write before a number although its plan has dropped it: Mexico's calls from and to mobiles. */
const PREFIJOS_DE_ANTES: Record<string, string> = { MX: '1|01|04[45]' }

function planDe(pais: string) {
  const { version, countries } = metadatos as MetadataJson & { countries: Record<string, PlanDeLaBiblioteca> }
  if (version !== 4) throw new Error(`the phone library's metadata has version ${version}: read it anew`)
  const plan = countries[pais]
  if (!plan) throw new Error(`the phone library has no plan of ${pais}`)
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
 * The numbering plans of the served countries, made of the very metadata by which the phone library judges, for the server
 * and for the SDK (`salida`); and for the SDK the server's own way of reading with them.
 */
export async function generarTelefonos(salida: URL) {
  const { schemas } = (await leerBundle('operaciones')).components as { schemas: Record<string, Objeto> }
  const planes = (schemas.Pais!.enum as string[]).map(planDe)
  const texto = `/** A country whose numbering plan is known here, by its ISO 3166-1 code. */
export type PaisConPlan = ${planes.map(({ pais }) => `'${pais}'`).join(' | ')}

/** Patterns of national numbers, what is dialled before these, the lengths of any and those of mobiles. */
export interface Plan extends Record<'codigo' | 'general' | 'fijo' | 'movil' | 'otros' | 'prefijo', string> {
  pais: PaisConPlan
  largos: readonly number[]
  digitos: readonly number[]
}

export const PLANES: readonly Plan[] = ${JSON.stringify(planes, null, 2)}
`
  await escribir('planes.ts', texto)
  await writeFile(new URL('planes.ts', salida), texto)
  const lectura = await readFile(new URL('server/telefonos/interpretar.ts', RAIZ), 'utf8')
  await writeFile(
    new URL('interpretar.ts', salida),
    lectura.replace(/'\.\.\/contrato\/generado\/planes\.ts'/, "'./planes.js'"),
  )
}
