import { darAprobacion } from '../domain/aprobaciones/aprobar.ts'
import { listarAprobaciones } from '../domain/aprobaciones/listar.ts'
import { obtenerAprobacion } from '../domain/aprobaciones/obtener.ts'
import { rechazarAprobacion } from '../domain/aprobaciones/rechazar.ts'
import { retirarAprobacion } from '../domain/aprobaciones/retirar.ts'
import { descargarArchivo } from '../domain/archivos/descargar.ts'
import { subirArchivo } from '../domain/archivos/subir.ts'
import { asignarGuias } from '../domain/asignaciones/asignar.ts'
import { retirarAsignaciones } from '../domain/asignaciones/retirar.ts'
import { buscarEnBitacora } from '../domain/bitacora/buscar.ts'
import { listarBitacora } from '../domain/bitacora/listar.ts'
import { listarDepartamentos } from '../domain/catalogo/listarDepartamentos.ts'
import { listarMunicipios } from '../domain/catalogo/listarMunicipios.ts'
import { cambiarComercio } from '../domain/comercios/cambiar.ts'
import { crearComercio } from '../domain/comercios/crear.ts'
import { listarComercios } from '../domain/comercios/listar.ts'
import { obtenerComercio } from '../domain/comercios/obtener.ts'
import { obtenerCuenta } from '../domain/comercios/obtenerCuenta.ts'
import { agregarPasskey } from '../domain/equipo/factors/agregarPasskey.ts'
import { agregarTotp } from '../domain/equipo/factors/agregarTotp.ts'
import { crearCodigosDeRecuperacion } from '../domain/equipo/factors/crearCodigosDeRecuperacion.ts'
import { listarPasskeys } from '../domain/equipo/factors/listarPasskeys.ts'
import { obtenerSegundoFactor } from '../domain/equipo/factors/obtenerSegundoFactor.ts'
import { pedirRegistroDePasskey } from '../domain/equipo/factors/pedirRegistroDePasskey.ts'
import { pedirRegistroDeTotp } from '../domain/equipo/factors/pedirRegistroDeTotp.ts'
import { probarPresencia } from '../domain/equipo/factors/probarPresencia.ts'
import { probarPresenciaConPasskey } from '../domain/equipo/factors/probarPresenciaConPasskey.ts'
import { quitarPasskey } from '../domain/equipo/factors/quitarPasskey.ts'
import { quitarTotp } from '../domain/equipo/factors/quitarTotp.ts'
import { aceptarInvitacion } from '../domain/equipo/members/aceptar.ts'
import { cambiarCorreo } from '../domain/equipo/members/cambiarCorreo.ts'
import { cambiarMembresia } from '../domain/equipo/members/cambiarMembresia.ts'
import { eliminarPersona } from '../domain/equipo/members/eliminar.ts'
import { invitarPersona } from '../domain/equipo/members/invitar.ts'
import { listarPersonas } from '../domain/equipo/members/listar.ts'
import { listarInvitaciones } from '../domain/equipo/members/listarInvitaciones.ts'
import { obtenerPersona } from '../domain/equipo/members/obtener.ts'
import { pedirCambioDeCorreo } from '../domain/equipo/members/pedirCambioDeCorreo.ts'
import { quitarMembresia } from '../domain/equipo/members/quitarMembresia.ts'
import { restablecerSegundoFactor } from '../domain/equipo/members/restablecerSegundoFactor.ts'
import { retirarInvitacion } from '../domain/equipo/members/retirarInvitacion.ts'
import { cerrarSesionDePersona } from '../domain/equipo/sessions/cerrarSesion.ts'
import { cerrarSesionesDePersona } from '../domain/equipo/sessions/cerrarSesiones.ts'
import { cerrarSesionPorCodigo } from '../domain/equipo/sessions/cerrarSesionPorCodigo.ts'
import { elegirMembresia } from '../domain/equipo/sessions/elegirMembresia.ts'
import { listarSesiones } from '../domain/equipo/sessions/listarSesiones.ts'
import { obtenerSesionDePersona } from '../domain/equipo/sessions/obtenerSesion.ts'
import { abrirSesionDePersona } from '../domain/equipo/signIn/abrirSesion.ts'
import { abrirSesionConPasskey } from '../domain/equipo/signIn/abrirSesionConPasskey.ts'
import { abrirSesionConSegundoFactor } from '../domain/equipo/signIn/abrirSesionConSegundoFactor.ts'
import { pedirCodigo } from '../domain/equipo/signIn/pedirCodigo.ts'
import { pedirRetoDePasskey } from '../domain/equipo/signIn/pedirRetoDePasskey.ts'
import { crearEtiquetas } from '../domain/etiquetas/crear.ts'
import { descargarEtiquetas } from '../domain/etiquetas/descargar.ts'
import { obtenerEtiqueta } from '../domain/etiquetas/obtener.ts'
import { listarEventos } from '../domain/eventos/listar.ts'
import { listarEventosDeGuia } from '../domain/eventos/listarDeGuia.ts'
import { cancelarGuia } from '../domain/guias/cancelar.ts'
import { corregirGuia } from '../domain/guias/corregir.ts'
import { crearGuia } from '../domain/guias/crear.ts'
import { crearLote } from '../domain/guias/crearLote.ts'
import { devolverGuia } from '../domain/guias/devolver.ts'
import { listarGuias } from '../domain/guias/listar.ts'
import { obtenerGuia } from '../domain/guias/obtener.ts'
import { reintentarGuia } from '../domain/guias/reintentar.ts'
import { crearLlave } from '../domain/llaves/crear.ts'
import { crearLlaveDeOperador } from '../domain/llaves/crearDeOperador.ts'
import { listarLlaves } from '../domain/llaves/listar.ts'
import { listarLlavesDeOperador } from '../domain/llaves/listarDeOperador.ts'
import { revocarLlave } from '../domain/llaves/revocar.ts'
import { rotarLlave } from '../domain/llaves/rotar.ts'
import { listarMensajes } from '../domain/mensajeria/listar.ts'
import { recibirDeWhatsapp } from '../domain/mensajeria/recibirDeWhatsapp.ts'
import { verificarWhatsapp } from '../domain/mensajeria/verificarWhatsapp.ts'
import { crearNota } from '../domain/notas/crear.ts'
import { listarNotas } from '../domain/notas/listar.ts'
import { buscarGuias } from '../domain/operaciones/buscarGuias.ts'
import { cancelarGuiaPorOperador } from '../domain/operaciones/cancelar.ts'
import { confirmarUbicacionPorOperador } from '../domain/operaciones/confirmarUbicacion.ts'
import { consultarGuia } from '../domain/operaciones/consultarGuia.ts'
import { contarGuiasPorMunicipio } from '../domain/operaciones/contarGuiasPorMunicipio.ts'
import { corregirGuiaPorOperador } from '../domain/operaciones/corregir.ts'
import { devolverGuiaPorOperador } from '../domain/operaciones/devolver.ts'
import { encontrarGuias } from '../domain/operaciones/encontrarGuias.ts'
import { listarAsignaciones } from '../domain/operaciones/listarAsignaciones.ts'
import { listarDecisionesNoPreguntadas } from '../domain/operaciones/listarDecisionesNoPreguntadas.ts'
import { listarGuiasDeRepartidor } from '../domain/operaciones/listarGuiasDeRepartidor.ts'
import { listarGuiasDetenidas } from '../domain/operaciones/listarGuiasDetenidas.ts'
import { obtenerJornada } from '../domain/operaciones/obtenerJornada.ts'
import { rectificarGuia } from '../domain/operaciones/rectificar.ts'
import { reenviarSolicitudPorOperador } from '../domain/operaciones/reenviarSolicitud.ts'
import { registrarEntrega } from '../domain/operaciones/registrarEntrega.ts'
import { registrarEvento } from '../domain/operaciones/registrarEvento.ts'
import { reintentarGuiaPorOperador } from '../domain/operaciones/reintentar.ts'
import { crearOperador } from '../domain/operadores/crear.ts'
import { listarOperadores } from '../domain/operadores/listar.ts'
import { revocarOperador } from '../domain/operadores/revocar.ts'
import type { Handlers } from '../domain/operation.ts'
import { listarClavesPublicas } from '../domain/pruebasEntrega/listarClaves.ts'
import { listarIntentosDeGuia } from '../domain/pruebasEntrega/listarIntentos.ts'
import { listarIntentosPorOperador } from '../domain/pruebasEntrega/listarIntentosPorOperador.ts'
import { listarPruebasRectificadas } from '../domain/pruebasEntrega/listarRectificadas.ts'
import { obtenerPruebaDeEntrega } from '../domain/pruebasEntrega/obtener.ts'
import { obtenerPruebaDeEntregaPorOperador } from '../domain/pruebasEntrega/obtenerPorOperador.ts'
import { verificarPrueba } from '../domain/pruebasEntrega/verificar.ts'
import { abrirSesion } from '../domain/repartidores/abrirSesion.ts'
import { cerrarSesion } from '../domain/repartidores/cerrarSesion.ts'
import { crearRepartidor } from '../domain/repartidores/crear.ts'
import { desactivarRepartidor } from '../domain/repartidores/desactivar.ts'
import { listarRepartidores } from '../domain/repartidores/listar.ts'
import { listarGuiasDeReparto } from '../domain/repartidores/listarGuias.ts'
import { listarReparto } from '../domain/repartidores/listarReparto.ts'
import { obtenerGuiaDeReparto } from '../domain/repartidores/obtenerGuia.ts'
import { obtenerSesion } from '../domain/repartidores/obtenerSesion.ts'
import { registrarEntregaDeReparto } from '../domain/repartidores/registrarEntrega.ts'
import { registrarEventoDeReparto } from '../domain/repartidores/registrarEvento.ts'
import { registrarEventosDeReparto } from '../domain/repartidores/registrarEventos.ts'
import { renovarCodigo } from '../domain/repartidores/renovarCodigo.ts'
import { subirArchivoDeReparto } from '../domain/repartidores/subirArchivo.ts'
import { comprobarDisponibilidad } from '../domain/salud/comprobarDisponibilidad.ts'
import { comprobarVida } from '../domain/salud/comprobarVida.ts'
import { obtenerServicio } from '../domain/salud/obtenerServicio.ts'
import { simularAvance } from '../domain/simulador/avanzar.ts'
import { simularUbicacion } from '../domain/simulador/confirmarUbicacion.ts'
import { simularDecision } from '../domain/simulador/decidir.ts'
import { confirmarUbicacion } from '../domain/ubicacion/confirmar.ts'
import { reenviarSolicitud } from '../domain/ubicacion/reenviarSolicitud.ts'
import { cambiarWebhook } from '../domain/webhooks/cambiar.ts'
import { crearWebhook } from '../domain/webhooks/crear.ts'
import { eliminarWebhook } from '../domain/webhooks/eliminar.ts'
import { listarWebhooks } from '../domain/webhooks/listar.ts'
import { listarAvisosDeWebhook } from '../domain/webhooks/listarAvisos.ts'
import { listarAvisosDeComercio } from '../domain/webhooks/listarAvisosDeComercio.ts'
import { listarWebhooksConFallas } from '../domain/webhooks/listarConFallas.ts'
import { listarWebhooksDeComercio } from '../domain/webhooks/listarDeComercio.ts'
import { obtenerWebhook } from '../domain/webhooks/obtener.ts'
import { obtenerAvisoDeWebhook } from '../domain/webhooks/obtenerAviso.ts'
import { obtenerAvisoDeComercio } from '../domain/webhooks/obtenerAvisoDeComercio.ts'
import { obtenerRecuperacion } from '../domain/webhooks/obtenerRecuperacion.ts'
import { probarWebhook } from '../domain/webhooks/probar.ts'
import { recuperarAvisosDeWebhook } from '../domain/webhooks/recuperar.ts'
import { reenviarAvisoDeWebhook } from '../domain/webhooks/reenviarAviso.ts'
import { reenviarAvisoDeComercio } from '../domain/webhooks/reenviarAvisoDeComercio.ts'
import { rotarSecreto } from '../domain/webhooks/rotarSecreto.ts'

