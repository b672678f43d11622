import type { Deps } from '../deps.ts'
import { readDevice, sealDevice } from '../repartidores/device.ts'

/** Returns the `Set-Cookie` header that lets later sign-ins recognise a person's browser. It gives access to nothing. */
export const knownBrowserCookie = ({ browser, secretos }: Pick<Deps, 'browser' | 'secretos'>, personaId: string) =>
  browser.setKnownPerson(sealDevice(secretos, `persona ${personaId}`).slice('persona '.length))

/** Reports whether a person has already used the browser that sent this `Cookie` header. */
export function isKnownBrowser(
  { browser, secretos }: Pick<Deps, 'browser' | 'secretos'>,
  cookie: string,
  personaId: string,
): boolean {
  const text = browser.readKnownPerson(cookie)
  return text !== undefined && readDevice(secretos, `persona ${text}`) === `persona ${personaId}`
}

const BROWSERS: readonly [shape: RegExp, name: string][] = [
  [/\bEdg/, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/SamsungBrowser/, 'Samsung Internet'],
  [/Firefox|FxiOS/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'],
  [/Safari/, 'Safari'],
]

const SYSTEMS: readonly [shape: RegExp, name: string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|CrOS/, 'Linux'],
]

/** Describes browser and system in words, from a `User-Agent` header. The header itself is not stored. */
export function deviceOf(userAgent: string): string {
  const nameIn = (shapes: typeof SYSTEMS) => shapes.find(([shape]) => shape.test(userAgent))?.[1]
  const [browser = 'Otro navegador', operatingSystem] = [nameIn(BROWSERS), nameIn(SYSTEMS)]
  return operatingSystem ? `${browser} en ${operatingSystem}` : browser
}
