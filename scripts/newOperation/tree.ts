import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

/** Files of the repository with pending changes, which {@link write} writes together. */
export class SourceTree {
  readonly #root: URL
  readonly #pending = new Map<string, string>()

  constructor(root: URL) {
    this.#root = root
  }

  /** Returns the text of a file with its pending changes. */
  read(file: string): string {
    return this.#pending.get(file) ?? readFileSync(new URL(file, this.#root), 'utf8')
  }

  exists(file: string): boolean {
    return this.#pending.has(file) || existsSync(new URL(file, this.#root))
  }

  /**
   * Adds a file.
   * @throws if the file exists
   */
  create(file: string, text: string) {
    if (this.exists(file)) throw new Error(`${file} exists`)
    this.#pending.set(file, text)
  }

  /** Adds a text at the end of a file, or adds the file. */
  add(file: string, text: string) {
    this.#pending.set(file, (this.exists(file) ? this.read(file) : '') + text)
  }

  /**
   * Replaces the first match in a file.
   * @throws if the file has no match
   */
  change(file: string, pattern: string | RegExp, por: (match: string) => string) {
    const before = this.read(file)
    const after = before.replace(pattern, (match) => por(match))
    if (after === before) throw new Error(`${file} has no match for ${pattern}`)
    this.#pending.set(file, after)
  }

  /** Writes the pending changes, and returns the paths of the files. */
  write(): string[] {
    for (const [file, text] of this.#pending) {
      const url = new URL(file, this.#root)
      mkdirSync(new URL('./', url), { recursive: true })
      writeFileSync(url, text)
    }
    return [...this.#pending.keys()].sort()
  }
}
