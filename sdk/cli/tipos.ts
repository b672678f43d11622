import { ESTADOS, UBICACIONES } from './disparar.ts'

/** Event types to which a webhook can subscribe; shell completion offers them. The service may accept more. */
export const TIPOS = [
  'guia.*',
  ...ESTADOS.map((estado) => `guia.${estado}`),
  'guia.nota',
  'guia.corregida',
  'guia.decision_pendiente',
  'guia.decision_tomada',
  'guia.escaneo_tardio',
  'ubicacion.*',
  ...UBICACIONES.map((estado) => `ubicacion.${estado}`),
]
