import { esquemasDe, type Json, type Objeto, operacionesDe } from '../documentacion/contrato.ts'
import { mayuscula } from './indiceDeOperaciones.ts'

/** Boundary between two declarations of the generated types. */
const ENTRE_DECLARACIONES = /\n\n(?=\/\*\*|export )/
type Textos = Readonly<Record<string, string>>
const nombreDe = (declaracion: string) => /^export type (\w+) =/m.exec(declaracion)?.[1] ?? ''

/**
 * Adapts the generated types of the contract for the SDK. The contract's event is one flat object. The SDK's event is a
 * union discriminated by `tipo`, written by hand (`sdk/src/evento.ts`), so the types that it needs go into a separate
 * file.
 * @param texto output of the types' generator
 */
export function tiposDelSdk(contrato: Objeto, texto: string): { evento: string; tipos: string } {
  const abierto = distinguirAdvertencias(contrato, abrirEnums(contrato, texto))
  const cerrado = exigirJuntos(contrato, admitirIndefinidos(cerrarSolicitudes(contrato, abierto)))
  const delEvento = alcanzados(contrato, { $ref: '#/components/schemas/Evento' })
  const partes = Map.groupBy(cerrado.split(ENTRE_DECLARACIONES), (una) => delEvento.has(nombreDe(una)))
  const unir = (deCual: boolean) => partes.get(deCual)?.join('\n\n') ?? ''
  const suyos = [...delEvento].filter((nombre) => nombre !== 'Evento').sort()
  return {
    evento: `${reemplazar(unir(true), 'export type Evento = {', 'export type EventoDelContrato = {')}\n\n${motivosDeEstado(contrato)}`,
    tipos: `import type { Cerrado, Conocido, TipoDesconocido } from '../abierto.js'
import type { Evento } from '../evento.js'
import type { ${suyos.join(', ')} } from './evento.gen.js'

export type * from './evento.gen.js'
export type { Evento }

${unir(false)}
`,
  }
}

function reemplazar(texto: string, que: string | RegExp, por: string): string {
  const nuevo = texto.replace(que, por)
  if (nuevo === texto) throw new Error(`the generated types have no match for ${que}`)
  return nuevo
}

const extensiblesDe = (esquemas: Record<string, Objeto>) =>
  Object.keys(esquemas).filter((nombre) => esquemas[nombre]?.['x-extensible'] === true)

/**
 * Opens the enums marked `x-extensible`, so that a value from a newer server is no type error. Each must be a named
 * schema, because an inline enum cannot be found in the generated types.
 */
function abrirEnums(contrato: Objeto, texto: string): string {
  const extensibles = extensiblesDe(esquemasDe(contrato))
  const marcas = JSON.stringify(contrato).match(/"x-extensible":true/g)?.length ?? 0
  if (marcas !== extensibles.length) throw new Error('an x-extensible enum is inline: move it to a named schema')
  return extensibles.reduce(
    (abierto, nombre) =>
      reemplazar(
        abierto,
        new RegExp(`(export type ${nombre} = (?:(?:'[^']+'|null)(?: \\| )?)+);`),
        '$1 | (string & {});',
      ),
    texto,
  )
}

/** Closes the extensible enums in requests, because a request with an unknown value is a mistake. */
function cerrarSolicitudes(contrato: Objeto, texto: string): string {
  const operaciones = operacionesDe(contrato)
  const enviados = alcanzados(
    contrato,
    operaciones.map(({ definicion: { requestBody = {}, parameters = {} } }) => [requestBody, parameters]),
  )
  const respuestas = operaciones.map(({ definicion }) => definicion.responses ?? {})
  const recibidos = alcanzados(contrato, [respuestas, contrato.webhooks ?? {}])
  const soloEnviados = new Set([...enviados].filter((nombre) => !recibidos.has(nombre)))
  for (const { id } of operaciones) soloEnviados.add(`${mayuscula(id)}Data`)
  const abiertos = [...enviados].filter((nombre) => recibidos.has(nombre) && esAbierto(contrato, nombre))
  const referencia = new RegExp(`\\b(${[...extensiblesDe(esquemasDe(contrato)), ...abiertos].join('|')})\\b`, 'g')
  const cerrar = (declaracion: string) =>
    declaracion.replace(/^ +'?[\w-]+'?\??: .*$/gm, (miembro) => miembro.replace(referencia, 'Cerrado<$1>'))
  return texto
    .split(ENTRE_DECLARACIONES)
    .map((una) => (soloEnviados.has(nombreDe(una)) ? cerrar(una) : una))
    .join('\n\n')
}

