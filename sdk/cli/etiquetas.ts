import {
  type EnlaceDeEtiquetas,
  ErrorNoEncontrado,
  ErrorValidacion,
  type Falla,
  type FormatoDeEtiquetas,
  type Guias,
} from '@guias/sdk'
import { descargar, escribirEntero, exigirLibres } from './archivos.ts'
import { leerCodigos, OPCION_DE_CODIGOS } from './codigos.ts'
import { type Contexto, ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { avisar, decir, limpio } from './terminal.ts'

const FORMATOS: readonly FormatoDeEtiquetas[] = ['10x15', 'carta']
/** Maximum number of labels that the service puts in one PDF. */
const POR_ARCHIVO = 100
/** Number of PDFs that are drawn and downloaded at the same time. */
const A_LA_VEZ = 3

export const etiquetas: Orden = {
  resumen: 'descarga las etiquetas de sus guías, en PDF',
  uso: ['etiquetas <guia>… [opciones]', 'etiquetas --archivo pedidos.resultados.csv [opciones]'],
  explica: `Descarga un PDF con una etiqueta por página (10 × 15 cm), en el orden dado. Con
--formato carta van cuatro por hoja carta: imprímalas al 100 %. De más de 100 hace
varios: etiquetas-1.pdf, etiquetas-2.pdf… Deja fuera las guías canceladas, con un
aviso; si una guía no existe no descarga ninguna, y dice cuáles son.`,
  opciones: {
    formato: {
      valor: '<formato>',
      dice: '10x15, de impresora térmica, si falta; carta, cuatro por hoja',
      valores: FORMATOS,
    },
    salida: { valor: '<ruta>', dice: 'dónde escribirlas; etiquetas.pdf si falta, «-» es la salida' },
    forzar: { dice: 'reemplaza los archivos que ya existan' },
    ...OPCION_DE_CODIGOS,
  },
  posicionales: [0, Number.POSITIVE_INFINITY],
  ejemplos: [
    'etiquetas 7K3M9QX2A1B4 --salida - | lp',
    'etiquetas --archivo pedidos.resultados.csv --formato carta',
    'listar --estado aceptado --todas --json | guias etiquetas --archivo -',
  ],
  async ejecutar(contexto) {
    const tandas = enTandas(await leerCodigos(contexto))
    const rutas = nombrar(contexto.texto('salida') ?? 'etiquetas.pdf', tandas.length)
    if (rutas[0] !== '-') exigirLibres(rutas, contexto.si('forzar'), 'dé otro nombre con --salida')
    const pedidas = await pedir(contexto.api(), tandas, rutas, contexto)
    if (!pedidas) return SALIDA.rechazo
    await bajar(pedidas, contexto)
    return SALIDA.bien
  },
}

/** Link to the labels of a group, and the path of its file. */
interface Pedida extends EnlaceDeEtiquetas {
  ruta: string
}

/** Downloads the files, several at the same time, and writes them in order. */
async function bajar(pedidas: readonly Pedida[], { json, signal }: Contexto) {
  const enCamino: Promise<Buffer>[] = []
  const traer = ({ url }: Pedida) => {
    const bajada = descargar(url, 'las etiquetas', signal)
    // A failure is thrown in order, by the loop below. Until then it must not be reported as unhandled.
    bajada.catch(() => {})
    enCamino.push(bajada)
  }
  pedidas.slice(0, A_LA_VEZ).forEach(traer)
  for (const [i, { ruta, guias }] of pedidas.entries()) {
    const pdf = await enCamino.shift()!
    pedidas.slice(i + A_LA_VEZ, i + A_LA_VEZ + 1).forEach(traer)
    if (ruta === '-') {
      process.stdout.write(pdf)
      continue
    }
    await escribirEntero(ruta, pdf)
    const cuantas = guias.length === 1 ? '1 etiqueta' : `${guias.length} etiquetas`
    decir(json ? JSON.stringify({ archivo: ruta, guias }) : `${ruta}  ${cuantas}`)
  }
}

const enTandas = (codigos: readonly string[]) =>
  Array.from({ length: Math.ceil(codigos.length / POR_ARCHIVO) }, (_, i) =>
    codigos.slice(i * POR_ARCHIVO, (i + 1) * POR_ARCHIVO),
  )

function nombrar(salida: string, cuantos: number): string[] {
  if (salida !== '-') {
    return cuantos === 1
      ? [salida]
      : Array.from({ length: cuantos }, (_, i) => salida.replace(/(\.pdf)?$/i, (fin) => `-${i + 1}${fin}`))
  }
  if (cuantos > 1)
    throw new ErrorDeUso(`Por la salida cabe un solo PDF, de ${POR_ARCHIVO} etiquetas: dé un nombre con --salida.`)
  if (process.stdout.isTTY) throw new ErrorDeUso('Un PDF no se ve en la terminal: dé un nombre con --salida.')
  return ['-']
}

/**
 * Requests one link per group of codes, before the service draws any label. Leaves out cancelled guides, with a notice.
 * If another label cannot be made, or no label is left, prints why and returns undefined.
 */
async function pedir(
  { guias }: Guias,
  tandas: readonly string[][],
  rutas: readonly string[],
  contexto: Contexto,
): Promise<Pedida[] | undefined> {
  const { json, signal } = contexto
  const formato = contexto.texto<FormatoDeEtiquetas>('formato')
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
