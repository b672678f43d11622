/**
 * Writes the documentation as Markdown, for programs and language models: each chapter, group and operation,
 * `/llms.txt`, and all of them in `/llms-full.txt`.
 */
import { DIRECCION } from '../../server/pages/docs/direccion.ts'
import { camposDe, tipoDe, valoresDe } from './campos.ts'
import {
  ejemplosDe,
  type Json,
  type Objeto,
  type OperacionDeContrato,
  operacionesDe,
  parametrosDe,
  seguirRef,
} from './contrato.ts'
import { tabla } from './fragmentos.ts'
import { type Capitulo, enDireccion, leerGuiaDelContrato, sinMarcas } from './guia.ts'

/** Contents of files by their paths in the service, such as `docs/guia/lotes.md`. */
export type Textos = Map<string, string>

const enDocs = (ruta: string) => `${DIRECCION}/docs/${ruta}.md`

/**
 * Returns the Markdown address for an address of the reading view: a chapter, a part of it, a group of operations or an
 * operation.
 * @throws if it does not exist
 */
function enlaceDe(contrato: Objeto, lugar: string): string {
  const [grupo = '', nombre, parte] = lugar.split('/')
  if (grupo === 'section') {
    const capitulo = leerGuiaDelContrato(contrato).capitulos.find((uno) => uno.nombre === nombre)
    const apartado = capitulo?.partes.find((una) => una.lugar === lugar)
    if (capitulo && (parte === undefined || apartado)) return enDocs(`guia/${nombre}`) + (parte ? `#${parte}` : '')
  } else if (nombre === undefined) {
    if (gruposDe(contrato).some(({ name }) => enDireccion(String(name)) === grupo)) return enDocs(`grupos/${grupo}`)
  } else {
    const operacion = operacionesDe(contrato).find(({ id }) => id.toLowerCase() === nombre)
    if (operacion) return enDocs(`operaciones/${operacion.id}`)
  }
  throw new Error(`the documentation links to #/${lugar}, which does not exist`)
}

const gruposDe = (contrato: Objeto) => (contrato.tags ?? []) as Objeto[]

