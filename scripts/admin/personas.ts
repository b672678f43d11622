import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { barrerArchivos } from '../../server/domain/archivos/sweep.ts'
import type { DepsDeOperacion } from '../../server/domain/deps.ts'
import { exportarPersona } from '../../server/domain/personas/exportar.ts'
import type { Olvidada } from '../../server/domain/personas/olvidarTelefono.ts'
import { olvidarPersona } from '../../server/domain/personas/olvidos.ts'
import { leerDeQuien } from '../../server/domain/personas/persona.ts'
import { CONTEXTO_DE_CONSOLA, type Comando } from './comando.ts'

/** Copies the files of a person's guides into a folder, each under its code. */
async function copiarArchivos({ almacen }: DepsDeOperacion, archivos: readonly string[], carpeta: string) {
  await mkdir(carpeta, { recursive: true, mode: 0o700 })
  for (const archivo of archivos)
    await pipeline(await almacen.leer(archivo), createWriteStream(join(carpeta, archivo), { mode: 0o600 }))
}

/** Commands for data subjects: export the data of a telephone number, or erase it. */
export const COMANDOS_DE_PERSONA: Record<string, Comando> = {
  'persona exportar': {
    exige: ['telefono'],
    admite: ['comercio', 'carpeta'],
    conArchivos: true,
    documento: true,
    async ejecutar(deps, { telefono = '', comercio, carpeta }) {
      const exportada = await exportarPersona(deps, CONTEXTO_DE_CONSOLA, await leerDeQuien(deps.db, telefono, comercio))
      const { guias, anteriores } = exportada
      const archivos = [...guias, ...anteriores.flatMap(({ periodos }) => periodos)].flatMap((una) => una.archivos)
      if (carpeta !== undefined) await copiarArchivos(deps, archivos, carpeta)
      return exportada
    },
  },
  'persona olvidar': {
    exige: ['telefono'],
    admite: ['comercio', 'si'],
    conArchivos: true,
    pregunta: ({ telefono }) =>
      `Se borra para siempre lo que hay de ${telefono} en las guías terminadas, también pruebas de entrega y fotos.`,
    async ejecutar(deps, { telefono = '', comercio }) {
      const olvidada = await olvidarPersona(deps, CONTEXTO_DE_CONSOLA, await leerDeQuien(deps.db, telefono, comercio))
      // The sweeper also deletes files that an earlier run left behind.
      await barrerArchivos(deps)
      return olvidada
    },
    falla: ({ entrantes_pendientes, en_curso }: Olvidada) => entrantes_pendientes > 0 || en_curso.length > 0,
  },
}
