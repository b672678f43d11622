// Exports of this slice to the other slices.

export { vencerSolicitudes } from './expire.ts'
export { enviarAlBuzon } from './mailbox.ts'
export type { DepsDeMensajes, FilaMensaje } from './row.ts'
export { fallar } from './settle.ts'
