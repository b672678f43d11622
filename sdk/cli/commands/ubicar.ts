import type { Guia, Guias, UbicacionParaConfirmar } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { notifyAdvertencias } from '../advertencias.ts'
import { forEachCode, openTable, readCodes, readInput, toComparable } from '../codigos.ts'
import { type CliCommand, type Context, EXIT_CODE, UsageError } from '../command.ts'
import { optionNameOf } from '../fields.ts'
import { notify, paint, printLine, sanitize } from '../terminal.ts'

export const ubicar: CliCommand = {
  summary: 'dice dónde se entregan sus guías',
  usage: [
    'ubicar <guia> --lat … --lng … [opciones]',
    'ubicar --archivo lugares.csv',
    'ubicar <guia>… --aceptar-sugerencias   (o --archivo con los códigos)',
  ],
  explanation: `Confirma o corrige el lugar de entrega, hasta que la guía sale a ruta. El archivo
lleva las columnas guia y lat y lng, o maps_url; y, si quiere, referencia. Con
--aceptar-sugerencias confirma el punto que sugieren las advertencias de cada
guía (la que creyó ver lat y lng al revés, por ejemplo); deja como está la que
no tiene ninguno.`,
  options: {
    lat: { placeholder: '<grados>', description: 'latitud del lugar de entrega' },
    lng: { placeholder: '<grados>', description: 'longitud; aquí es negativa' },
    'maps-url': { placeholder: '<url>', description: 'el lugar, en un enlace de mapa' },
    referencia: { placeholder: '<texto>', description: 'cómo reconocer el lugar' },
    'aceptar-sugerencias': { description: 'confirma el punto que sugieren las advertencias' },
    archivo: { placeholder: '<ruta>', description: 'las guías y sus lugares, en CSV; «-» es la entrada' },
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  examples: [
    'ubicar 7K3M9QX2A1B4 --lat 14.70811 --lng -90.50042',
    'ubicar --archivo pedidos.resultados.csv --aceptar-sugerencias',
  ],
  async run(context) {
    const acceptsSuggestions = context.isSet('aceptar-sugerencias')
    const places = acceptsSuggestions
      ? new Map((await readCodes(context)).map((code) => [code, undefined]))
      : await readPlaces(context)
    const { guias } = context.api()
    let withoutSuggestionCount = 0
    const fallidas = await forEachCode([...places.keys()], context, async (code, written) => {
      const place = places.get(written) ?? (await findSuggestedPlace(guias, code, context.signal))
      if (place) printUbicacion(await guias.confirmarUbicacion(code, place, { signal: context.signal }), context)
      else {
        withoutSuggestionCount++
        const mensaje = 'no tiene ninguna sugerencia de lugar: queda como está'
        notify(context.json ? JSON.stringify({ guia: code, mensaje }) : `${sanitize(code)}  ${mensaje}`)
      }
    })
    if (places.size > 1 && !context.json)
      notify(
        `${places.size - fallidas - withoutSuggestionCount} ubicadas${withoutSuggestionCount > 0 ? `, ${withoutSuggestionCount} sin sugerencia` : ''}, ${fallidas} no.`,
      )
    return fallidas > 0 ? EXIT_CODE.refused : EXIT_CODE.ok
  },
}

function printUbicacion({ ubicacion, advertencias, ...guia }: Guia, { json, givenOptions }: Context) {
  if (json) {
    printLine(JSON.stringify({ ...guia, ubicacion, advertencias }))
    return
  }
  const point = ubicacion.lat === null ? '' : `  ${ubicacion.lat}, ${ubicacion.lng}`
  printLine(`${paint('strong', sanitize(guia.guia))}  ubicación ${sanitize(ubicacion.estado)}${point}`)
  notifyAdvertencias(advertencias, givenOptions)
}

/** Returns the point that the warnings of a guide suggest for its destination; undefined if they suggest none. */
async function findSuggestedPlace(guias: Guias['guias'], code: string, signal: AbortSignal) {
  const { advertencias } = await guias.obtener(code, { limite: 1, signal })
  for (const { campo, sugerencia } of advertencias) {
    if (campo?.startsWith('/recogida') || typeof sugerencia !== 'object' || !sugerencia || !('lat' in sugerencia))
      continue
    return { lat: sugerencia.lat, lng: sugerencia.lng }
  }
  return undefined
}

/**
 * Reads the places from the options or from a table.
 *
 * @throws UsageError if a guide, a place or a column is missing
 */
async function readPlaces(context: Context): Promise<Map<string, UbicacionParaConfirmar>> {
  const file = context.texto('archivo')
  const options = context.givenOptions.filter((option) => option !== 'archivo')
  if (file === undefined) {
    const [code, ...otherCodes] = context.positionals
    if (code === undefined) throw new UsageError('Falta el código de la guía, o --archivo.')
    if (otherCodes.length > 0)
      throw new UsageError('Un lugar es de una guía: para varias use --archivo, o --aceptar-sugerencias.')
    return new Map([[code, buildPlace((field) => context.texto(optionNameOf(field)), '')]])
  }
  if (context.positionals.length > 0 || options.length > 0)
    throw new UsageError('Las guías y los lugares vienen de --archivo o de la orden, no de ambos: quite uno.')
  return parsePlaceTable(await readInput(file), file)
}

async function parsePlaceTable(bytes: Uint8Array, file: string): Promise<Map<string, UbicacionParaConfirmar>> {
  const places = new Map<string, UbicacionParaConfirmar>()
  const rowByGuia = new Map<string, number>()
  const { campos, filas: rows } = await openTable(bytes, file)
  if (!campos.includes('guia')) throw new UsageError(`${file} debe tener las columnas guia, lat y lng, o maps_url.`)
  for await (const { fila: rowNumber, valores: values } of rows) {
    const valueOfField = (field: string) => values[campos.lastIndexOf(field)]
    const guia = valueOfField('guia')?.trim()
    if (!guia) continue
    const otherRow = rowByGuia.get(toComparable(guia))
    if (otherRow !== undefined)
      throw new UsageError(
        `${file}, fila ${rowNumber}: la guía ${sanitize(guia)} ya está en la fila ${otherRow}: deje una.`,
      )
    rowByGuia.set(toComparable(guia), rowNumber)
    places.set(guia, buildPlace(valueOfField, `${file}, fila ${rowNumber}: `))
  }
  if (places.size > 0) return places
  throw new UsageError(`${file} no trae ningún código de guía.`)
}

function buildPlace(value: (field: string) => string | undefined, where: string): UbicacionParaConfirmar {
  const { lat, lng, maps_url } = guiaDeCampos(value)
  const referencia = value('referencia')?.trim()
  if ((lat === undefined || lng === undefined) && !maps_url)
    throw new UsageError(`${where}Falta el lugar: lat y lng, o el enlace de mapa. Vea guias ubicar --help.`)
  const point = maps_url ? { maps_url } : { lat, lng }
  return { ...point, ...(referencia ? { referencia } : {}) } as UbicacionParaConfirmar
}
