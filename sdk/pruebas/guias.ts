import type { Estado, Evento, Falla, Guia, GuiaParaCrear, Recogida, UbicacionSimulada } from '@guias/sdk'
import { leerTelefono } from '@guias/sdk/telefono'
import { invalidFields, notFound, Refusal } from './problema.ts'

/** Transitions between states, as in the contract's `x-transiciones`. A test compares both. */
export const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  aceptado: ['recolectado', 'cancelado'],
  recolectado: ['en_bodega', 'en_transito', 'en_ruta', 'en_devolucion', 'extraviado'],
  en_bodega: ['en_transito', 'en_ruta', 'entregado', 'en_devolucion', 'extraviado'],
  en_transito: ['en_bodega', 'en_ruta', 'en_devolucion', 'extraviado'],
  en_ruta: ['entregado', 'intento_fallido', 'en_bodega', 'en_devolucion', 'extraviado'],
  intento_fallido: ['en_ruta', 'en_bodega', 'en_devolucion', 'extraviado'],
  entregado: [],
  en_devolucion: ['devuelto', 'extraviado'],
  devuelto: [],
  extraviado: ['en_bodega', 'en_devolucion'],
  cancelado: [],
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'guia.aceptado': 'Guía aceptada',
  'guia.recolectado': 'Paquete recolectado',
  'guia.en_bodega': 'Paquete en bodega',
  'guia.en_transito': 'Paquete en tránsito',
  'guia.en_ruta': 'Paquete en ruta de entrega',
  'guia.intento_fallido': 'Intento de entrega fallido',
  'guia.entregado': 'Paquete entregado',
  'guia.en_devolucion': 'Paquete en devolución',
  'guia.devuelto': 'Paquete devuelto al comercio',
  'guia.extraviado': 'Paquete extraviado',
  'guia.cancelado': 'Guía cancelada por el comercio',
  'guia.decision_pendiente': 'Se espera una decisión sobre el paquete',
  'ubicacion.solicitada': 'Se pidió al destinatario confirmar su ubicación',
  'ubicacion.confirmada': 'Ubicación de entrega confirmada',
  'ubicacion.vencida': 'Venció el plazo para confirmar la ubicación',
}

const HOUR_MS = 3_600_000
/** Time within which the recipient can confirm the location, in milliseconds. */
const UBICACION_DEADLINE_MS = 72 * HOUR_MS
const DECISION_DEADLINE_MS = 5 * 24 * HOUR_MS
/**
 * Location that the recipient confirms if the test gives none. It replaces the centre of the declared municipality,
 * which this double does not know.
 */
const CENTER = { lat: 14.634915, lng: -90.506882 }
/** Reasons of a failed attempt after which the merchant must act before the next attempt. */
const REASONS_REQUIRING_ACTION = ['direccion_inexistente', 'direccion_incorrecta', 'sin_pago']

/** Event, and the guide right after it. */
export interface RecordedEvento {
  evento: Evento
  guia: Guia
}

/** Guides of the test double and their events, in memory. */
export class Guias {
  readonly todas = new Map<string, Guia>()
  readonly eventos: RecordedEvento[] = []
  readonly #contents = new Map<string, { guia: Guia; contenido: Map<string, string> }>()
  readonly #now: () => Date

  constructor(ahora: () => Date) {
    this.#now = ahora
  }

  buscar(codigo: string): Guia {
    const guia = this.todas.get(codigo.toUpperCase().replace(/[\s-]/g, ''))
    if (guia) return guia
    throw notFound('guia_desconocida', 'No hay ninguna guía con ese identificador en el modo de esta llave.')
  }

