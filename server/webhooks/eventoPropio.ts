import { nuevoCodigoDeGuia } from '../codigos/codigos.ts'

/** The id of a new event of an endpoint's own: like a guide's, of a guide that there isn't, with sequence 0. */
export const eventoPropio = () => `evt_${nuevoCodigoDeGuia()}_0`
