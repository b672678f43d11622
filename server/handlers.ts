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
import { buscarGuias } from './operaciones/buscarGuias.ts'
import { consultarGuia } from './operaciones/consultarGuia.ts'
import { registrarEvento } from './operaciones/registrarEvento.ts'
import { comprobarDisponibilidad } from './salud/comprobarDisponibilidad.ts'
import { comprobarVida } from './salud/comprobarVida.ts'

/** operationId → handler, total over the three documents: what is missing or answers otherwise doesn't compile. */
export const handlers = {
  buscarGuias,
  cancelarGuia,
  comprobarDisponibilidad,
  comprobarVida,
  consultarGuia,
  crearComercio,
  crearGuia,
  crearLlave,
  crearLote,
  listarComercios,
  listarEventos,
  listarEventosDeGuia,
  listarGuias,
  listarLlaves,
  listarMensajes,
  obtenerGuia,
  registrarEvento,
  revocarLlave,
  rotarLlave,
} satisfies Handlers
