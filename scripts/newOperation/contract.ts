import { dataSchemaName, type NewOperacion, resultSchemaName } from './operation.ts'
import type { SourceTree } from './tree.ts'

const RESPONSES_PATH = '../../componentes/respuestas'
const PARAMETERS_PATH = '../../componentes/parametros/parametros.yaml'

/** Returns the words of an operationId, as a first version of its summary. */
function summaryOf(id: string): string {
  const words = id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words[0]?.toUpperCase() + words.slice(1)
}

function parameterLines(newOperacion: NewOperacion): string[] {
  const pathParameterLines = newOperacion.parameters.flatMap(({ nombre, component, example }) =>
    component
      ? [`    - $ref: '${PARAMETERS_PATH}#/${component}'`]
      : [
          `    - name: ${nombre}`,
          '      in: path',
          '      required: true',
          '      x-origen: decision',
          `      description: Identificador (${nombre}).`,
          '      schema: { type: string, minLength: 1, maxLength: 16384 }',
          `      example: ${example}`,
        ],
  )
  const isConditional = newOperacion.documento === 'comercios' && newOperacion.method === 'get'
  const allLines = [...pathParameterLines, ...(isConditional ? [`    - $ref: '${PARAMETERS_PATH}#/SiNoCoincide'`] : [])]
  return allLines.length > 0 ? ['  parameters:', ...allLines] : []
}

/** Returns the 404 of the last path parameter, if the contract has one for it. */
function explainUnknown(tree: SourceTree, newOperacion: NewOperacion): string[] {
  const component = newOperacion.parameters.at(-1)?.component
  const problemas = tree.read('openapi/componentes/respuestas/problemas.yaml')
  const notFoundResponse = component && new RegExp(`^(${component}Desconocid[ao]):`, 'm').exec(problemas)?.[1]
  return notFoundResponse ? [`    '404': { $ref: '${RESPONSES_PATH}/problemas.yaml#/${notFoundResponse}' }`] : []
}

/** Returns the operation's part of its path file. */
function operation(tree: SourceTree, newOperacion: NewOperacion): string {
  const { id, method, documento, etiqueta, alcance, bitacora, isRepeatable, hasBody, hasResult } = newOperacion
  const schemaFile = `../../componentes/schemas/${id}.yaml`
  return [
    `${method}:`,
    `  operationId: ${id}`,
    '  x-origen: decision',
    `  x-bitacora: ${bitacora}`,
    ...(documento === 'comercios' && method !== 'get' ? ['  x-ritmo: { clase: cambios }'] : []),
    ...(documento === 'comercios' ? [`  x-repetible: ${isRepeatable}`] : []),
    `  tags: [${etiqueta}]`,
    `  summary: ${summaryOf(id)}`,
    '  description: |',
    '    Qué hace, qué cambia, y qué contesta si se repite.',
    '',
    `    Alcance: \`${alcance}\`.`,
    '  security:',
    `    - ${documento === 'comercios' ? 'llaveDeComercio' : 'llaveDeOperacion'}: ['${alcance}']`,
    ...(documento === 'comercios' ? [] : [`    - sesionDePersona: ['${alcance}']`]),
    ...parameterLines(newOperacion),
    ...(hasBody
      ? [
          '  requestBody:',
          '    required: false',
          '    x-origen: decision',
          '    description: Los datos; puede omitirse entero.',
          '    content:',
          '      application/json:',
          `        schema: { $ref: '${schemaFile}#/${dataSchemaName(newOperacion)}' }`,
          '        examples:',
          '          conDescripcion:',
          '            summary: Con su descripción',
          '            value: { descripcion: El cliente lo pidió }',
        ]
      : []),
    '  responses:',
    ...(hasResult
      ? [
          "    '200':",
          '      description: El resultado.',
          '      x-origen: decision',
          '      content:',
          '        application/json:',
          `          schema: { $ref: '${schemaFile}#/${resultSchemaName(newOperacion)}' }`,
          '          examples:',
          '            resultado:',
          '              summary: El resultado',
          "              value: { registrado_en: '2026-11-20T15:04:05.000Z' }",
        ]
      : ["    '204':", '      description: Eliminado.', '      x-origen: decision']),
    ...explainUnknown(tree, newOperacion),
    '',
  ].join('\n')
}

/** Returns the schemas of an operation's body and answer. */
function schemaLines(newOperacion: NewOperacion): string {
  const datos = [
    `${dataSchemaName(newOperacion)}:`,
    '  type: object',
    '  x-origen: decision',
    `  title: ${summaryOf(newOperacion.id)}, datos`,
    '  description: Los datos de la solicitud.',
    '  additionalProperties: false',
    '  properties:',
    '    descripcion:',
    '      type: string',
    '      x-origen: decision',
    '      description: Motivo en sus palabras.',
    '      minLength: 1',
    '      maxLength: 300',
    "      pattern: '^ *[^\\x00-\\x20\\x7F][^\\x00-\\x1F\\x7F]*$'",
    "      x-patron: '^(?=.*[\\p{L}\\p{N}\\p{P}\\p{S}])[^\\p{Cc}\\u202A-\\u202E\\u2066-\\u2069]*$'",
    '      x-mensaje: debe tener de 1 a 300 caracteres visibles, en una sola línea',
    '      examples: [El cliente lo pidió]',
  ]
  const result = [
    `${resultSchemaName(newOperacion)}:`,
    '  type: object',
    '  x-origen: decision',
    `  title: ${summaryOf(newOperacion.id)}, resultado`,
    '  description: Lo que quedó.',
    '  required: [registrado_en]',
    '  properties:',
    "    registrado_en: { $ref: 'basicos.yaml#/FechaHora' }",
  ]
  return [...(newOperacion.hasBody ? datos : []), ...(newOperacion.hasResult ? result : []), ''].join('\n')
}

/** Adds the operation, its schemas and its path to the contract. */
export function addToContract(tree: SourceTree, newOperacion: NewOperacion) {
  const { documento, path, pathFile } = newOperacion
  const folder = `openapi/${documento}`
  const isNewPath = !tree.exists(`${folder}/paths/${pathFile}`)
  tree.add(`${folder}/paths/${pathFile}`, operation(tree, newOperacion))
  const schemaText = schemaLines(newOperacion)
  if (schemaText) tree.create(`openapi/componentes/schemas/${newOperacion.id}.yaml`, schemaText)
  const key = path.includes('{') ? `'${path}'` : path
  if (isNewPath)
    tree.change(`${folder}/openapi.yaml`, /^(?:webhooks|components):$/m, (nextLine) => {
      return `  ${key}:\n    $ref: paths/${pathFile}\n${nextLine}`
    })
}
