import type { Evento } from '@guias/sdk'
import { type Contexto, dormir, esPasajero, numero, type Orden, SALIDA } from './orden.ts'
import { decir, limpio, pintar, type Tono } from './terminal.ts'

const FINALES = ['entregado', 'devuelto', 'cancelado']
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
    const { signal, json } = contexto
    const guia = await guias.obtener(codigo, { limite: 1 }, { signal })
    if (!json) {
      const para = [guia.destinatario, guia.municipio, guia.departamento].filter(Boolean).join(', ')
      decir(`${pintar('fuerte', limpio(guia.guia))}  ${limpio(guia.estado)}  ${limpio(para)}`)
    }
    let ultima = 0
    let estado: string = guia.estado
    for (;;) {
      try {
        for await (const evento of guias.eventos(codigo, { limite: 100 }, { signal })) {
          if (evento.secuencia <= ultima) continue
          ;[ultima, estado] = [evento.secuencia, evento.estado]
          mostrar(evento, contexto)
        }
      } catch (error) {
        if (!signal.aborted && !(contexto.si('seguir') && esPasajero(error))) throw error
      }
      if (!contexto.si('seguir') || FINALES.includes(estado)) return SALIDA.bien
      await dormir(intervalo, signal)
      if (signal.aborted) return SALIDA.bien
    }
  },
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