/**
 * Tells if a schema contains an `x-extensible` enum.
 * @throws if it contains one but is neither an enum nor a list, because the type `Cerrado` can only handle these
 */
function esAbierto(contrato: Objeto, nombre: string): boolean {
  const esquemas = esquemasDe(contrato)
  const suyos = alcanzados(contrato, { $ref: `#/components/schemas/${nombre}` })
  if (!extensiblesDe(esquemas).some((uno) => suyos.has(uno))) return false
  if (['string', 'array'].includes(String(esquemas[nombre]?.type))) return true
  throw new Error(`${nombre} has an x-extensible enum: give requests and responses separate schemas`)
}

/** Collects the names of all schemas that a part of the contract references, directly or indirectly. */
function alcanzados(
  contrato: Objeto,
  parte: Json,
  vistos = new Set<string>(),
  hallados = new Set<string>(),
): Set<string> {
  if (Array.isArray(parte)) for (const uno of parte) alcanzados(contrato, uno, vistos, hallados)
  else if (parte !== null && typeof parte === 'object') {
    const { $ref, ...resto } = parte
    if (typeof $ref === 'string' && !vistos.has($ref)) {
      vistos.add($ref)
      const [, , clase = '', nombre = ''] = $ref.split('/')
      if (clase === 'schemas') hallados.add(nombre)
      alcanzados(contrato, ((contrato.components as Objeto)[clase] as Objeto)[nombre] ?? null, vistos, hallados)
    }
    for (const [clave, dentro] of Object.entries(resto))
      if (!clave.startsWith('example')) alcanzados(contrato, dentro, vistos, hallados)
  }
  return hallados
}

/** Makes `Advertencia` a union that is discriminated by `codigo`, so that `sugerencia` has the form of its code. */
function distinguirAdvertencias(contrato: Objeto, texto: string): string {
  const sugerencias = esquemasDe(contrato).CodigoDeAdvertencia?.['x-sugerencias'] as Textos
  const literal = (codigos: readonly string[]) => codigos.map((codigo) => `'${codigo}'`).join(' | ')
  const porForma = Map.groupBy(Object.keys(sugerencias), (codigo) => sugerencias[codigo]!)
  const con = (codigo: string, sugerencia: string) => `{ codigo: ${codigo}; sugerencia: ${sugerencia}; }`
  const casos = [
    ...[...porForma].map(([forma, codigos]) => con(literal(codigos), `${forma} | null`)),
    con(`Exclude<Conocido<CodigoDeAdvertencia>, ${literal(Object.keys(sugerencias))}>`, 'null'),
    con('TipoDesconocido', `${[...porForma.keys()].join(' | ')} | null`),
  ]
  const sinSuyos = reemplazar(
    reemplazar(texto, /(export type Advertencia = \{\n) {4}codigo: CodigoDeAdvertencia;\n/, '$1'),
    /(export type Advertencia = \{[^}]*?) {4}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n {4}sugerencia: [^;]+;\n\};/,
    '$1};',
  )
  return reemplazar(
    sinSuyos,
    /(export type Advertencia = \{[^}]*\});/,
    `$1 & (\n${casos.map((caso) => `    | ${caso}`).join('\n')}\n);`,
  )
}

/**
 * Adds to the type of each request which members belong together: pairs in `dependentRequired` that require each other,
 * and the alternatives of `anyOf` or `oneOf`. The type generator ignores these keywords.
 */
const exigirJuntos = (contrato: Objeto, texto: string): string =>
  texto
    .split(ENTRE_DECLARACIONES)
    .map((una) => {
      const esquema = esquemasDe(contrato)[nombreDe(una)]
      const partes = esquema ? conjuntosDe(esquema, tiposDeMiembros(esquema, una)) : []
      if (partes.length === 0) return una
      const suelta = reemplazar(una.replace(' = unknown & {', ' = {'), /;\s*$/, '')
      return sinEstados(esquema!, `${suelta}${partes.map((parte) => ` & (${parte})`).join('')};`)
    })
    .join('\n\n')

