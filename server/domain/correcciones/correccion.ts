import { statement } from '../../data/db.ts'
import type { Modo } from '../../generado/contrato/tipos/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'
import type { Deps } from '../deps.ts'
import { darPaso, deGuia } from '../eventos/evento.ts'
import { explicarInverosimil } from '../guias/advertencias.ts'
import { cifrarCambios } from '../guias/correcciones.ts'
import { type AmbitoDeGuias, type FilaGuia, venceAlCrear } from '../guias/guia.ts'
import { conGuiaTomada, type DepsDeTomada, type Escritor, type GuiaTomada } from '../guias/tomada.ts'
import type { Recordar } from '../idempotencia/idempotencia.ts'
import { enlacePorSeguir, mismoLugar, pasoDeLugar } from '../ubicacion/ubicacion.ts'
import { type CamposCorregidos, type Corregida, corregida, exigirCampos, exigirCorregible } from './corregida.ts'

export { admiteCorreccion } from './corregida.ts'

/**
 * Maximum corrections of a guide. The webhook body of an earlier event is rebuilt by undoing each later correction, so
 * their number must be bounded.
 */
const MAXIMO = 30

/** Person or system that corrects a guide. */
export interface QuienCorrige {
  ambito: AmbitoDeGuias
  /** Code of the merchant or operator, stored with the event; null for the recipient. */
  autor: string | null
  /** Origin of a location that this correction confirms. */
  origen: 'comercio' | 'operador' | 'destinatario'
  /** Default country of telephones without `+`. */
  pais: string | null
  /** True to reject an implausible location. Otherwise it only causes a warning. */
  estricto?: boolean
  /** Reason for the correction, shown in its event. */
  descripcion?: string
}

/**
 * Stores the telephone that a correction replaces in `telefono_anterior`, and drops the messages to it that were not
 * sent yet.
 */
const CAMBIAR_TELEFONO = statement<ReturnType<typeof deGuia> & { secuencia: number; telefono: string }>(
  'correcciones.cambiarTelefono',
  `with a as (
     insert into telefono_anterior (comercio_id, modo, guia_id, secuencia, telefono)
     values (:comercio_id, :modo, :guia_id, :secuencia, :telefono)
   )
   update mensaje set estado = 'descartado', abierta = false
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and estado = 'pendiente'`,
)

/** Queues a message that asks the new telephone for the delivery location. */
const PEDIR_AL_NUEVO = statement<ReturnType<typeof deGuia> & { id: string; canal: string; ahora: Date }>(
  'correcciones.pedirAlNuevo',
  `insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
   select comercio_id, modo, id, 1 + (select coalesce(max(numero), 0) from mensaje m where m.comercio_id = g.comercio_id
       and m.modo = g.modo and m.guia_id = g.id), :id::uuid, guia, :canal::text, 'solicitud_ubicacion', telefono, 'pendiente',
     ${venceAlCrear('modo', ':canal', ':ahora::timestamptz')}, :ahora
   from guia g where comercio_id = :comercio_id and modo = :modo and id = :guia_id`,
)

/**
 * Corrects fields of a guide. One transaction writes the guide, its event, the confirmation of a corrected destination,
 * and the message to a corrected telephone. Fields that already have these values change nothing; without any change,
 * nothing is written.
 * @param secuencia sequence number that the guide must have; undefined: any
 * @param recordar stores the request's key in the same transaction
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `no_corregible`, `carrera_perdida` or `limite_de_correcciones`; 422 without a field to
 *   correct, or if `estricto` is true and the location would be implausible
 */
export const corregirGuiaDe = async (
  deps: DepsDeTomada,
  quien: QuienCorrige,
  codigo: string,
  { campos, secuencia }: { campos: CamposCorregidos; secuencia?: number | undefined },
  recordar: Recordar,
): Promise<FilaGuia & { comercio: string }> => {
  exigirCampos(campos)
  return conGuiaTomada(deps, quien.ambito, codigo, secuencia, recordar, (escritor, tomada) =>
    corregirTomada(escritor, quien, tomada, campos),
  )
}

/**
 * Corrects fields of a locked guide.
 * @returns the guide's row afterwards
 * @throws Problema 409 `no_corregible` or `limite_de_correcciones`; 422
 */
export async function corregirTomada(
  escritor: Escritor,
  quien: QuienCorrige,
  { correcciones, solicitudes, ...leida }: GuiaTomada,
  campos: CamposCorregidos,
): Promise<FilaGuia> {
  const decidida = decidir(quien, leida, campos)
  if (!decidida) return leida
  if (correcciones >= MAXIMO) throw new Problema('limite_de_correcciones', `La guía ya se corrigió ${MAXIMO} veces.`)
  return escribir(escritor, quien, leida, { ...decidida, solicitudes })
}

/** Correction that changes at least one field, and the location that it confirms, if any. */
interface Decidida {
  hecha: Corregida
  lugar: Propuesta | undefined
}

