import type { Handler } from '../../operation.ts'
import { presentPasskey, readPasskeys } from './passkey.ts'

export const listarPasskeys: Handler<'listarPasskeys'> = async ({ identity }, { db }) => ({
  status: 200,
  body: { datos: (await readPasskeys(db, identity.personaId)).map(presentPasskey) },
})
