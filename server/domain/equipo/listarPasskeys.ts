import type { Handler } from '../operation.ts'
import { leerPasskeys, presentarPasskey } from './passkey.ts'

export const listarPasskeys: Handler<'listarPasskeys'> = async ({ identidad }, { db }) => ({
  status: 200,
  body: { datos: (await leerPasskeys(db, identidad.personaId)).map(presentarPasskey) },
})
