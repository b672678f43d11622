import type { Franja, Guia, ReintentoDeGuia } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { RETRY_FIELDS } from '../../src/generated/fields.ts'
import { notifyAdvertencias } from '../advertencias.ts'
import { CODES_OPTION, forEachCode, readCodes } from '../codigos.ts'
import { type CliCommand, type Context, EXIT_CODE, UsageError } from '../command.ts'
import { buildCountryOption, optionNameOf, pickOptions, setTelefono } from '../fields.ts'
import { byCodeOrReference } from '../guiaOrReference.ts'
import { askToConfirm, notify, paint, printLine, sanitize } from '../terminal.ts'

const printGuia = ({ json }: Pick<Context, 'json'>, guia: Guia) =>
  printLine(
    json
      ? JSON.stringify(guia)
      : `${paint('strong', sanitize(guia.guia))}  ${sanitize(guia.estado)}, ${sanitize(guia.decision?.accion ?? '')} ${sanitize(guia.decision?.fecha ?? guia.decision?.estado ?? '')}`.trimEnd(),
  )

export const reintentar: CliCommand = {
  summary: 'decide que una entrega fallida se intente otra vez',
  usage: ['reintentar <guia> [opciones]'],
  explanation: `Tras un intento fallido, decide que el paquete se lleve otra vez, y corrige los
datos que se dan. Vale la primera decisión.`,
  options: {
    fecha: { placeholder: '<día>', description: 'qué día, AAAA-MM-DD; el primero que se puede, si falta' },
    franja: { placeholder: '<horas>', description: 'entre qué horas, por ejemplo 14:00-18:00' },
    ...pickOptions(RETRY_FIELDS),
    pais: buildCountryOption('de un teléfono sin +'),
    estricto: { description: 'si el lugar quedaría inverosímil, no lo acepta' },
    secuencia: { placeholder: '<número>', description: 'solo si la guía aún va por esa secuencia' },
  },
  positionals: [1, 1],
  examples: [
    'reintentar 7K3M9QX2A1B4 --fecha 0001-01-04 --franja 14:00-18:00',
    "reintentar 7K3M9QX2A1B4 --telefono '5987 1234'",
  ],
  async run(context) {
    const [code = ''] = context.positionals
    const [fecha, franja, secuencia] = ['fecha', 'franja', 'secuencia'].map((option) => context.texto(option))
    const retryRequest = {
      ...setTelefono(
        guiaDeCampos((field) => context.texto(optionNameOf(field))),
        context.texto('pais'),
      ),
      ...(fecha === undefined ? {} : { fecha }),
      ...(franja === undefined ? {} : { franja: parseWindow(franja) }),
      ...(secuencia === undefined ? {} : { secuencia: Number(secuencia) }),
      ...(context.isSet('estricto') ? { estricto: true } : {}),
    } as ReintentoDeGuia
    const { signal } = context
    const api = context.api()
    const guia = await byCodeOrReference(api, code, signal, (guiaCode) =>
      api.guias.reintentar(guiaCode, retryRequest, { signal }),
    )
    printGuia(context, guia)
    if (!context.json) notifyAdvertencias(guia.advertencias, context.givenOptions)
    return EXIT_CODE.ok
  },
}

function parseWindow(text: string): Franja {
  const [desde, hasta, ...rest] = text.split('-')
  if (!desde || !hasta || rest.length > 0) throw new UsageError('--franja va como 14:00-18:00.')
  return { desde, hasta }
}

export const devolver: CliCommand = {
  summary: 'pide que un paquete vuelva',
  usage: ['devolver <guia>… --razon <texto> [opciones]', 'devolver --archivo codigos.txt --razon <texto> [opciones]'],
  explanation: `Decide que el paquete vuelva al comercio. Si viaja, vuelve con su próxima
lectura. En una terminal pregunta antes; fuera de ella hace falta --si.`,
  options: {
    si: { description: 'lo pide sin preguntar' },
    razon: { placeholder: '<texto>', description: 'por qué; queda en el historial' },
    ...CODES_OPTION,
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  examples: ["devolver 7K3M9QX2A1B4 --razon 'El cliente ya no lo quiere'"],
  async run(context) {
    const { signal } = context
    const razon = context.texto('razon')
    if (razon === undefined) throw new UsageError("Falta --razon, por ejemplo --razon 'El cliente ya no lo quiere'.")
    const codes = await readCodes(context)
    const guiasText = codes.length === 1 ? `la guía ${sanitize(codes[0]!)}` : `${codes.length} guías`
    if (!(await askToConfirm(`¿Devolver ${guiasText}?`, context.isSet('si'), signal))) {
      notify('No se devolvió nada.')
      return EXIT_CODE.interrupted
    }
    const { guias } = context.api()
    const fallidas = await forEachCode(codes, context, async (code) => {
      printGuia(context, await guias.devolver(code, { razon }, { signal }))
    })
    if (fallidas > 0 && !context.json) notify(`${codes.length - fallidas} decididas, ${fallidas} no.`)
    return fallidas > 0 ? EXIT_CODE.refused : EXIT_CODE.ok
  },
}
