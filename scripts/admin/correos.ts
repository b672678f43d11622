import { sendTestCorreo } from '../../server/domain/correos/probar.ts'
import { CONSOLE_CONTEXT, type Command } from './command.ts'

/** Commands about mail. */
export const CORREO_COMMANDS: Record<string, Command> = {
  'correos probar': {
    requires: ['para'],
    object: 'para',
    run: (deps, { para: to = '' }) => sendTestCorreo(deps, CONSOLE_CONTEXT, to),
  },
}
