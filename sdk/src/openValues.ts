/**
 * Valores de un vocabulario que esta versión del paquete conoce. Las respuestas pueden traer también valores nuevos
 * (`Estado`). Las solicitudes aceptan solo los valores conocidos (`Conocido<Estado>`).
 */
export type Conocido<T> = T extends string ? (string extends T ? never : T) : never

/**
 * Known values of an open vocabulary `T`, the only values that a request accepts; a list of them if `T` is a list. A
 * misspelt value does not compile.
 */
export type Closed<T> = T extends string ? Conocido<T> : T extends readonly (infer U)[] ? Closed<U>[] : T

// The type is a branded literal, because a `case` of a `switch` would not exclude a branded `string` or template type.
// Editors show the text of the literal.
declare const desconocido: unique symbol

/** Tipo que esta versión del paquete no conoce. Compárelo como texto: `String(evento.tipo) === '…'`. */
export type TipoDesconocido = 'un tipo que esta versión no conoce' & { readonly [desconocido]: true }
