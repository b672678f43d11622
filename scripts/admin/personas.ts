import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { barrerArchivos } from '../../server/domain/archivos/sweep.ts'
import type { DepsDeOperacion } from '../../server/domain/deps.ts'
import { exportarGuia, exportarPersona } from '../../server/domain/personas/exportar.ts'
import type { Olvidada } from '../../server/domain/personas/olvidarTelefono.ts'
import { olvidarPersona } from '../../server/domain/personas/olvidos.ts'
import { leerDeQuien, leerDeUnaGuia } from '../../server/domain/personas/persona.ts'
import { CONTEXTO_DE_CONSOLA, type Comando, type OpcionesDeConsola } from './comando.ts'
import { ErrorDeLinea } from './error.ts'

/** Copies the files of a person's guides into a folder, each under its code. */
async function copiarArchivos({ almacen }: DepsDeOperacion, archivos: readonly string[], carpeta: string) {
  await mkdir(carpeta, { recursive: true, mode: 0o700 })
  for (const archivo of archivos)
    await pipeline(await almacen.leer(archivo), createWriteStream(join(carpeta, archivo), { mode: 0o600 }))
}

/**
 * Reads what a command is about: a telephone number, or the code of a guide.
 * @throws {ErrorDeLinea} if the line names both or none
 */
async function leerPedido({ db }: DepsDeOperacion, { telefono, guia, comercio }: OpcionesDeConsola) {
  if ((telefono === undefined) === (guia === undefined))
    throw new ErrorDeLinea('Diga --telefono o --guia, uno de los dos.')
  if (guia === undefined) return leerDeQuien(db, telefono!, comercio)
  if (comercio !== undefined) throw new ErrorDeLinea('--comercio va con --telefono: una guía es de un solo comercio.')
  return leerDeUnaGuia(db, guia)
}

/** Commands for data subjects: export the data of a telephone number or of a guide, or erase it. */
export const COMANDOS_DE_PERSONA: Record<string, Comando> = {
  'persona exportar': {
    exige: [],
    admite: ['telefono', 'guia', 'comercio', 'carpeta'],
    conArchivos: true,
    documento: true,
    async ejecutar(deps, opciones) {
      const pedido = await leerPedido(deps, opciones)
      const exportada =
        'guia' in pedido
          ? { ...(await exportarGuia(deps, CONTEXTO_DE_CONSOLA, pedido)), anteriores: [] }
          : await exportarPersona(deps, CONTEXTO_DE_CONSOLA, pedido)
      const { guias, anteriores } = exportada
      const archivos = [...guias, ...anteriores.flatMap(({ periodos }) => periodos)].flatMap((una) => una.archivos)
      if (opciones.carpeta !== undefined) await copiarArchivos(deps, archivos, opciones.carpeta)
      return exportada
    },
  },
  'persona olvidar': {
    exige: [],
    admite: ['telefono', 'guia', 'comercio', 'si'],
    conArchivos: true,
    pregunta: ({ telefono, guia }) =>
      guia === undefined
        ? `Se borra para siempre lo que hay de ${telefono} en las guías terminadas, también pruebas de entrega y fotos.`
        : `Se borran para siempre los datos personales de la guía ${guia}, los de todos los que nombra, con su prueba de entrega y sus fotos.`,
    async ejecutar(deps, opciones) {
      const olvidada = await olvidarPersona(deps, CONTEXTO_DE_CONSOLA, await leerPedido(deps, opciones))
      // The sweeper also deletes files that an earlier run left behind.
      await barrerArchivos(deps)
      return olvidada
    },
    falla: ({ entrantes_pendientes, en_curso }: Olvidada) => entrantes_pendientes > 0 || en_curso.length > 0,
  },
}
