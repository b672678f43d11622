/**
 * Code samples of each operation. Those in curl, Python and PHP are generated from the contract's examples; that in
 * TypeScript is a file in `openapi/comercios/muestras/`.
 */
import { existsSync, readFileSync } from 'node:fs'
import {
  type ContractOperacion,
  examplesOf,
  type Json,
  type JsonObject,
  operacionesOf,
  parametersOf,
  requiresLlave,
  resolveRef,
} from './contract.ts'

const SAMPLES_FOLDER = new URL('../../openapi/comercios/muestras/', import.meta.url)

/** Parameters that samples never show: a cursor of another list, and what depends on a header. */
const UNSHOWN_PARAMETERS = ['cursor', 'ppp']

/**
 * Returns the query parameters of a sample: the required ones and the first optional one. A sample need not show every
 * parameter.
 */
export function sampleQuery(parameters: readonly JsonObject[]): JsonObject[] {
  const queryParameters = parameters.filter(
    (item) => item.in === 'query' && !UNSHOWN_PARAMETERS.includes(String(item.name)),
  )
  const requiredParameters = queryParameters.filter(({ required }) => required === true)
  return [...requiredParameters, ...queryParameters.filter((item) => !requiredParameters.includes(item)).slice(0, 1)]
}

const quoteForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * Returns the first media type of a successful response that is not JSON. Its sample saves the file, because a terminal
 * cannot show it.
 */
function fileTypeOf(contract: JsonObject, { definition }: ContractOperacion): string | undefined {
  for (const [status, response] of Object.entries(definition.responses as JsonObject)) {
    const types = Object.keys((resolveRef(contract, response).content ?? {}) as JsonObject)
    const type = types.find((item) => item !== 'application/json')
    if (status.startsWith('2') && type) return type
  }
  return undefined
}

/**
 * Returns the example of a key, if a sample of the operation shows one; undefined if the operation takes none, or if its
 * references are enough.
 */
export const keyOf = (contract: JsonObject, operation: ContractOperacion): string | undefined => {
  const parameter = parametersOf(contract, operation).find(({ name }) => name === 'Idempotency-Key')
  return parameter && operation.definition['x-repetible'] === 'clave' ? String(parameter.example) : undefined
}

/**
 * Returns the parts of a sample request, from the operation's own examples, for the generators of each language.
 * @throws if the operation has a body without an example
 */
function callOf(contract: JsonObject, operation: ContractOperacion) {
  const { id, method, path: template, definition } = operation
  const parameters = parametersOf(contract, operation)
  const path = template.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters.find((item) => item.in === 'path' && item.name === name)?.example),
  )
  const query = sampleQuery(parameters).flatMap(({ name, example }) =>
    [example].flat().map((value): [string, string] => [String(name), String(value)]),
  )
  const [bodyExample] = examplesOf(contract, definition.requestBody)
  if (definition.requestBody && !bodyExample) throw new Error(`${id}: its request body has no example`)
  const type = fileTypeOf(contract, operation)
  const key = keyOf(contract, operation)
  return {
    method: method.toUpperCase(),
    headers: [
      ...(type ? [['Accept', type] as const] : []),
      ...(key ? [['Idempotency-Key', key] as const] : []),
      ...(bodyExample ? [['Content-Type', 'application/json'] as const] : []),
    ],
    needsLlave: requiresLlave(contract, definition),
    path,
    query,
    body: bodyExample?.[1].value,
    archivo: type && `${template.split('/').at(-1)}.${type.split('/')[1]}`,
  }
}

export function writeCurlSample(contract: JsonObject, operation: ContractOperacion): string {
  const { method, needsLlave, headers, path, query, body, archivo } = callOf(contract, operation)
  const methodOption = method === 'GET' ? (query.length > 0 ? '-G ' : '') : `-X ${method} `
  return [
    `curl --fail-with-body ${methodOption}"$GUIAS_URL${path}"`,
    ...(needsLlave ? ['-H "Authorization: Bearer $GUIAS_LLAVE"'] : []),
    ...query.map((par) => `--data-urlencode ${quoteForShell(par.join('='))}`),
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body === undefined ? [] : [`-d ${quoteForShell(JSON.stringify(body, null, 2))}`]),
    ...(archivo ? [`-o ${archivo}`] : []),
  ].join(' \\\n  ')
}

const pathWithQuery = ({ path, query }: ReturnType<typeof callOf>) =>
  query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path

