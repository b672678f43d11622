import type { EventoParaRegistrar } from '../contrato/generado/tipos/index.ts'
import type { Respuesta } from '../contrato/tipos.ts'
import type { Deps } from '../deps.ts'
import { leerCambio, pasoDe } from '../eventos/cambio.ts'
import { darPaso, presentarEvento, sinCarrera } from '../eventos/evento.ts'
import { buscarGuia } from '../guias/guia.ts'
import { anotarIntento } from '../pruebasEntrega/intento.ts'
import { type ApiDeSubida, estanSinUsar, fotosPedidas } from '../pruebasEntrega/uso.ts'
import { huellaDeContenido, yaRegistrado } from './idempotencia.ts'

/** Who reports, where he uploads his photos, and what he can do about a place that isn't confirmed. */
interface Quien {
  /** op_… or rep_… */
  autor: string
  api: ApiDeSubida
  remedio: string
}

/** A change of state or a note, of an operator or a courier. */
export async function registrarLectura(
  { db, reloj, secretos, avisarTrabajo }: Pick<Deps, 'db' | 'reloj' | 'secretos' | 'avisarTrabajo'>,
  { autor, api, remedio }: Quien,
  codigo: string,
  body: EventoParaRegistrar,
): Promise<Respuesta<'registrarEvento'>> {
  const cambio = leerCambio(body, reloj())
  const { fotos = [] } = body
  const contenido = JSON.stringify(Object.entries(body).sort())
  const comun = {
    descripcion: body.descripcion ?? null,
    lat: body.lat ?? null,
    lng: body.lng ?? null,
    autor,
    idempotencia: body.idempotencia ?? null,
    huella: body.idempotencia === undefined ? null : huellaDeContenido(secretos, contenido),
  }
  const { evento, repetido } = await sinCarrera(async () => {
    const guia = await buscarGuia(db, 'todos', codigo)
    const anterior = await yaRegistrado({ db, secretos }, guia, body.idempotencia, contenido)
    if (anterior) return { evento: anterior, repetido: true }
    // The guard on the sequence also makes the idempotency key unique: two equal requests can't both step from here.
    const paso = { ...comun, ...pasoDe(guia, cambio, reloj(), remedio) }
    if (fotos.length > 0 && !(await estanSinUsar(db, guia, fotosPedidas(fotos), api))) return undefined
    const dado = await (fotos.length > 0
      ? anotarIntento({ db, avisarTrabajo }, guia, paso, fotos)
      : darPaso({ db, avisarTrabajo }, guia, paso))
    return dado && { evento: dado.evento, repetido: false }
  })
  const respuesta = { ...presentarEvento(evento), aplicado: evento.tipo !== 'guia.escaneo_tardio' }
  return repetido
    ? { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: respuesta }
    : { status: 201, body: respuesta }
}
