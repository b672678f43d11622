/**
 * Exports the operations as a collection for Postman, Bruno and compatible tools. Each example of a body becomes a
 * request.
 */
import { ejemplosDe, type Objeto, type OperacionDeContrato, operacionesDe, parametrosDe } from './contrato.ts'
import { consultaDe } from './muestras.ts'

const ESQUEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/**
 * Test script that runs after each request of the collection. It stores the ids that the response created, so that
 * later requests use them.
 */
const RECORDAR = `const hecho = pm.response.code < 300 && pm.response.text() ? pm.response.json() : {}
const clases = { wh_: 'webhook', ent_: 'entrega', rec_: 'recuperacion' }
const clase = clases[String(hecho.id).replace(/_.*/, '_')]
if (clase) pm.collectionVariables.set(clase, hecho.id)
if (typeof hecho.guia === 'string') pm.collectionVariables.set('guia', hecho.guia)`

function direccion(contrato: Objeto, operacion: OperacionDeContrato): Objeto {
  const camino = operacion.ruta.slice(1).replace(/\{(\w+)\}/g, '{{$1}}')
  const parametros = parametrosDe(contrato, operacion).filter((uno) => uno.in === 'query')
  const propios = consultaDe(parametros)
  const query = parametros.flatMap((parametro) =>
    [parametro.example ?? ''].flat().map((valor) => ({
      key: parametro.name ?? '',
      value: String(valor),
      description: parametro.description ?? '',
      ...(propios.includes(parametro) ? {} : { disabled: true }),
    })),
  )
  const texto = new URLSearchParams()
  for (const uno of query) if (!('disabled' in uno)) texto.append(String(uno.key), uno.value)
  return {
    raw: `{{GUIAS_URL}}/${camino}${texto.size > 0 ? `?${texto}` : ''}`,
    host: ['{{GUIAS_URL}}'],
    path: camino.split('/'),
    ...(query.length > 0 ? { query } : {}),
  }
}

function solicitudes(contrato: Objeto, operacion: OperacionDeContrato): Objeto[] {
  const { metodo, definicion } = operacion
  const request = {
    method: metodo.toUpperCase(),
    description: definicion.description ?? '',
    url: direccion(contrato, operacion),
  }
  const ejemplos = ejemplosDe(contrato, definicion.requestBody)
  if (ejemplos.length === 0) return [{ name: definicion.summary ?? '', request: { ...request, header: [] } }]
  return ejemplos.map(([, ejemplo]) => ({
    name: ejemplos.length > 1 ? `${definicion.summary}: ${ejemplo.summary}` : (definicion.summary ?? ''),
    request: {
      ...request,
      header: [{ key: 'Content-Type', value: 'application/json' }],
      body: {
        mode: 'raw',
        raw: JSON.stringify(ejemplo.value, null, 2),
        options: { raw: { language: 'json' } },
      },
    },
  }))
}

/** Returns the collection of a contract, in the format v2.1.0 of Postman. */
export function coleccionDe(contrato: Objeto): Objeto {
  const operaciones = operacionesDe(contrato)
  const info = contrato.info as Objeto
  const enRutas = operaciones
    .flatMap((operacion) => parametrosDe(contrato, operacion))
    .filter((parametro) => parametro.in === 'path')
  const ejemplos = new Map(enRutas.map(({ name, example }) => [name, example]))
  return {
    info: {
      name: info.title ?? '',
      version: info.version ?? '',
      description: 'Ponga `GUIAS_URL` y `GUIAS_LLAVE` (de prueba, mejor) en las variables de la colección.',
      schema: ESQUEMA,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{GUIAS_LLAVE}}', type: 'string' }] },
    variable: [
      { key: 'GUIAS_URL', value: 'http://127.0.0.1:3000' },
      { key: 'GUIAS_LLAVE', value: 'guia_test_…' },
      ...[...ejemplos].map(([key = '', value = '']) => ({ key, value })),
    ],
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: RECORDAR.split('\n') } }],
    item: ((contrato.tags ?? []) as Objeto[]).map(({ name = '', description = '' }) => ({
      name,
      description,
      item: operaciones
        .filter(({ definicion }) => (definicion.tags as string[])[0] === name)
        .flatMap((operacion) => solicitudes(contrato, operacion)),
    })),
  }
}
