/** Decide qué hacer con cada aviso guardado. Cambie los `return` por lo suyo. */
import type { CuerpoDeAviso, TodoAtendido } from '@guias/sdk'

export function atender(aviso: CuerpoDeAviso): string {
  switch (aviso.tipo) {
    case 'guia.aceptado':
    case 'guia.recolectado':
    case 'guia.en_bodega':
    case 'guia.en_transito':
    case 'guia.en_ruta':
      return `${aviso.datos.guia.external_ref}: en camino`
    case 'guia.entregado':
      return `${aviso.datos.guia.external_ref}: cerrar el pedido`
    case 'guia.intento_fallido':
      return `${aviso.datos.guia.external_ref}: llamar al cliente (${aviso.datos.evento.motivo})`
    case 'guia.decision_pendiente':
      return `${aviso.datos.guia.external_ref}: decidir antes del ${aviso.datos.evento.decision.vence_en}`
    case 'guia.en_devolucion':
    case 'guia.devuelto':
    case 'guia.extraviado':
    case 'guia.cancelado':
      return `${aviso.datos.guia.external_ref}: devolver el dinero`
    case 'ubicacion.vencida':
    case 'ubicacion.fallida':
      return `${aviso.datos.guia.guia}: pedir la ubicación por otro medio`
    case 'guia.nota':
    case 'guia.corregida':
    case 'guia.rectificada':
    case 'guia.traspasada':
    case 'guia.decision_tomada':
    case 'guia.escaneo_tardio':
    case 'ubicacion.solicitada':
    case 'ubicacion.confirmada':
      return `${aviso.datos.guia.guia}: ${aviso.datos.evento.descripcion}`
    case 'webhook.prueba':
      return 'la prueba llegó'
    case 'webhook.deshabilitado':
      return `avisar al equipo: ${aviso.datos.webhook.url} dejó de recibir`
    default:
      // No compila si arriba falta un tipo de los que esta versión conoce. Los tipos nuevos llegan aquí.
      true satisfies TodoAtendido<typeof aviso.tipo>
      return 'guia' in aviso.datos ? `${aviso.datos.guia.guia}: novedad` : 'novedad'
  }
}
