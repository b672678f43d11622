import type { FileStore } from '../../platform/files/store.ts'
import type { FileMetrics } from './metrics.ts'

/** Wraps a file storage, so that its calls are counted and timed. */
export function measureStore(store: FileStore, metrics: FileMetrics): FileStore {
  const measure = async <T>(operation: Parameters<FileMetrics['store']>[0], perform: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now()
    const countResult = (result: 'ok' | 'fallo') =>
      metrics.store(operation, result, (performance.now() - startedAt) / 1_000)
    try {
      const result = await perform()
      countResult('ok')
      return result
    } catch (error) {
      countResult('fallo')
      throw error
    }
  }
  const { link } = store
  return {
    save: (...datos) => measure('guardar', () => store.save(...datos)),
    read: (...datos) => measure('leer', () => store.read(...datos)),
    exists: (key) => measure('existe', () => store.exists(key)),
    remove: (key) => measure('borrar', () => store.remove(key)),
    list: () => store.list(),
    ...(link ? { link: (...datos) => link(...datos) } : {}),
  }
}
