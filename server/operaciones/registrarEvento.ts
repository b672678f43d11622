import type { EventoParaRegistrar, Falla, Motivo } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import type { Deps } from '../deps.ts'
import { Problema, problemaDeFallas } from '../errores.ts'
import {
  buscarEventoPorIdempotencia,
  darPaso,
  type FilaEvento,
  type Paso,
  presentarEvento,
  sinCarrera,
} from '../eventos/evento.ts'
import { leerInstante } from '../formatos.ts'
import { exigirTransicion, motivosDe, requiereAccion, siguientes } from '../guias/estados.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { huella } from '../secretos.ts'

/** How far ahead of ours a reader's clock may be, in milliseconds. */
const ADELANTO = 5 * 60_000

export const registrarEvento: Handler<'registrarEvento'> = async (
  { path, body },
  { identidad, db, reloj, secretos, avisarTrabajo },
) => {
  const dicho = body.ocurrido_en === undefined ? undefined : leerInstante(body.ocurrido_en)
  const fallas = revisar(body, dicho, reloj())
  if (fallas.length > 0) throw problemaDeFallas('validacion', fallas)

  const contenido = JSON.stringify(Object.entries(body).sort())
  const presente = secretos.presente('huellas')
  const comun = {
    descripcion: body.descripcion ?? null,
    lat: body.lat ?? null,
    lng: body.lng ?? null,
    autor: identidad.operador,
    idempotencia: body.idempotencia ?? null,
    // With the name of its key: a new master key must not make a replay a conflict.
    huella: body.idempotencia === undefined ? null : `${presente.kid}:${huella(presente, contenido)}`,
  }
  const { evento, repetido } = await sinCarrera(async () => {
    const guia = await buscarGuia(db, 'todos', path.guia)
    const anterior = await yaRegistrado({ db, secretos }, guia, body.idempotencia, contenido)
    if (anterior) return { evento: anterior, repetido: true }
    // The guard on the sequence also makes the idempotency key unique: two equal requests can't both step from here.
    const registrado_en = reloj()
    // Without a time of its own it happens now, and now is never before the present state, whatever another process's clock says.
    const ocurrido_en = dicho ?? new Date(Math.max(registrado_en.getTime(), guia.estado_desde.getTime()))
    const paso = await darPaso({ db, avisarTrabajo }, guia, {
      ...comun,
      ocurrido_en,
      registrado_en,
      ...decidir(guia, body, ocurrido_en),
    })
    return paso && { evento: paso.evento, repetido: false }
  })
  const respuesta = { ...presentarEvento(evento), aplicado: evento.tipo !== 'guia.escaneo_tardio' }
  return repetido
    ? { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: respuesta }
    : { status: 201, body: respuesta }
}

/** What the schema can't say: the reason belongs to the state, and nothing happens in the future. */
function revisar({ estado, motivo, forzar }: EventoParaRegistrar, ocurrido_en: Date | undefined, ahora: Date): Falla[] {
  const fallas: Falla[] = []
  if (ocurrido_en && ocurrido_en.getTime() > ahora.getTime() + ADELANTO) {
    fallas.push({
      campo: '/ocurrido_en',
      codigo: 'fuera_de_rango',
      mensaje: 'no puede estar más de 5 minutos en el futuro; revise el reloj del lector',
    })
  }
  const suyos = estado ? motivosDe(estado) : []
  if (motivo !== undefined && !suyos.includes(motivo)) {
    const mensaje =
      suyos.length > 0
        ? `debe ser uno de los motivos de ${estado}: ${suyos.join(', ')}`
        : `${estado ?? 'una anotación'} no lleva motivo; omítalo`
    fallas.push({ campo: '/motivo', codigo: 'valor_no_admitido', mensaje })
  }
  if (forzar !== undefined && estado !== 'en_ruta') {
    fallas.push({
      campo: '/forzar',
      codigo: 'incompatible',
      mensaje: 'solo vale para pasar a en_ruta sin ubicación confirmada; omítalo',
    })
  }
  return fallas
}

/** The rules of `x-transiciones` on the guide as it is now. */
function decidir(
  guia: FilaGuia,
  {
    estado,
    motivo = null,
    forzar,
  }: { estado?: FilaGuia['estado']; motivo?: Motivo | null; forzar?: { razon: string } },
  ocurrido_en: Date,
): Pick<Paso, 'tipo'> & Partial<Paso> {
  if (estado === undefined) return { tipo: 'guia.nota' }
  if (ocurrido_en < guia.estado_desde)
    return { tipo: 'guia.escaneo_tardio', motivo, datos: { estado_reportado: estado } }
  // Cancelling is the merchant's alone.
  exigirTransicion(
    guia.estado,
    estado,
    siguientes(guia.estado).filter((otro) => otro !== 'cancelado'),
  )
  const sinConfirmar = estado === 'en_ruta' && guia.ubicacion_estado !== 'confirmada'
  if (sinConfirmar && !forzar) {
    throw new Problema(
      'ubicacion_sin_confirmar',
      `La ubicación de la guía está ${guia.ubicacion_estado}. Espere la confirmación o envíe forzar con una razón.`,
      { estado: guia.estado },
    )
  }
  const intentos = guia.intentos + (estado === 'intento_fallido' ? 1 : 0)
  const datos: NonNullable<FilaEvento['datos']> = {
    ...(estado === 'intento_fallido'
      ? { numero_intento: intentos, requiere_accion: requiereAccion(estado, motivo) }
      : {}),
    ...(sinConfirmar && forzar ? { forzado: forzar } : {}),
  }
  return { tipo: `guia.${estado}`, estado, motivo, intentos, datos: Object.keys(datos).length > 0 ? datos : null }
}

async function yaRegistrado(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  guia: FilaGuia,
  idempotencia: string | undefined,
  contenido: string,
): Promise<FilaEvento | undefined> {
  if (idempotencia === undefined) return undefined
  const evento = await buscarEventoPorIdempotencia(db, guia, idempotencia)
  const [kid = '', primera] = evento?.huella?.split(':') ?? []
  const subclave = secretos.de('huellas', kid)
  if (evento && !(subclave && huella(subclave, contenido) === primera)) {
    throw new Problema(
      'idempotencia_en_conflicto',
      `La clave ${idempotencia} ya es del evento evt_${evento.guia}_${evento.secuencia}, que es distinto. Use una clave nueva por cada evento.`,
    )
  }
  return evento
}
