import type { GuiaParaCrear } from '@guias/sdk'
import { leerTelefono } from '@guias/sdk/telefono'
import type { GUIA_FIELDS, RECOGIDA_FIELDS } from '../src/generated/fields.ts'
import type { Option, Options } from './command.ts'

/** Member of a guide on the command line. */
interface Field extends Option {
  /** Title of its line in `guias ver`; undefined if the member has no line of its own. */
  title: string | undefined
}

/** Options of a guide's members. The list does not compile if it lacks a member of the contract. */
const GUIA_OPTION_FIELDS = {
  telefono: {
    placeholder: '<número>',
    description: 'teléfono del destinatario, como 3148 1676 o +50231481676',
    title: undefined,
  },
  departamento: { placeholder: '<nombre>', description: 'departamento de destino', title: undefined },
  municipio: { placeholder: '<nombre>', description: 'municipio de destino', title: undefined },
  external_ref: {
    placeholder: '<ref>',
    description: 'su número de pedido; con él, repetir no crea otra guía',
    title: undefined,
  },
  destinatario: { placeholder: '<nombre>', description: 'quién recibe', title: undefined },
  direccion: { placeholder: '<texto>', description: 'calle, número, zona', title: undefined },
  indicaciones: { placeholder: '<texto>', description: 'cómo llegar, a quién preguntar', title: 'Indicaciones' },
  contenido: { placeholder: '<texto>', description: 'qué lleva el paquete', title: 'Contenido' },
  lat: { placeholder: '<grados>', description: 'latitud del lugar de entrega', title: undefined },
  lng: { placeholder: '<grados>', description: 'longitud del lugar de entrega; aquí es negativa', title: undefined },
  maps_url: { placeholder: '<url>', description: 'el lugar de entrega, en un enlace de mapa', title: undefined },
  metadatos: { placeholder: '<clave=texto>', description: 'datos suyos; varios, separados por «;»', title: undefined },
} as const satisfies Readonly<Record<Exclude<(typeof GUIA_FIELDS)[number], 'pais'>, Field>>
const RECOGIDA_OPTION_FIELDS = {
  recogida_nombre: { placeholder: '<nombre>', description: 'nombre del lugar donde se recoge' },
  recogida_lat: { placeholder: '<grados>', description: 'latitud de donde se recoge' },
  recogida_lng: { placeholder: '<grados>', description: 'longitud de donde se recoge' },
  recogida_maps_url: { placeholder: '<url>', description: 'donde se recoge, en un enlace de mapa' },
  recogida_contacto: { placeholder: '<nombre>', description: 'por quién se pregunta al recoger' },
  recogida_telefono: { placeholder: '<número>', description: 'teléfono de donde se recoge' },
  recogida_direccion: { placeholder: '<texto>', description: 'calle, número y zona de donde se recoge' },
  recogida_indicaciones: { placeholder: '<texto>', description: 'cómo llegar a donde se recoge' },
} as const satisfies Readonly<Record<(typeof RECOGIDA_FIELDS)[number], Option>>
/** Countries whose phone numbers can be read without `+`. */
const COUNTRIES = ['GT', 'SV', 'HN', 'NI', 'CR', 'PA', 'CO', 'MX']

/** Returns the option of a column: `external_ref` gives `external-ref`. */
export const optionNameOf = (field: string) => field.replaceAll('_', '-')
const opciones = (fields: Readonly<Record<string, Option>>): Options =>
  Object.fromEntries(Object.entries(fields).map(([field, option]) => [optionNameOf(field), option]))

export const RECOGIDA_OPTIONS = opciones(RECOGIDA_OPTION_FIELDS)
export const GUIA_OPTIONS: Options = { ...opciones(GUIA_OPTION_FIELDS), ...RECOGIDA_OPTIONS }
/** Returns the options of some of a guide's members. */
export const pickOptions = (fields: readonly string[]): Options =>
  Object.fromEntries(
    fields.map(optionNameOf).flatMap((name) => (GUIA_OPTIONS[name] ? [[name, GUIA_OPTIONS[name]] as const] : [])),
  )

type GuiaField = keyof typeof GUIA_OPTION_FIELDS
/** Members that have a line of their own in `guias ver`, with its title. */
export const LINE_TITLES = (Object.entries(GUIA_OPTION_FIELDS) as [GuiaField, Field][]).flatMap(([name, { title }]) =>
  title === undefined ? [] : [[title, name] as const],
)

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
