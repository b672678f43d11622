/** Search index of the documentation: one entry per chapter, part, operation, schema and error. */
import type { SearchPart } from '../../server/pages/docs/browser/buscar.ts'
import { camposDe } from './campos.ts'
import { esquemasDe, type Objeto, operacionesDe, parametrosDe } from './contrato.ts'
import { enDireccion, leerGuiaDelContrato, sinMarcas } from './guia.ts'
import { OBJETOS } from './lectura.ts'

/** Other words for a chapter or a part (`chapter/part`) that users of other services search for. */
const TAMBIEN: Readonly<Record<string, string>> = {
  sdk: 'npm, npm install, instalar sdk, instalar, paquete, tgz, cliente, librería, biblioteca, node, javascript, typescript',
  'linea-de-ordenes': 'cli, npx, terminal, consola, comando, comandos, csv, importar pedidos, subir archivo',
  'hoja-de-calculo': 'hoja, hojas, planilla, libreoffice, sheets, archivo de ejemplo, plantilla, columnas, comillas',
  etiquetas: 'label, labels, imprimir, impresora, impresora térmica, zebra, carta, código de barras, zpl',
  'pasar-a-produccion':
    'llave de producción, producción, live, llave live, guia_live, salir en vivo, go live, checklist, lista de comprobación',
  autenticacion: 'llave, clave, api key, token, bearer, credenciales',
  idempotencia: 'external_ref, repetir, duplicados, idempotency',
  limites: 'rate limit, cuota, velocidad, demasiadas solicitudes',
  paginas: 'paginación, cursor, siguiente, lista',
  'modo-de-prueba': 'sandbox, test, pruebas, llave de prueba',
  lotes: 'bulk, batch, masivo, varias',
  'asistentes-mcp': 'ia, inteligencia artificial, claude, chatgpt, agente, llm, model context protocol',
  'recibir-webhooks': 'webhook, webhooks, notificaciones, avisos, callback',
  'pagina-de-rastreo': 'seguimiento, tracking',
  cambios: 'changelog, novedades, versiones',
}

/** Additional search words for the sections about features that the service does not have. */
const NO_HAY: Readonly<Record<string, string>> = {
  'cobro-contra-entrega': 'contra entrega, cod, cash on delivery, pago al recibir, cobrar, recaudo, cobros',
  'tarifas-y-cotizacion': 'tarifa, tarifas, precio, precios, costo, cuánto cuesta, cotizar, cotización',
  'wordpress-woocommerce-y-shopify':
    'wordpress, woocommerce, shopify, plugin, complemento, magento, prestashop, tienda en línea',
  excel: 'excel, xlsx, xls, hoja de cálculo, google sheets',
  'recoleccion-programada': 'pickup, programar recogida, agendar recolección',
}

const deLaGuia = (contrato: Objeto): SearchPart[] =>
  leerGuiaDelContrato(contrato).capitulos.flatMap(({ titulo, nombre, lugar, texto, partes }) => [
    { clase: 'Capítulo', titulo, lugar: `/${lugar}`, claves: TAMBIEN[nombre] ?? '', texto: sinMarcas(texto) },
    ...partes.map(
      (parte): SearchPart => ({
        clase: 'Apartado',
        titulo: parte.titulo,
        lugar: `/${parte.lugar}`,
        de: titulo,
        claves: nombre === 'lo-que-no-hay' ? (NO_HAY[parte.lugar.split('/').at(-1)!] ?? '') : '',
        // The tables of errors are left out, because each error has an index entry of its own (`deErrores`).
        texto: nombre === 'errores' ? '' : sinMarcas(parte.texto),
      }),
    ),
  ])

const deOperaciones = (contrato: Objeto): SearchPart[] =>
  operacionesDe(contrato).map((operacion) => {
    const { id, metodo, ruta, definicion } = operacion
    return {
      clase: 'Operación',
      titulo: String(definicion.summary),
      lugar: `/${enDireccion(String((definicion.tags as string[])[0]))}/${id.toLowerCase()}`,
      de: `${metodo.toUpperCase()} ${ruta}`,
      claves: [id, ...parametrosDe(contrato, operacion).map(({ name }) => name)].join(' '),
      texto: sinMarcas(String(definicion.description)),
    }
  })

const deObjetos = (contrato: Objeto): SearchPart[] =>
  Object.entries(esquemasDe(contrato)).map(([nombre, esquema]) => ({
    clase: 'Objeto',
    titulo: String(esquema.title ?? nombre),
    lugar: `/${OBJETOS.toLowerCase()}/${nombre.toLowerCase()}`,
    ...(esquema.title ? { de: nombre } : {}),
    claves: camposDe(contrato, esquema)
      .map((campo) => campo.nombre)
      .filter((campo) => !/[.[]/.test(campo))
      .join(' '),
    texto: sinMarcas(String(esquema.description ?? '')),
  }))

const deErrores = (contrato: Objeto): SearchPart[] =>
  Object.entries(esquemasDe(contrato).CodigoDeProblema?.['x-problemas'] as Record<string, Objeto>)
    .filter(([, { ajeno }]) => ajeno !== true)
    .map(([codigo, { status, titulo, causa, remedio }]) => ({
      clase: 'Error',
      titulo: codigo,
      lugar: `error-${codigo}`,
      de: `${status} · ${titulo}`,
      claves: '',
      texto: sinMarcas(`${causa} ${remedio}`),
    }))

/** Returns the search index of a contract. */
export const indiceDe = (contrato: Objeto): SearchPart[] =>
  [deLaGuia, deOperaciones, deObjetos, deErrores].flatMap((partes) => partes(contrato))
