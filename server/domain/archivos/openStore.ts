import { join } from 'node:path'
import type { Config } from '../../platform/config/config.ts'
import { createLocalStore, type FileStore } from '../../platform/files/store.ts'

/** Returns the file storage in the data folder. Processes that share the folder share the files. */
export const localStoreIn = (dataDir: string): FileStore => createLocalStore(join(dataDir, 'archivos'))

/** An open file storage, and the function that closes it. */
export interface OpenStore {
  store: FileStore
  /** Spanish message for the operator when the storage does not answer at start; otherwise undefined. */
  nota?: string | undefined
  close: () => void
}

/**
 * Opens the file storage that the configuration names. Checks a remote storage with one request.
 * @throws FileStoreError if the operator must correct the configuration
 */
export async function openStore({ storage, dataDir }: Config): Promise<OpenStore> {
  if (storage.tipo === 'local') return { store: localStoreIn(dataDir), close: () => {} }
  // Loaded on demand, so that a process with local storage does not load the AWS SDK.
  const { createS3Store } = await import('../../platform/files/s3Store.ts')
  const store = createS3Store(storage)
  const close = () => store.close()
  try {
    return { store, nota: await store.check(), close }
  } catch (error) {
    close()
    throw error
  }
}
