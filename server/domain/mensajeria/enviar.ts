import { HANDOVER_WAITS } from '../../platform/time/backoff.ts'
import { zonaDe } from '../catalogo/zona.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { type Reclamado, reclamar } from './claim.ts'
import { enviarAlBuzon } from './mailbox.ts'
import { marcarEnviados } from './markSent.ts'
import type { MessageMetrics } from './metrics.ts'
import type { DepsDeMensajes } from './row.ts'
import { aplazarMensaje, dudar, fallar } from './settle.ts'
import { decisionDeadline, textoDe } from './texts.ts'
import type { ClienteDeWhatsapp, WhatsappResult } from './whatsapp.ts'

/** Dependencies for sending messages. */
export type DepsDeEnvio = DepsDeMensajes &
  Pick<DepsDeTrabajo, 'log' | 'clienteDeWhatsapp'> & { metricas: MessageMetrics }

/** Maximum messages in progress to the provider at a time. */
const A_LA_VEZ = 8
/** Maximum attempts for a message that certainly was not sent. */
const INTENTOS = HANDOVER_WAITS.length + 1
const ESPERA_EN_TODO = HANDOVER_WAITS.reduce((suma, espera) => suma + espera, 0)

/**
 * Error codes of the service's own account, number, template or configuration. The message is not at fault, and an
 * operator repairs the cause in minutes or hours.
 */
const DE_LA_CUENTA =
  /^(?:0|3|10|33|100|190|2\d\d|368|131005|131031|131042|131045|133010|132\d{3}|configuracion|http_\d{3})$/
const ESPERA_DE_LA_CUENTA = 600_000
const PACIENCIA = 86_400_000

const SIN_NOTICIA =
  'El proceso que lo enviaba se detuvo antes de saber si salió. Si el destinatario no lo recibió, pídalo otra vez.'

/** Sends the messages of these jobs. A repeated job finds nothing to do. */
export async function enviarMensajes(deps: DepsDeEnvio, trabajos: readonly { data: object }[]): Promise<void> {
  const mensajes = trabajos.map(({ data }) => {
    const { mensaje, comercio_id } = data as { mensaje: string; comercio_id: string }
    return { id: mensaje, comercio_id }
  })
  await dudar(deps, mensajes, SIN_NOTICIA, true)
  await enviarAlBuzon(deps, mensajes)
  const { clienteDeWhatsapp } = deps
  if (!clienteDeWhatsapp) return
  // A claim lasts two minutes, so no more messages are claimed than are sent at once. A message that waits for a slow
  // provider would outlive its claim.
  for (let i = 0; i < mensajes.length; i += A_LA_VEZ) {
    const reclamados = await reclamar(deps, 'whatsapp', mensajes.slice(i, i + A_LA_VEZ))
    await Promise.all(reclamados.map((uno) => enviarUno(deps, clienteDeWhatsapp, uno)))
  }
}

async function enviarUno(deps: DepsDeEnvio, whatsapp: ClienteDeWhatsapp, mensaje: Reclamado): Promise<void> {
  const envio = await pedir(whatsapp, deps.ajustes, mensaje)
  const { guia, tipo, intentos } = mensaje
  deps.metricas.mensaje(envio.resultado)
  const nivel = envio.resultado === 'aceptado' ? 'info' : 'warn'
  deps.log[nivel]({ mensaje: `men_${guia}_${mensaje.numero}`, tipo, intentos, ...sinDatos(envio) }, 'message attempt')
  switch (envio.resultado) {
    case 'aceptado':
      return marcarEnviados(deps, 'whatsapp', ['enviando', 'dudoso'], [{ ...mensaje, proveedor_id: envio.proveedorId }])
    case 'dudoso':
      return void (await dudar(deps, [mensaje], envio.motivo))
    case 'rechazado': {
      if (!DE_LA_CUENTA.test(envio.codigo)) return fallar(deps, mensaje, envio.codigo, envio.motivo)
      deps.log.error({ codigo: envio.codigo, motivo: envio.motivo }, 'messaging account error')
      if (mensaje.creado_en.getTime() < deps.reloj().getTime() - PACIENCIA)
        return fallar(deps, mensaje, envio.codigo, envio.motivo)
      const proximo_en = new Date(deps.reloj().getTime() + ESPERA_DE_LA_CUENTA)
      return void (await aplazarMensaje(deps, mensaje, proximo_en, envio.codigo, envio.motivo))
    }
    case 'pasajero': {
      const espera = Math.max(HANDOVER_WAITS[intentos - 1] ?? ESPERA_DE_LA_CUENTA, (envio.esperar_s ?? 0) * 1_000)
      // `intentos` also counts attempts that failed because of the service's account. A message is therefore given up
      // only if it is also at least as old as the waits between nine attempts of its own.
      const edad = deps.reloj().getTime() - mensaje.creado_en.getTime()
      if (intentos >= INTENTOS && edad >= ESPERA_EN_TODO) return fallar(deps, mensaje, envio.codigo, envio.motivo)
      return void (await aplazarMensaje(
        deps,
        mensaje,
        new Date(deps.reloj().getTime() + espera),
        envio.codigo,
        envio.motivo,
      ))
    }
  }
}

/** Returns the part of a result that may be logged: no telephone and no token. */
const sinDatos = (envio: WhatsappResult) =>
  'codigo' in envio ? { resultado: envio.resultado, codigo: envio.codigo } : { resultado: envio.resultado }

function pedir(
  whatsapp: ClienteDeWhatsapp,
  ajustes: DepsDeEnvio['ajustes'],
  { id, tipo, telefono, comercio, municipio, departamento, token, vence_en }: Reclamado,
): Promise<WhatsappResult> {
  const marca = ajustes.marca.nombre
  if (telefono === null)
    return Promise.resolve({
      resultado: 'rechazado',
      codigo: 'sin_telefono',
      motivo: 'El teléfono ya se borró por la retención de datos.',
    })
  const zona = zonaDe({ departamento, municipio }, ajustes.zonaHoraria)
  const texto = textoDe({ tipo, marca, comercio, municipio, vence_en, zona })
  if (tipo === 'peticion_interactiva') return whatsapp.pedirUbicacion({ id, telefono, texto })
  if (tipo === 'acuse') return whatsapp.enviarTexto({ id, telefono, texto })
  if (tipo === 'solicitud_decision')
    return whatsapp.preguntarDecision({
      id,
      telefono,
      marca,
      comercio,
      hasta: decisionDeadline(vence_en!, zona),
      token,
    })
  return whatsapp.enviarPlantilla({ id, telefono, marca, comercio, municipio, token })
}
