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

const quoteForShell = (texto: string) => `'${texto.replaceAll("'", `'\\''`)}'`

/**
 * Returns the first media type of a successful response that is not JSON. Its sample saves the file, because a terminal
 * cannot show it.
 */
function fileTypeOf(contract: JsonObject, { definition }: ContractOperacion): string | undefined {
  for (const [status, respuesta] of Object.entries(definition.responses as JsonObject)) {
    const tipos = Object.keys((resolveRef(contract, respuesta).content ?? {}) as JsonObject)
    const tipo = tipos.find((item) => item !== 'application/json')
    if (status.startsWith('2') && tipo) return tipo
  }
  return undefined
}

/**
 * Returns the example of a key, if a sample of the operation shows one; undefined if the operation takes none, or if its
 * references are enough.
 */
export const claveDe = (contract: JsonObject, operacion: ContractOperacion): string | undefined => {
  const parameter = parametersOf(contract, operacion).find(({ name }) => name === 'Idempotency-Key')
  return parameter && operacion.definition['x-repetible'] === 'clave' ? String(parameter.example) : undefined
}

/**
 * Returns the parts of a sample request, from the operation's own examples, for the generators of each language.
 * @throws if the operation has a body without an example
 */
function callOf(contract: JsonObject, operacion: ContractOperacion) {
  const { id, method, path: template, definition } = operacion
  const parameters = parametersOf(contract, operacion)
  const path = template.replace(/\{(\w+)\}/g, (_, nombre) =>
    String(parameters.find((item) => item.in === 'path' && item.name === nombre)?.example),
  )
  const query = sampleQuery(parameters).flatMap(({ name, example }) =>
    [example].flat().map((valor): [string, string] => [String(name), String(valor)]),
  )
  const [bodyExample] = examplesOf(contract, definition.requestBody)
  if (definition.requestBody && !bodyExample) throw new Error(`${id}: its request body has no example`)
  const tipo = fileTypeOf(contract, operacion)
  const clave = claveDe(contract, operacion)
  return {
    method: method.toUpperCase(),
    cabeceras: [
      ...(tipo ? [['Accept', tipo] as const] : []),
      ...(clave ? [['Idempotency-Key', clave] as const] : []),
      ...(bodyExample ? [['Content-Type', 'application/json'] as const] : []),
    ],
    needsLlave: requiresLlave(contract, definition),
    path,
    query,
    cuerpo: bodyExample?.[1].value,
    archivo: tipo && `${template.split('/').at(-1)}.${tipo.split('/')[1]}`,
  }
}

/** Returns the curl sample of an operation. */
export function writeCurlSample(contract: JsonObject, operacion: ContractOperacion): string {
  const { method, needsLlave, cabeceras, path, query, cuerpo, archivo } = callOf(contract, operacion)
  const methodOption = method === 'GET' ? (query.length > 0 ? '-G ' : '') : `-X ${method} `
  return [
    `curl --fail-with-body ${methodOption}"$GUIAS_URL${path}"`,
    ...(needsLlave ? ['-H "Authorization: Bearer $GUIAS_LLAVE"'] : []),
    ...query.map((par) => `--data-urlencode ${quoteForShell(par.join('='))}`),
    ...cabeceras.map(([nombre, valor]) => `-H "${nombre}: ${valor}"`),
    ...(cuerpo === undefined ? [] : [`-d ${quoteForShell(JSON.stringify(cuerpo, null, 2))}`]),
    ...(archivo ? [`-o ${archivo}`] : []),
  ].join(' \\\n  ')
}

const pathWithQuery = ({ path, query }: ReturnType<typeof callOf>) =>
  query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path

function writePythonSample(contract: JsonObject, operacion: ContractOperacion): string {
  const call = callOf(contract, operacion)
  const { method, needsLlave, cabeceras, cuerpo, archivo } = call
  return `import json
import os
import sys
import urllib.error
import urllib.request

solicitud = urllib.request.Request(
    os.environ['GUIAS_URL'] + '${pathWithQuery(call)}',
    method='${method}',
    headers={${needsLlave ? "\n        'Authorization': 'Bearer ' + os.environ['GUIAS_LLAVE']," : ''}${cabeceras.map(([nombre, valor]) => `\n        '${nombre}': '${valor}',`).join('')}
    },${cuerpo === undefined ? '' : `\n    data=json.dumps(${renderLiteral(cuerpo, PYTHON, 1)}).encode(),`}
)
try:
    with urllib.request.urlopen(solicitud, timeout=30) as respuesta:
        leido = respuesta.read()
except urllib.error.HTTPError as error:
    sys.exit(f'{error.code}: {error.read().decode()}')
${archivo ? `with open('${archivo}', 'wb') as archivo:\n    archivo.write(leido)` : "print(json.loads(leido or 'null'))"}`
}

function writePhpSample(contract: JsonObject, operacion: ContractOperacion): string {
  const call = callOf(contract, operacion)
  const { method, needsLlave, cabeceras, cuerpo, archivo } = call
  return `<?php
$leido = file_get_contents(getenv('GUIAS_URL') . '${pathWithQuery(call)}', false, stream_context_create(['http' => [
    'method' => '${method}',
    'header' => [${needsLlave ? "\n        'Authorization: Bearer ' . getenv('GUIAS_LLAVE')," : ''}${cabeceras.map(([nombre, valor]) => `\n        '${nombre}: ${valor}',`).join('')}
    ],${cuerpo === undefined ? '' : `\n    'content' => json_encode(${renderLiteral(cuerpo, PHP, 1)}),`}
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
  [opening, ...parts.map((parte) => `${indent}    ${parte},`), indent + closing].join('\n')
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
function renderLiteral(valor: Json, language: Language, level: number): string {
  if (typeof valor === 'string') return `'${valor.replace(/[\\']/g, '\\$&')}'`
  if (valor === null || typeof valor !== 'object') return language.words[String(valor)] ?? String(valor)
  const indent = '    '.repeat(level)
  const nested = (item: Json) => renderLiteral(item, language, level + 1)
  if (Array.isArray(valor)) return entre('[', valor.map(nested), ']', indent)
  const parts = Object.entries(valor).map(([clave, item]) => `'${clave}'${language.arrow}${nested(item)}`)
  return language.object(parts, indent)
}

/**
 * Adds `x-codeSamples` to every operation of a contract, and returns the contract.
 * @throws if an operation has no sample file
 */
export function withSamples(contract: JsonObject): JsonObject {
  for (const operacion of operacionesOf(contract)) {
    const archivo = new URL(`${operacion.id}.ts`, SAMPLES_FOLDER)
    if (!existsSync(archivo)) {
      throw new Error(`${operacion.id} has no sample: write openapi/comercios/muestras/${operacion.id}.ts`)
    }
    operacion.definition['x-codeSamples'] = [
      { lang: 'bash', label: 'curl', source: writeCurlSample(contract, operacion) },
      // Redoc hides samples in a language whose name it does not know.
      { lang: 'Python', label: 'Python', source: writePythonSample(contract, operacion) },
      { lang: 'PHP', label: 'PHP', source: writePhpSample(contract, operacion) },
      { lang: 'TypeScript', label: 'Node.js', source: readFileSync(archivo, 'utf8').trimEnd() },
    ]
  }
  return contract
}
