import type { GuiaParaCrear, Recogida } from '@guias/sdk'
import { leerTelefono } from '@guias/sdk/telefono'
import type { Option, Options } from './command.ts'

/** Options of a guide's members. The list does not compile if it lacks a member of the contract. */
const GUIA_FIELDS = {
  telefono: { placeholder: '<número>', description: 'teléfono del destinatario, como 3148 1676 o +50231481676' },
  departamento: { placeholder: '<nombre>', description: 'departamento de destino' },
  municipio: { placeholder: '<nombre>', description: 'municipio de destino' },
  external_ref: { placeholder: '<ref>', description: 'su número de pedido; con él, repetir no crea otra guía' },
  destinatario: { placeholder: '<nombre>', description: 'quién recibe' },
  direccion: { placeholder: '<texto>', description: 'calle, número, zona' },
  indicaciones: { placeholder: '<texto>', description: 'cómo llegar, a quién preguntar' },
  contenido: { placeholder: '<texto>', description: 'qué lleva el paquete' },
  lat: { placeholder: '<grados>', description: 'latitud del lugar de entrega' },
  lng: { placeholder: '<grados>', description: 'longitud del lugar de entrega; aquí es negativa' },
  maps_url: { placeholder: '<url>', description: 'el lugar de entrega, en un enlace de mapa' },
  metadatos: { placeholder: '<clave=texto>', description: 'datos suyos; varios, separados por «;»' },
} as const satisfies Readonly<Record<Exclude<keyof GuiaParaCrear, 'pais' | 'recogida' | 'estricto'>, Option>>
const RECOGIDA_FIELDS = {
  recogida_nombre: { placeholder: '<nombre>', description: 'nombre del lugar donde se recoge' },
  recogida_lat: { placeholder: '<grados>', description: 'latitud de donde se recoge' },
  recogida_lng: { placeholder: '<grados>', description: 'longitud de donde se recoge' },
  recogida_maps_url: { placeholder: '<url>', description: 'donde se recoge, en un enlace de mapa' },
  recogida_contacto: { placeholder: '<nombre>', description: 'por quién se pregunta al recoger' },
  recogida_telefono: { placeholder: '<número>', description: 'teléfono de donde se recoge' },
  recogida_direccion: { placeholder: '<texto>', description: 'calle, número y zona de donde se recoge' },
  recogida_indicaciones: { placeholder: '<texto>', description: 'cómo llegar a donde se recoge' },
} as const satisfies Readonly<Record<`recogida_${keyof Recogida}`, Option>>
/** Countries whose phone numbers can be read without `+`. */
const COUNTRIES = ['GT', 'SV', 'HN', 'NI', 'CR', 'PA', 'CO', 'MX']

/** Returns the option of a column: `external_ref` gives `external-ref`. */
export const optionNameOf = (field: string) => field.replaceAll('_', '-')
const opciones = (fields: Readonly<Record<string, Option>>): Options =>
  Object.fromEntries(Object.entries(fields).map(([field, option]) => [optionNameOf(field), option]))

export const RECOGIDA_OPTIONS = opciones(RECOGIDA_FIELDS)
export const GUIA_OPTIONS: Options = { ...opciones(GUIA_FIELDS), ...RECOGIDA_OPTIONS }
/**
 * Builds the option `--pais`.
 *
 * @param qualifier words after «país» in the help, e.g. `de un teléfono sin +`
 */
export const buildCountryOption = (qualifier: string): Option => ({
  placeholder: '<GT>',
  description: `país ${qualifier}; si falta, el de su cuenta`,
  values: COUNTRIES,
})

/**
 * Converts the guide's phone number to E.164, with the guide's own country or else `pais`. A number that cannot be read
 * stays unchanged and the guide gets the country; the service then says why. Without `pais`, the guide stays unchanged.
 */
export function setTelefono<G extends GuiaParaCrear>(guia: G, country: string | undefined): G {
  const { telefono } = guia as { telefono?: unknown }
  if (country === undefined || typeof telefono !== 'string') return guia
  const reading = leerTelefono(telefono, guia.pais ?? country)
  return 'error' in reading ? { ...guia, pais: guia.pais ?? country } : { ...guia, telefono: reading.e164 }
}
