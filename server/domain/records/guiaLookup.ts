import { type Db, statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import type { Modo } from '../../generated/contract/types/index.ts'
import { faultOfCode } from '../../platform/codes/codeFault.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import type { GuiaRow } from './guiaFields.ts'

/** Returns the 409 for a text about a guide whose personal data were erased. Nothing would ever erase the text. */
export const dataErasedProblem = () =>
  new Problema(
    'datos_borrados',
    'Los datos personales de la guía ya se borraron, y no admite notas nuevas. Anote lo que haga falta donde lleva al comercio.',
  )

/** Guides that a caller may access: those of one merchant in one mode, or all guides (for example for operators). */
export type GuiaScope = { comercioId: string; modo: Modo } | 'todos'

/** {@link GuiaScope} as statement parameters; null means every merchant and mode. */
export interface ScopeColumns {
  comercio_id: string | null
  modo: Modo | null
}

/** Guides of one merchant in one mode. */
export type ComercioGuiaScope = Exclude<GuiaScope, 'todos'>

/** Converts a {@link GuiaScope} into statement parameters. */
export function toScopeColumns(scope: ComercioGuiaScope): { comercio_id: string; modo: Modo }
export function toScopeColumns(scope: GuiaScope): ScopeColumns
export function toScopeColumns(scope: GuiaScope): ScopeColumns {
  return scope === 'todos' ? { comercio_id: null, modo: null } : { comercio_id: scope.comercioId, modo: scope.modo }
}

const FIND_GUIA = statement<{ guia: string } & ScopeColumns, GuiaRow & { comercio: string }>(
  'guias.findGuia',
  'part',
  `select g.*, c.comercio from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   where i.guia = :guia and (:comercio_id::uuid is null or (i.comercio_id = :comercio_id and i.modo = :modo))`,
)

/**
 * Throws the problem of an unknown guide. Codes without a guide and codes of other merchants get the same answer.
 * @throws Problema 404
 */
export function throwUnknownGuia(scope: GuiaScope): never {
  const where = scope === 'todos' ? '' : ' en el modo de esta llave'
  throw new Problema('guia_desconocida', `No hay ninguna guía con ese identificador${where}.`)
}

/**
 * Returns the canonical form of a guide's code that a person typed.
 * @param scope guides of the caller; a merchant learns how to search by its own reference
 * @throws Problema 404 if the text cannot be a code
 */
export function requireGuiaCode(code: string, scope: GuiaScope = 'todos'): string {
  const guia = normalizeGuideCode(code)
  if (guia !== undefined) return guia
  const byReference = scope === 'todos' || code.length > MAX_REFERENCE ? '' : ` ${searchByReference(code)}`
  throw new Problema('guia_desconocida', `${explainGuiaCode(code)}${byReference}`)
}

/** Maximum length of a merchant's reference, in characters. */
const MAX_REFERENCE = 128

/** Tells a merchant how to find a guide by its own reference. */
export const searchByReference = (text: string): string =>
  `Si es su número de pedido, búsquelo en la lista de guías con el filtro external_ref, «${text}».`

/**
 * Returns the canonical form of a code that filters a list. A text that cannot be a code would give an empty page, which
 * looks like a guide without events.
 * @throws Problema 400
 */
export function readGuideFilter(code: string): string {
  const guia = normalizeGuideCode(code)
  if (guia !== undefined) return guia
  const mensaje = `no es el código de una guía. ${explainGuiaCode(code)} ${searchByReference(code)}`
  throw problemOfFaults('parametro_invalido', [{ campo: 'guia', codigo: 'formato_invalido', mensaje }])
}

/** Explains a text that cannot be a guide's code. */
export const explainGuiaCode = (code: string): string =>
  `Ese identificador no puede ser de una guía. ${
    faultOfCode(code) ??
    'Su último carácter, el de verificación, no cuadra: tiene una letra o un número cambiado. Cópielo otra vez.'
  }`

/**
 * Finds a guide and its merchant by the guide's code, as a person typed it.
 * @throws Problema 404
 */
export async function findGuia(db: Db, scope: GuiaScope, code: string): Promise<GuiaRow & { comercio: string }> {
  const guia = requireGuiaCode(code, scope)
  const where = scope === 'todos' ? await dbOfKey(db, guia) : db.forComercio(scope.comercioId)
  const [row] = (await where?.query(FIND_GUIA, { guia, ...toScopeColumns(scope) })) ?? []
  return row ?? throwUnknownGuia(scope)
}

const READ_GUIAS = statement<{ guias: readonly string[]; comercio_id: string; modo: Modo }, GuiaRow>(
  'guias.readGuias',
  'merchant',
  `select g.* from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   where i.guia = any(:guias::text[]) and i.comercio_id = :comercio_id and i.modo = :modo`,
)

/** Returns a merchant's guides by their codes; unknown codes are skipped. */
export async function readGuides(
  { query }: Db,
  { comercioId: comercio_id, modo }: ComercioGuiaScope,
  guias: readonly string[],
): Promise<Map<string, GuiaRow>> {
  const rows = await query(READ_GUIAS, { guias, comercio_id, modo })
  return new Map(rows.map((row) => [row.guia, row]))
}
