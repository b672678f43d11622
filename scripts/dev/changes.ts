/** Changes of files below some folders. */
import { readdirSync, watch } from 'node:fs'
import { join, sep } from 'node:path'

/** Names that are not watched: generated output, and files that editors write beside a file. */
const IGNORED = /^(?:generated|dist|node_modules|\..*|.*~|.*\.sw.|4913)$/

/** Time without another change after which a change is reported, in milliseconds: editors write a file in some steps. */
const SETTLED = 60

/** Lists a folder and all folders below it, except ignored ones. */
function foldersIn(folder: string): string[] {
  try {
    const inside = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory())
    return [folder, ...inside.flatMap(({ name }) => (IGNORED.test(name) ? [] : foldersIn(join(folder, name))))]
  } catch {
    return [] // The folder was removed meanwhile.
  }
}

/**
 * Watches folders and the folders below them. Each folder has a watcher of its own, which also sees a file that an
 * editor replaces by another one. New folders are watched, too.
 * @param root folder that contains the folders
 * @param report receives the changed paths, relative to `root` and with slashes, when no more changes follow
 */
export function watchFolders(root: string, folders: readonly string[], report: (paths: string[]) => void): void {
  const watched = new Set<string>()
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const settle = () => {
    const paths = [...changed]
    changed.clear()
    update()
    report(paths)
  }
  function update() {
    for (const folder of folders.flatMap((one) => foldersIn(join(root, one)))) {
      if (watched.has(folder)) continue
      watched.add(folder)
      const watcher = watch(folder, (_event, name) => {
        if (name === null || IGNORED.test(name)) return
        changed.add(join(folder, name).slice(join(root, sep).length).replaceAll(sep, '/'))
        clearTimeout(timer)
        timer = setTimeout(settle, SETTLED)
      })
      const forget = () => {
        watcher.close()
        watched.delete(folder)
      }
      watcher.on('error', forget)
    }
  }
  update()
}
