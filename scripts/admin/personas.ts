import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { sweepArchivos } from '../../server/domain/archivos/sweep.ts'
import type { OperacionDeps } from '../../server/domain/deps.ts'
import type { Erasure } from '../../server/domain/personas/eraseTelefono.ts'
import { erasePersonaData } from '../../server/domain/personas/erasures.ts'
import { exportGuia, exportPersona } from '../../server/domain/personas/exportar.ts'
import { readGuiaQuery, readPersonQuery } from '../../server/domain/personas/persona.ts'
import { CONSOLE_CONTEXT, type Command, type ConsoleOptions } from './command.ts'
import { CommandLineError } from './error.ts'

/** Copies the files of a person's guides into a folder, each under its code. */
async function copyArchivos({ store }: OperacionDeps, files: readonly string[], folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const file of files)
    await pipeline(await store.read(file), createWriteStream(join(folder, file), { mode: 0o600 }))
}

/**
 * Reads what a command is about: a telephone number, or the code of a guide.
 * @throws {ErrorDeLinea} if the line names both or none
 */
async function readSubject({ db }: OperacionDeps, { telefono, guia, comercio }: ConsoleOptions) {
  if ((telefono === undefined) === (guia === undefined))
    throw new CommandLineError('Diga --telefono o --guia, uno de los dos.')
  if (guia === undefined) return readPersonQuery(db, telefono!, comercio)
  if (comercio !== undefined)
    throw new CommandLineError('--comercio va con --telefono: una guía es de un solo comercio.')
  return readGuiaQuery(db, guia)
}

/** Commands for data subjects: export the data of a telephone number or of a guide, or erase it. */
export const PERSONA_COMMANDS: Record<string, Command> = {
  'persona exportar': {
    requires: [],
    allows: ['telefono', 'guia', 'comercio', 'carpeta'],
    withFileStore: true,
    documento: true,
    async run(deps, options) {
      const subject = await readSubject(deps, options)
      const exportedData =
        'guia' in subject
          ? { ...(await exportGuia(deps, CONSOLE_CONTEXT, subject)), anteriores: [] }
          : await exportPersona(deps, CONSOLE_CONTEXT, subject)
      const { guias, anteriores } = exportedData
      const files = [...guias, ...anteriores.flatMap(({ periodos }) => periodos)].flatMap(
        (guiaOrPeriod) => guiaOrPeriod.archivos,
      )
      if (options.carpeta !== undefined) await copyArchivos(deps, files, options.carpeta)
      return exportedData
    },
  },
  'persona olvidar': {
    requires: [],
    allows: ['telefono', 'guia', 'comercio', 'si'],
    withFileStore: true,
    question: ({ telefono, guia }) =>
      guia === undefined
        ? `Se borra para siempre lo que hay de ${telefono} en las guías terminadas, también pruebas de entrega y fotos.`
        : `Se borran para siempre los datos personales de la guía ${guia}, los de todos los que nombra, con su prueba de entrega y sus fotos.`,
    async run(deps, options) {
      const erasure = await erasePersonaData(deps, CONSOLE_CONTEXT, await readSubject(deps, options))
      // The sweeper also deletes files that an earlier run left behind.
      await sweepArchivos(deps)
      return erasure
    },
    hasFailed: ({ entrantes_pendientes, en_curso }: Erasure) => entrantes_pendientes > 0 || en_curso.length > 0,
  },
}
