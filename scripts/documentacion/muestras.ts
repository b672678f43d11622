/**
 * Code samples of each operation. Those in curl, Python and PHP are generated from the contract's examples; that in
 * TypeScript is a file in `openapi/comercios/muestras/`.
 */
import { existsSync, readFileSync } from 'node:fs'
import {
  ejemplosDe,
  type Json,
  type Objeto,
  type OperacionDeContrato,
  operacionesDe,
  parametrosDe,
  pideLlave,
  seguirRef,
} from './contrato.ts'

const CARPETA = new URL('../../openapi/comercios/muestras/', import.meta.url)

/** Parameters that samples never show: a cursor of another list, and what depends on a header. */
const SIN_MUESTRA = ['cursor', 'ppp']

/**
 * Returns the query parameters of a sample: the required ones and the first optional one. A sample need not show every
 * parameter.
 */
export function consultaDe(parametros: readonly Objeto[]): Objeto[] {
  const deConsulta = parametros.filter((uno) => uno.in === 'query' && !SIN_MUESTRA.includes(String(uno.name)))
  const obligatorios = deConsulta.filter(({ required }) => required === true)
  return [...obligatorios, ...deConsulta.filter((uno) => !obligatorios.includes(uno)).slice(0, 1)]
}

const entreComillas = (texto: string) => `'${texto.replaceAll("'", `'\\''`)}'`

/**
 * Returns the first media type of a successful response that is not JSON. Its sample saves the file, because a terminal
 * cannot show it.
 */
function tipoDeArchivo(contrato: Objeto, { definicion }: OperacionDeContrato): string | undefined {
  for (const [status, respuesta] of Object.entries(definicion.responses as Objeto)) {
    const tipos = Object.keys((seguirRef(contrato, respuesta).content ?? {}) as Objeto)
    const tipo = tipos.find((uno) => uno !== 'application/json')
    if (status.startsWith('2') && tipo) return tipo
  }
  return undefined
}

/**
 * Returns the example of a key, if a sample of the operation shows one; undefined if the operation takes none, or if its
 * references are enough.
 */
export const claveDe = (contrato: Objeto, operacion: OperacionDeContrato): string | undefined => {
  const parametro = parametrosDe(contrato, operacion).find(({ name }) => name === 'Idempotency-Key')
  return parametro && operacion.definicion['x-repetible'] === 'clave' ? String(parametro.example) : undefined
}

/**
 * Returns the parts of a sample request, from the operation's own examples, for the generators of each language.
 * @throws if the operation has a body without an example
 */
function llamadaDe(contrato: Objeto, operacion: OperacionDeContrato) {
  const { id, metodo, ruta, definicion } = operacion
  const parametros = parametrosDe(contrato, operacion)
  const camino = ruta.replace(/\{(\w+)\}/g, (_, nombre) =>
    String(parametros.find((uno) => uno.in === 'path' && uno.name === nombre)?.example),
  )
  const consulta = consultaDe(parametros).flatMap(({ name, example }) =>
    [example].flat().map((valor): [string, string] => [String(name), String(valor)]),
  )
  const [ejemplo] = ejemplosDe(contrato, definicion.requestBody)
  if (definicion.requestBody && !ejemplo) throw new Error(`${id}: its request body has no example`)
  const tipo = tipoDeArchivo(contrato, operacion)
  const clave = claveDe(contrato, operacion)
  return {
    metodo: metodo.toUpperCase(),
    cabeceras: [
      ...(tipo ? [['Accept', tipo] as const] : []),
      ...(clave ? [['Idempotency-Key', clave] as const] : []),
      ...(ejemplo ? [['Content-Type', 'application/json'] as const] : []),
    ],
    conLlave: pideLlave(contrato, definicion),
    camino,
    consulta,
    cuerpo: ejemplo?.[1].value,
    archivo: tipo && `${ruta.split('/').at(-1)}.${tipo.split('/')[1]}`,
  }
}

/** Returns the curl sample of an operation. */
export function muestraDeCurl(contrato: Objeto, operacion: OperacionDeContrato): string {
  const { metodo, conLlave, cabeceras, camino, consulta, cuerpo, archivo } = llamadaDe(contrato, operacion)
  const verbo = metodo === 'GET' ? (consulta.length > 0 ? '-G ' : '') : `-X ${metodo} `
  return [
    `curl --fail-with-body ${verbo}"$GUIAS_URL${camino}"`,
    ...(conLlave ? ['-H "Authorization: Bearer $GUIAS_LLAVE"'] : []),
    ...consulta.map((par) => `--data-urlencode ${entreComillas(par.join('='))}`),
    ...cabeceras.map(([nombre, valor]) => `-H "${nombre}: ${valor}"`),
    ...(cuerpo === undefined ? [] : [`-d ${entreComillas(JSON.stringify(cuerpo, null, 2))}`]),
    ...(archivo ? [`-o ${archivo}`] : []),
  ].join(' \\\n  ')
}

const rutaConConsulta = ({ camino, consulta }: ReturnType<typeof llamadaDe>) =>
  consulta.length > 0 ? `${camino}?${new URLSearchParams(consulta)}` : camino

function muestraDePython(contrato: Objeto, operacion: OperacionDeContrato): string {
  const llamada = llamadaDe(contrato, operacion)
  const { metodo, conLlave, cabeceras, cuerpo, archivo } = llamada
  return `import json
