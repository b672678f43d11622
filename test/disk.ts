import { closeSync, openSync, writeSync } from 'node:fs'

/** Writes a file until nothing more fits on its disk. */
export function fillDisk(file: string): void {
  const fd = openSync(file, 'w')
  for (let bytes = 1024 * 1024; bytes > 0; ) {
    try {
      writeSync(fd, Buffer.alloc(bytes))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      bytes = Math.floor(bytes / 2)
    }
  }
  closeSync(fd)
}
