/**
 * Los valores de un vocabulario que esta versión del paquete conoce. En lo que el servicio contesta puede venir también uno
 * nuevo (`Estado`); lo que usted envía es siempre uno de estos (`Conocido<Estado>`).
 */
export type Conocido<T> = T extends string ? (string extends T ? never : T) : never

/** What a request takes of an open vocabulary, or of a list of such: what is misspelt is found while compiling. */
export type Cerrado<T> = T extends string ? Conocido<T> : T extends readonly (infer U)[] ? Cerrado<U>[] : T

// An unknown type must be a string that no literal can be, or no `case` would leave it out. The compiler takes a branded
// `string` or template for either; a branded literal not. Its text is what the editor shows.
declare const desconocido: unique symbol

/** Un tipo que esta versión del paquete no conoce; compárelo como texto: `String(evento.tipo) === '…'`. */
export type TipoDesconocido = 'un tipo que esta versión no conoce' & { readonly [desconocido]: true }