/** Makes links absolute and changes links to the reading view into links to Markdown. */
const conEnlaces = (contrato: Objeto, texto: string) =>
  texto
    .replace(/\]\(#\/([^)]*)\)/g, (_, lugar: string) => `](${enlaceDe(contrato, lugar)})`)
    .replace(/\]\(#error-(\w+)\)/g, (_, codigo: string) => `](${enDocs('guia/errores')}#error-${codigo})`)
    .replace(/\]\(\//g, `](${DIRECCION}/`)

const juntar = (...partes: (string | undefined)[]) => partes.filter(Boolean).join('\n\n')
const bloque = (lengua: string, codigo: string) => `\`\`\`${lengua}\n${codigo}\n\`\`\``
const enJson = (valor: Json | undefined) => bloque('json', JSON.stringify(valor, null, 2))
const enCelda = (texto: string) =>
  texto
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
/** Returns the first sentence of a text, cut at 180 characters. */
function enFrase(texto: string): string {
  const llano = sinMarcas(texto)
  const frase = /^.*?\.(?=\s|$)/.exec(llano)?.[0] ?? llano
  return frase.length <= 180 ? frase : `${frase.slice(0, 180).replace(/\s+\S*$/, '')}…`
}

const deCapitulo = ({ titulo, texto, partes }: Capitulo) =>
  juntar(`# ${titulo}`, texto, ...partes.map((parte) => `## ${parte.titulo}\n\n${parte.texto}`))

function tablaDeCampos(contrato: Objeto, esquema: Json | undefined): string {
  const filas = camposDe(contrato, esquema).map(({ nombre, tipo, obligatorio, descripcion }) => [
    `\`${nombre}\``,
    obligatorio ? `${tipo}, obligatorio` : tipo,
    enCelda(descripcion),
  ])
  return filas.length > 0 ? tabla(['campo', 'tipo', 'qué es'], filas) : ''
}

function parametros(contrato: Objeto, operacion: OperacionDeContrato): string | undefined {
  const DONDE: Readonly<Record<string, string>> = { path: 'ruta', query: 'consulta', header: 'cabecera' }
  const filas = parametrosDe(contrato, operacion).map((uno) => [
    `\`${uno.name}\``,
    DONDE[String(uno.in)] ?? '',
    [tipoDe(contrato, uno.schema), ...(uno.required ? ['obligatorio'] : [])].join(', '),
    enCelda(
      String(uno.description ?? seguirRef(contrato, uno.schema).description ?? '') + valoresDe(contrato, uno.schema),
    ),
  ])
  return filas.length > 0 ? `## Parámetros\n\n${tabla(['nombre', 'dónde', 'tipo', 'qué es'], filas)}` : undefined
}

function cuerpo(contrato: Objeto, { definicion }: OperacionDeContrato): string | undefined {
  const json = ((seguirRef(contrato, definicion.requestBody).content ?? {}) as Objeto)['application/json'] as Objeto
  if (!json) return undefined
  const ejemplos = ejemplosDe(contrato, definicion.requestBody).map(
    ([, { summary, value }]) => `Ejemplo: ${summary}.\n\n${enJson(value)}`,
  )
  return ['## Cuerpo', tablaDeCampos(contrato, json.schema), ...ejemplos].join('\n\n')
}

function respuestas(contrato: Objeto, { definicion }: OperacionDeContrato): string {
  const todas = Object.entries(definicion.responses as Objeto).map(([status, una]) => {
    const respuesta = seguirRef(contrato, una)
    const [primero] = ejemplosDe(contrato, una)
    const esquema = (((respuesta.content ?? {}) as Objeto)['application/json'] as Objeto | undefined)?.schema
    const titulo = `### ${status}\n\n${String(respuesta.description).trim()}`
    if (Number(status) >= 400) {
      const codigos = ejemplosDe(contrato, una).map(([, { value }]) => (value as Objeto).codigo)
      const enlaces = [...new Set(codigos)].map((codigo) => `[\`${codigo}\`](#error-${codigo})`)
      return `${titulo}\n\n\`codigo\`: ${enlaces.join(', ')}.`
    }
    return [
      titulo,
      ...(esquema ? [tablaDeCampos(contrato, esquema)] : []),
      ...(primero ? [enJson(primero[1].value)] : []),
    ].join('\n\n')
  })
  return [
    '## Respuestas',
    ...todas,
    'Qué trae un error y qué hacer con cada código: [Errores](#/section/errores).',
  ].join('\n\n')
}

function deOperacion(contrato: Objeto, operacion: OperacionDeContrato): string {
  const { metodo, ruta, definicion } = operacion
  const muestras = (definicion['x-codeSamples'] as Record<string, string>[]).map(
    ({ label, lang, source }) => `### ${label}\n\n${bloque(lang!.toLowerCase(), source!)}`,
  )
  return juntar(
    `# ${definicion.summary}`,
    `\`${metodo.toUpperCase()} ${DIRECCION}${ruta}\``,
    String(definicion.description),
    parametros(contrato, operacion),
    cuerpo(contrato, operacion),
    respuestas(contrato, operacion),
    '## Muestras',
    ...muestras,
  )
}

const enlace = (titulo: string, ruta: string, que: string) => `- [${titulo}](${ruta}): ${que}`

/** Returns the description of a group of operations and the list of its operations. */
const deGrupo = (contrato: Objeto, { name, description }: Objeto) =>
  juntar(
    String(description),
    operacionesDe(contrato)
      .filter(({ definicion }) => (definicion.tags as Json[]).includes(name!))
      .map(({ id, metodo, ruta, definicion }) =>
        enlace(
          String(definicion.summary),
          enDocs(`operaciones/${id}`),
          `\`${metodo.toUpperCase()} ${ruta}\`. ${enFrase(String(definicion.description))}`,
        ),
      )
      .join('\n'),
  )

/** Returns `/llms.txt` as llmstxt.org defines it: a title, a summary, the introduction, and lists of links. */
function indice(contrato: Objeto, capitulos: readonly Capitulo[], introduccion: string): string {
  const { title, summary } = contrato.info as Objeto
  return juntar(
    `# ${title}`,
    `> ${summary}`,
    introduccion,
    `La API está en ${DIRECCION}/api/v1 y se llama con \`Authorization: Bearer\` y su llave.`,
    '## Guía',
    capitulos
      .map(({ titulo, nombre, texto, partes }) =>
        enlace(titulo, enDocs(`guia/${nombre}`), enFrase(texto || (partes[0]?.texto ?? ''))),
      )
      .join('\n'),
    ...gruposDe(contrato).flatMap((grupo) => [`## ${grupo.name}`, deGrupo(contrato, grupo)]),
    '## Contrato',
    [
      enlace('Todo en un archivo', `${DIRECCION}/llms-full.txt`, 'la guía y las operaciones, una tras otra.'),
      enlace('OpenAPI 3.1 en JSON', `${DIRECCION}/openapi.json`, 'el contrato entero, para generar un cliente.'),
      enlace('OpenAPI 3.1 en YAML', `${DIRECCION}/openapi.yaml`, 'el mismo.'),
      enlace('Colección', `${DIRECCION}/coleccion.json`, 'las operaciones con sus ejemplos, para Postman o Bruno.'),
    ].join('\n'),
  )
}

/** Returns all Markdown files of the documentation. */
export function enMarkdown(contrato: Objeto): Textos {
  const { introduccion, capitulos } = leerGuiaDelContrato(contrato)
  const deLaGuia = capitulos.map((uno) => [`docs/guia/${uno.nombre}.md`, deCapitulo(uno)] as const)
  const deOperaciones = operacionesDe(contrato).map(
    (una) => [`docs/operaciones/${una.id}.md`, deOperacion(contrato, una)] as const,
  )
  const lista = indice(contrato, capitulos, introduccion)
  const textos = [
    ['llms.txt', lista],
    ['llms-full.txt', [lista, ...[...deLaGuia, ...deOperaciones].map(([, texto]) => texto)].join('\n\n---\n\n')],
    ...deLaGuia,
    ...gruposDe(contrato).map((grupo) => [
      `docs/grupos/${enDireccion(String(grupo.name))}.md`,
      `# ${grupo.name}\n\n${deGrupo(contrato, grupo)}`,
    ]),
    ...deOperaciones,
  ] as [string, string][]
  return new Map(textos.map(([ruta, texto]) => [ruta, `${conEnlaces(contrato, texto).trim()}\n`]))
}
