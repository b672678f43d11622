import { ESTADOS, UBICACIONES } from './disparar.ts'

/** The types of events that a webhook may ask for, to be completed; the service knows whether there are more. */
export const TIPOS = [
  'guia.*',
  ...ESTADOS.map((estado) => `guia.${estado}`),
  'guia.nota',
  'guia.escaneo_tardio',
  'ubicacion.*',
  ...UBICACIONES.map((estado) => `ubicacion.${estado}`),
]
