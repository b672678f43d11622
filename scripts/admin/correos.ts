import { createReadStream, existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { recordBounce } from '../../server/domain/correos/bounces.ts'
import { sendTestCorreo } from '../../server/domain/correos/probar.ts'
import { CONSOLE_CONTEXT, type Command } from './command.ts'
import { CommandLineError } from './error.ts'

/** Maximum bytes that are read of a bounce. The returned mail stands at its end, and this service’s mails are small. */
const MAX_BOUNCE_BYTES = 1_048_576

/** Commands about mail. */
export const CORREO_COMMANDS: Record<string, Command> = {
  'correos probar': {
    requires: ['para'],
    object: 'para',
    run: (deps, { para: to = '' }) => sendTestCorreo(deps, CONSOLE_CONTEXT, to),
  },
  'correos rebote': {
    requires: ['archivo'],
    object: 'archivo',
    async run(deps, { archivo: file = '' }) {
      if (!existsSync(file)) throw new CommandLineError(`--archivo: no existe ${file}.`)
      return recordBounce(deps, await text(createReadStream(file, { end: MAX_BOUNCE_BYTES - 1 })))
    },
  },
}
