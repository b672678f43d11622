import type { GuiaParaCrear, Recogida } from '@guias/sdk'
import { leerTelefono } from '@guias/sdk/telefono'

const DE_GUIA = [
  'telefono',
  'pais',
  'departamento',
  'municipio',
  'external_ref',
  'destinatario',
  'direccion',
  'indicaciones',
  'contenido',
  'lat',
  'lng',
  'maps_url',
] as const
const DE_RECOGIDA = ['recogida_nombre', 'recogida_lat', 'recogida_lng', 'recogida_maps_url'] as const

/** The columns that a file may have; with hyphens, the options of `crear`. */
export const CAMPOS: readonly string[] = [...DE_GUIA, ...DE_RECOGIDA]
export const CAMPOS_DE_RECOGIDA: readonly string[] = DE_RECOGIDA

/** The name of a column as we write it: «Teléfono» is `telefono`, «External Ref» `external_ref`, «recogida.lat» `recogida_lat`. */
export const normalizar = (nombre: string) =>
  nombre
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .trim()
    .toLowerCase()
    .replace(/[\s.-]+/g, '_')

/**
 * What is empty is left out. Coordinates become numbers, also with the comma of a spreadsheet in Spanish; whatever is none
 * goes as it is, and the service says so.
 */
export function leerGuia(valor: (campo: string) => string | undefined): GuiaParaCrear {
  const guia: Record<string, unknown> = {}
  const recogida = leerRecogida(valor)
  for (const campo of DE_GUIA) poner(guia, campo, campo, valor)
  if (recogida) guia.recogida = recogida
  return guia as GuiaParaCrear
}

/**
 * The guide with its telephone in E.164, read with its own country or else with that one; what can't be read goes as it is
 * with the country, and the service says why.
 */
export function fijarTelefono<G extends GuiaParaCrear>(guia: G, pais: string | undefined): G {
  const { telefono } = guia as { telefono?: unknown }
  if (pais === undefined || typeof telefono !== 'string') return guia
  const leido = leerTelefono(telefono, guia.pais ?? pais)
  return 'error' in leido ? { ...guia, pais: guia.pais ?? pais } : { ...guia, telefono: leido.e164 }
}

export function leerRecogida(valor: (campo: string) => string | undefined): Recogida | undefined {
  const recogida: Record<string, unknown> = {}
  for (const campo of DE_RECOGIDA) poner(recogida, campo.slice('recogida_'.length), campo, valor)
  return Object.keys(recogida).length > 0 ? (recogida as Recogida) : undefined
}

function poner(
  en: Record<string, unknown>,
  nombre: string,
  campo: string,
  valor: (campo: string) => string | undefined,
) {
  const texto = valor(campo)?.trim()
  if (!texto) return
  en[nombre] =
    /^(lat|lng)$/.test(nombre) && /^[+-]?\d+([.,]\d+)?$/.test(texto) ? Number(texto.replace(',', '.')) : texto
}
