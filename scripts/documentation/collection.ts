/**
 * Exports the operations as a collection for Postman, Bruno and compatible tools. Each example of a body becomes a
 * request.
 */
import { DIRECCION } from '../../server/pages/docs/address.ts'
import { type ContractOperacion, examplesOf, type JsonObject, operacionesOf, parametersOf } from './contract.ts'
import { AFTER_REQUEST, beforeRequest, type Need } from './preparation.ts'
import { keyOf, sampleQuery } from './samples.ts'

const SCHEMA_URL = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/**
 * Preconditions of operations, or of single request examples (`operation.example`), which the collection's scripts
 * fulfil. All other requests need only a key.
 */
const NEEDS: Readonly<Record<string, Need>> = {
  obtenerGuia: 'aceptada',
  listarEventosDeGuia: 'aceptada',
  corregirGuia: 'aceptada',
  'corregirGuia.destino': 'nueva',
  reintentarGuia: 'fallida',
  devolverGuia: 'fallida',
  confirmarUbicacion: 'sinLugar',
  reenviarSolicitud: 'vencida',
  cancelarGuia: 'aceptada',
  obtenerEtiqueta: 'aceptada',
  crearEtiquetas: 'dos',
  obtenerPruebaDeEntrega: 'entregada',
  listarIntentosDeGuia: 'fallida',
  simularAvance: 'aceptada',
  'simularAvance.intento': 'enRuta',
  'simularAvance.sinFirma': 'enRuta',
  simularUbicacion: 'sinLugar',
  simularDecision: 'fallida',
  crearWebhook: 'sitio',
  obtenerWebhook: 'webhook',
  cambiarWebhook: 'webhook',
  eliminarWebhook: 'webhook',
  rotarSecreto: 'webhook',
  probarWebhook: 'webhook',
  recuperarAvisosDeWebhook: 'webhook',
  obtenerRecuperacion: 'recuperacion',
  listarAvisosDeWebhook: 'webhook',
  obtenerAvisoDeWebhook: 'aviso',
  reenviarAvisoDeWebhook: 'aviso',
}

/** Variables of the collection, by the example value in the contract that each replaces. */
const VARIABLES: readonly (readonly [exampleValue: string, variable: string])[] = [
  ['https://tienda.ejemplo.com/guias/eventos', '{{RECEPTOR}}/{{unico}}'],
  ['https://tienda.ejemplo.com:8443/guias', '{{RECEPTOR}}/{{unico}}'],
  ['https://nueva.ejemplo.com/guias', '{{RECEPTOR}}/{{unico}}'],
  ['7K3M9QX2A1B4', '{{guia}}'],
  ['2Q9ZT4C7XK0Y', '{{otra_guia}}'],
  ['0000-12-30T06:00:00.000Z', '{{desde}}'],
  ['0000-12-31T02:00:00.000Z', '{{desde}}'],
  ['0000-12-31T12:00:00.000Z', '{{hasta}}'],
]
const withVariables = (text: string) =>
  VARIABLES.reduce((replaced, [written, variable]) => replaced.replaceAll(written, variable), text)

function direccion(contract: JsonObject, operation: ContractOperacion): JsonObject {
  const path = operation.path.slice(1).replace(/\{(\w+)\}/g, '{{$1}}')
  const parameters = parametersOf(contract, operation).filter((entry) => entry.in === 'query')
  const shownParameters = sampleQuery(parameters)
  const query = parameters.flatMap((parameter) =>
    [parameter.example ?? ''].flat().map((value) => ({
      key: parameter.name ?? '',
      value: String(value),
      description: parameter.description ?? '',
      ...(shownParameters.includes(parameter) ? {} : { disabled: true }),
    })),
  )
  const text = new URLSearchParams()
  for (const entry of query) if (!('disabled' in entry)) text.append(String(entry.key), entry.value)
  return {
    raw: `{{GUIAS_URL}}/${path}${text.size > 0 ? `?${text}` : ''}`,
    host: ['{{GUIAS_URL}}'],
    path: path.split('/'),
    ...(query.length > 0 ? { query } : {}),
  }
}

