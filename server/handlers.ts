import { descargarArchivo } from './archivos/descargar.ts'
import { subirArchivo } from './archivos/subir.ts'
import { buscarEnBitacora } from './bitacora/buscar.ts'
import { listarBitacora } from './bitacora/listar.ts'
import { listarDepartamentos } from './catalogo/listarDepartamentos.ts'
import { listarMunicipios } from './catalogo/listarMunicipios.ts'
import { cambiarComercio } from './comercios/cambiar.ts'
import { crearComercio } from './comercios/crear.ts'
import { listarComercios } from './comercios/listar.ts'
import { obtenerCuenta } from './comercios/obtenerCuenta.ts'
import type { Handlers } from './contrato/tipos.ts'
import { crearEtiquetas } from './etiquetas/crear.ts'
import { descargarEtiquetas } from './etiquetas/descargar.ts'
import { obtenerEtiqueta } from './etiquetas/obtener.ts'
import { listarEventos } from './eventos/listar.ts'
import { listarEventosDeGuia } from './eventos/listarDeGuia.ts'
import { cancelarGuia } from './guias/cancelar.ts'
import { crearGuia } from './guias/crear.ts'
import { crearLote } from './guias/crearLote.ts'
import { listarGuias } from './guias/listar.ts'
import { obtenerGuia } from './guias/obtener.ts'
import { crearLlave } from './llaves/crear.ts'
import { crearLlaveDeOperador } from './llaves/crearDeOperador.ts'
import { listarLlaves } from './llaves/listar.ts'
import { listarLlavesDeOperador } from './llaves/listarDeOperador.ts'
import { revocarLlave } from './llaves/revocar.ts'
import { rotarLlave } from './llaves/rotar.ts'
import { listarMensajes } from './mensajeria/listar.ts'
import { recibirDeWhatsapp } from './mensajeria/recibirDeWhatsapp.ts'
import { verificarWhatsapp } from './mensajeria/verificarWhatsapp.ts'
import { buscarGuias } from './operaciones/buscarGuias.ts'
import { consultarGuia } from './operaciones/consultarGuia.ts'
import { registrarEntrega } from './operaciones/registrarEntrega.ts'
import { registrarEvento } from './operaciones/registrarEvento.ts'
import { crearOperador } from './operadores/crear.ts'
import { listarOperadores } from './operadores/listar.ts'
import { revocarOperador } from './operadores/revocar.ts'
import { listarClavesPublicas } from './pruebasEntrega/listarClaves.ts'
import { listarIntentosDeGuia } from './pruebasEntrega/listarIntentos.ts'
import { obtenerPruebaDeEntrega } from './pruebasEntrega/obtener.ts'
import { verificarPrueba } from './pruebasEntrega/verificar.ts'
import { abrirSesion } from './repartidores/abrirSesion.ts'
import { cerrarSesion } from './repartidores/cerrarSesion.ts'
import { crearRepartidor } from './repartidores/crear.ts'
import { desactivarRepartidor } from './repartidores/desactivar.ts'
import { listarRepartidores } from './repartidores/listar.ts'
import { listarGuiasDeReparto } from './repartidores/listarGuias.ts'
import { obtenerGuiaDeReparto } from './repartidores/obtenerGuia.ts'
import { obtenerSesion } from './repartidores/obtenerSesion.ts'
import { registrarEntregaDeReparto } from './repartidores/registrarEntrega.ts'
import { registrarEventoDeReparto } from './repartidores/registrarEvento.ts'
import { renovarCodigo } from './repartidores/renovarCodigo.ts'
import { subirArchivoDeReparto } from './repartidores/subirArchivo.ts'
import { comprobarDisponibilidad } from './salud/comprobarDisponibilidad.ts'
import { comprobarVida } from './salud/comprobarVida.ts'
import { simularAvance } from './simulador/avanzar.ts'
import { simularUbicacion } from './simulador/confirmarUbicacion.ts'
import { confirmarUbicacion } from './ubicacion/confirmar.ts'
import { reenviarSolicitud } from './ubicacion/reenviarSolicitud.ts'
import { cambiarWebhook } from './webhooks/cambiar.ts'
import { crearWebhook } from './webhooks/crear.ts'
import { eliminarWebhook } from './webhooks/eliminar.ts'
import { listarWebhooks } from './webhooks/listar.ts'
import { listarEntregasDeWebhook } from './webhooks/listarEntregas.ts'
import { obtenerWebhook } from './webhooks/obtener.ts'
import { obtenerEntregaDeWebhook } from './webhooks/obtenerEntrega.ts'
import { obtenerRecuperacion } from './webhooks/obtenerRecuperacion.ts'
import { probarWebhook } from './webhooks/probar.ts'
import { recuperarEntregasDeWebhook } from './webhooks/recuperar.ts'
import { reenviarEntregaDeWebhook } from './webhooks/reenviarEntrega.ts'
import { rotarSecreto } from './webhooks/rotarSecreto.ts'

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
  renovarCodigo,
  revocarLlave,
  rotarLlave,
  rotarSecreto,
  subirArchivo,
  subirArchivoDeReparto,
  verificarPrueba,
  verificarWhatsapp,
} satisfies Handlers
