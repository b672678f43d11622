/** Error de una hoja que no se puede leer. El mensaje dice por qué y qué hacer, sin el nombre del archivo. */
export class ErrorDeHoja extends Error {
  override name = 'ErrorDeHoja'

  /**
   * Motivo por el que no se puede leer. `codificacion`: los bytes no están en la que se dijo. `libro`: es un `.xlsx`.
   * `fila`: una fila que no se entiende, o que `guiaDeFila` no pudo dar.
   */
  readonly motivo:
    | 'codificacion'
    | 'codificacion_desconocida'
    | 'columnas'
    | 'columna_repetida'
    | 'fila'
    | 'libro'
    | 'vacia'

  constructor(mensaje: string, motivo: ErrorDeHoja['motivo'], opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.motivo = motivo
  }
}
