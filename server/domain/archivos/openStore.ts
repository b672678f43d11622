import { join } from 'node:path'
import type { Config } from '../../platform/config/config.ts'
import { type Almacen, crearAlmacenLocal } from '../../platform/files/store.ts'

/** Returns the file storage in the data folder. Processes that share the folder share the files. */
export const almacenDe = (dataDir: string): Almacen => crearAlmacenLocal(join(dataDir, 'archivos'))

/** An open file storage, and the function that closes it. */
export interface AlmacenAbierto {
  almacen: Almacen
  /** Spanish message for the operator when the storage does not answer at start; otherwise undefined. */
  nota?: string | undefined
  cerrar: () => void
}

/**
 * Opens the file storage that the configuration names. Checks a remote storage with one request.
 * @throws ErrorDeAlmacen if the operator must correct the configuration
 */
export async function abrirAlmacen({ almacenamiento, dataDir }: Config): Promise<AlmacenAbierto> {
  if (almacenamiento.tipo === 'local') return { almacen: almacenDe(dataDir), cerrar: () => {} }
  // Loaded on demand, so that a process with local storage does not load the AWS SDK.
  const { crearAlmacenS3 } = await import('../../platform/files/s3Store.ts')
  const almacen = crearAlmacenS3(almacenamiento)
  const cerrar = () => almacen.cerrar()
  try {
    return { almacen, nota: await almacen.comprobar(), cerrar }
  } catch (error) {
    cerrar()
    throw error
  }
}
