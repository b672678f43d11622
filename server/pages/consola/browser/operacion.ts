/** Types of the console's operations, and pure functions that make requests from the form. */

export interface ConsoleParameter {
  nombre: string
  en: 'ruta' | 'consulta' | 'cabecera'
  obligatorio: boolean
  ejemplo: string
  descripcion: string
}
export interface Ejemplo {
  nombre: string
  cuerpo: string
}
export interface OperacionDeConsola {
  id: string
  grupo: string
  metodo: string
  /** Path as the contract writes it: `/api/v1/guias/{guia}`. */
  ruta: string
  resumen: string
  /** Place of the operation in the documentation: the part of its address after `#`. */
  lugar: string
  conLlave: boolean
  parametros: ConsoleParameter[]
  ejemplos: Ejemplo[]
}

/**
 * Returns the reason why the console refuses a key; undefined if the key may be used. An empty key is allowed, because
 * the service's response says that the key is missing.
 */
export function reparoDeLlave(llave: string): string | undefined {
  if (llave === '' || llave.startsWith('guia_test_')) return undefined
  if (llave.startsWith('guia_live_')) {
    return 'Esa es una llave real: con ella se avisaría a destinatarios y se movería paquetes de verdad. Use una de prueba (guia_test_…).'
  }
  if (llave.startsWith('guia_oper_')) return 'Esa llave es de quien opera el servicio. Use una de prueba (guia_test_…).'
  return 'Eso no es una llave de prueba: empiezan con guia_test_.'
}

/** Returns the path and query that the form's values make. Empty values are left out of the query. */
export function armarRuta({ ruta, parametros }: OperacionDeConsola, valores: ReadonlyMap<string, string>): string {
  const camino = ruta.replace(/\{(\w+)\}/g, (_, nombre: string) => encodeURIComponent(valores.get(nombre) ?? ''))
  const consulta = parametros
    .filter(({ nombre, en }) => en === 'consulta' && valores.get(nombre))
    .map(({ nombre }): [string, string] => [nombre, valores.get(nombre)!])
  return consulta.length > 0 ? `${camino}?${new URLSearchParams(consulta)}` : camino
}

/** Returns the headers that the form's values make. Empty values are left out. */
export const cabecerasDe = (
  { parametros }: OperacionDeConsola,
  valores: ReadonlyMap<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    parametros.flatMap(({ nombre, en }) => {
      const valor = en === 'cabecera' && valores.get(nombre)
      return valor ? [[nombre, valor]] : []
    }),
  )

const entreComillas = (texto: string) => `'${texto.replaceAll("'", `'\\''`)}'`

/** Returns the request as a `curl` command. The command reads the key from `$GUIAS_LLAVE` and never contains it. */
export function comoCurl(
  operacion: OperacionDeConsola,
  url: string,
  cabeceras: Readonly<Record<string, string>>,
  cuerpo: string | undefined,
): string {
  return [
    `curl ${operacion.metodo === 'GET' ? '' : `-X ${operacion.metodo} `}${entreComillas(url)}`,
    ...(operacion.conLlave ? ['-H "Authorization: Bearer $GUIAS_LLAVE"'] : []),
    ...Object.entries(cabeceras).map((una) => `-H ${entreComillas(una.join(': '))}`),
    ...(cuerpo === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${entreComillas(cuerpo)}`]),
  ].join(' \\\n  ')
}

/**
 * Returns the identifiers in a response, such as `guia`, to fill in the fields of the next operation. The first of each
 * name counts. Objects more than 3 levels below the root are not searched.
 */
export function identificadoresDe(respuesta: unknown): Map<string, string> {
  const hallados = new Map<string, string>()
  const mirar = (valor: unknown, hondo: number) => {
    if (valor === null || typeof valor !== 'object' || hondo > 3) return
    for (const [clave, uno] of Object.entries(valor)) {
      if (
        typeof uno === 'string' &&
        ['guia', 'webhook', 'aviso', 'recuperacion'].includes(clave) &&
        !hallados.has(clave)
      ) {
        hallados.set(clave, uno)
      } else mirar(uno, hondo + 1)
    }
  }
  mirar(respuesta, 0)
  return hallados
}