interface CollectionRequest {
  name: string
  request: JsonObject
  /** Precondition of the request; undefined if it needs only a key. */
  need: Need | undefined
}

function requests(contract: JsonObject, operation: ContractOperacion): CollectionRequest[] {
  const { id, method, definition } = operation
  const request = {
    method: method.toUpperCase(),
    description: definition.description ?? '',
    url: direccion(contract, operation),
  }
  const keyHeader = keyOf(contract, operation) ? [{ key: 'Idempotency-Key', value: '{{clave}}' }] : []
  const examples = examplesOf(contract, definition.requestBody)
  const name = String(definition.summary)
  if (examples.length === 0) return [{ name, request: { ...request, header: keyHeader }, need: NEEDS[id] }]
  return examples.map(([nombre, example]) => ({
    name: examples.length > 1 ? `${name}: ${example.summary}` : name,
    need: NEEDS[`${id}.${nombre}`] ?? NEEDS[id],
    request: {
      ...request,
      header: [...keyHeader, { key: 'Content-Type', value: 'application/json' }],
      body: {
        mode: 'raw',
        raw: withVariables(JSON.stringify(example.value, null, 2)),
        options: { raw: { language: 'json' } },
      },
    },
  }))
}

/** Returns the collection of a contract, in the format v2.1.0 of Postman. */
export function collectionOf(contract: JsonObject): JsonObject {
  const operations = operacionesOf(contract)
  const info = contract.info as JsonObject
  const pathParameters = operations
    .flatMap((operation) => parametersOf(contract, operation))
    .filter((parameter) => parameter.in === 'path')
  const examples = new Map(pathParameters.map(({ name, example }) => [name, example]))
  const folders = ((contract.tags ?? []) as JsonObject[]).map(({ name = '', description = '' }) => ({
    name,
    description,
    item: operations
      .filter(({ definition }) => (definition.tags as string[])[0] === name)
      .flatMap((operation) => requests(contract, operation)),
  }))
  const needs = folders.flatMap(({ item }) => item.flatMap(({ name, need }) => (need ? [[name, need] as const] : [])))
  return {
    info: {
      name: info.title ?? '',
      version: info.version ?? '',
      description: DESCRIPTION,
      schema: SCHEMA_URL,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{GUIAS_LLAVE}}', type: 'string' }] },
    variable: [
      { key: 'GUIAS_URL', value: DIRECCION },
      { key: 'GUIAS_LLAVE', value: 'guia_test_…' },
      { key: 'RECEPTOR', value: '{{GUIAS_URL}}/coleccion' },
      ...[...examples].map(([key = '', value = '']) => ({ key, value })),
      { key: 'otra_guia', value: '2Q9ZT4C7XK0Y' },
      { key: 'unico', value: '1' },
      { key: 'clave', value: 'coleccion-1' },
      { key: 'desde', value: '0000-12-31T02:00:00.000Z' },
      { key: 'hasta', value: '0000-12-31T12:00:00.000Z' },
    ],
    event: [toScript('prerequest', beforeRequest(Object.fromEntries(needs))), toScript('test', AFTER_REQUEST)],
    item: folders.map(({ item, ...folder }) => ({
      ...folder,
      item: item.map(({ name, request }) => ({ name, request })),
    })),
  }
}

const DESCRIPTION = `Ponga \`GUIAS_URL\` y \`GUIAS_LLAVE\` en las variables de la colección. Con una llave de prueba se puede enviar entera, de
arriba abajo y cuantas veces quiera: antes de cada solicitud, un guion mira si \`guia\`, \`webhook\` y lo demás están como
ella los necesita, y si no, los prepara. Con una de producción no prepara nada. \`RECEPTOR\` es la dirección a la que van los webhooks; ponga
la de su servidor.`

const toScript = (listen: string, text: string): JsonObject => ({
  listen,
  script: { type: 'text/javascript', exec: text.trim().split('\n') },
})
