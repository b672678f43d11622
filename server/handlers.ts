import { listarDepartamentos } from './catalogo/listarDepartamentos.ts'
import { listarMunicipios } from './catalogo/listarMunicipios.ts'
import { crearComercio } from './comercios/crear.ts'
import { listarComercios } from './comercios/listar.ts'
import type { Handlers } from './contrato/tipos.ts'
import { listarEventos } from './eventos/listar.ts'
import { listarEventosDeGuia } from './eventos/listarDeGuia.ts'
import { cancelarGuia } from './guias/cancelar.ts'
import { crearGuia } from './guias/crear.ts'
import { crearLote } from './guias/crearLote.ts'
import { listarGuias } from './guias/listar.ts'
import { obtenerGuia } from './guias/obtener.ts'
import { crearLlave } from './llaves/crear.ts'
import { listarLlaves } from './llaves/listar.ts'
import { revocarLlave } from './llaves/revocar.ts'
import { rotarLlave } from './llaves/rotar.ts'
import { listarMensajes } from './mensajeria/listar.ts'
import { recibirDeWhatsapp } from './mensajeria/recibirDeWhatsapp.ts'
import { verificarWhatsapp } from './mensajeria/verificarWhatsapp.ts'
import { buscarGuias } from './operaciones/buscarGuias.ts'
import { consultarGuia } from './operaciones/consultarGuia.ts'
import { registrarEvento } from './operaciones/registrarEvento.ts'
import { comprobarDisponibilidad } from './salud/comprobarDisponibilidad.ts'
import { comprobarVida } from './salud/comprobarVida.ts'
import { confirmarUbicacion } from './ubicacion/confirmar.ts'
import { reenviarSolicitud } from './ubicacion/reenviarSolicitud.ts'
import { cambiarWebhook } from './webhooks/cambiar.ts'
import { crearWebhook } from './webhooks/crear.ts'
import { eliminarWebhook } from './webhooks/eliminar.ts'
import { listarWebhooks } from './webhooks/listar.ts'
import { listarEntregas } from './webhooks/listarEntregas.ts'
import { obtenerWebhook } from './webhooks/obtener.ts'
import { obtenerEntrega } from './webhooks/obtenerEntrega.ts'
import { obtenerRecuperacion } from './webhooks/obtenerRecuperacion.ts'
import { probarWebhook } from './webhooks/probar.ts'
import { recuperarEntregas } from './webhooks/recuperar.ts'
import { reenviarEntrega } from './webhooks/reenviarEntrega.ts'
import { rotarSecreto } from './webhooks/rotarSecreto.ts'

/** operationId → handler, total over the three documents: what is missing or answers otherwise doesn't compile. */
export const handlers = {
  buscarGuias,
  cambiarWebhook,
  cancelarGuia,
  comprobarDisponibilidad,
  comprobarVida,
  confirmarUbicacion,
  consultarGuia,
  crearComercio,
  crearGuia,
  crearLlave,
  crearLote,
  crearWebhook,
  eliminarWebhook,
  listarComercios,
  listarDepartamentos,
  listarEntregas,
  listarEventos,
  listarEventosDeGuia,
  listarGuias,
  listarLlaves,
  listarMensajes,
  listarMunicipios,
  listarWebhooks,
  obtenerEntrega,
  obtenerGuia,
  obtenerRecuperacion,
  obtenerWebhook,
  probarWebhook,
  recibirDeWhatsapp,
  recuperarEntregas,
  reenviarEntrega,
  reenviarSolicitud,
  registrarEvento,
  revocarLlave,
  rotarLlave,
  rotarSecreto,
  verificarWhatsapp,
} satisfies Handlers
