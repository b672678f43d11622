import { readFileSync } from 'node:fs'
import type { GuiaIndividual } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { isOfEndedGuide } from '../../src/endedGuide.ts'
import { notifyAdvertencias } from '../advertencias.ts'
import { explainSystemError } from '../cause.ts'
import { type CliCommand, type Context, EXIT_CODE, UsageError } from '../command.ts'
import { buildCountryOption, GUIA_OPTIONS, optionNameOf, setTelefono } from '../fields.ts'
import { paint, printLine, sanitize } from '../terminal.ts'

export const crear: CliCommand = {
  summary: 'crea una guía',
  usage: [
    'crear --telefono … --departamento … --municipio … [opciones]',
    'crear guia.json',
    'crear -              (la guía, en JSON, por la entrada)',
  ],
  explanation: `Crea una guía y escribe su código. Teléfono, departamento, municipio y el lugar
donde se recoge son obligatorios; sin lugar de entrega (--lat y --lng, o
--maps-url) se le pregunta al destinatario por un mensaje.`,
  options: {
    ...GUIA_OPTIONS,
    pais: buildCountryOption('de un teléfono sin +'),
    estricto: { description: 'si el lugar es inverosímil, no la crea' },
  },
  positionals: [0, 1],
  complete: 'archivo',
  examples: [
    `crear --telefono '3148 1676' --departamento Guatemala \\
    --municipio Mixco --external-ref PEDIDO-7 \\
    --recogida-lat 14.58 --recogida-lng -90.54`,
  ],
  async run(context) {
    const [file] = context.positionals
    // `--pais` and `--estricto` also apply to a guide that is read from a file.
    const givenGuiaOptions = context.givenOptions.filter((option) => option !== 'pais' && option !== 'estricto')
    if (file !== undefined && givenGuiaOptions.length > 0) {
      throw new UsageError(`La guía viene de ${file} o de las opciones, no de ambos: quite --${givenGuiaOptions[0]}.`)
    }
    const country = context.texto('pais')
    const estricto = context.isSet('estricto') ? { estricto: true } : {}
    const guia = file === undefined ? readGuiaFromOptions(context) : readJson(file)
    const { datos, repetida } = await context
      .api()
      .guias.crear({ ...setTelefono(guia as GuiaIndividual, country), ...estricto }, { signal: context.signal })
      .conRespuesta()
    // The SDK has already printed the warnings of a guide that ended.
    const advertencias = datos.advertencias.filter((advertencia) => !isOfEndedGuide(advertencia))
    if (context.json) printLine(JSON.stringify(datos))
    else {
      const place = datos.ubicacion ? `, ubicación ${datos.ubicacion.estado}` : ''
      printLine(
        `${paint('strong', sanitize(datos.guia))}  ${sanitize(datos.estado)}${place}${repetida ? '  (ya existía)' : ''}`,
      )
      notifyAdvertencias(advertencias, context.givenOptions)
    }
    // A guide that already ended counts as refused, because nothing will be delivered.
    return advertencias.length < datos.advertencias.length ? EXIT_CODE.refused : EXIT_CODE.ok
  },
}

/**
 * Builds the guide from the options. Checks the required options first, so that the error comes before any request.
 *
 * @throws UsageError naming every missing option
 */
function readGuiaFromOptions(context: Context) {
  const areGiven = (...names: string[]) => names.every((name) => context.texto(name)?.trim())
  const missing = ['telefono', 'departamento', 'municipio'].filter((name) => !areGiven(name)).map((name) => `--${name}`)
  if (!areGiven('recogida-lat', 'recogida-lng') && !areGiven('recogida-maps-url')) {
    missing.push('dónde se recoge (--recogida-lat y --recogida-lng, o --recogida-maps-url)')
  }
  if (areGiven('lat') !== areGiven('lng')) missing.push(areGiven('lat') ? '--lng' : '--lat')
  if (missing.length > 0) throw new UsageError(`Falta ${formatList(missing)}. Vea guias crear --help.`)
  return guiaDeCampos((field) => context.texto(optionNameOf(field)))
}

const formatList = (items: string[]) => new Intl.ListFormat('es').format(items)

function readJson(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new UsageError(`No se pudo leer ${file === '-' ? 'la entrada' : file}: ${explainSystemError(error)}.`)
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new UsageError(`${file} no es JSON: ${(error as Error).message}`)
  }
}
