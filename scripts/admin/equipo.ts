import { eliminarPersona } from '../../server/domain/equipo/members/eliminar.ts'
import { invitePersona } from '../../server/domain/equipo/members/invitar.ts'
import { listarPersonas } from '../../server/domain/equipo/members/listar.ts'
import { quitarMembresia } from '../../server/domain/equipo/members/quitarMembresia.ts'
import { restablecerSegundoFactor } from '../../server/domain/equipo/members/restablecerSegundoFactor.ts'
import type { AlcanceDePersona, Persona } from '../../server/generated/contract/types/index.ts'
import { CONSOLE_CONTEXT, type Command, todas } from './command.ts'

/** Commands for persons who work for the courier company or for merchants. */
export const TEAM_COMMANDS: Record<string, Command> = {
  'personas invitar': {
    requires: ['correo', 'nombre'],
    allows: ['comercio', 'alcances'],
    async run(
      deps,
      { correo = '', nombre = '', comercio, alcances = comercio === undefined ? ALL_ALCANCES : 'propietario' },
    ) {
      const body = {
        correo,
        nombre: nombre.normalize('NFC'),
        alcances: alcances.split(',').map((alcance) => alcance.trim() as AlcanceDePersona),
        ...(comercio === undefined ? {} : { comercio }),
      }
      await deps.validacion.requireValidBody('invitarPersona', body)
      const result = await invitePersona(deps, CONSOLE_CONTEXT, body)
      // The user of the console has full access to the machine, so no approval by another person is needed.
      return 'aprobacion' in result ? result.aprobacion : { ...result.invitacion, enlace: result.enlace }
    },
  },
  'personas listar': {
    requires: [],
    run: (deps) => todas<Persona>((query) => listarPersonas({ ...CONSOLE_CONTEXT, query }, deps)),
    summarize: ({ persona, nombre, correo, membresias }: Persona) => ({
      persona,
      nombre,
      correo,
      membresias: membresias
        .map(({ membresia, comercio, alcances }) => `${membresia} ${comercio ?? 'empresa'}: ${alcances.join(' ')}`)
        .join('; '),
    }),
  },
  'personas quitar': {
    requires: ['membresia'],
    object: 'membresia',
    async run(deps, { membresia = '' }) {
      await quitarMembresia({ ...CONSOLE_CONTEXT, path: { membresia } }, deps)
      return { membresia, quitada: true }
    },
  },
  'personas restablecer': {
    requires: ['persona'],
    allows: ['si'],
    object: 'persona',
    question: ({ persona }) =>
      `Se quitan la app, las passkeys y los códigos de recuperación de ${persona}, y terminan sus sesiones.`,
    async run(deps, { persona = '' }) {
      await restablecerSegundoFactor({ ...CONSOLE_CONTEXT, path: { persona } }, deps)
      return { persona, restablecida: true }
    },
  },
  'personas eliminar': {
    requires: ['persona'],
    allows: ['si'],
    object: 'persona',
    question: ({ persona }) => `Se borra para siempre la cuenta de ${persona}: correo, nombre, membresías y sesiones.`,
    async run(deps, { persona = '' }) {
      await eliminarPersona({ ...CONSOLE_CONTEXT, path: { persona } }, deps)
      return { persona, eliminada: true }
    },
  },
}

const ALL_ALCANCES = 'ver,operar,caja,administrar'
