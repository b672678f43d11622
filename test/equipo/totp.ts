import { createHmac } from 'node:crypto'
import type { TestEnvironment } from '../environment.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** Time step of a code, in milliseconds. */
export const PASO = 30_000

const bytesOf = (text: string) => {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)))
}

/** The code of a time step, as RFC 6238 and RFC 4226 compute it. */
export function computeStepCode(secret: string, step: number): string {
  const contador = Buffer.alloc(8)
  contador.writeBigUInt64BE(BigInt(step))
  const hmac = createHmac('sha1', bytesOf(secret)).update(contador).digest()
  const from = hmac.at(-1)! & 0xf
  return String((hmac.readUInt32BE(from) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** An app that gives codes, by the service's clock. It gives no code twice. */
export interface TestApp {
  secreto: string
  /** The next code that was not given: the one of now or of the next step. */
  codigo(): string
  /** The code of this many steps from now. */
  de(steps: number): string
}

export function createTestApp(environment: Pick<TestEnvironment, 'clock'>, secreto: string): TestApp {
  let lastStep = 0
  const now = () => Math.floor(environment.clock().getTime() / PASO)
  return {
    secreto,
    codigo() {
      lastStep = Math.max(now(), lastStep + 1)
      return computeStepCode(secreto, lastStep)
    },
    de: (steps) => computeStepCode(secreto, now() + steps),
  }
}