function writePythonSample(contract: JsonObject, operation: ContractOperacion): string {
  const call = callOf(contract, operation)
  const { method, needsLlave, headers, body, archivo } = call
  return `import json
import os
import sys
import urllib.error
import urllib.request

solicitud = urllib.request.Request(
    os.environ['GUIAS_URL'] + '${pathWithQuery(call)}',
    method='${method}',
    headers={${needsLlave ? "\n        'Authorization': 'Bearer ' + os.environ['GUIAS_LLAVE']," : ''}${headers.map(([name, value]) => `\n        '${name}': '${value}',`).join('')}
    },${body === undefined ? '' : `\n    data=json.dumps(${renderLiteral(body, PYTHON, 1)}).encode(),`}
)
try:
    with urllib.request.urlopen(solicitud, timeout=30) as respuesta:
        leido = respuesta.read()
except urllib.error.HTTPError as error:
    sys.exit(f'{error.code}: {error.read().decode()}')
${archivo ? `with open('${archivo}', 'wb') as archivo:\n    archivo.write(leido)` : "print(json.loads(leido or 'null'))"}`
}

function writePhpSample(contract: JsonObject, operation: ContractOperacion): string {
  const call = callOf(contract, operation)
  const { method, needsLlave, headers, body, archivo } = call
  return `<?php
$leido = file_get_contents(getenv('GUIAS_URL') . '${pathWithQuery(call)}', false, stream_context_create(['http' => [
    'method' => '${method}',
    'header' => [${needsLlave ? "\n        'Authorization: Bearer ' . getenv('GUIAS_LLAVE')," : ''}${headers.map(([name, value]) => `\n        '${name}: ${value}',`).join('')}
    ],${body === undefined ? '' : `\n    'content' => json_encode(${renderLiteral(body, PHP, 1)}),`}
    'timeout' => 30,
    'ignore_errors' => true,
]]));
if ($leido === false || !preg_match('/ 2\\d\\d\\b/', $http_response_header[0])) {
    fwrite(STDERR, "$leido\\n");
    exit(1);
}
${archivo ? `file_put_contents('${archivo}', $leido);` : 'print_r(json_decode($leido, true));'}`
}

interface Language {
  object: (parts: string[], indent: string) => string
  arrow: string
  words: Record<string, string>
}
const entre = (opening: string, parts: string[], closing: string, indent: string) =>
  [opening, ...parts.map((part) => `${indent}    ${part},`), indent + closing].join('\n')
const PYTHON: Language = {
  object: (parts, indent) => entre('{', parts, '}', indent),
  arrow: ': ',
  words: { true: 'True', false: 'False', null: 'None' },
}
const PHP: Language = {
  // PHP encodes an empty array as a JSON list, so an empty object needs a cast.
  object: (parts, indent) => (parts.length > 0 ? entre('[', parts, ']', indent) : '(object) []'),
  arrow: ' => ',
  words: {},
}

/**
 * Writes a JSON value as a literal of Python or PHP, whose single-quoted strings escape `'` and `\` with a backslash.
 */
function renderLiteral(value: Json, language: Language, level: number): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&')}'`
  if (value === null || typeof value !== 'object') return language.words[String(value)] ?? String(value)
  const indent = '    '.repeat(level)
  const nested = (item: Json) => renderLiteral(item, language, level + 1)
  if (Array.isArray(value)) return entre('[', value.map(nested), ']', indent)
  const parts = Object.entries(value).map(([key, item]) => `'${key}'${language.arrow}${nested(item)}`)
  return language.object(parts, indent)
}

/**
 * Adds `x-codeSamples` to every operation of a contract, and returns the contract.
 * @throws if an operation has no sample file
 */
export function withSamples(contract: JsonObject): JsonObject {
  for (const operation of operacionesOf(contract)) {
    const file = new URL(`${operation.id}.ts`, SAMPLES_FOLDER)
    if (!existsSync(file)) {
      throw new Error(`${operation.id} has no sample: write openapi/comercios/muestras/${operation.id}.ts`)
    }
    operation.definition['x-codeSamples'] = [
      { lang: 'bash', label: 'curl', source: writeCurlSample(contract, operation) },
      // Redoc hides samples in a language whose name it does not know.
      { lang: 'Python', label: 'Python', source: writePythonSample(contract, operation) },
      { lang: 'PHP', label: 'PHP', source: writePhpSample(contract, operation) },
      { lang: 'TypeScript', label: 'Node.js', source: readFileSync(file, 'utf8').trimEnd() },
    ]
  }
  return contract
}
