import type { Arbol } from './arbol.ts'
import { esquemaDeDatos, type Nueva, resultadoDe } from './operacion.ts'

const RESPUESTAS = '../../componentes/respuestas'
const PARAMETROS = '../../componentes/parametros/parametros.yaml'

/** Returns the words of an operationId, as a first version of its summary. */
function resumenDe(id: string): string {
  const palabras = id.replace(/[A-Z]/g, (letra) => ` ${letra.toLowerCase()}`)
  return palabras[0]?.toUpperCase() + palabras.slice(1)
}

function parametros(nueva: Nueva): string[] {
  const deRuta = nueva.parametros.flatMap(({ nombre, componente, ejemplo }) =>
    componente
      ? [`    - $ref: '${PARAMETROS}#/${componente}'`]
      : [
          `    - name: ${nombre}`,
          '      in: path',
          '      required: true',
          '      x-origen: decision',
          `      description: Identificador (${nombre}).`,
          '      schema: { type: string, minLength: 1, maxLength: 16384 }',
          `      example: ${ejemplo}`,
        ],
  )
  const condicional = nueva.documento === 'comercios' && nueva.metodo === 'get'
  const todos = [...deRuta, ...(condicional ? [`    - $ref: '${PARAMETROS}#/SiNoCoincide'`] : [])]
  return todos.length > 0 ? ['  parameters:', ...todos] : []
}

/** Returns the 404 of the last path parameter, if the contract has one for it. */
function desconocido(arbol: Arbol, nueva: Nueva): string[] {
  const componente = nueva.parametros.at(-1)?.componente
  const problemas = arbol.leer('openapi/componentes/respuestas/problemas.yaml')
  const suyo = componente && new RegExp(`^(${componente}Desconocid[ao]):`, 'm').exec(problemas)?.[1]
  return suyo ? [`    '404': { $ref: '${RESPUESTAS}/problemas.yaml#/${suyo}' }`] : []
}

/** Returns the operation's part of its path file. */
function operacion(arbol: Arbol, nueva: Nueva): string {
  const { id, metodo, documento, etiqueta, alcance, bitacora, repetible, conCuerpo, conResultado } = nueva
  const esquema = `../../componentes/schemas/${id}.yaml`
  return [
    `${metodo}:`,
    `  operationId: ${id}`,
    '  x-origen: decision',
    `  x-bitacora: ${bitacora}`,
    ...(documento === 'comercios' && metodo !== 'get' ? ['  x-ritmo: { clase: cambios }'] : []),
    ...(documento === 'comercios' ? [`  x-repetible: ${repetible}`] : []),
    `  tags: [${etiqueta}]`,
    `  summary: ${resumenDe(id)}`,
    '  description: |',
    '    Qué hace, qué cambia, y qué contesta si se repite.',
    '',
    `    Alcance: \`${alcance}\`.`,
    '  security:',
    `    - ${documento === 'comercios' ? 'llaveDeComercio' : 'llaveDeOperacion'}: ['${alcance}']`,
    ...(documento === 'comercios' ? [] : [`    - sesionDePersona: ['${alcance}']`]),
    ...parametros(nueva),
    ...(conCuerpo
      ? [
          '  requestBody:',
          '    required: false',
          '    x-origen: decision',
          '    description: Los datos; puede omitirse entero.',
          '    content:',
          '      application/json:',
          `        schema: { $ref: '${esquema}#/${esquemaDeDatos(nueva)}' }`,
          '        examples:',
          '          conDescripcion:',
          '            summary: Con su descripción',
          '            value: { descripcion: El cliente lo pidió }',
        ]
      : []),
    '  responses:',
    ...(conResultado
      ? [
          "    '200':",
          '      description: El resultado.',
          '      x-origen: decision',
          '      content:',
          '        application/json:',
          `          schema: { $ref: '${esquema}#/${resultadoDe(nueva)}' }`,
          '          examples:',
          '            resultado:',
          '              summary: El resultado',
          "              value: { registrado_en: '2026-11-20T15:04:05.000Z' }",
        ]
      : ["    '204':", '      description: Eliminado.', '      x-origen: decision']),
    ...desconocido(arbol, nueva),
    '',
  ].join('\n')
}

/** Returns the schemas of an operation's body and answer. */
function esquemas(nueva: Nueva): string {
  const datos = [
    `${esquemaDeDatos(nueva)}:`,
    '  type: object',
    '  x-origen: decision',
    `  title: ${resumenDe(nueva.id)}, datos`,
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
  const resultado = [
    `${resultadoDe(nueva)}:`,
    '  type: object',
    '  x-origen: decision',
    `  title: ${resumenDe(nueva.id)}, resultado`,
    '  description: Lo que quedó.',
    '  required: [registrado_en]',
    '  properties:',
    "    registrado_en: { $ref: 'basicos.yaml#/FechaHora' }",
  ]
  return [...(nueva.conCuerpo ? datos : []), ...(nueva.conResultado ? resultado : []), ''].join('\n')
}

/** Adds the operation, its schemas and its path to the contract. */
export function agregarAlContrato(arbol: Arbol, nueva: Nueva) {
  const { documento, ruta, archivoDePath } = nueva
  const carpeta = `openapi/${documento}`
  const esRutaNueva = !arbol.existe(`${carpeta}/paths/${archivoDePath}`)
  arbol.agregar(`${carpeta}/paths/${archivoDePath}`, operacion(arbol, nueva))
  const suyos = esquemas(nueva)
  if (suyos) arbol.crear(`openapi/componentes/schemas/${nueva.id}.yaml`, suyos)
  const clave = ruta.includes('{') ? `'${ruta}'` : ruta
  if (esRutaNueva)
    arbol.cambiar(`${carpeta}/openapi.yaml`, /^(?:webhooks|components):$/m, (siguiente) => {
      return `  ${clave}:\n    $ref: paths/${archivoDePath}\n${siguiente}`
    })
}