  /**
   * Creates a guide, or returns the guide with the same reference.
   * @throws Rechazo if the data are not valid, or if the reference belongs to a guide with other data
   */
  crear(datos: GuiaParaCrear): { guia: Guia; repetida: boolean } {
    const telefono = checkData(datos)
    const { metadatos, ...dataWithoutMetadatos } = datos
    const contenido = new Map(
      Object.entries({ ...dataWithoutMetadatos, telefono }).map(([k, v]) => [k, JSON.stringify(v)]),
    )
    const antes = datos.external_ref ? this.#contents.get(datos.external_ref) : undefined
    if (antes) {
      requireSameData(antes.guia, antes.contenido, contenido)
      return { guia: warnOfEnd(antes.guia), repetida: true }
    }
    const guia = buildGuia(createCode(), datos, telefono, this.#now().toISOString())
    this.todas.set(guia.guia, guia)
    if (datos.external_ref) this.#contents.set(datos.external_ref, { guia, contenido })
    this.#record(guia, 'guia.aceptado', { estado_anterior: null })
    return { guia, repetida: false }
  }

  cancelar(codigo: string): Guia {
    const guia = this.buscar(codigo)
    if (guia.estado === 'cancelado') return guia
    if (guia.estado !== 'aceptado') throw invalidTransition(guia, 'cancelado', [])
    return this.#transition(guia, 'cancelado', {})
  }

  mover(codigo: string, { estado, motivo = null, ...otro }: { estado?: string; motivo?: string | null }): Guia {
    const guia = this.buscar(codigo)
    const possibleStates = (TRANSITIONS[guia.estado] ?? []).filter((state) => state !== 'cancelado')
    if (estado === undefined || Object.keys(otro).length > 0)
      throw new Refusal(422, 'validacion', 'El servicio de pruebas mueve una guía con estado y motivo.')
    if (!possibleStates.includes(estado)) throw invalidTransition(guia, estado, possibleStates)
    if (estado === 'en_ruta' && guia.ubicacion.estado !== 'confirmada')
      throw new Refusal(409, 'ubicacion_sin_confirmar', 'Confirme antes la ubicación.', { estado: guia.estado })
    const { lat, lng } = guia.ubicacion
    // The position of a sample delivery is some metres from the confirmed location.
    if (estado === 'entregado') return this.#transition(guia, estado, { lat: lat && lat - 0.0001, lng })
    if (estado !== 'intento_fallido') return this.#transition(guia, estado, { motivo })
    guia.intentos++
    const requiere_accion = REASONS_REQUIRING_ACTION.includes(motivo ?? '')
    this.#transition(guia, estado, { motivo, numero_intento: guia.intentos, requiere_accion })
    const expiresAt = new Date(this.#now().getTime() + DECISION_DEADLINE_MS)
    const pendiente = { estado: 'pendiente', opciones: ['reintentar', 'devolver'], vence_en: expiresAt.toISOString() }
    const decision = {
      ...pendiente,
      fecha_desde: dia(this.#now()),
      accion: null,
      fecha: null,
      franja: null,
      por: null,
    }
    guia.decision = decision as Guia['decision']
    return this.#record(guia, 'guia.decision_pendiente', { decision })
  }

  /** Answers as the recipient would. */
  responder(codigo: string, { resultado = 'confirmada', ...lugar }: UbicacionSimulada): Guia {
    if (resultado === 'confirmada') return this.confirm(codigo, 'destinatario', lugar)
    if (resultado === 'vencida') return this.#expire(this.buscar(codigo))
    throw new Refusal(
      422,
      'validacion',
      'El servicio de pruebas no tiene el resultado fallida: use una llave guia_test_….',
    )
  }

  /** Confirms the location, as the merchant or the recipient would. */
  confirm(
    codigo: string,
    origen: 'comercio' | 'destinatario',
    lugar: { lat?: number; lng?: number; referencia?: string } = {},
  ) {
    const guia = this.buscar(codigo)
    const { lat = CENTER.lat, lng = CENTER.lng, referencia = null } = lugar
    const { solicitud } = guia.ubicacion
    const fixedFields = { maps_url: null, precision_m: null, distancia_km: null, solicitud }
    const confirmado_en = this.#now().toISOString()
    guia.ubicacion = { ...fixedFields, estado: 'confirmada', origen, lat, lng, referencia, confirmado_en }
    return this.#record(guia, 'ubicacion.confirmada', { lat, lng })
  }

  /** Does the automatic work of the service: sends the location requests, and lets them expire. */
  work() {
    const ahora = this.#now()
    for (const guia of this.todas.values()) {
      const { ubicacion } = guia
      const { solicitud } = ubicacion
      if (!TRANSITIONS[guia.estado]?.length || ubicacion.estado !== 'solicitada' || !solicitud) continue
      if (solicitud.estado === 'pendiente') {
        const vence_en = new Date(ahora.getTime() + UBICACION_DEADLINE_MS).toISOString()
        guia.ubicacion = {
          ...ubicacion,
          solicitud: { ...solicitud, estado: 'enviado', enviado_en: ahora.toISOString(), vence_en },
        }
        this.#record(guia, 'ubicacion.solicitada', {})
      } else if (solicitud.vence_en && new Date(solicitud.vence_en) <= ahora) this.#expire(guia)
    }
  }

  #expire(guia: Guia): Guia {
    guia.ubicacion = { ...guia.ubicacion, estado: 'vencida' }
    return this.#record(guia, 'ubicacion.vencida', {})
  }

  #transition(guia: Guia, estado: string, extraMembers: object): Guia {
    const estado_anterior = guia.estado
    guia.estado = estado as Estado
    if (guia.decision?.estado === 'pendiente') guia.decision = { ...guia.decision, estado: 'superada' }
    return this.#record(guia, `guia.${estado}`, { estado_anterior, ...extraMembers })
  }

  #record(guia: Guia, tipo: string, extraMembers: object): Guia {
    const ahora = this.#now().toISOString()
    guia.actualizado_en = ahora
    if (tipo !== 'guia.aceptado') guia.secuencia++
    const { guia: codigo, external_ref, estado, secuencia } = guia
    const emptyFields = {
      motivo: null,
      lat: null,
      lng: null,
      estado_reportado: null,
      numero_intento: null,
      requiere_accion: null,
    }
    const evento = {
      id: `evt_${codigo}_${secuencia}`,
      tipo,
      guia: codigo,
      external_ref,
      estado,
      estado_anterior: estado,
      secuencia,
      descripcion: DESCRIPTIONS[tipo] ?? tipo,
      ...emptyFields,
      ocurrido_en: ahora,
      registrado_en: ahora,
      forzado: null,
      tardio: false,
      repartidor: null,
      campos: null,
      decision: null,
      ...extraMembers,
    }
    this.eventos.push({ evento: evento as unknown as Evento, guia: structuredClone(guia) })
    return guia
  }
}