/**
 * Returns the changes that a correction makes; undefined if the guide already has all its values.
 * @throws Problema 409 `no_corregible`; 422
 */
function decidir(quien: QuienCorrige, leida: FilaGuia, campos: CamposCorregidos): Decidida | undefined {
  exigirCorregible(leida, campos)
  const hecha = corregida(leida, campos, quien)
  const dicho = lugarPropuesto(quien, campos)
  exigirVerosimil(quien, hecha, dicho)
  const lugar = dicho && !mismoLugar(leida, dicho) ? dicho : undefined
  return hecha.campos.length > 0 || lugar ? { hecha, lugar } : undefined
}

type Propuesta = NonNullable<ReturnType<typeof lugarPropuesto>>

/** Returns the location that a corrected destination confirms. Coordinates take precedence over a link. */
function lugarPropuesto({ origen }: QuienCorrige, { lat, lng, maps_url }: CamposCorregidos) {
  if (lat === undefined && maps_url === undefined) return undefined
  const enlace = lat === undefined ? readLinkedPlace(maps_url!) : undefined
  const leidas = enlace?.tipo === 'coordenadas' ? enlace.coordenadas : undefined
  return {
    enlace: enlace ? maps_url! : null,
    lat: lat ?? leidas?.lat ?? null,
    lng: lng ?? leidas?.lng ?? null,
    referencia: null,
    precision_m: null,
    origen,
  }
}

/**
 * Rejects an implausible location if the correction is strict.
 * @throws Problema 422
 */
function exigirVerosimil({ estricto = false }: QuienCorrige, { guia, cambios }: Corregida, lugar?: Propuesta): void {
  if (!estricto) return
  const deDestino = 'departamento' in cambios ? '/departamento' : 'municipio' in cambios ? '/municipio' : undefined
  if (!lugar && !deDestino) return
  const fallas = lugar
    ? explicarInverosimil(
        { ...guia, ...pasoDeLugar(guia, lugar, guia.actualizado_en).ubicacion },
        lugar.enlace !== null,
      )
    : explicarInverosimil(guia, false).map((falla) => ({ ...falla, campo: deDestino! }))
  if (fallas.length > 0) throw problemOfFaults('validacion', fallas)
}

/** Writes a correction of a locked guide, with its event and messages. */
async function escribir(
  { consultar, avisarTrabajo, reloj, nuevoId, secretos, canalDe }: Escritor,
  { autor, descripcion }: QuienCorrige,
  leida: FilaGuia,
  { hecha: { valores, cambios, campos, guia }, lugar, solicitudes }: Decidida & { solicitudes: number },
): Promise<FilaGuia> {
  const ahora = reloj()
  const partes = { db: { consultar }, avisarTrabajo }
  const comun = {
    ocurrido_en: ahora,
    registrado_en: ahora,
    autor,
    ...(descripcion === undefined ? {} : { descripcion }),
  }
  let presente = leida
  if (campos.length > 0) {
    const otroTelefono = 'telefono' in cambios && leida.telefono !== null
    const pedir = otroTelefono && leida.ubicacion_estado !== 'confirmada' && !lugar
    const evento = { guia_id: leida.id, secuencia: leida.secuencia + 1 }
    const paso = await darPaso(partes, leida, {
      ...comun,
      tipo: 'guia.corregida',
      datos: { campos },
      ubicacion: {
        ...guia,
        ...(pedir ? { ubicacion_extra: conSolicitud(guia, solicitudes + 1, canalDe, ahora) } : {}),
      },
      correccion: { valores, advertencias: guia.advertencias, cambios: cifrarCambios(secretos, evento, cambios) },
    })
    presente = paso!.guia
    if (otroTelefono)
      await consultar(CAMBIAR_TELEFONO, { ...deGuia(leida), secuencia: evento.secuencia, telefono: leida.telefono! })
    if (pedir) {
      await consultar(PEDIR_AL_NUEVO, { ...deGuia(leida), id: nuevoId().id, canal: canalDe(leida.modo), ahora })
      avisarTrabajo()
    }
  }
  if (!lugar) return presente
  const paso = await darPaso(partes, presente, {
    ...pasoDeLugar(presente, lugar, ahora),
    ...comun,
    enlaceCorto: enlacePorSeguir(lugar.enlace, nuevoId),
  })
  return paso!.guia
}

/** Returns the guide's location data with a new location request that was not sent yet. */
const conSolicitud = (
  { modo, ubicacion_extra }: FilaGuia,
  numero: number,
  canalDe: (modo: Modo) => ReturnType<Deps['canalDe']>,
  ahora: Date,
): FilaGuia['ubicacion_extra'] => ({
  ...ubicacion_extra,
  solicitud: { numero, canal: canalDe(modo), estado: 'pendiente', creado_en: ahora.toISOString() },
})
