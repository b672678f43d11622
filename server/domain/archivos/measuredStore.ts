import type { FileStore } from '../../platform/files/store.ts'
import type { FileMetrics } from './metrics.ts'

/** Wraps a file storage, so that its calls are counted and timed. */
export function measureStore(almacen: FileStore, metricas: FileMetrics): FileStore {
  const medir = async <T>(operacion: Parameters<FileMetrics['almacen']>[0], hacer: () => Promise<T>): Promise<T> => {
    const inicio = performance.now()
    const contar = (resultado: 'ok' | 'fallo') =>
      metricas.almacen(operacion, resultado, (performance.now() - inicio) / 1_000)
    try {
      const hecho = await hacer()
      contar('ok')
      return hecho
    } catch (error) {
      contar('fallo')
      throw error
    }
  }
  const { enlazar } = almacen
  return {
    guardar: (...datos) => medir('guardar', () => almacen.guardar(...datos)),
    leer: (...datos) => medir('leer', () => almacen.leer(...datos)),
    existe: (clave) => medir('existe', () => almacen.existe(clave)),
    borrar: (clave) => medir('borrar', () => almacen.borrar(clave)),
    listar: () => almacen.listar(),
    ...(enlazar ? { enlazar: (...datos) => enlazar(...datos) } : {}),
  }
}
