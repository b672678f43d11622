// Screens that load after the list, as one file.
export { DetalleDeAccion } from './accion.tsx'
export { Entregar } from './entregar.tsx'
export { Escanear } from './escanear.tsx'
export { Guia } from './guia.tsx'
export { PantallaDeHecho } from './hecho.tsx'
export { LoteHecho } from './lote.tsx'
export { PantallaDePaso } from './paso.tsx'
