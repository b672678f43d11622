/**
 * Fragments of text generated from the contract. They replace `{{name}}` in descriptions and in the guide's chapters,
 * so that no text repeats the contract's values. An unknown name is an error, and so is an unused fragment.
 */
import { ejemplosDe, esquemasDe, type Json, type Objeto, operacionesDe } from './contrato.ts'

interface Maquina {
  iniciales: string[]
  finales: string[]
  rectificables?: string[]
  desvios?: string[]
  transiciones: Record<string, string[]>
}
type Textos = Record<string, string>

const codigo = (texto: string) => `\`${texto}\``
const codigos = (textos: readonly string[]) => textos.map(codigo).join(', ')
/** Returns a Markdown table. */
export const tabla = (cabecera: readonly string[], filas: readonly (readonly string[])[]) =>
  [cabecera, cabecera.map(() => '---'), ...filas].map((fila) => `| ${fila.join(' | ')} |`).join('\n')
/** Formats a duration in seconds, minutes or hours: 64800 gives «18 h». */
export function duracion(segundos: number): string {
  const [unidad, tamano] = segundos < 60 ? ['s', 1] : segundos < 3600 ? ['min', 60] : ['h', 3600]
  return `${(segundos / (tamano as number)).toLocaleString('es', { maximumFractionDigits: 1 })} ${unidad}`
}

const maquinaDe = (contrato: Objeto, esquema: string) =>
  (esquemasDe(contrato)[esquema] as Objeto)['x-transiciones'] as unknown as Maquina

function tablaDeEstados(contrato: Objeto): string {
  const { Estado = {} } = esquemasDe(contrato)
  const { transiciones } = maquinaDe(contrato, 'Estado')
  const significados = Estado['x-significados'] as Textos
  return tabla(
    ['estado', 'significa', 'puede pasar a'],
    Object.entries(transiciones).map(([estado, siguientes]) => [
      codigo(estado),
      significados[estado] ?? '',
      codigos(siguientes) || 'nada: es final',
    ]),
  )
}

/**
 * Returns the state diagram of a schema in Mermaid, for readers of the contract itself. The documentation shows it as
 * an image (`diagrama.ts`).
 */
function diagrama(contrato: Objeto, esquema: string): string {
  const { iniciales, finales, desvios = [], transiciones } = maquinaDe(contrato, esquema)
  const flechas = [
    ...iniciales.map((estado) => `[*] --> ${estado}`),
    ...Object.entries(transiciones).flatMap(([de, hacia]) => hacia.map((a) => `${de} --> ${a}`)),
    ...finales.map((estado) => `${estado} --> [*]`),
    ...(desvios.length > 0 ? ['classDef desvio stroke-dasharray:5', `class ${desvios.join(',')} desvio`] : []),
  ]
  return ['```mermaid', 'stateDiagram-v2', ...flechas.map((flecha) => `  ${flecha}`), '```'].join('\n')
}

function tablaDeMotivos(contrato: Objeto): string {
  const motivos = esquemasDe(contrato).Estado?.['x-motivos'] as Record<string, Record<string, Objeto>>
  return tabla(
    ['estado', 'motivo', 'significa', '`requiere_accion`'],
    Object.entries(motivos).flatMap(([estado, suyos]) =>
      Object.entries(suyos).map(([motivo, { significa, requiere_accion }]) => [
        codigo(estado),
        codigo(motivo),
        String(significa),
        requiere_accion ? 'sí' : 'no',
      ]),
    ),
  )
}

function tablaDeEventos(contrato: Objeto): string {
  const { TipoDeEvento = {}, Estado = {} } = esquemasDe(contrato)
  const propias = TipoDeEvento['x-descripciones'] as Textos
  const deEstado = Estado['x-descripciones'] as Textos
  return tabla(
    ['tipo', 'qué pasó'],
    (TipoDeEvento.enum as string[]).map((tipo) => [
      codigo(tipo),
      propias[tipo] ?? deEstado[tipo.replace(/^guia\./, '')] ?? '',
    ]),
  )
}

const reintentosDe = (contrato: Objeto) =>
  esquemasDe(contrato).EstadoDeAvisoDeWebhook?.['x-reintentos'] as unknown as {
    esperas_s: number[]
    variacion: number
    retry_after_maximo_s: number
  }

function tablaDeReintentos(contrato: Objeto): string {
  let total = 0
  const filas = reintentosDe(contrato).esperas_s.map((espera, i) => {
    total += espera
    return [String(i + 1), espera === 0 ? 'enseguida' : duracion(espera), duracion(total)]
  })
  return tabla(['intento', 'espera tras el anterior', 'desde el evento'], filas)
}

