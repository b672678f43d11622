import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A port of this machine on which nobody listens. It lies below the range from which systems take ports for connections
 * that go out: one of those could take it before the process it is for has started.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000)
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer()
        .once('error', () => resolve(false))
        .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
