import { type Json, type JsonObject, operacionesOf, schemasOf } from '../documentation/contract.ts'
import { capitalize } from './operationIndex.ts'

/** Boundary between two declarations of the generated types. */
const DECLARATION_BOUNDARY = /\n\n(?=\/\*\*|export )/
type Texts = Readonly<Record<string, string>>
const declaredName = (declaration: string) => /^export type (\w+) =/m.exec(declaration)?.[1] ?? ''

/**
 * Adapts the generated types of the contract for the SDK. The contract's event is one flat object. The SDK's event is a
 * union discriminated by `tipo`, written by hand (`sdk/src/evento.ts`), so the types that it needs go into a separate
 * file.
 * @param text output of the types' generator
 */
export function renderSdkTypes(contract: JsonObject, text: string): { evento: string; tipos: string } {
  const openedText = discriminateAdvertencias(contract, openEnums(contract, text))
  const closedText = requireTogether(contract, admitUndefined(closeRequests(contract, openedText)))
  const eventoSchemas = reachedSchemas(contract, { $ref: '#/components/schemas/Evento' })
  const parts = Map.groupBy(closedText.split(DECLARATION_BOUNDARY), (entry) => eventoSchemas.has(declaredName(entry)))
  const joinEntries = (isOfEvento: boolean) => parts.get(isOfEvento)?.join('\n\n') ?? ''
  const eventoTypeNames = [...eventoSchemas].filter((name) => name !== 'Evento').sort()
  return {
    evento: `${replaceMatch(joinEntries(true), 'export type Evento = {', 'export type ContractEvento = {')}\n\n${renderEstadoReasons(contract)}`,
    tipos: `import type { Closed, Conocido, TipoDesconocido } from '../openValues.js'
import type { Evento } from '../evento.js'
import type { ${eventoTypeNames.join(', ')} } from './evento.gen.js'

export type * from './evento.gen.js'
export type { Evento }

${joinEntries(false)}
`,
  }
}

function replaceMatch(text: string, pattern: string | RegExp, por: string): string {
  const changedText = text.replace(pattern, por)
  if (changedText === text) throw new Error(`the generated types have no match for ${pattern}`)
  return changedText
}

const extensibleNames = (schemas: Record<string, JsonObject>) =>
  Object.keys(schemas).filter((name) => schemas[name]?.['x-extensible'] === true)

/**
 * Opens the enums marked `x-extensible`, so that a value from a newer server is no type error. Each must be a named
 * schema, because an inline enum cannot be found in the generated types.
 */
function openEnums(contract: JsonObject, text: string): string {
  const extensibleEnums = extensibleNames(schemasOf(contract))
  const markCount = JSON.stringify(contract).match(/"x-extensible":true/g)?.length ?? 0
  if (markCount !== extensibleEnums.length) throw new Error('an x-extensible enum is inline: move it to a named schema')
  return extensibleEnums.reduce(
    (openedText, name) =>
      replaceMatch(
        openedText,
        new RegExp(`(export type ${name} = (?:(?:'[^']+'|null)(?: \\| )?)+);`),
        '$1 | (string & {});',
      ),
    text,
  )
}

/** Closes the extensible enums in requests, because a request with an unknown value is a mistake. */
function closeRequests(contract: JsonObject, text: string): string {
  const operations = operacionesOf(contract)
  const sentSchemas = reachedSchemas(
    contract,
    operations.map(({ definition: { requestBody = {}, parameters = {} } }) => [requestBody, parameters]),
  )
  const responses = operations.map(({ definition }) => definition.responses ?? {})
  const receivedSchemas = reachedSchemas(contract, [responses, contract.webhooks ?? {}])
  const onlySent = new Set([...sentSchemas].filter((name) => !receivedSchemas.has(name)))
  for (const { id } of operations) onlySent.add(`${capitalize(id)}Data`)
  const openSchemas = [...sentSchemas].filter((name) => receivedSchemas.has(name) && isOpenSchema(contract, name))
  const referencia = new RegExp(`\\b(${[...extensibleNames(schemasOf(contract)), ...openSchemas].join('|')})\\b`, 'g')
  const closeMembers = (declaration: string) =>
    declaration.replace(/^ +'?[\w-]+'?\??: .*$/gm, (member) => member.replace(referencia, 'Closed<$1>'))
  return text
    .split(DECLARATION_BOUNDARY)
    .map((entry) => (onlySent.has(declaredName(entry)) ? closeMembers(entry) : entry))
    .join('\n\n')
}