/** Returns one table of errors per status. Each code has the anchor that an error's `documentacion` links to. */
function tablasDeErrores(contrato: Objeto): string {
  const problemas = Object.entries(esquemasDe(contrato).CodigoDeProblema?.['x-problemas'] as Record<string, Objeto>)
  const propios = problemas.filter(([, { ajeno }]) => ajeno !== true)
  const porStatus = Map.groupBy(propios, ([, { status }]) => Number(status))
  return [...porStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, suyos]) =>
      [
        `## ${status}`,
        tabla(
          ['`codigo`', 'por qué', 'qué hacer'],
          suyos.map(([nombre, { causa, remedio }]) => [
            `<a id="error-${nombre}"></a>${codigo(nombre)}`,
            String(causa),
            String(remedio),
          ]),
        ),
      ].join('\n\n'),
    )
    .join('\n\n')
}

/** Returns a complete error: the contract's first example of the most common response. */
function ejemploDeError(contrato: Objeto): string {
  const respuestas = (contrato.components as Objeto).responses as Objeto
  const [[, ejemplo] = []] = ejemplosDe(contrato, respuestas.DatosNoValidos)
  return ['```json', JSON.stringify(ejemplo?.value, null, 2), '```'].join('\n')
}

function tablaDeAlcances(contrato: Objeto): string {
  const pares = operacionesDe(contrato).flatMap(({ definicion }) =>
    ((definicion.security ?? []) as Record<string, string[]>[])
      .flatMap((una) => Object.values(una).flat())
      .map((alcance) => ({ alcance, resumen: definicion.summary as string })),
  )
  return tabla(
    ['alcance', 'permite'],
    [...Map.groupBy(pares, ({ alcance }) => alcance)].map(([alcance, suyos]) => [
      codigo(alcance),
      suyos.map(({ resumen }) => resumen[0]?.toLowerCase() + resumen.slice(1)).join(' · '),
    ]),
  )
}

function vectores(contrato: Objeto): string {
  const casos = esquemasDe(contrato).FirmaDeWebhook?.['x-vectores'] as Json
  return ['```json', JSON.stringify(casos, null, 2), '```'].join('\n')
}

const FRAGMENTOS: Record<string, (contrato: Objeto) => string> = {
  estados: tablaDeEstados,
  'estados.rectificables': (contrato) => codigos(maquinaDe(contrato, 'Estado').rectificables ?? []),
  'estados.diagrama': (contrato) => diagrama(contrato, 'Estado'),
  'ubicacion.diagrama': (contrato) => diagrama(contrato, 'EstadoDeUbicacion'),
  motivos: tablaDeMotivos,
  eventos: tablaDeEventos,
  alcances: tablaDeAlcances,
  errores: tablasDeErrores,
  'errores.ejemplo': ejemploDeError,
  reintentos: tablaDeReintentos,
  'reintentos.intentos': (contrato) => String(reintentosDe(contrato).esperas_s.length),
  'reintentos.duracion': (contrato) => duracion(reintentosDe(contrato).esperas_s.reduce((a, b) => a + b, 0)),
  'reintentos.variacion': (contrato) => `${reintentosDe(contrato).variacion * 100} %`,
  'reintentos.retry_after': (contrato) => duracion(reintentosDe(contrato).retry_after_maximo_s),
  'webhooks.vectores': vectores,
  version: (contrato) => String((contrato.info as Objeto).version),
}

const usados = new Set<string>()

/**
 * Returns the contract with all fragments replaced in its descriptions and in the guide.
 * @throws if a fragment is unknown
 */
export function conFragmentos(contrato: Objeto): Objeto {
  const escribir = (texto: string) =>
    texto.replace(/\{\{([\w.]+)\}\}/g, (_, nombre: string) => {
      const fragmento = FRAGMENTOS[nombre]
      if (!fragmento) throw new Error(`unknown fragment {{${nombre}}}: see scripts/documentacion/fragmentos.ts`)
      usados.add(nombre)
      return fragmento(contrato)
    })
  const recorrer = (valor: Json, clave = ''): Json => {
    if (typeof valor === 'string') return clave === 'description' || clave === 'x-guia' ? escribir(valor) : valor
    if (Array.isArray(valor)) return valor.map((uno) => recorrer(uno))
    if (valor === null || typeof valor !== 'object') return valor
    return Object.fromEntries(Object.entries(valor).map(([k, v]) => [k, recorrer(v, k)]))
  }
  return recorrer(contrato) as Objeto
}

/**
 * Checks that each fragment is used. Call this after {@link conFragmentos} has processed all documents.
 * @throws if a fragment is unused
 */
export function exigirFragmentosUsados() {
  const sobran = Object.keys(FRAGMENTOS).filter((nombre) => !usados.has(nombre))
  if (sobran.length > 0) throw new Error(`unused fragments: ${sobran.join(', ')}`)
}