/** Reads the type of each optional member of a generated declaration. */
const tiposDeMiembros = (esquema: Objeto, declaracion: string): ReadonlyMap<string, string> =>
  new Map(
    Object.keys(esquema.properties ?? {}).flatMap((miembro) => {
      const tipo = new RegExp(`^    ${miembro}\\?: (.+?)(?: \\| undefined)?;$`, 'm').exec(declaracion)?.[1]
      return tipo === undefined ? [] : [[miembro, tipo] as const]
    }),
  )

function conjuntosDe(esquema: Objeto, tipos: ReadonlyMap<string, string>): string[] {
  const todos = (miembros: readonly string[], o = '') => miembros.map((uno) => `${uno}: ${tipos.get(uno)}${o};`)
  const ninguno = (miembros: readonly string[]) => miembros.map((uno) => `${uno}?: undefined;`)
  const objeto = (...miembros: string[]) => `{ ${miembros.join(' ')} }`
  const dependientes = Object.entries((esquema.dependentRequired ?? {}) as Record<string, string[]>)
  const parejas = dependientes.flatMap(([uno, [otro = '']]) =>
    dependientes.some(([suyo, [de]]) => suyo === otro && de === uno) && uno < otro ? [[uno, otro]] : [],
  )
  const exigidos = (clave: 'anyOf' | 'oneOf') =>
    ((esquema[clave] ?? []) as { required?: string[] }[]).flatMap(({ required }) => (required ? [required] : []))
  const unos = exigidos('anyOf')
  const unoSolo = exigidos('oneOf')
  return [
    // `undefined` is allowed for both members of a pair, so that a program can always pass latitude and longitude,
    // known or not.
    parejas.map((pareja) => `${objeto(...todos(pareja, ' | undefined'))} | ${objeto(...ninguno(pareja))}`),
    unos.length > 0 ? [unos.map((suyos) => objeto(...todos(suyos))).join(' | ')] : [],
    unoSolo.length > 0
      ? [
          unoSolo
            .map((suyos) =>
              objeto(
                ...todos(suyos),
                ...ninguno(unoSolo.filter((otros) => otros !== suyos).map(([primero = '']) => primero)),
              ),
            )
            .join(' | '),
        ]
      : [],
  ].flat()
}

/** Removes from a member's type the states that an operation never sets (`x-no-pasa-a`). */
function sinEstados(esquema: Objeto, declaracion: string): string {
  const { 'x-no-pasa-a': ajenos } = ((esquema.properties as Objeto).estado ?? {}) as { 'x-no-pasa-a'?: string[] }
  if (!ajenos) return declaracion
  const menos = ajenos.map((estado) => `'${estado}'`).join(' | ')
  return reemplazar(declaracion, /Cerrado<Estado>/g, `Exclude<Cerrado<Estado>, ${menos}>`)
}

/** Returns the source of `MotivosDeEstado`: the reasons of each state that has reasons, with their meanings. */
function motivosDeEstado(contrato: Objeto): string {
  const motivos = esquemasDe(contrato).Estado?.['x-motivos'] as Record<string, Record<string, Objeto>>
  const miembros = Object.entries(motivos).map(([estado, suyos]) => {
    const lineas = Object.entries(suyos).map(([motivo, { significa }]) => `     * - \`${motivo}\`: ${significa}`)
    return `    /**\n${lineas.join('\n')}\n     */\n    ${estado}: ${Object.keys(suyos)
      .map((motivo) => `'${motivo}'`)
      .join(' | ')};`
  })
  return `/**
 * Los motivos que puede tener cada estado que los lleva.
 */
export interface MotivosDeEstado {
${miembros.join('\n')}
}
`
}

/**
 * Allows `undefined` for optional members, also with `exactOptionalPropertyTypes`. The SDK does not send such members.
 */
const admitirIndefinidos = (tipos: string) => tipos.replace(/^( +\w+\?: (?!never\b)[^{}\n]+);$/gm, '$1 | undefined;')
