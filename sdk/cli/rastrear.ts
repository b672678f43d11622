import type { Evento, GuiaConEventos, Guias } from '@guias/sdk'
import { type Contexto, dormir, esPasajero, numero, type Orden, SALIDA } from './orden.ts'
import { decir, limpio, pintar, type Tono } from './terminal.ts'

const TONOS: Record<string, Tono> = { entregado: 'verde', intento_fallido: 'amarillo', extraviado: 'rojo' }

export const rastrear: Orden = {
  resumen: 'muestra una guía y su historial',
  ayuda: `Uso: guias rastrear <guia> [opciones]

Muestra cómo está la guía y su historial, de lo más antiguo a lo más reciente.

Opciones:
  --seguir            sigue mostrando lo que pase, hasta que se entregue, se devuelva o se cancele
  --intervalo <seg>   cada cuánto mira; 5 si falta`,
  opciones: { seguir: { type: 'boolean' }, intervalo: { type: 'string' } },
  posicionales: [1, 1],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const intervalo = numero(contexto, 'intervalo', 5, 0.1) * 1000
    const { guias } = contexto.api()
    const { signal } = contexto
    const sigue = contexto.si('seguir')
    let ultima = 0
    for (;;) {
      try {
        for await (const guia of guias.seguir(codigo, { intervalo, limite: PAGINA }, { signal })) {
          if (ultima === 0) titular(guia, contexto)
          for await (const evento of historial(guias, guia, signal)) {
            if (evento.secuencia <= ultima) continue
            ultima = evento.secuencia
            mostrar(evento, contexto)
          }
          if (!sigue) break
        }
        return SALIDA.bien
      } catch (error) {
        if (sigue && signal.aborted && ultima > 0) return SALIDA.bien
        // What fails before anything was seen is rather a wrong key or address than something that passes.
        if (!(sigue && ultima > 0 && esPasajero(error))) throw error
      }
      await dormir(intervalo, signal)
    }
  },
}

/** How many events come with a guide, and at a time after these. */
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

function mostrar(evento: Evento, { json }: Contexto) {
  if (json) {
    decir(JSON.stringify(evento))
    return
  }
  const cuando = new Date(evento.ocurrido_en).toLocaleString('sv-SE')
  const tipo = pintar(TONOS[evento.estado] ?? 'gris', limpio(evento.tipo).padEnd(24))
  decir(`  ${cuando}  ${tipo}  ${limpio(evento.descripcion)}${evento.motivo ? ` (${limpio(evento.motivo)})` : ''}`)
}
