import { CODES_OPTION, forEachCode, readCodes } from '../codigos.ts'
import { type CliCommand, EXIT_CODE } from '../command.ts'
import { askToConfirm, notify, paint, printLine, sanitize } from '../terminal.ts'

export const cancelar: CliCommand = {
  summary: 'cancela guías que aún no se recolectaron',
  usage: ['cancelar <guia>… [opciones]', 'cancelar --archivo codigos.txt [opciones]'],
  explanation: `Cancela guías que aún están en aceptado; no se puede deshacer, y cada una
conserva su external_ref. En una terminal pregunta antes; fuera de ella hace
falta --si. Cancelar una ya cancelada no cambia nada.`,
  options: {
    si: { description: 'cancela sin preguntar' },
    razon: { placeholder: '<texto>', description: 'por qué; queda en el historial' },
    ...CODES_OPTION,
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  examples: ["cancelar 7K3M9QX2A1B4 --razon 'El cliente desistió'"],
  async run(context) {
    const { signal } = context
    const codes = await readCodes(context)
    const [firstCode = ''] = codes
    const { guias } = context.api()
    const guiasText = codes.length === 1 ? `la guía ${sanitize(firstCode)}` : `${codes.length} guías`
    if (!(await askToConfirm(`¿Cancelar ${guiasText}? No se puede deshacer.`, context.isSet('si'), signal))) {
      notify('No se canceló nada.')
      return EXIT_CODE.interrupted
    }
    const razon = context.texto('razon')
    const fallidas = await forEachCode(codes, context, async (code) => {
      const guia = await guias.cancelar(code, razon === undefined ? undefined : { razon }, { signal })
      printLine(
        context.json ? JSON.stringify(guia) : `${paint('strong', sanitize(guia.guia))}  ${sanitize(guia.estado)}`,
      )
    })
    if (fallidas > 0 && !context.json) notify(`${codes.length - fallidas} canceladas, ${fallidas} no.`)
    return fallidas > 0 ? EXIT_CODE.refused : EXIT_CODE.ok
  },
}
