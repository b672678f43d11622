import { conCada, leerCodigos, OPCION_DE_CODIGOS } from './codigos.ts'
import { type Orden, SALIDA } from './orden.ts'
import { avisar, decir, limpio, pintar } from './terminal.ts'

export const reenviarSolicitud: Orden = {
  resumen: 'pide otra vez al destinatario que confirme el lugar',
  uso: ['reenviar-solicitud <guia>… [opciones]', 'reenviar-solicitud --archivo codigos.txt [opciones]'],
  explica: `Envía otra vez el mensaje con que se pregunta el lugar, si el anterior venció,
falló o quedó en duda. Como mucho tres veces por guía y teléfono, y cinco
mensajes al día por teléfono.`,
  opciones: OPCION_DE_CODIGOS,
  posicionales: [0, Number.POSITIVE_INFINITY],
  ejemplos: ['reenviar-solicitud 7K3M9QX2A1B4'],
  async ejecutar(contexto) {
    const { signal } = contexto
    const codigos = await leerCodigos(contexto)
    const { guias } = contexto.api()
    const fallidas = await conCada(codigos, contexto, async (codigo) => {
      const guia = await guias.reenviarSolicitud(codigo, { signal })
      const numero = guia.ubicacion.solicitud?.numero
      const dicho = `${pintar('fuerte', limpio(guia.guia))}  se pidió otra vez (mensaje ${numero})`
      decir(contexto.json ? JSON.stringify(guia) : dicho)
    })
    if (fallidas > 0 && !contexto.json) avisar(`${codigos.length - fallidas} reenviadas, ${fallidas} no.`)
    return fallidas > 0 ? SALIDA.rechazo : SALIDA.bien
  },
}
