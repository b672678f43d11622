import { closeSync, openSync, writeSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import {
  type AvanceDeMuchas,
  ErrorAbortado,
  ErrorAlcance,
  ErrorApi,
  ErrorConflicto,
  ErrorNoAutenticado,
  type ResultadoDeMuchas,
} from '@guias/sdk'
import { COLUMNAS, escribirCsv, type FallaDeFila, leerRecogida } from '@guias/sdk/hoja'
import { isOfEndedGuide } from '../../src/endedGuide.ts'
import { formatAdvertencia } from '../advertencias.ts'
import { type BatchEntry, FAILURES, type Origen, openLote, ROW_NUMBER, readFileSize, VALUES } from '../batchFile.ts'
import { explainSystemError } from '../cause.ts'
import { type CliCommand, type Context, EXIT_CODE, readIntegerOption, UsageError } from '../command.ts'
import { formatFailure, nameField } from '../errors.ts'
import { buildCountryOption, optionNameOf, RECOGIDA_OPTIONS, setTelefono } from '../fields.ts'
import { MessageGroups } from '../groups.ts'
import { HELP_WIDTH, wrap } from '../help.ts'
import { createProgress, notify, paintNotice, printLine, sanitize } from '../terminal.ts'

/**
 * Retries of each request, in total about half a minute. A batch can wait that long for a temporary failure to pass.
 */
const MAX_RETRIES = 8

/** Consecutive temporary failures after which the batch stops. Otherwise the remaining guides would fail for hours. */
const MAX_CONSECUTIVE_FAILURES = 300

const OPTIONAL_COLUMNS = COLUMNAS.filter((column) => !['telefono', 'departamento', 'municipio'].includes(column))

export const lote: CliCommand = {
  summary: 'crea todas las guías de un archivo CSV o JSON',
  usage: [
    'lote pedidos.csv [opciones]',
    'lote pedidos.json      (una lista, o { "recogida": …, "guias": […] })',
    'lote pedidos.jsonl     (una guía por línea)',
  ],
  explanation: `Crea las guías del archivo, sea del tamaño que sea, y escribe qué fue de cada
una en pedidos.resultados.csv; si ya hay uno, en pedidos.resultados-2.csv: nunca
borra otro. Si se interrumpe, ejecútelo otra vez: con external_ref en cada fila,
las que ya existen vuelven como repetidas. Las fallas iguales se cuentan juntas.

El CSV lleva los nombres en la primera línea («Pedido», «Nombre» y «Latitud»
también sirven); separan «,», «;», «|» o tabuladores. Los resultados llevan primero
sus columnas, con su mismo separador. Las filas vacías se saltan.
Con unas comillas mal puestas no se crea ninguna. Una fila dañada por la hoja de
cálculo (5512345.0, 1.23E+12, #REF!) o con la external_ref de otra no se crea.
Columnas obligatorias: telefono, departamento, municipio. Además:
${wrap(OPTIONAL_COLUMNS.join(', '), HELP_WIDTH).join('\n')}.
external_ref es su número de pedido; un teléfono sin + es del país de su cuenta;
metadatos son datos suyos, como canal=web; tienda=12.`,
  options: {
    ...RECOGIDA_OPTIONS,
    pais: buildCountryOption('de los teléfonos sin + de las que no lo dicen'),
    departamento: { placeholder: '<nombre>', description: 'departamento de las filas que no lo dicen' },
    estricto: { description: 'no crea las guías cuyo lugar es inverosímil' },
    referencias: {
      placeholder: '<prefijo>',
      description:
        'da a las filas sin external_ref la de <prefijo>-<número de fila>; con el mismo prefijo y el mismo archivo, repetir no duplica',
    },
    columnas: {
      placeholder: '<nombre=campo>',
      description: 'qué campo es una columna que se llama de otro modo: Tel.=telefono; varias, separadas por comas',
      multiple: true,
    },
    'ignorar-otras': { description: 'pasa por alto las columnas que no conoce' },
    codificacion: {
      placeholder: '<nombre>',
      description: 'si no es UTF-8 ni UTF-16; la de Excel suele ser windows-1252',
      values: ['utf-8', 'windows-1252'],
    },
    resultados: { placeholder: '<ruta>', description: 'dónde escribir los resultados; un archivo que no exista' },
    concurrencia: { placeholder: '<n>', description: 'solicitudes a la vez; 2 si falta' },
  },
  positionals: [1, 1],
  complete: 'archivo',
  examples: [
    'lote pedidos.csv --recogida-lat 14.58 --recogida-lng -90.54',
    'etiquetas --archivo pedidos.resultados.csv',
  ],
  async run(context) {
    const [file = ''] = context.positionals
    const bytes = readFileSize(file)
    const concurrency = readIntegerOption(context, 'concurrencia', 2, 1)
    const api = context.api()
    const origin = await openLote(file, context)
    const progress = createProgress(context.json)
    const creation = api.guias.crearMuchas(prepareRows(origin.rows, context), {
      recogida: leerRecogida((field) => context.texto(optionNameOf(field))) ?? origin.recogida,
      ...(context.isSet('estricto') ? { estricto: true } : {}),
      aGuia: requireUndamaged,
      concurrencia: concurrency,
      signal: context.signal,
      reintentos: MAX_RETRIES,
      alAvanzar: (now) => progress.show(origin.countReadBytes() / bytes, countDone(now), formatCounts(now)),
    })
    const results = new ResultsFile(file, origin, context)
    const stopReason = await recordAll(creation, results).finally(() => {
      progress.clear()
      results.close()
    })
    const resumeHint = `Lo que se sabe está en ${results.path}; ejecútelo otra vez para seguir: nada se duplica.`
    if (stopReason === 'interrumpida') {
      notify(`Interrumpido. ${resumeHint}`)
      return EXIT_CODE.interrupted
    }
    if (stopReason === 'sin respuesta') {
      notify(`El servicio no contesta: lo dejo aquí. ${resumeHint}`)
      return EXIT_CODE.refused
    }
    const { leidas, creadas, fallidas } = creation.avance
    const { terminadas } = results
    const repetidas = creation.avance.repetidas - terminadas
    const counts = { leidas, creadas, repetidas, terminadas, fallidas }
    if (context.json) printLine(JSON.stringify({ ...counts, resultados: results.path }))
    else printLine(`${leidas} leídas: ${formatCounts(counts)}. Resultados: ${results.path}`)
    return fallidas + terminadas > 0 ? EXIT_CODE.refused : EXIT_CODE.ok
  },
}

const countDone = ({ creadas, repetidas, fallidas }: AvanceDeMuchas) => creadas + repetidas + fallidas

/** Counts of a batch. The SDK counts guides that ended without a delivery among `repetidas`; this program counts them apart. */
interface LoteCounts extends Pick<AvanceDeMuchas, 'creadas' | 'repetidas' | 'fallidas'> {
  terminadas?: number
}

const formatCounts = ({ creadas, repetidas, terminadas = 0, fallidas }: LoteCounts) =>
  [
    `${creadas} creadas`,
    ...(repetidas > 0 ? [`${repetidas} ya existían`] : []),
    ...(terminadas > 0 ? [`${terminadas} ya existían y terminaron sin entrega`] : []),
    `${fallidas} fallidas`,
  ].join(', ')

/** Tells whether the error is caused by the key, so that every guide would get the same error. */
const isErrorOfAllGuias = (error: unknown) => error instanceof ErrorNoAutenticado || error instanceof ErrorAlcance

/**
 * Writes the result of every guide, as the SDK yields them.
 *
 * @returns the reason why the batch stopped early; undefined if it is complete
 * @throws an error that every other guide would get too
 */
async function recordAll(creation: AsyncIterable<ResultadoDeMuchas<BatchEntry>>, results: ResultsFile) {
  let consecutiveFailures = 0
  try {
    for await (const result of creation) {
      results.record(result)
      if (!result.ok && isErrorOfAllGuias(result.error)) throw result.error
      consecutiveFailures = !result.ok && result.pasajera ? consecutiveFailures + 1 : 0
      if (consecutiveFailures === MAX_CONSECUTIVE_FAILURES) return 'sin respuesta'
    }
  } catch (error) {
    if (!(error instanceof ErrorAbortado)) throw error
    return 'interrumpida'
  }
  return undefined
}

/**
 * Gives each row without a reference the reference `<prefix>-<row number>`, and converts phone numbers to E.164. The
 * row number stays the same when the merchant corrects the row.
 */
async function* prepareRows(rows: AsyncIterable<BatchEntry>, context: Context) {
  const prefix = context.texto('referencias')
  const departamento = context.texto('departamento')
  for await (const row of rows) {
    if (prefix !== undefined && !row.external_ref) row.external_ref = `${prefix}-${row[ROW_NUMBER]}`
    if (departamento !== undefined && !row.departamento) row.departamento = departamento
    yield setTelefono(row, context.texto('pais'))
  }
}

/** Error of a row that is never sent, because a spreadsheet damaged it. */
class RowError extends Error {
  override name = 'RowError'
  readonly fallas: readonly FallaDeFila[]

  constructor(faults: readonly FallaDeFila[]) {
    super('The row is damaged')
    this.fallas = faults
  }
}

function requireUndamaged(row: BatchEntry): BatchEntry {
  if (row[FAILURES]) throw new RowError(row[FAILURES])
  return row
}

const RESULTS_HEADER = ['fila', 'external_ref', 'ok', 'guia', 'estado', 'repetida', 'error', 'detalle', 'advertencias']

/**
 * Results of all rows. Each result is written to the file at once, so that nothing is lost if the process ends. The
 * screen shows failures and warnings in groups.
 */
class ResultsFile {
  readonly path: string
  /**
   * Number of guides that already existed and are cancelled. Their rows count as failed, because nothing will be
   * delivered.
   */
  terminadas = 0
  readonly #fileDescriptor: number
  readonly #columnCount: number
  readonly #separator: string
  readonly #context: Context
  readonly #failures = new MessageGroups()
  readonly #advertencias = new MessageGroups()

  constructor(file: string, { columns, separator }: Origen, context: Context) {
    const [path, fileDescriptor] = openNewFile(file, context.texto('resultados'))
    this.path = path
    this.#fileDescriptor = fileDescriptor
    this.#context = context
    // Excel recognises UTF-8 by the byte order mark.
    this.#columnCount = columns.length
    this.#separator = separator
    writeSync(fileDescriptor, `\uFEFF${escribirCsv([...columns, ...RESULTS_HEADER], separator)}`)
  }

  record(result: ResultadoDeMuchas<BatchEntry>) {
    const rowNumber = result.entrada[ROW_NUMBER]
    const external_ref = String(result.entrada.external_ref ?? '')
    if (result.ok) {
      const { guia, estado, repetida, advertencias } = result
      const endedAdvertencia = advertencias.find(isOfEndedGuide)
      const messages = advertencias
        .filter((advertencia) => advertencia !== endedAdvertencia)
        .map((advertencia) => ({
          kind: `${advertencia.codigo} ${advertencia.campo}`,
          texto: formatAdvertencia(advertencia),
        }))
      for (const { kind, texto } of messages) this.#advertencias.record(kind, texto, rowNumber)
      const todas = messages.map(({ texto }) => texto).join('; ')
      const [ok, code, detalle] = endedAdvertencia
        ? ['no', endedAdvertencia.codigo, endedAdvertencia.mensaje]
        : ['sí', '', '']
      if (endedAdvertencia) {
        this.terminadas++
        this.#failures.record(code, detalle, rowNumber)
      }
      this.#writeRow(result.entrada, [
        rowNumber,
        external_ref,
        ok,
        guia,
        estado,
        repetida ? 'sí' : 'no',
        code,
        detalle,
        todas,
      ])
      const endReason = endedAdvertencia ? { error: code, detalle } : {}
      this.#printJson({
        fila: rowNumber,
        external_ref,
        ok: !endedAdvertencia,
        guia,
        estado,
        repetida,
        ...endReason,
        advertencias,
      })
      return
    }
    const { codigo, fallas, ...conflict } = readFailure(result, this.#context)
    if (!isErrorOfAllGuias(result.error))
      for (const { kind, texto } of fallas) this.#failures.record(kind, texto, rowNumber)
    const detalle = fallas.map(({ texto }) => texto).join('; ')
    this.#writeRow(result.entrada, [rowNumber, external_ref, 'no', '', '', '', codigo, detalle, ''])
    this.#printJson({ fila: rowNumber, external_ref, ok: false, error: codigo, detalle, ...conflict })
  }

  /** Writes a row of results: the row's original columns, then the result of its guide. */
  #writeRow(inputRow: BatchEntry, fields: (string | number)[]) {
    const ownValues = Array.from({ length: this.#columnCount }, (_, i) => inputRow[VALUES]?.[i] ?? '')
    writeSync(this.#fileDescriptor, escribirCsv([...ownValues, ...fields], this.#separator))
  }

  #printJson(result: object) {
    if (this.#context.json) printLine(JSON.stringify(result))
  }

  /**
   * Closes the file. Then prints the failures and the warnings, in groups of equal messages, unless the output is JSON.
   */
  close() {
    closeSync(this.#fileDescriptor)
    if (this.#context.json) return
    for (const line of this.#failures.lineas()) notify(`${paintNotice('red', 'Falla')}   ${line}`)
    for (const line of this.#advertencias.lineas()) notify(`${paintNotice('yellow', 'Revise')}  ${line}`)
  }
}

interface GroupedMessage {
  kind: string
  texto: string
}

/** Failure of a row. A conflict also has the guide that has the reference, and the fields that differ. */
interface RowFailure {
  codigo: string
  fallas: readonly GroupedMessage[]
  guia_existente?: string
  campos?: readonly string[]
}

function readFailure(
  { error, entrada: inputRow }: Extract<ResultadoDeMuchas<BatchEntry>, { ok: false }>,
  context: Context,
): RowFailure {
  if (error instanceof ErrorConflicto && error.guia !== null && error.errores.length > 0) {
    const campos = error.errores.map(({ campo }) => nameField(campo))
    const reference = sanitize(String(inputRow.external_ref ?? ''))
    const texto = `${reference} ya es la referencia de la guía ${sanitize(error.guia)}, creada con otros datos (${sanitize(campos.join(', '))}): si es otro envío, ponga otra; si no, cambie la guía con guias corregir`
    const { codigo } = error
    return { codigo, fallas: [{ kind: codigo, texto }], guia_existente: error.guia, campos }
  }
  if (error instanceof ErrorApi && error.errores.length > 0) {
    const fallas = error.errores.map((fault): GroupedMessage => {
      const kind = `${fault.codigo} ${fault.campo}`
      const isMissing = fault.codigo === 'requerido' && fault.mensaje.startsWith('falta;')
      return { kind, texto: isMissing ? `falta ${nameField(fault.campo)}` : formatFailure(fault) }
    })
    return { codigo: error.codigo, fallas }
  }
  if (error.cause instanceof RowError) {
    const fallas = error.cause.fallas.map(
      ({ campo, mensaje }): GroupedMessage => ({
        // Equal damages differ in the text that they quote, or in a number.
        kind: `dañada ${campo} ${mensaje.replace(/«[^»]*»|\d+/g, '')}`,
        texto: formatFailure({ campo, mensaje }),
      }),
    )
    return { codigo: 'validacion', fallas }
  }
  const codigo = error instanceof ErrorApi ? error.codigo : error.name
  const lacksReference = error.name === 'ErrorGuias' && !inputRow.external_ref
  const texto = lacksReference
    ? 'falta external_ref, sin la que repetir duplicaría: ponga su número de pedido, o pase --referencias <prefijo>'
    : sanitize(error instanceof ErrorApi ? error.problema.mensaje : context.describeError(error))
  return { codigo, fallas: [{ kind: codigo, texto }] satisfies GroupedMessage[] }
}

/**
 * Creates a results file and never overwrites one, because earlier results contain guide codes. Without `givenPath`, the
 * first free name is used.
 *
 * @throws UsageError if the file `givenPath` exists or if the file cannot be created
 */
function openNewFile(file: string, givenPath: string | undefined): [ruta: string, salida: number] {
  const base = join(dirname(file), `${basename(file, extname(file))}.resultados`)
  for (let fileNumber = 1; ; fileNumber++) {
    const path = givenPath ?? `${base}${fileNumber > 1 ? `-${fileNumber}` : ''}.csv`
    try {
      return [path, openSync(path, 'wx')]
    } catch (error) {
      const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
      if (exists && givenPath === undefined) continue
      throw new UsageError(
        exists
          ? `${path} ya existe y puede llevar los códigos de otras guías: dé otro nombre a --resultados, o quítelo de ahí.`
          : `No se pudo escribir ${path}: ${explainSystemError(error)}.`,
      )
    }
  }
}
