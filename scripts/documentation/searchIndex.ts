/** Search index of the documentation: one entry per chapter, part, operation, schema and error. */
import type { SearchPart } from '../../server/pages/docs/browser/search.ts'
import { type JsonObject, operacionesOf, parametersOf, schemasOf } from './contract.ts'
import { fieldsOf } from './fields.ts'
import { idOf, readContractGuide, stripMarks, toSlug } from './guide.ts'
import { SCHEMAS_GROUP } from './reading.ts'

/** Other words for a chapter or a part (`chapter/part`) that users of other services search for. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'inicio-rapido':
    'quickstart, getting started, empezar, cómo empiezo, primeros pasos, primera guía, tutorial, túnel, ngrok, localhost',
  sdk: 'npm, npm install, instalar sdk, instalar, paquete, tgz, cliente, librería, biblioteca, node, javascript, typescript, swagger, generar cliente, pruebas unitarias, test unitario, mock',
  'linea-de-ordenes': 'cli, npx, terminal, consola, comando, comandos, csv, importar pedidos, subir archivo',
  'hoja-de-calculo': 'hoja, hojas, planilla, libreoffice, sheets, archivo de ejemplo, plantilla, columnas, comillas',
  etiquetas: 'label, labels, imprimir, impresora, impresora térmica, zebra, carta, código de barras, zpl',
  'pasar-a-produccion':
    'llave de producción, producción, live, llave live, guia_live, salir en vivo, go live, checklist, lista de comprobación',
  autenticacion: 'llave, clave, api key, token, bearer, credenciales, unauthorized, contraseña',
  idempotencia: 'external_ref, repetir, duplicados, idempotency, timeout, sin respuesta',
  limites: 'rate limit, cuota, velocidad, demasiadas solicitudes',
  paginas: 'paginación, cursor, siguiente, lista',
  'filtros-y-metadatos': 'metadatos, filtrar, buscar guías, buscar por teléfono',
  'modo-de-prueba': 'sandbox, test, pruebas, llave de prueba, ambiente de pruebas, entorno de pruebas, simular',
  lotes: 'bulk, batch, masivo, varias, 100 guías',
  estados: 'estados de la guía, anular, anular guía, cancelar pedido, cancelar envío',
  ubicacion: 'whatsapp, gps, mapa, coordenadas, municipio no existe, zona 10',
  correcciones: 'editar, modificar, cambiar dirección, cambiar teléfono, dirección equivocada, teléfono equivocado',
  decisiones: 'intento fallido, devolución, devoluciones, cliente ausente, nadie en casa, reprogramar, segundo intento',
  'prueba-de-entrega': 'comprobante, firma del cliente, foto, pod',
  'asistentes-mcp': 'ia, inteligencia artificial, claude, chatgpt, agente, llm, model context protocol',
  'recibir-webhooks': 'webhook, webhooks, notificaciones, avisos, callback, laravel, django, flask',
  'pagina-de-rastreo': 'seguimiento, tracking',
  cambios: 'changelog, novedades, versiones',
}

/** Additional search words for the sections about features that the service does not have. */
const ABSENT_FEATURE_WORDS: Readonly<Record<string, string>> = {
  'cobro-contra-entrega': 'contra entrega, cod, cash on delivery, pago al recibir, cobrar, recaudo, cobros',
  'tarifas-y-cotizacion': 'tarifa, tarifas, precio, precios, costo, cuánto cuesta, cotizar, cotización',
  'wordpress-woocommerce-y-shopify':
    'wordpress, woocommerce, shopify, plugin, complemento, magento, prestashop, tienda en línea',
  excel: 'excel, xlsx, xls, hoja de cálculo, google sheets',
  'recoleccion-programada': 'pickup, programar recogida, agendar recolección',
}

const guideParts = (contract: JsonObject): SearchPart[] =>
  readContractGuide(contract).guideChapters.flatMap(({ titulo, nombre, texto, parts }) => [
    { clase: 'Capítulo', titulo, lugar: `docs/${nombre}`, claves: SYNONYMS[nombre] ?? '', texto: stripMarks(texto) },
    ...parts.map(
      (part): SearchPart => ({
        clase: 'Apartado',
        titulo: part.titulo,
        lugar: `docs/${nombre}#${idOf(part)}`,
        de: titulo,
        claves: nombre === 'lo-que-no-hay' ? (ABSENT_FEATURE_WORDS[idOf(part)] ?? '') : '',
        // The tables of errors are left out, because each error has an index entry of its own (`errorParts`).
        texto: nombre === 'errores' ? '' : stripMarks(part.texto),
      }),
    ),
  ])

const operacionParts = (contract: JsonObject): SearchPart[] =>
  operacionesOf(contract).map((operation) => {
    const { id, method, path, definition } = operation
    return {
      clase: 'Operación',
      titulo: String(definition.summary),
      lugar: `docs#/${toSlug(String((definition.tags as string[])[0]))}/${id.toLowerCase()}`,
      de: `${method.toUpperCase()} ${path}`,
      claves: [id, ...parametersOf(contract, operation).map(({ name }) => name)].join(' '),
      texto: stripMarks(String(definition.description)),
    }
  })

const schemaParts = (contract: JsonObject): SearchPart[] =>
  Object.entries(schemasOf(contract)).map(([name, schema]) => ({
    clase: 'Objeto',
    titulo: String(schema.title ?? name),
    lugar: `docs#/${SCHEMAS_GROUP.toLowerCase()}/${name.toLowerCase()}`,
    ...(schema.title ? { de: name } : {}),
    claves: fieldsOf(contract, schema)
      .map((field) => field.nombre)
      .filter((field) => !/[.[]/.test(field))
      .join(' '),
    texto: stripMarks(String(schema.description ?? '')),
  }))

const errorParts = (contract: JsonObject): SearchPart[] =>
  Object.entries(schemasOf(contract).CodigoDeProblema?.['x-problemas'] as Record<string, JsonObject>)
    .filter(([, { ajeno: foreign }]) => foreign !== true)
    .map(([code, { status, titulo, causa, remedio }]) => ({
      clase: 'Error',
      titulo: code,
      lugar: `docs/errores#error-${code}`,
      de: `${status} · ${titulo}`,
      claves: '',
      texto: stripMarks(`${causa} ${remedio}`),
    }))

export const searchIndexOf = (contract: JsonObject): SearchPart[] =>
  [guideParts, operacionParts, schemaParts, errorParts].flatMap((buildParts) => buildParts(contract))
