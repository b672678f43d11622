/**
 * Ids of the jobs that were added to the queue recently. Adding a job twice has no effect but takes time, so these jobs
 * are skipped for a while.
 */
export class RecentIds {
  /** Times at which jobs were added to the queue, in milliseconds, oldest first. */
  readonly #fedAt = new Map<string, number>()
  readonly #memoryMs: number

  /** @param memoryMs time for which an added job is not added again, in milliseconds */
  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs
  }

  has(id: string): boolean {
    return this.#fedAt.has(id)
  }

  add(ids: readonly string[], now: number): void {
    for (const id of ids) this.#fedAt.set(id, now)
  }

  forgetOld(now: number): void {
    for (const [id, fedAt] of this.#fedAt) {
      if (fedAt > now - this.#memoryMs) break
      this.#fedAt.delete(id)
    }
  }

  clear(): void {
    this.#fedAt.clear()
  }
}
