import { CODES_OPTION, forEachCode, readCodes } from '../codigos.ts'
import { type CliCommand, EXIT_CODE } from '../command.ts'
import { notify, paint, printLine, sanitize } from '../terminal.ts'

export const reenviarSolicitud: CliCommand = {
  summary: 'pide otra vez al destinatario que confirme el lugar',
  usage: ['reenviar-solicitud <guia>… [opciones]', 'reenviar-solicitud --archivo codigos.txt [opciones]'],
  explanation: `Envía otra vez el mensaje con que se pregunta el lugar, si el anterior venció,
falló o quedó en duda. Como mucho tres veces por guía y teléfono, y cinco
mensajes al día por teléfono.`,
  options: CODES_OPTION,
  positionals: [0, Number.POSITIVE_INFINITY],
  examples: ['reenviar-solicitud 7K3M9QX2A1B4'],
  async run(context) {
    const { signal } = context
    const codes = await readCodes(context)
    const { guias } = context.api()
    const fallidas = await forEachCode(codes, context, async (code) => {
      const guia = await guias.reenviarSolicitud(code, { signal })
      const number = guia.ubicacion.solicitud?.numero
      const resultText = `${paint('strong', sanitize(guia.guia))}  se pidió otra vez (mensaje ${number})`
      printLine(context.json ? JSON.stringify(guia) : resultText)
    })
    if (fallidas > 0 && !context.json) notify(`${codes.length - fallidas} reenviadas, ${fallidas} no.`)
    return fallidas > 0 ? EXIT_CODE.refused : EXIT_CODE.ok
  },
}