/**
 * Tells if a schema contains an `x-extensible` enum.
 * @throws if it contains one but is neither an enum nor a list, because the type `Closed` can only handle these
 */
function isOpenSchema(contract: JsonObject, name: string): boolean {
  const schemas = schemasOf(contract)
  const reachedNames = reachedSchemas(contract, { $ref: `#/components/schemas/${name}` })
  if (!extensibleNames(schemas).some((item) => reachedNames.has(item))) return false
  if (['string', 'array'].includes(String(schemas[name]?.type))) return true
  throw new Error(`${name} has an x-extensible enum: give requests and responses separate schemas`)
}

/** Collects the names of all schemas that a part of the contract references, directly or indirectly. */
function reachedSchemas(
  contract: JsonObject,
  part: Json,
  seenRefs = new Set<string>(),
  found = new Set<string>(),
): Set<string> {
  if (Array.isArray(part)) for (const item of part) reachedSchemas(contract, item, seenRefs, found)
  else if (part !== null && typeof part === 'object') {
    const { $ref, ...rest } = part
    if (typeof $ref === 'string' && !seenRefs.has($ref)) {
      seenRefs.add($ref)
      const [, , kind = '', name = ''] = $ref.split('/')
      if (kind === 'schemas') found.add(name)
      reachedSchemas(contract, ((contract.components as JsonObject)[kind] as JsonObject)[name] ?? null, seenRefs, found)
    }
    for (const [key, inner] of Object.entries(rest))
      if (!key.startsWith('example')) reachedSchemas(contract, inner, seenRefs, found)
  }
  return found
}

/** Makes `Advertencia` a union that is discriminated by `codigo`, so that `sugerencia` has the form of its code. */
function discriminateAdvertencias(contract: JsonObject, text: string): string {
  const suggestions = schemasOf(contract).CodigoDeAdvertencia?.['x-sugerencias'] as Texts
  const literal = (codes: readonly string[]) => codes.map((code) => `'${code}'`).join(' | ')
  const codesByForm = Map.groupBy(Object.keys(suggestions), (code) => suggestions[code]!)
  const withSuggestion = (code: string, sugerencia: string) => `{ codigo: ${code}; sugerencia: ${sugerencia}; }`
  const cases = [
    ...[...codesByForm].map(([shape, codes]) => withSuggestion(literal(codes), `${shape} | null`)),
    withSuggestion(`Exclude<Conocido<CodigoDeAdvertencia>, ${literal(Object.keys(suggestions))}>`, 'null'),
    withSuggestion('TipoDesconocido', `${[...codesByForm.keys()].join(' | ')} | null`),
  ]
  const withoutMembers = replaceMatch(
    replaceMatch(text, /(export type Advertencia = \{\n) {4}codigo: CodigoDeAdvertencia;\n/, '$1'),
    /(export type Advertencia = \{[^}]*?) {4}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n {4}sugerencia: [^;]+;\n\};/,
    '$1};',
  )
  return replaceMatch(
    withoutMembers,
    /(export type Advertencia = \{[^}]*\});/,
    `$1 & (\n${cases.map((caseText) => `    | ${caseText}`).join('\n')}\n);`,
  )
}

/**
 * Adds to the type of each request which members belong together: pairs in `dependentRequired` that require each other,
 * and the alternatives of `anyOf` or `oneOf`. The type generator ignores these keywords.
 */
const requireTogether = (contract: JsonObject, text: string): string =>
  text
    .split(DECLARATION_BOUNDARY)
    .map((entry) => {
      const schema = schemasOf(contract)[declaredName(entry)]
      const parts = schema ? memberSetsOf(schema, readMemberTypes(schema, entry)) : []
      if (parts.length === 0) return entry
      const unterminated = replaceMatch(entry.replace(' = unknown & {', ' = {'), /;\s*$/, '')
      return withoutEstados(schema!, `${unterminated}${parts.map((part) => ` & (${part})`).join('')};`)
    })
    .join('\n\n')