const dia = (fecha: Date) => new Date(fecha.getTime() - 6 * HOUR_MS).toISOString().slice(0, 10)

const CODE_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const createCode = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => CODE_ALPHABET[byte % 32]).join('')

const invalidTransition = (guia: Guia, a: string, transiciones: readonly string[]) =>
  new Refusal(409, 'transicion_invalida', `La guía está en ${guia.estado} y no puede pasar a ${a}.`, {
    estado: guia.estado,
    transiciones: transiciones as Estado[],
  })

const hasPlace = (lugar: Recogida | undefined) =>
  Boolean(lugar && ((lugar.lat !== undefined && lugar.lng !== undefined) || lugar.maps_url))

const missingField = (campo: string, mensaje = 'falta; es obligatorio'): Falla => ({
  campo,
  codigo: 'requerido',
  mensaje,
})

/**
 * Checks the required fields and the telephone, and returns the telephone in E.164. The double knows no other rules of
 * the service.
 */
function checkData(datos: GuiaParaCrear): string {
  const requiredFields = ['telefono', 'departamento', 'municipio'] as const
  const errores = requiredFields.flatMap((campo) => (datos[campo] ? [] : [missingField(`/${campo}`)]))
  const reading = datos.telefono ? leerTelefono(datos.telefono, (datos.pais ?? 'GT') as 'GT') : undefined
  if (reading && 'error' in reading)
    errores.push({ campo: '/telefono', codigo: 'formato_invalido', mensaje: reading.error })
  if (!hasPlace(datos.recogida)) errores.push(missingField('/recogida', 'falta; dé lat y lng, o maps_url'))
  if (errores.length > 0 || !reading || 'error' in reading) throw invalidFields(errores)
  return reading.e164
}

