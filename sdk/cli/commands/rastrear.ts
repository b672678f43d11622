import type { Evento, GuiaConEventos, Guias } from '@guias/sdk'
import { type CliCommand, type Context, EXIT_CODE, numero } from '../command.ts'
import { isTransientError } from '../errors.ts'
import { byCodeOrReference } from '../guiaOrReference.ts'
import { hora, paint, printLine, sanitize, toneOfState } from '../terminal.ts'
import { Patience } from '../waiting.ts'

export const rastrear: CliCommand = {
  summary: 'muestra el historial de una guía, y sigue lo que pase',
  usage: ['rastrear <guia> [opciones]', 'rastrear <external_ref>      (su número de pedido)'],
  explanation: `Muestra el historial de la guía, de lo más antiguo a lo más reciente, con la hora
de su destino. Con --seguir, si el servicio no contesta, lo dice y lo intenta
otra vez.`,
  options: {
    seguir: { description: 'sigue mostrando lo que pase, hasta que se entregue, se devuelva o se cancele' },
    intervalo: { placeholder: '<segundos>', description: 'cada cuánto mira; 5 si falta' },
  },
  positionals: [1, 1],
  readOnly: true,
  run(context) {
    const [codeOrReference = ''] = context.positionals
    const intervalMs = numero(context, 'intervalo', 5, 0.1) * 1000
    const api = context.api()
    return byCodeOrReference(api, codeOrReference, context.signal, (code) => follow(api, code, intervalMs, context))
  },
}

async function follow({ guias }: Guias, code: string, intervalMs: number, context: Context): Promise<number> {
  const { signal } = context
  const isFollowing = context.isSet('seguir')
  const patience = new Patience(context)
  let last = 0
  for (;;) {
    try {
      for await (const guia of guias.seguir(code, { intervalo: intervalMs, limite: PAGE_SIZE, signal })) {
        patience.end()
        if (last === 0) titular(guia, context)
        for await (const evento of historial(guias, guia, signal)) {
          if (evento.secuencia <= last) continue
          last = evento.secuencia
          printLine(context.json ? JSON.stringify(evento) : formatEvento(evento, guia.zona_horaria))
        }
        if (!isFollowing) break
      }
      return EXIT_CODE.ok
    } catch (error) {
      if (isFollowing && signal.aborted && last > 0) return EXIT_CODE.ok
      // A failure before the first event points to a wrong key or address rather than to a temporary fault.
      if (!(isFollowing && last > 0 && isTransientError(error))) throw error
      await patience.wait(error)
    }
  }
}

/**
 * Maximum events in one request: the first request returns them with the guide, later ones are pages of the history.
 */
const PAGE_SIZE = 100

async function* historial(guias: Guias['guias'], { guia, eventos }: GuiaConEventos, signal: AbortSignal) {
  yield* eventos.datos
  const cursor = eventos.cursor_siguiente
  if (cursor !== null) yield* guias.eventos(guia, { cursor, limite: PAGE_SIZE }, { signal })
}

function titular(guia: GuiaConEventos, { json }: Context) {
  if (json) return
  const recipientText = [guia.destinatario, guia.municipio, guia.departamento].filter(Boolean).join(', ')
  printLine(`${paint('strong', sanitize(guia.guia))}  ${sanitize(guia.estado)}  ${sanitize(recipientText)}`)
}

/** Formats an event as one line of the history, in the time zone of the guide's destination. */
export const formatEvento = ({ ocurrido_en, estado, tipo, descripcion, motivo }: Evento, zone: string) =>
  `  ${hora(ocurrido_en, zone)}  ${paint(toneOfState(estado) ?? 'grey', sanitize(tipo).padEnd(26))}  ${sanitize(descripcion)}${motivo ? ` (${sanitize(motivo)})` : ''}`
