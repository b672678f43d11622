import { conCada, leerCodigos, OPCION_DE_CODIGOS } from './codigos.ts'
import { type Orden, SALIDA } from './orden.ts'
import { avisar, confirmar, decir, limpio, pintar } from './terminal.ts'

export const cancelar: Orden = {
  resumen: 'cancela guías que aún no se recolectaron',
  uso: ['cancelar <guia>… [opciones]', 'cancelar --archivo codigos.txt [opciones]'],
  explica: `Cancela guías que aún están en aceptado; no se puede deshacer, y cada una
conserva su external_ref. En una terminal pregunta antes; fuera de ella hace
falta --si. Cancelar una ya cancelada no cambia nada.`,
  opciones: {
    si: { dice: 'cancela sin preguntar' },
    razon: { valor: '<texto>', dice: 'por qué; queda en el historial' },
    ...OPCION_DE_CODIGOS,
  },
  posicionales: [0, Number.POSITIVE_INFINITY],
  ejemplos: ["cancelar 7K3M9QX2A1B4 --razon 'El cliente desistió'"],
  async ejecutar(contexto) {
    const { signal } = contexto
    const codigos = await leerCodigos(contexto)
    const [primero = ''] = codigos
    const { guias } = contexto.api()
    const que = codigos.length === 1 ? `la guía ${limpio(primero)}` : `${codigos.length} guías`
    if (!(await confirmar(`¿Cancelar ${que}? No se puede deshacer.`, contexto.si('si'), signal))) {
      avisar('No se canceló nada.')
      return SALIDA.interrumpida
    }
    const razon = contexto.texto('razon')
    const fallidas = await conCada(codigos, contexto, async (codigo) => {
      const guia = await guias.cancelar(codigo, razon === undefined ? undefined : { razon }, { signal })
      decir(contexto.json ? JSON.stringify(guia) : `${pintar('fuerte', limpio(guia.guia))}  ${limpio(guia.estado)}`)
    })
    if (fallidas > 0 && !contexto.json) avisar(`${codigos.length - fallidas} canceladas, ${fallidas} no.`)
    return fallidas > 0 ? SALIDA.rechazo : SALIDA.bien
  },
}