/** Warnings of a repeated creation that ships nothing, by the state of the guide that it found. */
const ENDED: Readonly<Record<string, readonly [codigo: string, state: string]>> = {
  cancelado: ['ya_cancelada', 'está cancelada'],
  en_devolucion: ['ya_devuelta', 'se devuelve o se devolvió'],
  devuelto: ['ya_devuelta', 'se devuelve o se devolvió'],
  extraviado: ['ya_extraviada', 'está extraviada'],
}

/** Adds the service's warning to the guide of a repeated creation if it will not be delivered. */
function warnOfEnd(guia: Guia): Guia {
  const ended = ENDED[guia.estado]
  if (!ended) return guia
  const [codigo, state] = ended
  const mensaje = `la guía de esta referencia ya existía y ${state}: para otro envío use otra external_ref`
  const advertencia = { codigo, campo: '/external_ref', mensaje, sugerencia: null }
  return { ...guia, advertencias: [...guia.advertencias, advertencia] } as Guia
}

function requireSameData(guia: Guia, antes: ReadonlyMap<string, string>, ahora: ReadonlyMap<string, string>) {
  const errores = [...new Set([...antes.keys(), ...ahora.keys()])]
    .filter((campo) => antes.get(campo) !== ahora.get(campo))
    .map((campo) => ({ campo: `/${campo}`, codigo: 'difiere', mensaje: 'es distinto del que se envió' }) as Falla)
  if (errores.length === 0) return
  const mensaje = `Ya creó la guía ${guia.guia} con external_ref ${guia.external_ref} y otros datos.`
  throw new Refusal(409, 'external_ref_en_conflicto', mensaje, { errores, guia: guia.guia })
}

function buildGuia(guia: string, datos: GuiaParaCrear, telefono: string, ahora: string): Guia {
  const { departamento, municipio, external_ref = null, lat = null, lng = null, maps_url = null, recogida } = datos
  const { destinatario = null, direccion = null, indicaciones = null, contenido = null, metadatos = {} } = datos
  const isLocated = lat !== null || maps_url !== null
  const emptyRecogida = { maps_url: null, contacto: null, telefono: null, direccion: null, indicaciones: null }
  const unsentFields = { enviado_en: null, entregado_en: null, leido_en: null, vence_en: null, motivo: null }
  const solicitud = { canal: 'buzon', estado: 'pendiente', numero: 1, creado_en: ahora, ...unsentFields }
  const ubicacion = {
    estado: isLocated ? 'confirmada' : 'solicitada',
    origen: isLocated ? 'coordenadas' : null,
    lat,
    lng,
    maps_url,
    precision_m: null,
    referencia: null,
    distancia_km: null,
    confirmado_en: isLocated ? ahora : null,
    solicitud: isLocated ? null : solicitud,
  }
  return {
    guia,
    estado: 'aceptado',
    modo: 'test',
    external_ref,
    telefono,
    destinatario,
    departamento,
    municipio,
    direccion,
    indicaciones,
    contenido,
    lat,
    lng,
    maps_url,
    recogida: { nombre: null, lat: null, lng: null, ...emptyRecogida, ...recogida },
    metadatos,
    ubicacion,
    intentos: 0,
    decision: null,
    advertencias: [],
    secuencia: 1,
    creado_en: ahora,
    actualizado_en: ahora,
    datos_borrados_en: null,
    zona_horaria: 'America/Guatemala',
    url_rastreo: `http://guias.pruebas/r/${guia}`,
  } as unknown as Guia
}
