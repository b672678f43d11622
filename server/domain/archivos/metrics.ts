/** Result of a sweep of the file storage: files without a row, and rows without a file. */
export interface StoreDifferences {
  /** Number of files that no row names an hour or more after their upload. */
  filesWithoutRow: number
  /** Number of rows whose file is missing in the storage; undefined if the sweep stopped early. */
  missingFiles?: number
}

/** Counters of the file storage and its sweeper. */
export interface FileMetrics {
  /** Counts a call of the storage. */
  store(operation: 'guardar' | 'leer' | 'existe' | 'borrar', result: 'ok' | 'fallo', seconds: number): void
  /** Sets the result of the last sweep. */
  differences(found: StoreDifferences): void
}
