import {
  type EnlaceDeEtiquetas,
  ErrorNoEncontrado,
  ErrorValidacion,
  type Falla,
  type FormatoDeEtiquetas,
  type Guias,
  type PuntosPorPulgada,
} from '@guias/sdk'
import { CODE_PATTERN, CODES_OPTION, readCodes } from '../codigos.ts'
import { type CliCommand, type Context, EXIT_CODE, UsageError } from '../command.ts'
import { download, requireFreePaths, writeFileAtomically } from '../files.ts'
import { findByReference } from '../guiaOrReference.ts'
import { notify, printLine, sanitize } from '../terminal.ts'

const FORMATS: readonly (FormatoDeEtiquetas | 'zpl')[] = ['10x15', 'carta', 'zpl']
const DENSITIES: readonly `${PuntosPorPulgada}`[] = ['203', '300']
/** Maximum number of labels that the service puts in one file. */
const ETIQUETAS_PER_FILE = 100
/** Number of files that are drawn and downloaded at the same time. */
const CONCURRENT_FILES = 3

export const etiquetas: CliCommand = {
  summary: 'descarga las etiquetas de sus guías, en PDF o en ZPL',
  usage: ['etiquetas <guia>… [opciones]', 'etiquetas --archivo pedidos.resultados.csv [opciones]'],
  explanation: `Descarga un PDF con una etiqueta por página (10 × 15 cm), en el orden dado. Con
--formato carta van cuatro por hoja carta: imprímalas al 100 %. Con --formato zpl
escribe las órdenes para una impresora de etiquetas, que se le envían tal cual. De
más de 100 hace varios archivos: etiquetas-1.pdf, etiquetas-2.pdf… Deja fuera las
guías canceladas, con un aviso; si una guía no existe no descarga ninguna, y dice
cuáles son.`,
  options: {
    formato: {
      placeholder: '<formato>',
      description: '10x15, en PDF, si falta; carta, cuatro por hoja; zpl, para la impresora',
      values: FORMATS,
    },
    ppp: {
      placeholder: '<n>',
      description: 'puntos por pulgada de la impresora, con --formato zpl: 203 si falta, o 300',
      values: DENSITIES,
    },
    salida: {
      placeholder: '<ruta>',
      description: 'dónde escribirlas; etiquetas.pdf o .zpl si falta, «-» es la salida',
    },
    forzar: { description: 'reemplaza los archivos que ya existan' },
    ...CODES_OPTION,
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  examples: [
    'etiquetas 7K3M9QX2A1B4 --salida - | lp',
    'etiquetas --archivo pedidos.resultados.csv --formato carta',
    'etiquetas 7K3M9QX2A1B4 --formato zpl --ppp 300 --salida - | lp -o raw',
    'listar --estado aceptado --todas --json | guias etiquetas --archivo -',
  ],
  async run(context) {
    const paperOptions = readPaperOptions(context)
    const batches = splitIntoBatches(await readCodes(context))
    const type = paperOptions.ppp ? 'zpl' : 'pdf'
    const paths = nameFiles(context.texto('salida') ?? `etiquetas.${type}`, batches.length, type)
    if (paths[0] !== '-') requireFreePaths(paths, context.isSet('forzar'), 'dé otro nombre con --salida')
    const etiquetasFiles = await requestFiles(context.api(), batches, paths, paperOptions, context)
    if (!etiquetasFiles) return EXIT_CODE.refused
    await downloadFiles(etiquetasFiles, paperOptions, context)
    return EXIT_CODE.ok
  },
}

/** Paper of a PDF, or density of a ZPL file in dots per inch. */
interface PaperOptions {
  formato?: FormatoDeEtiquetas | undefined
  ppp?: PuntosPorPulgada | undefined
}

/**
 * Reads the options `--formato` and `--ppp`.
 *
 * @throws UsageError if a value is unknown, or if a PDF has `--ppp`
 */
function readPaperOptions({ texto }: Context): PaperOptions {
  const [format, ppp] = [texto('formato'), texto('ppp')]
  const paperFormat = FORMATS.find((knownFormat) => knownFormat === format)
  if (format !== undefined && !paperFormat)
    throw new UsageError(`--formato debe ser uno de: ${FORMATS.join(', ')}, y llegó «${sanitize(format)}».`)
  if (paperFormat !== 'zpl') {
    if (ppp !== undefined) throw new UsageError('--ppp es de las etiquetas en ZPL: va con --formato zpl.')
    return { formato: paperFormat }
  }
  const density = DENSITIES.find((knownDensity) => knownDensity === (ppp ?? DENSITIES[0]))
  if (!density) throw new UsageError(`--ppp debe ser ${DENSITIES.join(' o ')}, y llegó «${sanitize(ppp!)}».`)
  return { ppp: Number(density) as PuntosPorPulgada }
}

/** Link to the labels of a group, and the path of its file. */
interface EtiquetasFile extends EnlaceDeEtiquetas {
  path: string
}

/** Downloads the files, several at the same time, and writes them in order. */
async function downloadFiles(etiquetasFiles: readonly EtiquetasFile[], { ppp }: PaperOptions, context: Context) {
  const { json, signal } = context
  const { guias: api } = context.api()
  const inFlight: Promise<Uint8Array>[] = []
  const startDownload = ({ url, guias }: EtiquetasFile) => {
    const pendingPdf = ppp ? api.etiquetaZpl(guias, { ppp, signal }) : download(url, 'las etiquetas', signal)
    // A failure is thrown in order, by the loop below. Until then it must not be reported as unhandled.
    pendingPdf.catch(() => {})
    inFlight.push(pendingPdf)
  }
  etiquetasFiles.slice(0, CONCURRENT_FILES).forEach(startDownload)
  for (const [i, { path, guias }] of etiquetasFiles.entries()) {
    const bytes = await inFlight.shift()!
    etiquetasFiles.slice(i + CONCURRENT_FILES, i + CONCURRENT_FILES + 1).forEach(startDownload)
    if (path === '-') {
      process.stdout.write(bytes)
      continue
    }
    await writeFileAtomically(path, bytes)
    const countText = guias.length === 1 ? '1 etiqueta' : `${guias.length} etiquetas`
    printLine(json ? JSON.stringify({ archivo: path, guias }) : `${path}  ${countText}`)
  }
}

const splitIntoBatches = (codes: readonly string[]) =>
  Array.from({ length: Math.ceil(codes.length / ETIQUETAS_PER_FILE) }, (_, i) =>
    codes.slice(i * ETIQUETAS_PER_FILE, (i + 1) * ETIQUETAS_PER_FILE),
  )

function nameFiles(output: string, fileCount: number, type: 'pdf' | 'zpl'): string[] {
  if (output !== '-') {
    return fileCount === 1
      ? [output]
      : Array.from({ length: fileCount }, (_, i) =>
          output.replace(/(\.pdf|\.zpl)?$/i, (extension) => `-${i + 1}${extension}`),
        )
  }
  // Printers take one ZPL file after another; two PDFs in a row are no PDF.
  if (fileCount > 1 && type === 'pdf')
    throw new UsageError(
      `Por la salida cabe un solo PDF, de ${ETIQUETAS_PER_FILE} etiquetas: dé un nombre con --salida.`,
    )
  if (process.stdout.isTTY)
    throw new UsageError(
      `Un ${type.toUpperCase()} no se ve en la terminal: dé un nombre con --salida${type === 'zpl' ? ', o envíelo a la impresora con | lp -o raw' : ''}.`,
    )
  return Array.from({ length: fileCount }, () => '-')
}

/**
 * Requests one link per group of codes, before the service draws any label. A text that is no code may be a reference.
 * Leaves out cancelled guides, with a notice.
 * If another label cannot be made, or no label is left, prints why and returns undefined.
 */
async function requestFiles(
  { guias }: Guias,
  batches: readonly string[][],
  paths: readonly string[],
  { formato }: PaperOptions,
  context: Context,
): Promise<EtiquetasFile[] | undefined> {
  const { json, signal } = context
  const etiquetasFiles: EtiquetasFile[] = []
  let fallidas = 0
  for (const [i, batch] of batches.entries()) {
    for (let codes = batch; codes.length > 0; ) {
      const { enlace, rejected } = await tryRequest(() => guias.etiquetas(codes, { formato, signal }), codes)
      if (enlace) etiquetasFiles.push({ ...enlace, path: paths[i]! })
      const codesByReference = new Map<string, string>()
      for (const [guia, { codigo, mensaje }] of rejected) {
        const cancelada = await isCancelled(guias, guia, signal)
        const code = cancelada ? undefined : await findByReference(guias, guia, signal)
        if (code !== undefined) {
          codesByReference.set(guia, code)
          continue
        }
        if (!cancelada) fallidas++
        const reason = CODE_PATTERN.test(guia) ? mensaje : 'no es el código ni la referencia de ninguna guía suya'
        const notice = cancelada ? 'está cancelada: se deja fuera' : reason
        const enJson = { guia, codigo: cancelada ? 'guia_cancelada' : codigo, mensaje: notice }
        notify(json ? JSON.stringify(enJson) : `${sanitize(guia)}  ${sanitize(notice)}`)
      }
      codes = enlace ? [] : codes.flatMap((code) => codesByReference.get(code) ?? (rejected.has(code) ? [] : code))
    }
  }
  if (fallidas === 0 && etiquetasFiles.length > 0) return etiquetasFiles
  const failedGuiasText = fallidas === 1 ? 'esa guía' : `esas ${fallidas} guías`
  const reason = fallidas > 0 ? `quite ${failedGuiasText} y repita la orden` : 'todas están canceladas'
  if (!json) notify(`No se descargó ninguna etiqueta: ${reason}.`)
  return undefined
}

/**
 * Requests a link, or returns the codes that the service refused, each with its fault.
 *
 * @throws every other error
 */
async function tryRequest(sendRequest: () => PromiseLike<EnlaceDeEtiquetas>, codes: readonly string[]) {
  const rejected = new Map<string, Falla>()
  try {
    return { enlace: await sendRequest(), rejected }
  } catch (error) {
    for (const fault of error instanceof ErrorValidacion ? error.errores : []) {
      const code = codes[Number(/^\/guias\/(\d+)$/.exec(fault.campo)?.[1])]
      if (code === undefined) throw error
      rejected.set(code, fault)
    }
    if (rejected.size === 0) throw error
    return { enlace: undefined, rejected }
  }
}

async function isCancelled(guias: Guias['guias'], code: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await guias.obtener(code, { limite: 1, signal })).estado === 'cancelado'
  } catch (error) {
    if (error instanceof ErrorNoEncontrado) return false
    throw error
  }
}
