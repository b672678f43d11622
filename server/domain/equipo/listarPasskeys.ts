import type { Handler } from '../operation.ts'
import { leerPasskeys, presentPasskey } from './passkey.ts'

export const listarPasskeys: Handler<'listarPasskeys'> = async ({ identity }, { db }) => ({
  status: 200,
  body: { datos: (await leerPasskeys(db, identity.personaId)).map(presentPasskey) },
})
