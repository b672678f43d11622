/** Example addresses in the contract and in the documentation's guide. Each stands for the service's own address. */
const DE_EJEMPLO = ['http://127.0.0.1:3000', 'https://guias.ejemplo.com']

/** Example address with which the documentation is generated. */
export const [DIRECCION = ''] = DE_EJEMPLO

/**
 * Replaces the example addresses in a text of the documentation.
 * @param direccion address of the service, without a final slash
 */
export const conDireccion = (texto: string, direccion: string) =>
  DE_EJEMPLO.reduce((antes, una) => antes.replaceAll(una, direccion), texto)
