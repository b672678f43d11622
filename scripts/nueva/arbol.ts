import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

/** Files of the repository with pending changes, which {@link escribir} writes together. */
export class Arbol {
  readonly #raiz: URL
  readonly #pendientes = new Map<string, string>()

  constructor(raiz: URL) {
    this.#raiz = raiz
  }

  /** Returns the text of a file with its pending changes. */
  leer(archivo: string): string {
    return this.#pendientes.get(archivo) ?? readFileSync(new URL(archivo, this.#raiz), 'utf8')
  }

  existe(archivo: string): boolean {
    return this.#pendientes.has(archivo) || existsSync(new URL(archivo, this.#raiz))
  }

  /**
   * Adds a file.
   * @throws if the file exists
   */
  crear(archivo: string, texto: string) {
    if (this.existe(archivo)) throw new Error(`${archivo} exists`)
    this.#pendientes.set(archivo, texto)
  }

  /** Adds a text at the end of a file, or adds the file. */
  agregar(archivo: string, texto: string) {
    this.#pendientes.set(archivo, (this.existe(archivo) ? this.leer(archivo) : '') + texto)
  }

  /**
   * Replaces the first match in a file.
   * @throws if the file has no match
   */
  cambiar(archivo: string, marca: string | RegExp, por: (hallado: string) => string) {
    const antes = this.leer(archivo)
    const despues = antes.replace(marca, (hallado) => por(hallado))
    if (despues === antes) throw new Error(`${archivo} has no match for ${marca}`)
    this.#pendientes.set(archivo, despues)
  }

  /** Writes the pending changes, and returns the paths of the files. */
  escribir(): string[] {
    for (const [archivo, texto] of this.#pendientes) {
      const url = new URL(archivo, this.#raiz)
      mkdirSync(new URL('./', url), { recursive: true })
      writeFileSync(url, texto)
    }
    return [...this.#pendientes.keys()].sort()
  }
}
