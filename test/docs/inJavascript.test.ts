import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { expect, it } from 'vitest'

const SAMPLES = globSync('openapi/comercios/muestras/*.ts').map((path): [string, string] => [
  path,
  readFileSync(path, 'utf8'),
])
const OF_GUIA = globSync('openapi/comercios/guia/*.md').flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(/^```(?:ts|js)[^\n]*\n(.*?)^```/gms)].map(
    ([, codigo = ''], i): [string, string] => [`${path} ${i + 1}`, codigo],
  ),
)

it.each([...SAMPLES, ...OF_GUIA])('%s is plain JavaScript, which Node 20 runs as printed', (_donde, codigo) => {
  expect(stripTypeScriptTypes(codigo)).toBe(codigo)
})
