import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

/** Files of the repository with pending changes, which {@link write} writes together. */
export class SourceTree {
  readonly #root: URL
  readonly #pending = new Map<string, string>()

  constructor(root: URL) {
    this.#root = root
  }

  /** Returns the text of a file with its pending changes. */
  leer(archivo: string): string {
    return this.#pending.get(archivo) ?? readFileSync(new URL(archivo, this.#root), 'utf8')
  }

  exists(archivo: string): boolean {
    return this.#pending.has(archivo) || existsSync(new URL(archivo, this.#root))
  }

  /**
   * Adds a file.
   * @throws if the file exists
   */
  create(archivo: string, texto: string) {
    if (this.exists(archivo)) throw new Error(`${archivo} exists`)
    this.#pending.set(archivo, texto)
  }

  /** Adds a text at the end of a file, or adds the file. */
  add(archivo: string, texto: string) {
    this.#pending.set(archivo, (this.exists(archivo) ? this.leer(archivo) : '') + texto)
  }

  /**
   * Replaces the first match in a file.
   * @throws if the file has no match
   */
  change(archivo: string, pattern: string | RegExp, por: (match: string) => string) {
    const antes = this.leer(archivo)
    const despues = antes.replace(pattern, (match) => por(match))
    if (despues === antes) throw new Error(`${archivo} has no match for ${pattern}`)
    this.#pending.set(archivo, despues)
  }

  /** Writes the pending changes, and returns the paths of the files. */
  write(): string[] {
    for (const [archivo, texto] of this.#pending) {
      const url = new URL(archivo, this.#root)
      mkdirSync(new URL('./', url), { recursive: true })
      writeFileSync(url, texto)
    }
    return [...this.#pending.keys()].sort()
  }
}
