// Public interface of this folder: the exports that other folders of `domain/` may import.

export { expireRequests } from './expire.ts'
export { sendToMailbox } from './mailbox.ts'
export type { MensajeDeps, MensajeRow } from './row.ts'
export { markFailed } from './settle.ts'
export { mensajeTextOf } from './texts.ts'
