/** The addresses that the contract and the guide name where a service's own belongs. */
const DE_EJEMPLO = ['http://127.0.0.1:3000', 'https://guias.ejemplo.com']

/** The address that the documentation is made with. */
export const [DIRECCION = ''] = DE_EJEMPLO

/** A text of the documentation with the address of the service, without a final slash, where it stands for it. */
export const conDireccion = (texto: string, direccion: string) =>
  DE_EJEMPLO.reduce((antes, una) => antes.replaceAll(una, direccion), texto)
