// Computes the guide that a correction would produce. Pure functions.

import type { CorreccionDeGuia, Estado } from '../../generado/contrato/tipos/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { type AdvertenciaGuardada, juzgarDestino } from '../guias/advertencias.ts'
import { CORREGIBLES, type FilaGuia, pickCorregibles, type RecogidaGuardada } from '../guias/campos.ts'
import type { Cambios, Corregible } from '../guias/correcciones.ts'
import { advertenciasDelTelefono } from '../guias/datos.ts'

/** Fields of a guide that a correction can change, named as in the contract. */
export type CamposCorregidos = Omit<CorreccionDeGuia, 'estricto' | 'secuencia'>

/** Settings of the guide's merchant. */
interface Cuenta {
  /** Default country of telephones without `+`. */
  pais: string | null
}

/** States in which the recipient's data, the contents and the destination may be corrected. */
const DE_ENTREGA: readonly Estado[] = ['aceptado', 'recolectado', 'en_bodega', 'en_transito', 'intento_fallido']
/** States in which the pickup may be corrected: those before the parcel is collected. */
const DE_RECOGIDA: readonly Estado[] = ['aceptado']

/** Reports whether the recipient's data, the contents and the destination may be corrected in this state. */
export const admiteCorreccion = (estado: Estado): boolean => DE_ENTREGA.includes(estado)

/**
 * Reports whether a correction contains a field of the guide. `pais` alone does not count, because it only tells how to
 * read a telephone.
 */
const corrigeAlgo = (campos: CamposCorregidos) => Object.keys(campos).some((campo) => campo !== 'pais')

/**
 * Rejects a correction that contains no field of the guide, as the contract rejects an empty body.
 * @throws Problema 422
 */
export function exigirCampos(campos: CamposCorregidos): void {
  if (corrigeAlgo(campos)) return
  const mensaje = 'debe llevar al menos un campo que corregir'
  throw problemOfFaults('validacion', [{ campo: '', codigo: 'valor_no_admitido', mensaje }])
}

/**
 * Rejects a correction that the guide's state does not allow.
 * @throws Problema 409 `no_corregible`, with the states that allow all of its fields
 */
export function exigirCorregible({ estado }: Pick<FilaGuia, 'estado'>, { recogida, ...demas }: CamposCorregidos): void {
  const admitida_en = recogida ? DE_RECOGIDA : DE_ENTREGA
  if (admitida_en.includes(estado)) return
  const remedio = recogida ? remedioDeRecogida(estado, demas) : (REMEDIOS[estado] ?? FIN)
  throw new Problema('no_corregible', `La guía está en ${estado}${remedio}`, { estado, admitida_en: [...admitida_en] })
}

const remedioDeRecogida = (estado: Estado, demas: CamposCorregidos) =>
  ` y la recogida ya no se corrige.${admiteCorreccion(estado) && corrigeAlgo(demas) ? ' Envíe los demás campos sin recogida.' : ''}`

const FIN = ' y ya no se corrige.'
/** Ends of the error message for states in which the user can still do something. */
const REMEDIOS: Readonly<Partial<Record<Estado, string>>> = {
  en_ruta: '. Esa corrección se admite otra vez tras un intento fallido.',
  extraviado: '. Esa corrección se admite otra vez cuando el paquete aparezca.',
  en_devolucion: `${FIN} Si hace falta, hable con el servicio de mensajería.`,
}

/** Result of a correction: changed columns, and consequences for the guide. */
export interface Corregida {
  /** All columns that a correction may change, with their new values. */
  valores: Pick<FilaGuia, Corregible>
  /** Old and new values of the columns that change. */
  cambios: Cambios
  /** JSON Pointers to the changed members of the guide, in the order of the contract's `Guia`. */
  campos: string[]
  /** Guide after the correction. A new location is not confirmed in it yet. */
  guia: FilaGuia
}

/**
 * Applies the fields of a correction to a guide, with the rules of a creation. Members that are absent stay, and null
 * erases.
 * @param cuenta account of the guide's merchant, whose country telephones without `+` have
 * @throws Error if a telephone was not validated
 */
export function corregida(leida: FilaGuia, campos: CamposCorregidos, cuenta: Cuenta): Corregida {
  const valores = valoresDe(leida, campos, cuenta)
  const cambiadas = CORREGIBLES.filter((columna) => !iguales(leida[columna], valores[columna]))
  const cambios = Object.fromEntries(
    cambiadas.map((columna) => [columna, { antes: leida[columna], despues: valores[columna] }]),
  ) as Cambios
  const guia = { ...leida, ...valores }
  const { distancia_km, advertencias } = revisar(leida, guia, cambios)
  return {
    valores,
    cambios,
    campos: cambiadas.flatMap((columna) => punterosDe(columna, leida, valores)),
    guia: { ...guia, advertencias, ubicacion_extra: conDistancia(leida, distancia_km) },
  }
}

