/**
 * Exports the operations as a collection for Postman, Bruno and compatible tools. Each example of a body becomes a
 * request.
 */
import { DIRECCION } from '../../server/pages/docs/direccion.ts'
import { ejemplosDe, type Objeto, type OperacionDeContrato, operacionesDe, parametrosDe } from './contrato.ts'
import { claveDe, consultaDe } from './muestras.ts'
import { antesDe, DESPUES, type Necesidad } from './preparacion.ts'

const ESQUEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/**
 * Preconditions of operations, or of single request examples (`operation.example`), which the collection's scripts
 * fulfil. All other requests need only a key.
 */
const NECESIDADES: Readonly<Record<string, Necesidad>> = {
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
const VARIABLES: readonly (readonly [escrito: string, variable: string])[] = [
  ['https://tienda.ejemplo.com/guias/eventos', '{{RECEPTOR}}/{{unico}}'],
  ['https://tienda.ejemplo.com:8443/guias', '{{RECEPTOR}}/{{unico}}'],
  ['https://nueva.ejemplo.com/guias', '{{RECEPTOR}}/{{unico}}'],
  ['7K3M9QX2A1B4', '{{guia}}'],
  ['2Q9ZT4C7XK0Y', '{{otra_guia}}'],
  ['0000-12-30T06:00:00.000Z', '{{desde}}'],
  ['0000-12-31T02:00:00.000Z', '{{desde}}'],
  ['0000-12-31T12:00:00.000Z', '{{hasta}}'],
]
const conVariables = (texto: string) =>
  VARIABLES.reduce((hecho, [escrito, variable]) => hecho.replaceAll(escrito, variable), texto)

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

interface Solicitud {
  name: string
  request: Objeto
  /** Precondition of the request; undefined if it needs only a key. */
  necesita: Necesidad | undefined
}

function solicitudes(contrato: Objeto, operacion: OperacionDeContrato): Solicitud[] {
  const { id, metodo, definicion } = operacion
  const request = {
    method: metodo.toUpperCase(),
    description: definicion.description ?? '',
    url: direccion(contrato, operacion),
  }
  const deClave = claveDe(contrato, operacion) ? [{ key: 'Idempotency-Key', value: '{{clave}}' }] : []
  const ejemplos = ejemplosDe(contrato, definicion.requestBody)
  const name = String(definicion.summary)
  if (ejemplos.length === 0) return [{ name, request: { ...request, header: deClave }, necesita: NECESIDADES[id] }]
  return ejemplos.map(([nombre, ejemplo]) => ({
    name: ejemplos.length > 1 ? `${name}: ${ejemplo.summary}` : name,
    necesita: NECESIDADES[`${id}.${nombre}`] ?? NECESIDADES[id],
    request: {
      ...request,
      header: [...deClave, { key: 'Content-Type', value: 'application/json' }],
      body: {
        mode: 'raw',
        raw: conVariables(JSON.stringify(ejemplo.value, null, 2)),
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
  const carpetas = ((contrato.tags ?? []) as Objeto[]).map(({ name = '', description = '' }) => ({
    name,
    description,
    item: operaciones
      .filter(({ definicion }) => (definicion.tags as string[])[0] === name)
      .flatMap((operacion) => solicitudes(contrato, operacion)),
  }))
  const necesidades = carpetas.flatMap(({ item }) =>
    item.flatMap(({ name, necesita }) => (necesita ? [[name, necesita] as const] : [])),
  )
  return {
    info: {
      name: info.title ?? '',
      version: info.version ?? '',
      description: DESCRIPCION,
      schema: ESQUEMA,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{GUIAS_LLAVE}}', type: 'string' }] },
    variable: [
      { key: 'GUIAS_URL', value: DIRECCION },
      { key: 'GUIAS_LLAVE', value: 'guia_test_…' },
      { key: 'RECEPTOR', value: '{{GUIAS_URL}}/coleccion' },
      ...[...ejemplos].map(([key = '', value = '']) => ({ key, value })),
      { key: 'otra_guia', value: '2Q9ZT4C7XK0Y' },
      { key: 'unico', value: '1' },
      { key: 'clave', value: 'coleccion-1' },
      { key: 'desde', value: '0000-12-31T02:00:00.000Z' },
      { key: 'hasta', value: '0000-12-31T12:00:00.000Z' },
    ],
    event: [guion('prerequest', antesDe(Object.fromEntries(necesidades))), guion('test', DESPUES)],
    item: carpetas.map(({ item, ...carpeta }) => ({
      ...carpeta,
      item: item.map(({ name, request }) => ({ name, request })),
    })),
  }
}

const DESCRIPCION = `Ponga \`GUIAS_URL\` y \`GUIAS_LLAVE\` en las variables de la colección. Con una llave de prueba se puede enviar entera, de
arriba abajo y cuantas veces quiera: antes de cada solicitud, un guion mira si \`guia\`, \`webhook\` y lo demás están como
ella los necesita, y si no, los prepara. Con una de producción no prepara nada. \`RECEPTOR\` es la dirección a la que van los webhooks; ponga
la de su servidor.`

const guion = (listen: string, texto: string): Objeto => ({
  listen,
  script: { type: 'text/javascript', exec: texto.trim().split('\n') },
})
