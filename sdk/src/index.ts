export {
  ErrorAlcance,
  ErrorApi,
  ErrorConexion,
  ErrorConflicto,
  ErrorCuerpo,
  ErrorGuias,
  ErrorNoAutenticado,
  ErrorNoEncontrado,
  ErrorParametro,
  ErrorRespuesta,
  ErrorServicio,
  ErrorTiempo,
  ErrorValidacion,
  type NombreDeError,
  type OrigenDelError,
} from './errores.js'
// The contract's own words; the generator's helpers (`*Data`, `*Responses`, `Estado2`…) stay inside.
export type {
  Aviso,
  CancelacionParaCrear,
  CodigoDeFalla,
  CodigoDeGuia,
  CodigoDeProblema,
  Cursor,
  EnlaceDeMapa,
  Estado,
  EstadoDeUbicacion,
  Evento,
  Falla,
  FechaHora,
  Forzado,
  Guia,
  GuiaConEventos,
  GuiaIndividual,
  GuiaParaCrear,
  LoteCreado,
  LoteParaCrear,
  Modo,
  OrigenDeUbicacion,
  PaginaDeEventos,
  PaginaDeGuias,
  PaginaDelFlujo,
  Problema,
  Recogida,
  RecogidaDeGuia,
  ReferenciaExterna,
  ResultadoCreado,
  ResultadoFallido,
  Telefono,
  TipoDeEvento,
  Ubicacion,
} from './generado/types.gen.js'
export { Guias, type OpcionesDeGuias } from './guias.js'
export type { Listado, Pagina } from './paginas.js'
export type { FiltrosDelFlujo, RecursoEventos } from './recursoEventos.js'
export type { FiltrosDeGuias, FiltrosDeHistorial, RecursoGuias } from './recursoGuias.js'
export type { Respuesta, Solicitud } from './solicitud.js'
export type { Fetch } from './transporte.js'
export { VERSION } from './version.js'
