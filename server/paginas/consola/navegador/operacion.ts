/** An operation as the console knows it, and the request that its form makes: pure. */

export interface Parametro {
  nombre: string
  en: 'ruta' | 'consulta'
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
  /** As the contract writes it: `/api/v1/guias/{guia}`. */
  ruta: string
  resumen: string
  /** Where the documentation tells it, behind `#`. */
  lugar: string
  conLlave: boolean
  parametros: Parametro[]
  ejemplos: Ejemplo[]
}

/** What a key is refused for; nothing if it may be used. Without one the service says itself what is missing. */
export function reparoDeLlave(llave: string): string | undefined {
  if (llave === '' || llave.startsWith('guia_test_')) return undefined
  if (llave.startsWith('guia_live_')) {
    return 'Esa es una llave real: con ella se avisaría a destinatarios y se movería paquetes de verdad. Use una de prueba (guia_test_…).'
  }
  if (llave.startsWith('guia_oper_')) return 'Esa llave es de quien opera el servicio. Use una de prueba (guia_test_…).'
  return 'Eso no es una llave de prueba: empiezan con guia_test_.'
}

/** The address that the form's values make; what is empty is left out of the query. */
export function armarRuta({ ruta, parametros }: OperacionDeConsola, valores: ReadonlyMap<string, string>): string {
  const camino = ruta.replace(/\{(\w+)\}/g, (_, nombre: string) => encodeURIComponent(valores.get(nombre) ?? ''))
  const consulta = parametros
    .filter(({ nombre, en }) => en === 'consulta' && valores.get(nombre))
    .map(({ nombre }): [string, string] => [nombre, valores.get(nombre)!])
  return consulta.length > 0 ? `${camino}?${new URLSearchParams(consulta)}` : camino
}

const entreComillas = (texto: string) => `'${texto.replaceAll("'", `'\\''`)}'`

/** The same request for a terminal; the key stays out of it. */
export function comoCurl(operacion: OperacionDeConsola, url: string, cuerpo: string | undefined): string {
  return [
    `curl ${operacion.metodo === 'GET' ? '' : `-X ${operacion.metodo} `}${entreComillas(url)}`,
    ...(operacion.conLlave ? ['-H "Authorization: Bearer $GUIAS_LLAVE"'] : []),
    ...(cuerpo === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${entreComillas(cuerpo)}`]),
  ].join(' \\\n  ')
}

/** Identifiers that answers bring, such as `guia`: the next operation is asked for what was made last. */
export function identificadoresDe(respuesta: unknown): Map<string, string> {
  const hallados = new Map<string, string>()
  const mirar = (valor: unknown, hondo: number) => {
    if (valor === null || typeof valor !== 'object' || hondo > 3) return
    for (const [clave, uno] of Object.entries(valor)) {
      if (
        typeof uno === 'string' &&
        ['guia', 'webhook', 'entrega', 'recuperacion'].includes(clave) &&
        !hallados.has(clave)
      ) {
        hallados.set(clave, uno)
      } else mirar(uno, hondo + 1)
    }
  }
  mirar(respuesta, 0)
  return hallados
}
