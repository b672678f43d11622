import { type EnlaceDeEtiquetas, ErrorValidacion, type FormatoDeEtiquetas, type Guias } from '@guias/sdk'
import { descargar, escribirEntero, exigirLibres } from './archivos.ts'
import { leerCodigos, OPCION_DE_CODIGOS } from './codigos.ts'
import { type Contexto, ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { avisar, decir, limpio } from './terminal.ts'

const FORMATOS: readonly FormatoDeEtiquetas[] = ['10x15', 'carta']
/** Maximum number of labels that the service puts in one PDF. */
const POR_ARCHIVO = 100

export const etiquetas: Orden = {
  resumen: 'descarga las etiquetas de sus guías, en PDF',
  uso: ['etiquetas <guia>… [opciones]', 'etiquetas --archivo pedidos.resultados.csv [opciones]'],
  explica: `Descarga un PDF con una etiqueta por página (10 × 15 cm), en el orden dado. Con
--formato carta van cuatro por hoja carta: imprímalas al 100 %. De más de 100 hace
varios: etiquetas-1.pdf, etiquetas-2.pdf… Si una guía no existe o está cancelada
no descarga ninguna, y dice cuáles son.`,
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
    const codigos = await leerCodigos(contexto)
    const tandas = Array.from({ length: Math.ceil(codigos.length / POR_ARCHIVO) }, (_, i) =>
      codigos.slice(i * POR_ARCHIVO, (i + 1) * POR_ARCHIVO),
    )
    const rutas = nombrar(contexto.texto('salida') ?? 'etiquetas.pdf', tandas.length)
    const aLaSalida = rutas[0] === '-'
    if (!aLaSalida) exigirLibres(rutas, contexto.si('forzar'), 'dé otro nombre con --salida')
    const enlaces = await pedir(contexto.api(), tandas, contexto)
    if (!enlaces) return SALIDA.rechazo
    for (const [i, { url, guias }] of enlaces.entries()) {
      const pdf = await descargar(url, 'las etiquetas', contexto.signal)
      if (aLaSalida) {
        process.stdout.write(pdf)
        continue
      }
      await escribirEntero(rutas[i]!, pdf)
      const cuantas = guias.length === 1 ? '1 etiqueta' : `${guias.length} etiquetas`
      decir(contexto.json ? JSON.stringify({ archivo: rutas[i], guias }) : `${rutas[i]}  ${cuantas}`)
    }
    return SALIDA.bien
  },
}

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
 * Requests one link per group of codes. If any label cannot be made, prints each guide that failed and returns
 * undefined.
 */
async function pedir(
  { guias }: Guias,
  tandas: string[][],
  contexto: Contexto,
): Promise<EnlaceDeEtiquetas[] | undefined> {
  const enlaces: EnlaceDeEtiquetas[] = []
  const formato = contexto.texto<FormatoDeEtiquetas>('formato')
  let fallidas = 0
  for (const codigos of tandas) {
    try {
      enlaces.push(await guias.etiquetas(codigos, { formato, signal: contexto.signal }))
    } catch (error) {
      const suyas =
        error instanceof ErrorValidacion ? error.errores.map((una) => [cual(una.campo, codigos), una] as const) : []
      if (suyas.length === 0 || suyas.some(([codigo]) => codigo === undefined)) throw error
      fallidas += suyas.length
      for (const [guia = '', { codigo, mensaje }] of suyas) {
        avisar(contexto.json ? JSON.stringify({ guia, codigo, mensaje }) : `${limpio(guia)}  ${limpio(mensaje)}`)
      }
    }
  }
  if (fallidas === 0) return enlaces
  if (!contexto.json)
    avisar(
      `No se descargó ninguna etiqueta: quite ${fallidas === 1 ? 'esa guía' : `esas ${fallidas} guías`} y repita la orden.`,
    )
  return undefined
}

const cual = (campo: string, codigos: string[]) => codigos[Number(/^\/guias\/(\d+)$/.exec(campo)?.[1])]
