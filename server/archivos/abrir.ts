import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { type Almacen, crearAlmacenLocal } from './almacen.ts'

/** The storage of files in the data folder; processes that share the folder share the files. */
export const almacenDe = (dataDir: string): Almacen => crearAlmacenLocal(join(dataDir, 'archivos'))

/** A storage that is ready, and how it is closed. */
export interface AlmacenAbierto {
  almacen: Almacen
  /** Why it can't be used just now. */
  nota?: string | undefined
  cerrar: () => void
}

/**
 * Opens the storage that the configuration names; a remote one is asked whether it is there. @throws ErrorDeAlmacen
 */
export async function abrirAlmacen({ almacenamiento, dataDir }: Config): Promise<AlmacenAbierto> {
  if (almacenamiento.tipo === 'local') return { almacen: almacenDe(dataDir), cerrar: () => {} }
  // Loaded here alone: a start with files on the disk doesn't pay for it.
  const { crearAlmacenS3 } = await import('./almacenS3.ts')
  const almacen = crearAlmacenS3(almacenamiento)
  const cerrar = () => almacen.cerrar()
  try {
    return { almacen, nota: await almacen.comprobar(), cerrar }
  } catch (error) {
    cerrar()
    throw error
  }
}
