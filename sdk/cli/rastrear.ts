import type { Evento, GuiaConEventos, Guias } from '@guias/sdk'
import { esErrorPasajero } from './errores.ts'
import { byCodeOrReference } from './guideOrReference.ts'
import { type Contexto, numero, type Orden, SALIDA } from './orden.ts'
import { Patience } from './patience.ts'
import { decir, hora, limpio, pintar, tonoDe } from './terminal.ts'

export const rastrear: Orden = {
  resumen: 'muestra el historial de una guía, y sigue lo que pase',
  uso: ['rastrear <guia> [opciones]', 'rastrear <external_ref>      (su número de pedido)'],
  explica: `Muestra el historial de la guía, de lo más antiguo a lo más reciente, con la hora
de su destino. Con --seguir, si el servicio no contesta, lo dice y lo intenta
otra vez.`,
  opciones: {
    seguir: { dice: 'sigue mostrando lo que pase, hasta que se entregue, se devuelva o se cancele' },
    intervalo: { valor: '<segundos>', dice: 'cada cuánto mira; 5 si falta' },
  },
  posicionales: [1, 1],
  muestra: true,
  ejecutar(contexto) {
    const [dado = ''] = contexto.posicionales
    const intervalo = numero(contexto, 'intervalo', 5, 0.1) * 1000
    const api = contexto.api()
    return byCodeOrReference(api, dado, contexto.signal, (codigo) => follow(api, codigo, intervalo, contexto))
  },
}

async function follow({ guias }: Guias, codigo: string, intervalo: number, contexto: Contexto): Promise<number> {
  const { signal } = contexto
  const sigue = contexto.si('seguir')
  const patience = new Patience(contexto)
  let ultima = 0
  for (;;) {
    try {
      for await (const guia of guias.seguir(codigo, { intervalo, limite: PAGINA, signal })) {
        patience.end()
        if (ultima === 0) titular(guia, contexto)
        for await (const evento of historial(guias, guia, signal)) {
          if (evento.secuencia <= ultima) continue
          ultima = evento.secuencia
          decir(contexto.json ? JSON.stringify(evento) : decirEvento(evento, guia.zona_horaria))
        }
        if (!sigue) break
      }
      return SALIDA.bien
    } catch (error) {
      if (sigue && signal.aborted && ultima > 0) return SALIDA.bien
      // A failure before the first event points to a wrong key or address rather than to a temporary fault.
      if (!(sigue && ultima > 0 && esErrorPasajero(error))) throw error
      await patience.wait(error)
    }
  }
}

/**
 * Maximum events in one request: the first request returns them with the guide, later ones are pages of the history.
 */
const PAGINA = 100

async function* historial(guias: Guias['guias'], { guia, eventos }: GuiaConEventos, signal: AbortSignal) {
  yield* eventos.datos
  const cursor = eventos.cursor_siguiente
  if (cursor !== null) yield* guias.eventos(guia, { cursor, limite: PAGINA }, { signal })
}

function titular(guia: GuiaConEventos, { json }: Contexto) {
  if (json) return
  const para = [guia.destinatario, guia.municipio, guia.departamento].filter(Boolean).join(', ')
  decir(`${pintar('fuerte', limpio(guia.guia))}  ${limpio(guia.estado)}  ${limpio(para)}`)
}

/** Formats an event as one line of the history, in the time zone of the guide's destination. */
export const decirEvento = ({ ocurrido_en, estado, tipo, descripcion, motivo }: Evento, zona: string) =>
  `  ${hora(ocurrido_en, zona)}  ${pintar(tonoDe(estado) ?? 'gris', limpio(tipo).padEnd(26))}  ${limpio(descripcion)}${motivo ? ` (${limpio(motivo)})` : ''}`