/** Reads the type of each optional member of a generated declaration. */
const readMemberTypes = (schema: JsonObject, declaration: string): ReadonlyMap<string, string> =>
  new Map(
    Object.keys(schema.properties ?? {}).flatMap((member) => {
      const type = new RegExp(`^    ${member}\\?: (.+?)(?: \\| undefined)?;$`, 'm').exec(declaration)?.[1]
      return type === undefined ? [] : [[member, type] as const]
    }),
  )

function memberSetsOf(schema: JsonObject, types: ReadonlyMap<string, string>): string[] {
  const withAll = (members: readonly string[], o = '') => members.map((item) => `${item}: ${types.get(item)}${o};`)
  const withNone = (members: readonly string[]) => members.map((item) => `${item}?: undefined;`)
  const objectType = (...members: string[]) => `{ ${members.join(' ')} }`
  const dependents = Object.entries((schema.dependentRequired ?? {}) as Record<string, string[]>)
  const pairs = dependents.flatMap(([item, [other = '']]) =>
    dependents.some(([dependent, [base]]) => dependent === other && base === item) && item < other
      ? [[item, other]]
      : [],
  )
  const requiredSets = (key: 'anyOf' | 'oneOf') =>
    ((schema[key] ?? []) as { required?: string[] }[]).flatMap(({ required }) => (required ? [required] : []))
  const anyOfSets = requiredSets('anyOf')
  const oneOfSets = requiredSets('oneOf')
  return [
    // `undefined` is allowed for both members of a pair, so that a program can always pass latitude and longitude,
    // known or not.
    pairs.map((pair) => `${objectType(...withAll(pair, ' | undefined'))} | ${objectType(...withNone(pair))}`),
    anyOfSets.length > 0 ? [anyOfSets.map((requiredSet) => objectType(...withAll(requiredSet))).join(' | ')] : [],
    oneOfSets.length > 0
      ? [
          oneOfSets
            .map((requiredSet) =>
              objectType(
                ...withAll(requiredSet),
                ...withNone(
                  oneOfSets.filter((otherSet) => otherSet !== requiredSet).map(([firstMember = '']) => firstMember),
                ),
              ),
            )
            .join(' | '),
        ]
      : [],
  ].flat()
}

/** Removes from a member's type the states that an operation never sets (`x-no-pasa-a`). */
function withoutEstados(schema: JsonObject, declaration: string): string {
  const { 'x-no-pasa-a': excludedEstados } = ((schema.properties as JsonObject).estado ?? {}) as {
    'x-no-pasa-a'?: string[]
  }
  if (!excludedEstados) return declaration
  const excludedUnion = excludedEstados.map((estado) => `'${estado}'`).join(' | ')
  return replaceMatch(declaration, /Closed<Estado>/g, `Exclude<Closed<Estado>, ${excludedUnion}>`)
}

/** Returns the source of `MotivosDeEstado`: the reasons of each state that has reasons, with their meanings. */
function renderEstadoReasons(contract: JsonObject): string {
  const motivos = schemasOf(contract).Estado?.['x-motivos'] as Record<string, Record<string, JsonObject>>
  const members = Object.entries(motivos).map(([estado, estadoReasons]) => {
    const lines = Object.entries(estadoReasons).map(([motivo, { significa }]) => `     * - \`${motivo}\`: ${significa}`)
    return `    /**\n${lines.join('\n')}\n     */\n    ${estado}: ${Object.keys(estadoReasons)
      .map((motivo) => `'${motivo}'`)
      .join(' | ')};`
  })
  return `/**
 * Los motivos que puede tener cada estado que los lleva.
 */
export interface MotivosDeEstado {
${members.join('\n')}
}
`
}

/**
 * Allows `undefined` for optional members, also with `exactOptionalPropertyTypes`. The SDK does not send such members.
 */
const admitUndefined = (types: string) => types.replace(/^( +\w+\?: (?!never\b)[^{}\n]+);$/gm, '$1 | undefined;')