function valoresDe(leida: FilaGuia, campos: CamposCorregidos, cuenta: Cuenta): Corregida['valores'] {
  const { telefono, pais, recogida, lat, lng, maps_url, ...textos } = campos
  return {
    ...pickCorregibles(leida),
    ...textos,
    ...(telefono === undefined ? {} : { telefono: leerTelefono(telefono, pais ?? cuenta.pais) }),
    ...lugarDe({ lat, lng, maps_url }),
    ...(recogida ? { recogida: recogidaCorregida(leida.recogida, recogida, cuenta) } : {}),
  }
}

/**
 * Returns lat, lng and link of a place that a correction names; empty if it names none. The three columns change
 * together.
 */
const lugarDe = ({ lat, lng, maps_url }: { [M in 'lat' | 'lng' | 'maps_url']?: CamposCorregidos[M] | undefined }) =>
  lat === undefined && maps_url === undefined ? {} : { lat: lat ?? null, lng: lng ?? null, maps_url: maps_url ?? null }

function recogidaCorregida(
  leida: RecogidaGuardada,
  { lat, lng, maps_url, telefono, ...textos }: NonNullable<CamposCorregidos['recogida']>,
  { pais }: Cuenta,
): RecogidaGuardada {
  const leido = typeof telefono === 'string' ? leerTelefono(telefono, pais) : telefono
  const contacto = { ...textos, ...(leido === undefined ? {} : { telefono: leido }) }
  const corregida = { ...leida, ...lugarDe({ lat, lng, maps_url }), ...contacto }
  // Members of the contact that are null are left out, as in a new guide.
  for (const miembro of ['contacto', 'telefono', 'direccion', 'indicaciones'] as const)
    if (corregida[miembro] === null) delete corregida[miembro]
  return corregida
}

function leerTelefono(texto: string, pais: string | null | undefined): string {
  const telefono = readTelephone(texto, pais)
  if ('error' in telefono) throw new Error('the telephone was not validated')
  return telefono.e164
}

/** Compares two values of a column. Pickups are equal if all their members are equal. */
const iguales = (uno: unknown, otro: unknown): boolean =>
  uno === otro ||
  (esObjeto(uno) &&
    esObjeto(otro) &&
    [...new Set([...Object.keys(uno), ...Object.keys(otro)])].every((miembro) => uno[miembro] === otro[miembro]))

const esObjeto = (valor: unknown): valor is Record<string, unknown> => typeof valor === 'object' && valor !== null

function punterosDe(columna: Corregible, leida: FilaGuia, valores: Corregida['valores']): string[] {
  if (columna !== 'recogida') return [`/${columna}`]
  const [antes, despues] = [leida.recogida, valores.recogida]
  const miembros = ['nombre', 'lat', 'lng', 'maps_url', 'contacto', 'telefono', 'direccion', 'indicaciones'] as const
  return miembros.filter((miembro) => antes[miembro] !== despues[miembro]).map((miembro) => `/recogida/${miembro}`)
}

/** Codes of warnings about how place and reference were given. A correction does not change those. */
const DE_COMO_SE_DIO: readonly string[] = [
  'enlace_sin_coordenadas',
  'lugar_descrito',
  'lugar_por_revisar',
  'referencia_nula',
  'lugar_nulo',
]

/** Columns whose correction may mean that the confirmed location is no longer the right one. */
const DE_OTRO_LUGAR = ['direccion', 'departamento', 'municipio'] as const

/** Columns that are printed on a label. */
const EN_ETIQUETA = [
  ...(['telefono', 'destinatario', 'departamento', 'municipio', 'direccion', 'indicaciones', 'contenido'] as const),
  'recogida',
] as const satisfies readonly Corregible[]

/** Checks the guide's location against its corrected destination, and returns all warnings of the guide. */
function revisar(leida: FilaGuia, guia: FilaGuia, cambios: Cambios) {
  const { distancia_km, advertencias } = juzgarDestino(guia, leida)
  const tenia = (codigo: AdvertenciaGuardada['codigo']) => leida.advertencias.some((una) => una.codigo === codigo)
  const porRevisar =
    guia.ubicacion_estado === 'confirmada' &&
    !tenia('lugar_por_revisar') &&
    DE_OTRO_LUGAR.some((columna) => columna in cambios)
  const etiquetaVieja =
    tenia('etiqueta_desactualizada') ||
    (leida.etiqueta_en !== null && EN_ETIQUETA.some((columna) => columna in cambios))
  const telefono = readTelephone(guia.telefono ?? '')
  return {
    distancia_km,
    advertencias: [
      ...('error' in telefono ? [] : advertenciasDelTelefono(telefono, guia)),
      ...leida.advertencias.filter(({ codigo }) => DE_COMO_SE_DIO.includes(codigo)),
      ...(porRevisar ? [{ codigo: 'lugar_por_revisar', campo: '/ubicacion' } as const] : []),
      ...(etiquetaVieja ? [{ codigo: 'etiqueta_desactualizada', campo: '/guia' } as const] : []),
      ...advertencias,
    ],
  }
}

function conDistancia({ ubicacion_extra }: FilaGuia, distancia_km: number | null): FilaGuia['ubicacion_extra'] {
  const { distancia_km: _anterior, ...resto } = ubicacion_extra ?? {}
  const extra = { ...resto, ...(distancia_km === null ? {} : { distancia_km }) }
  return Object.keys(extra).length === 0 ? null : extra
}
