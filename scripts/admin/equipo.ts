import { eliminarPersona } from '../../server/domain/equipo/eliminar.ts'
import { invitar } from '../../server/domain/equipo/invitar.ts'
import { listarPersonas } from '../../server/domain/equipo/listar.ts'
import { quitarMembresia } from '../../server/domain/equipo/quitarMembresia.ts'
import { restablecerSegundoFactor } from '../../server/domain/equipo/restablecerSegundoFactor.ts'
import type { AlcanceDePersona, Persona } from '../../server/generado/contrato/tipos/index.ts'
import { CONTEXTO_DE_CONSOLA, type Comando, todas } from './comando.ts'

/** Commands for persons who work for the courier company or for merchants. */
export const COMANDOS_DE_EQUIPO: Record<string, Comando> = {
  'personas invitar': {
    exige: ['correo', 'nombre'],
    admite: ['comercio', 'alcances'],
    async ejecutar(
      deps,
      { correo = '', nombre = '', comercio, alcances = comercio === undefined ? TODOS : 'propietario' },
    ) {
      const body = {
        correo,
        nombre: nombre.normalize('NFC'),
        alcances: alcances.split(',').map((uno) => uno.trim() as AlcanceDePersona),
        ...(comercio === undefined ? {} : { comercio }),
      }
      await deps.validacion.exigirCuerpo('invitarPersona', body)
      const hecha = await invitar(deps, CONTEXTO_DE_CONSOLA, body)
      // The user of the console has full access to the machine, so no approval by another person is needed.
      return 'aprobacion' in hecha ? hecha.aprobacion : { ...hecha.invitacion, enlace: hecha.enlace }
    },
  },
  'personas listar': {
    exige: [],
    ejecutar: (deps) => todas<Persona>((query) => listarPersonas({ ...CONTEXTO_DE_CONSOLA, query }, deps)),
    resumir: ({ persona, nombre, correo, membresias }: Persona) => ({
      persona,
      nombre,
      correo,
      membresias: membresias
        .map(({ membresia, comercio, alcances }) => `${membresia} ${comercio ?? 'empresa'}: ${alcances.join(' ')}`)
        .join('; '),
    }),
  },
  'personas quitar': {
    exige: ['membresia'],
    objeto: 'membresia',
    async ejecutar(deps, { membresia = '' }) {
      await quitarMembresia({ ...CONTEXTO_DE_CONSOLA, path: { membresia } }, deps)
      return { membresia, quitada: true }
    },
  },
  'personas restablecer': {
    exige: ['persona'],
    admite: ['si'],
    objeto: 'persona',
    pregunta: ({ persona }) =>
      `Se quitan la app, las passkeys y los códigos de recuperación de ${persona}, y terminan sus sesiones.`,
    async ejecutar(deps, { persona = '' }) {
      await restablecerSegundoFactor({ ...CONTEXTO_DE_CONSOLA, path: { persona } }, deps)
      return { persona, restablecida: true }
    },
  },
  'personas eliminar': {
    exige: ['persona'],
    admite: ['si'],
    objeto: 'persona',
    pregunta: ({ persona }) => `Se borra para siempre la cuenta de ${persona}: correo, nombre, membresías y sesiones.`,
    async ejecutar(deps, { persona = '' }) {
      await eliminarPersona({ ...CONTEXTO_DE_CONSOLA, path: { persona } }, deps)
      return { persona, eliminada: true }
    },
  },
}

const TODOS = 'ver,operar,caja,administrar'
