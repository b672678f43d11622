import {
  type EnlaceDeEtiquetas,
  ErrorNoEncontrado,
  ErrorValidacion,
  type Falla,
  type FormatoDeEtiquetas,
  type Guias,
  type PuntosPorPulgada,
} from '@guias/sdk'
import { descargar, escribirEntero, exigirLibres } from './archivos.ts'
import { leerCodigos, OPCION_DE_CODIGOS } from './codigos.ts'
import { type Contexto, ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { avisar, decir, limpio } from './terminal.ts'

const FORMATOS: readonly (FormatoDeEtiquetas | 'zpl')[] = ['10x15', 'carta', 'zpl']
const DENSIDADES: readonly `${PuntosPorPulgada}`[] = ['203', '300']
/** Maximum number of labels that the service puts in one file. */
const POR_ARCHIVO = 100
/** Number of files that are drawn and downloaded at the same time. */
const A_LA_VEZ = 3

export const etiquetas: Orden = {
  resumen: 'descarga las etiquetas de sus guías, en PDF o en ZPL',
  uso: ['etiquetas <guia>… [opciones]', 'etiquetas --archivo pedidos.resultados.csv [opciones]'],
  explica: `Descarga un PDF con una etiqueta por página (10 × 15 cm), en el orden dado. Con
--formato carta van cuatro por hoja carta: imprímalas al 100 %. Con --formato zpl
escribe las órdenes para una impresora de etiquetas, que se le envían tal cual. De
más de 100 hace varios archivos: etiquetas-1.pdf, etiquetas-2.pdf… Deja fuera las
guías canceladas, con un aviso; si una guía no existe no descarga ninguna, y dice
cuáles son.`,
  opciones: {
    formato: {
      valor: '<formato>',
      dice: '10x15, en PDF, si falta; carta, cuatro por hoja; zpl, para la impresora',
      valores: FORMATOS,
    },
    ppp: {
      valor: '<n>',
      dice: 'puntos por pulgada de la impresora, con --formato zpl: 203 si falta, o 300',
      valores: DENSIDADES,
    },
    salida: { valor: '<ruta>', dice: 'dónde escribirlas; etiquetas.pdf o .zpl si falta, «-» es la salida' },
    forzar: { dice: 'reemplaza los archivos que ya existan' },
    ...OPCION_DE_CODIGOS,
  },
  posicionales: [0, Number.POSITIVE_INFINITY],
  ejemplos: [
    'etiquetas 7K3M9QX2A1B4 --salida - | lp',
    'etiquetas --archivo pedidos.resultados.csv --formato carta',
    'etiquetas 7K3M9QX2A1B4 --formato zpl --ppp 300 --salida - | lp -o raw',
    'listar --estado aceptado --todas --json | guias etiquetas --archivo -',
  ],
  async ejecutar(contexto) {
    const papel = leerPapel(contexto)
    const tandas = enTandas(await leerCodigos(contexto))
    const tipo = papel.ppp ? 'zpl' : 'pdf'
    const rutas = nombrar(contexto.texto('salida') ?? `etiquetas.${tipo}`, tandas.length, tipo)
    if (rutas[0] !== '-') exigirLibres(rutas, contexto.si('forzar'), 'dé otro nombre con --salida')
    const pedidas = await pedir(contexto.api(), tandas, rutas, papel, contexto)
    if (!pedidas) return SALIDA.rechazo
    await bajar(pedidas, papel, contexto)
    return SALIDA.bien
  },
}

/** Paper of a PDF, or density of a ZPL file in dots per inch. */
interface Papel {
  formato?: FormatoDeEtiquetas | undefined
  ppp?: PuntosPorPulgada | undefined
}

/**
 * Reads the options `--formato` and `--ppp`.
 *
 * @throws ErrorDeUso if a value is unknown, or if a PDF has `--ppp`
 */
function leerPapel({ texto }: Contexto): Papel {
  const [formato, ppp] = [texto('formato'), texto('ppp')]
  const uno = FORMATOS.find((conocido) => conocido === formato)
  if (formato !== undefined && !uno)
    throw new ErrorDeUso(`--formato debe ser uno de: ${FORMATOS.join(', ')}, y llegó «${limpio(formato)}».`)
  if (uno !== 'zpl') {
    if (ppp !== undefined) throw new ErrorDeUso('--ppp es de las etiquetas en ZPL: va con --formato zpl.')
    return { formato: uno }
  }
  const densidad = DENSIDADES.find((conocida) => conocida === (ppp ?? DENSIDADES[0]))
  if (!densidad) throw new ErrorDeUso(`--ppp debe ser ${DENSIDADES.join(' o ')}, y llegó «${limpio(ppp!)}».`)
  return { ppp: Number(densidad) as PuntosPorPulgada }
}

/** Link to the labels of a group, and the path of its file. */
interface Pedida extends EnlaceDeEtiquetas {
  ruta: string
}

/** Downloads the files, several at the same time, and writes them in order. */
async function bajar(pedidas: readonly Pedida[], { ppp }: Papel, contexto: Contexto) {
  const { json, signal } = contexto
  const { guias: api } = contexto.api()
  const enCamino: Promise<Uint8Array>[] = []
  const traer = ({ url, guias }: Pedida) => {
    const bajada = ppp ? api.etiquetaZpl(guias, { ppp, signal }) : descargar(url, 'las etiquetas', signal)
    // A failure is thrown in order, by the loop below. Until then it must not be reported as unhandled.
    bajada.catch(() => {})
    enCamino.push(bajada)
  }
  pedidas.slice(0, A_LA_VEZ).forEach(traer)
  for (const [i, { ruta, guias }] of pedidas.entries()) {
    const bytes = await enCamino.shift()!
    pedidas.slice(i + A_LA_VEZ, i + A_LA_VEZ + 1).forEach(traer)
    if (ruta === '-') {
      process.stdout.write(bytes)
      continue
    }
    await escribirEntero(ruta, bytes)
    const cuantas = guias.length === 1 ? '1 etiqueta' : `${guias.length} etiquetas`
    decir(json ? JSON.stringify({ archivo: ruta, guias }) : `${ruta}  ${cuantas}`)
  }
}

const enTandas = (codigos: readonly string[]) =>
  Array.from({ length: Math.ceil(codigos.length / POR_ARCHIVO) }, (_, i) =>
    codigos.slice(i * POR_ARCHIVO, (i + 1) * POR_ARCHIVO),
  )

function nombrar(salida: string, cuantos: number, tipo: 'pdf' | 'zpl'): string[] {
  if (salida !== '-') {
    return cuantos === 1
      ? [salida]
      : Array.from({ length: cuantos }, (_, i) => salida.replace(/(\.pdf|\.zpl)?$/i, (fin) => `-${i + 1}${fin}`))
  }
  // Printers take one ZPL file after another; two PDFs in a row are no PDF.
  if (cuantos > 1 && tipo === 'pdf')
    throw new ErrorDeUso(`Por la salida cabe un solo PDF, de ${POR_ARCHIVO} etiquetas: dé un nombre con --salida.`)
  if (process.stdout.isTTY)
    throw new ErrorDeUso(
      `Un ${tipo.toUpperCase()} no se ve en la terminal: dé un nombre con --salida${tipo === 'zpl' ? ', o envíelo a la impresora con | lp -o raw' : ''}.`,
    )
  return Array.from({ length: cuantos }, () => '-')
}

/**
 * Requests one link per group of codes, before the service draws any label. Leaves out cancelled guides, with a notice.
 * If another label cannot be made, or no label is left, prints why and returns undefined.
 */
async function pedir(
  { guias }: Guias,
  tandas: readonly string[][],
  rutas: readonly string[],
  { formato }: Papel,
  contexto: Contexto,
): Promise<Pedida[] | undefined> {
  const { json, signal } = contexto
  const pedidas: Pedida[] = []
  let fallidas = 0
  for (const [i, tanda] of tandas.entries()) {
    for (let codigos = tanda; codigos.length > 0; ) {
      const { enlace, malas } = await intentar(() => guias.etiquetas(codigos, { formato, signal }), codigos)
      if (enlace) pedidas.push({ ...enlace, ruta: rutas[i]! })
      for (const [guia, { codigo, mensaje }] of malas) {
        const cancelada = await estaCancelada(guias, guia, signal)
        if (!cancelada) fallidas++
        const dicho = cancelada ? 'está cancelada: se deja fuera' : mensaje
        const enJson = cancelada ? { guia, codigo: 'guia_cancelada', mensaje: dicho } : { guia, codigo, mensaje }
        avisar(json ? JSON.stringify(enJson) : `${limpio(guia)}  ${limpio(dicho)}`)
      }
      codigos = enlace ? [] : codigos.filter((uno) => !malas.has(uno))
    }
  }
  if (fallidas === 0 && pedidas.length > 0) return pedidas
  const esas = fallidas === 1 ? 'esa guía' : `esas ${fallidas} guías`
  const porQue = fallidas > 0 ? `quite ${esas} y repita la orden` : 'todas están canceladas'
  if (!json) avisar(`No se descargó ninguna etiqueta: ${porQue}.`)
  return undefined
}

/**
 * Requests a link, or returns the codes that the service refused, each with its fault.
 *
 * @throws every other error
 */
async function intentar(pedirlo: () => PromiseLike<EnlaceDeEtiquetas>, codigos: readonly string[]) {
  const malas = new Map<string, Falla>()
  try {
    return { enlace: await pedirlo(), malas }
  } catch (error) {
    for (const falla of error instanceof ErrorValidacion ? error.errores : []) {
      const codigo = codigos[Number(/^\/guias\/(\d+)$/.exec(falla.campo)?.[1])]
      if (codigo === undefined) throw error
      malas.set(codigo, falla)
    }
    if (malas.size === 0) throw error
    return { enlace: undefined, malas }
  }
}

async function estaCancelada(guias: Guias['guias'], codigo: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await guias.obtener(codigo, { limite: 1, signal })).estado === 'cancelado'
  } catch (error) {
    if (error instanceof ErrorNoEncontrado) return false
    throw error
  }
}
