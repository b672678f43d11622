/** Versión de este paquete. */
export const VERSION = '0.1.0'
