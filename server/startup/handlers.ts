import { descargarArchivo } from '../domain/archivos/descargar.ts'
import { subirArchivo } from '../domain/archivos/subir.ts'
import { buscarEnBitacora } from '../domain/bitacora/buscar.ts'
import { listarBitacora } from '../domain/bitacora/listar.ts'
import { listarDepartamentos } from '../domain/catalogo/listarDepartamentos.ts'
import { listarMunicipios } from '../domain/catalogo/listarMunicipios.ts'
import { cambiarComercio } from '../domain/comercios/cambiar.ts'
import { crearComercio } from '../domain/comercios/crear.ts'
import { listarComercios } from '../domain/comercios/listar.ts'
import { obtenerCuenta } from '../domain/comercios/obtenerCuenta.ts'
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
import { buscarGuias } from '../domain/operaciones/buscarGuias.ts'
import { confirmarUbicacionPorOperador } from '../domain/operaciones/confirmarUbicacion.ts'
import { consultarGuia } from '../domain/operaciones/consultarGuia.ts'
import { corregirGuiaPorOperador } from '../domain/operaciones/corregir.ts'
import { devolverGuiaPorOperador } from '../domain/operaciones/devolver.ts'
import { registrarEntrega } from '../domain/operaciones/registrarEntrega.ts'
import { registrarEvento } from '../domain/operaciones/registrarEvento.ts'
import { reintentarGuiaPorOperador } from '../domain/operaciones/reintentar.ts'
import { crearOperador } from '../domain/operadores/crear.ts'
import { listarOperadores } from '../domain/operadores/listar.ts'
import { revocarOperador } from '../domain/operadores/revocar.ts'
import type { Handlers } from '../domain/operation.ts'
import { listarClavesPublicas } from '../domain/pruebasEntrega/listarClaves.ts'
import { listarIntentosDeGuia } from '../domain/pruebasEntrega/listarIntentos.ts'
import { obtenerPruebaDeEntrega } from '../domain/pruebasEntrega/obtener.ts'
import { verificarPrueba } from '../domain/pruebasEntrega/verificar.ts'
import { abrirSesion } from '../domain/repartidores/abrirSesion.ts'
import { cerrarSesion } from '../domain/repartidores/cerrarSesion.ts'
import { crearRepartidor } from '../domain/repartidores/crear.ts'
import { desactivarRepartidor } from '../domain/repartidores/desactivar.ts'
import { listarRepartidores } from '../domain/repartidores/listar.ts'
import { listarGuiasDeReparto } from '../domain/repartidores/listarGuias.ts'
import { obtenerGuiaDeReparto } from '../domain/repartidores/obtenerGuia.ts'
import { obtenerSesion } from '../domain/repartidores/obtenerSesion.ts'
import { registrarEntregaDeReparto } from '../domain/repartidores/registrarEntrega.ts'
import { registrarEventoDeReparto } from '../domain/repartidores/registrarEvento.ts'
import { registrarEventosDeReparto } from '../domain/repartidores/registrarEventos.ts'
import { renovarCodigo } from '../domain/repartidores/renovarCodigo.ts'
import { subirArchivoDeReparto } from '../domain/repartidores/subirArchivo.ts'
import { comprobarDisponibilidad } from '../domain/salud/comprobarDisponibilidad.ts'
import { comprobarVida } from '../domain/salud/comprobarVida.ts'
import { simularAvance } from '../domain/simulador/avanzar.ts'
import { simularUbicacion } from '../domain/simulador/confirmarUbicacion.ts'
import { simularDecision } from '../domain/simulador/decidir.ts'
import { confirmarUbicacion } from '../domain/ubicacion/confirmar.ts'
import { reenviarSolicitud } from '../domain/ubicacion/reenviarSolicitud.ts'
import { cambiarWebhook } from '../domain/webhooks/cambiar.ts'
import { crearWebhook } from '../domain/webhooks/crear.ts'
import { eliminarWebhook } from '../domain/webhooks/eliminar.ts'
import { listarWebhooks } from '../domain/webhooks/listar.ts'
import { listarEntregasDeWebhook } from '../domain/webhooks/listarEntregas.ts'
import { obtenerWebhook } from '../domain/webhooks/obtener.ts'
import { obtenerEntregaDeWebhook } from '../domain/webhooks/obtenerEntrega.ts'
import { obtenerRecuperacion } from '../domain/webhooks/obtenerRecuperacion.ts'
import { probarWebhook } from '../domain/webhooks/probar.ts'
import { recuperarEntregasDeWebhook } from '../domain/webhooks/recuperar.ts'
import { reenviarEntregaDeWebhook } from '../domain/webhooks/reenviarEntrega.ts'
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
  confirmarUbicacionPorOperador,
  consultarGuia,
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
  listarLlavesDeOperador,
  listarOperadores,
  revocarOperador,
  listarDepartamentos,
  listarEntregasDeWebhook,
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
  obtenerEntregaDeWebhook,
  obtenerEtiqueta,
  obtenerGuia,
  obtenerGuiaDeReparto,
  obtenerPruebaDeEntrega,
  obtenerRecuperacion,
  obtenerSesion,
  obtenerWebhook,
  probarWebhook,
  recibirDeWhatsapp,
  recuperarEntregasDeWebhook,
  reenviarEntregaDeWebhook,
  reenviarSolicitud,
  registrarEntrega,
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
} satisfies Handlers
