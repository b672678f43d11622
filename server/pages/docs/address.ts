/** Example addresses in the contract and in the documentation's guide. Each stands for the service's own address. */
const EXAMPLE_ADDRESSES = ['http://127.0.0.1:3000', 'https://guias.ejemplo.com']

/** Example address with which the documentation is generated. */
export const [DIRECCION = ''] = EXAMPLE_ADDRESSES

/**
 * Replaces the example addresses in a text of the documentation.
 * @param direccion address of the service, without a final slash
 */
export const withAddress = (text: string, direccion: string) =>
  EXAMPLE_ADDRESSES.reduce((before, exampleAddress) => before.replaceAll(exampleAddress, direccion), text)
