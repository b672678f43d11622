import type { CorreccionDeGuia } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { CLEARABLE_FIELDS, CORRECTION_FIELDS } from '../../src/generated/fields.ts'
import { notifyAdvertencias } from '../advertencias.ts'
import { type CliCommand, EXIT_CODE, UsageError } from '../command.ts'
import { buildCountryOption, optionNameOf, pickOptions, setTelefono } from '../fields.ts'
import { byCodeOrReference } from '../guiaOrReference.ts'
import { paint, printLine, sanitize } from '../terminal.ts'

/** Options whose members `--borrar` can clear. */
const CLEARABLE_OPTIONS = CLEARABLE_FIELDS.map(optionNameOf)

export const corregir: CliCommand = {
  summary: 'corrige los datos de una guía',
  usage: ['corregir <guia> --telefono … --direccion … [opciones]'],
  explanation: `Cambia los datos que se dan y ninguno más, hasta que la guía sale a ruta y otra
vez tras un intento fallido; la recogida, mientras nadie la recolectó. Repetir
la misma corrección no cambia nada.`,
  options: {
    ...pickOptions(CORRECTION_FIELDS),
    borrar: {
      placeholder: '<campos>',
      description: `deja sin valor, separados por comas: ${CLEARABLE_OPTIONS.join(', ')}`,
      values: CLEARABLE_OPTIONS,
      multiple: true,
    },
    pais: buildCountryOption('de un teléfono sin +'),
    estricto: { description: 'si el lugar quedaría inverosímil, no la corrige' },
    secuencia: { placeholder: '<número>', description: 'solo si la guía aún va por esa secuencia' },
  },
  positionals: [1, 1],
  examples: ["corregir 7K3M9QX2A1B4 --telefono '5987 1234' --direccion 'Calle 2'"],
  async run(context) {
    const [code = ''] = context.positionals
    const secuencia = context.texto('secuencia')
    const givenFields = setTelefono(
      guiaDeCampos((field) => context.texto(optionNameOf(field))),
      context.texto('pais'),
    )
    const { recogida, ...clearedFields } = parseClearedFields(context.texts('borrar') ?? [])
    const correccion = {
      ...givenFields,
      ...clearedFields,
      ...(recogida ? { recogida: { ...givenFields.recogida, ...recogida } } : {}),
      ...(secuencia === undefined ? {} : { secuencia: Number(secuencia) }),
    } as CorreccionDeGuia
    if (Object.keys(correccion).every((field) => field === 'pais' || field === 'secuencia'))
      throw new UsageError('Falta qué corregir, por ejemplo --telefono. Vea guias corregir --help.')
    const estricto = context.isSet('estricto') ? { estricto: true } : {}
    const { signal } = context
    const api = context.api()
    const guia = await byCodeOrReference(api, code, signal, (guiaCode) =>
      api.guias.corregir(guiaCode, { ...correccion, ...estricto }, { signal }),
    )
    if (context.json) printLine(JSON.stringify(guia))
    else {
      printLine(`${paint('strong', sanitize(guia.guia))}  ${sanitize(guia.estado)}, secuencia ${guia.secuencia}`)
      notifyAdvertencias(guia.advertencias, context.givenOptions)
    }
    return EXIT_CODE.ok
  },
}

type ClearedFields = Record<string, null>
const RECOGIDA_PREFIX = 'recogida-'

/** Returns the members to clear, with the value null. Members of the pickup are in an object of their own. */
function parseClearedFields(options: readonly string[]): { recogida?: ClearedFields } {
  const clearedFields: ClearedFields = {}
  const recogida: ClearedFields = {}
  for (const option of options) {
    const [de, name] = option.startsWith(RECOGIDA_PREFIX)
      ? [recogida, option.slice(RECOGIDA_PREFIX.length)]
      : [clearedFields, option]
    de[name.replaceAll('-', '_')] = null
  }
  return { ...clearedFields, ...(Object.keys(recogida).length > 0 ? { recogida } : {}) }
}