/**
 * Handlers by operationId, for all operations of the three documents. A missing handler, or a handler with another
 * response, does not compile.
 */
export const handlers = {
  abrirSesion,
  buscarEnBitacora,
  listarBitacora,
  simularAvance,
  buscarGuias,
  cambiarWebhook,
  cancelarGuia,
  cerrarSesion,
  comprobarDisponibilidad,
  comprobarVida,
  confirmarUbicacion,
  simularUbicacion,
  simularDecision,
  cancelarGuiaPorOperador,
  confirmarUbicacionPorOperador,
  consultarGuia,
  encontrarGuias,
  listarAvisosDeComercio,
  listarWebhooksDeComercio,
  listarWebhooksConFallas,
  obtenerAvisoDeComercio,
  reenviarAvisoDeComercio,
  crearNota,
  listarNotas,
  asignarGuias,
  listarAsignaciones,
  retirarAsignaciones,
  listarGuiasDeRepartidor,
  listarReparto,
  obtenerJornada,
  obtenerServicio,
  listarGuiasDetenidas,
  listarDecisionesNoPreguntadas,
  contarGuiasPorMunicipio,
  cambiarComercio,
  crearComercio,
  obtenerCuenta,
  crearEtiquetas,
  crearGuia,
  crearLlave,
  crearLlaveDeOperador,
  crearOperador,
  crearLote,
  crearRepartidor,
  crearWebhook,
  desactivarRepartidor,
  descargarArchivo,
  descargarEtiquetas,
  eliminarWebhook,
  listarClavesPublicas,
  listarComercios,
  obtenerComercio,
  listarLlavesDeOperador,
  listarOperadores,
  revocarOperador,
  listarDepartamentos,
  listarAvisosDeWebhook,
  listarEventos,
  listarEventosDeGuia,
  listarGuias,
  listarGuiasDeReparto,
  listarIntentosDeGuia,
  listarLlaves,
  listarMensajes,
  listarMunicipios,
  listarRepartidores,
  listarWebhooks,
  obtenerAvisoDeWebhook,
  obtenerEtiqueta,
  obtenerGuia,
  obtenerGuiaDeReparto,
  obtenerPruebaDeEntrega,
  obtenerRecuperacion,
  obtenerSesion,
  obtenerWebhook,
  probarWebhook,
  recibirDeWhatsapp,
  recuperarAvisosDeWebhook,
  reenviarAvisoDeWebhook,
  reenviarSolicitud,
  registrarEntrega,
  obtenerPruebaDeEntregaPorOperador,
  listarPruebasRectificadas,
  listarIntentosPorOperador,
  reenviarSolicitudPorOperador,
  registrarEntregaDeReparto,
  registrarEvento,
  registrarEventoDeReparto,
  registrarEventosDeReparto,
  renovarCodigo,
  revocarLlave,
  rotarLlave,
  rotarSecreto,
  subirArchivo,
  subirArchivoDeReparto,
  verificarPrueba,
  verificarWhatsapp,
  corregirGuia,
  corregirGuiaPorOperador,
  reintentarGuia,
  devolverGuia,
  reintentarGuiaPorOperador,
  devolverGuiaPorOperador,
  abrirSesionDePersona,
  aceptarInvitacion,
  cambiarMembresia,
  listarAprobaciones,
  obtenerAprobacion,
  darAprobacion,
  rechazarAprobacion,
  rectificarGuia,
  retirarAprobacion,
  cerrarSesionDePersona,
  cerrarSesionesDePersona,
  cerrarSesionPorCodigo,
  elegirMembresia,
  eliminarPersona,
  invitarPersona,
  listarInvitaciones,
  retirarInvitacion,
  listarPersonas,
  listarSesiones,
  obtenerPersona,
  obtenerSesionDePersona,
  pedirCodigo,
  pedirRetoDePasskey,
  pedirRegistroDePasskey,
  agregarPasskey,
  listarPasskeys,
  quitarPasskey,
  abrirSesionConPasskey,
  probarPresenciaConPasskey,
  restablecerSegundoFactor,
  quitarTotp,
  pedirCambioDeCorreo,
  cambiarCorreo,
  pedirRegistroDeTotp,
  obtenerSegundoFactor,
  abrirSesionConSegundoFactor,
  crearCodigosDeRecuperacion,
  agregarTotp,
  probarPresencia,
  quitarMembresia,
} satisfies Handlers
