// Public interface of this folder: the exports that other folders of `domain/` may import.

export { vencerSolicitudes } from './expire.ts'
export { enviarAlBuzon } from './mailbox.ts'
export type { DepsDeMensajes, FilaMensaje } from './row.ts'
export { fallar } from './settle.ts'
export { textoDe } from './texts.ts'
