import { mayuscula } from '../generar/indiceDeOperaciones.ts'
import type { Arbol } from './arbol.ts'

const METODOS = ['get', 'post', 'put', 'patch', 'delete']
const PREFIJOS = { comercios: '/api/v1/', operaciones: '/operaciones/v1/' }
type Documento = keyof typeof PREFIJOS

/** Operation that the contract already has. */
interface Vecina {
  id: string
  metodo: string
  ruta: string
  etiqueta: string
  alcance: string
  bitacora: string
}

/** Path parameter of a new operation. */
export interface ParametroDeRuta {
  nombre: string
  /** Name in `openapi/componentes/parametros/parametros.yaml`; undefined if that file lacks the parameter. */
  componente: string | undefined
  ejemplo: string
}

/** Operation to be written. */
export interface Nueva {
  documento: Documento
  id: string
  metodo: string
  /** Path as in the contract, such as `/api/v1/guias/{guia}/pausar`. */
  ruta: string
  /** Path below the prefix of its document, such as `/guias/{guia}/pausar`. */
  rutaCorta: string
  parametros: readonly ParametroDeRuta[]
  etiqueta: string
  alcance: string
  bitacora: string
  repetible: boolean
  conCuerpo: boolean
  /** False for DELETE, which answers 204. */
  conResultado: boolean
  /** Folder below `server/domain/` and `test/`. */
  carpeta: string
  /** Name of the handler's file without extension. */
  archivo: string
  archivoDePath: string
  prueba: string
  /** Method and path of the operation with the closest path, whose SDK resource gets the new method. */
  vecina: string
}

const esLectura = (metodo: string) => metodo === 'get'

/** Lists the operations of a document, in the order of its paths. */
function operacionesDe(arbol: Arbol, documento: Documento): Vecina[] {
  const raiz = arbol.leer(`openapi/${documento}/openapi.yaml`)
  const rutas = raiz.matchAll(/^ {2}'?(\/[^':]+)'?:\s+(?:\{ )?\$ref: (paths\/[\w-]+\.yaml)/gm)
  return [...rutas].flatMap(([, ruta = '', archivo = '']) =>
    arbol
      .leer(`openapi/${documento}/${archivo}`)
      .split(/^(?=\w+:\n)/m)
      .map((texto) => {
        const uno = (patron: RegExp) => patron.exec(texto)?.[1] ?? ''
        return {
          id: uno(/^ {2}operationId: (\w+)/m),
          metodo: uno(/^(\w+):/),
          ruta,
          etiqueta: uno(/^ {2}tags: \[(.+)\]/m),
          alcance: uno(/^ {4}- llaveDe\w+: \['(.+)'\]/m),
          bitacora: uno(/^ {2}x-bitacora: (\w+)/m),
        }
      }),
  )
}

/**
 * Orders operations by the closeness of their path, and then by their kind (read or write). Leaves out operations whose
 * first path segment after the prefix is different.
 */
function vecinasDe(todas: readonly Vecina[], ruta: string, metodo: string): Vecina[] {
  const partes = ruta.split('/')
  const cercania = (una: Vecina) => {
    const suyas = una.ruta.split('/')
    const distinta = suyas.findIndex((parte, i) => parte !== partes[i])
    const comunes = distinta < 0 ? suyas.length : distinta
    return comunes * 4 + (distinta < 0 ? 2 : 0) + (esLectura(una.metodo) === esLectura(metodo) ? 1 : 0)
  }
  // A close path shares at least the first segment after the prefix. All paths share the empty text before the first
  // slash and the two segments of the prefix.
  const minima = 4 * 4
  return todas.filter((una) => cercania(una) >= minima).sort((a, b) => cercania(b) - cercania(a))
}

function parametrosDe(arbol: Arbol, ruta: string): ParametroDeRuta[] {
  const componentes = arbol.leer('openapi/componentes/parametros/parametros.yaml').split(/^(?=\w+:\n)/m)
  return [...ruta.matchAll(/\{(\w+)\}/g)].map(([, nombre = '']) => {
    const suyo = componentes.find((uno) => uno.includes(`  name: ${nombre}\n  in: path\n`))
    return {
      nombre,
      componente: suyo && /^(\w+):/m.exec(suyo)?.[1],
      ejemplo: (suyo && /^ {2}example: (.+)$/m.exec(suyo)?.[1]) ?? `${nombre}_1`,
    }
  })
}