import os
import sys
import urllib.error
import urllib.request

solicitud = urllib.request.Request(
    os.environ['GUIAS_URL'] + '${rutaConConsulta(llamada)}',
    method='${metodo}',
    headers={${conLlave ? "\n        'Authorization': 'Bearer ' + os.environ['GUIAS_LLAVE']," : ''}${cabeceras.map(([nombre, valor]) => `\n        '${nombre}': '${valor}',`).join('')}
    },${cuerpo === undefined ? '' : `\n    data=json.dumps(${comoLiteral(cuerpo, PARA_PYTHON, 1)}).encode(),`}
)
try:
    with urllib.request.urlopen(solicitud, timeout=30) as respuesta:
        leido = respuesta.read()
except urllib.error.HTTPError as error:
    sys.exit(f'{error.code}: {error.read().decode()}')
${archivo ? `with open('${archivo}', 'wb') as archivo:\n    archivo.write(leido)` : "print(json.loads(leido or 'null'))"}`
}

function muestraDePhp(contrato: Objeto, operacion: OperacionDeContrato): string {
  const llamada = llamadaDe(contrato, operacion)
  const { metodo, conLlave, cabeceras, cuerpo, archivo } = llamada
  return `<?php
$leido = file_get_contents(getenv('GUIAS_URL') . '${rutaConConsulta(llamada)}', false, stream_context_create(['http' => [
    'method' => '${metodo}',
    'header' => [${conLlave ? "\n        'Authorization: Bearer ' . getenv('GUIAS_LLAVE')," : ''}${cabeceras.map(([nombre, valor]) => `\n        '${nombre}: ${valor}',`).join('')}
    ],${cuerpo === undefined ? '' : `\n    'content' => json_encode(${comoLiteral(cuerpo, PARA_PHP, 1)}),`}
    'timeout' => 30,
    'ignore_errors' => true,
]]));
if ($leido === false || !preg_match('/ 2\\d\\d\\b/', $http_response_header[0])) {
    fwrite(STDERR, "$leido\\n");
    exit(1);
}
${archivo ? `file_put_contents('${archivo}', $leido);` : 'print_r(json_decode($leido, true));'}`
}

interface Lengua {
  objeto: (partes: string[], sangria: string) => string
  flecha: string
  palabras: Record<string, string>
}
const entre = (abre: string, partes: string[], cierra: string, sangria: string) =>
  [abre, ...partes.map((parte) => `${sangria}    ${parte},`), sangria + cierra].join('\n')
const PARA_PYTHON: Lengua = {
  objeto: (partes, sangria) => entre('{', partes, '}', sangria),
  flecha: ': ',
  palabras: { true: 'True', false: 'False', null: 'None' },
}
const PARA_PHP: Lengua = {
  // PHP encodes an empty array as a JSON list, so an empty object needs a cast.
  objeto: (partes, sangria) => (partes.length > 0 ? entre('[', partes, ']', sangria) : '(object) []'),
  flecha: ' => ',
  palabras: {},
}

/**
 * Writes a JSON value as a literal of Python or PHP, whose single-quoted strings escape `'` and `\` with a backslash.
 */
function comoLiteral(valor: Json, lengua: Lengua, nivel: number): string {
  if (typeof valor === 'string') return `'${valor.replace(/[\\']/g, '\\$&')}'`
  if (valor === null || typeof valor !== 'object') return lengua.palabras[String(valor)] ?? String(valor)
  const sangria = '    '.repeat(nivel)
  const dentro = (uno: Json) => comoLiteral(uno, lengua, nivel + 1)
  if (Array.isArray(valor)) return entre('[', valor.map(dentro), ']', sangria)
  const partes = Object.entries(valor).map(([clave, uno]) => `'${clave}'${lengua.flecha}${dentro(uno)}`)
  return lengua.objeto(partes, sangria)
}

/**
 * Adds `x-codeSamples` to every operation of a contract, and returns the contract.
 * @throws if an operation has no sample file
 */
export function conMuestras(contrato: Objeto): Objeto {
  for (const operacion of operacionesDe(contrato)) {
    const archivo = new URL(`${operacion.id}.ts`, CARPETA)
    if (!existsSync(archivo)) {
      throw new Error(`${operacion.id} has no sample: write openapi/comercios/muestras/${operacion.id}.ts`)
    }
    operacion.definicion['x-codeSamples'] = [
      { lang: 'bash', label: 'curl', source: muestraDeCurl(contrato, operacion) },
      // Redoc hides samples in a language whose name it does not know.
      { lang: 'Python', label: 'Python', source: muestraDePython(contrato, operacion) },
      { lang: 'PHP', label: 'PHP', source: muestraDePhp(contrato, operacion) },
      { lang: 'TypeScript', label: 'Node.js', source: readFileSync(archivo, 'utf8').trimEnd() },
    ]
  }
  return contrato
}