/**
 * Reads the arguments of the command.
 * @throws if one is wrong, or if no operation shares the first part of the path
 */
export function leerOperacion(arbol: Arbol, args: readonly string[]): Nueva {
  const [documento = '', id = '', metodoDado = '', ruta = ''] = args
  const metodo = metodoDado.toLowerCase()
  if (args.length !== 4) throw new Error('Usage: npm run nueva -- <documento> <operationId> <método> <ruta>')
  if (documento !== 'comercios' && documento !== 'operaciones')
    throw new Error(`${documento} is neither comercios nor operaciones; operations of publico differ too much`)
  if (!/^[a-z]+[A-Z]\w*$/.test(id)) throw new Error(`${id} is not an operationId such as cancelarGuia`)
  if (!METODOS.includes(metodo)) throw new Error(`${metodoDado} is none of ${METODOS.join(', ')}`)
  const prefijo = PREFIJOS[documento]
  if (!ruta.startsWith(prefijo) || !/^(?:\/(?:[a-z0-9-]+|\{[a-z_]+\}))+$/.test(ruta))
    throw new Error(`${ruta} is not a path such as ${prefijo}guias/{guia}/cancelar`)
  const todas = operacionesDe(arbol, documento)
  if (new RegExp(`^ {2}${id},$`, 'm').test(arbol.leer('server/startup/handlers.ts'))) throw new Error(`${id} exists`)
  if (todas.some((una) => una.ruta === ruta && una.metodo === metodo)) throw new Error(`${metodo} ${ruta} exists`)

  const vecinas = vecinasDe(todas, ruta, metodo)
  const [vecina] = vecinas
  if (!vecina) throw new Error(`No operation is below ${prefijo}${ruta.slice(prefijo.length).split('/')[0]} yet`)
  const deSuClase = vecinas.find((una) => esLectura(una.metodo) === esLectura(metodo) && una.alcance) ?? vecina
  const importada = new RegExp(`import \\{ ${vecina.id} \\} from '\\.\\./domain/(\\w+)/`)
  const carpeta = importada.exec(arbol.leer('server/startup/handlers.ts'))?.[1]
  if (!carpeta) throw new Error(`server/startup/handlers.ts does not import ${vecina.id}`)
  const verbo = /^[a-z]+/.exec(id)?.[0] ?? id
  const libre =
    !arbol.existe(`server/domain/${carpeta}/${verbo}.ts`) && !arbol.existe(`test/${carpeta}/${verbo}.test.ts`)
  const archivo = libre ? verbo : id
  return {
    documento,
    id,
    metodo,
    ruta,
    rutaCorta: ruta.slice(prefijo.length - 1),
    parametros: parametrosDe(arbol, ruta),
    etiqueta: vecina.etiqueta,
    alcance: deSuClase.alcance,
    bitacora: deSuClase.bitacora,
    repetible: ['get', 'put', 'delete'].includes(metodo),
    conCuerpo: ['post', 'put', 'patch'].includes(metodo),
    conResultado: metodo !== 'delete',
    carpeta,
    archivo,
    archivoDePath: `${ruta.slice(prefijo.length).replaceAll('/', '_').replace(/[{}]/g, '')}.yaml`,
    prueba: `test/${carpeta}/${archivo}.test.ts`,
    vecina: comoLlamada(vecina.metodo, vecina.ruta.slice(prefijo.length - 1)),
  }
}

/** Returns an operation as the SDK calls it: `POST /guias/{guia}/pausar`. */
export const comoLlamada = (metodo: string, rutaCorta: string) => `${metodo.toUpperCase()} ${rutaCorta}`
/** Returns the name of the schema of an operation's answer. */
export const resultadoDe = ({ id }: Nueva) => `ResultadoDe${mayuscula(id)}`
/** Returns the name of the schema of an operation's body. */
export const esquemaDeDatos = ({ id }: Nueva) => `DatosDe${mayuscula(id)}`
