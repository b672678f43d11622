// The gate of versions (scripts/checks/compatibility.ts), in a repository of its own whose contract is ours.
import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../factories.ts'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const SCRIPT = join(root, 'scripts/checks/compatibility.ts')
const LUGARES = [
  'openapi/comercios/openapi.yaml',
  'package.json',
  'sdk/package.json',
  'sdk/mcp/package.json',
  'sdk/src/version.ts',
  'CHANGELOG.md',
  'openapi/comercios/guia/15-cambios.md',
]
const SCHEMAS_FOLDER = 'openapi/componentes/schemas'

let folder = ''
let actual = ''
const git = (...args: string[]) =>
  execute('git', ['-c', 'user.name=x', '-c', 'user.email=x@ejemplo.com', ...args], { cwd: folder })
const change = async (file: string, before: string | RegExp, after: string) => {
  const text = await readFile(join(folder, file), 'utf8')
  const changedText = text.replace(before, after)
  expect(changedText, `${file} no longer has ${before}`).not.toBe(text)
  await writeFile(join(folder, file), changedText)
}
const add = async (version: string) => {
  for (const place of LUGARES) await change(place, actual, version)
}
const revisar = (...args: string[]) =>
  execute(process.execPath, [SCRIPT, ...args], { cwd: folder }).then(
    ({ stdout }) => ({ bien: true, output: stdout }),
    ({ stdout, stderr }) => ({ bien: false, output: `${stdout}${stderr}` }),
  )

/** What is said of all those changes at once: to ask takes a second, and it names each. */
async function reviewAfterChange(
  cambios: readonly (readonly [label: string, file: string, before: string | RegExp, despues: string, ...unknown[]])[],
  version: string,
) {
  await git('checkout', '--quiet', '.')
  for (const [, file, before, after] of cambios) await change(file, before, after)
  await add(version)
  return revisar()
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guias-compatibilidad-'))
  for (const path of ['openapi', 'redocly.yaml', 'scripts/generate/common.ts', ...LUGARES])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  actual = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version
  await add('1.4.2')
  actual = '1.4.2'
  await git('init', '--quiet')
  await git('add', '.')
  await git('commit', '--quiet', '-m', 'first')
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(() => git('checkout', '--quiet', '.'))

describe('before the first release', () => {
  it('says that there is none', async () => {
    expect(await revisar()).toEqual({
      bien: true,
      output: 'No earlier release to compare with: no tag v* before this commit.\n',
    })
  })
  it.each(LUGARES)('finds that %s says another version', async (place) => {
    await change(place, '1.4.2', '1.4.3')
    const { bien: isGreen, output } = await revisar()
    expect(isGreen).toBe(false)
    expect(output).toContain(`1.4.3  ${place}`)
  })
  it('publishes under the tag of the version, once its changes have a date', async () => {
    await change('CHANGELOG.md', /^## .*/m, '## 1.4.2 (unreleased) ')
    const reviewWithoutDate = await revisar('v1.4.3')
    expect(reviewWithoutDate.bien).toBe(false)
    expect(reviewWithoutDate.output).toContain('The tag is v1.4.3, the version 1.4.2.')
    expect(reviewWithoutDate.output).toContain('«## 1.4.2 (unreleased) » has no date')
    await change('CHANGELOG.md', '(unreleased) ', '(2026-12-01)')
    expect(await revisar('v1.4.2')).toMatchObject({ bien: true })
  })
})

describe('since the last release', FULL_RUN_ONLY, () => {
  beforeAll(async () => {
    await git('tag', 'v1.4.1') // an older one
    await git('commit', '--quiet', '--allow-empty', '-m', 'release')
    await git('tag', 'v1.4.2')
    await git('commit', '--quiet', '--allow-empty', '-m', 'next')
  })

  it('nothing has changed', async () => {
    expect(await revisar()).toEqual({ bien: true, output: 'The contract since v1.4.2: 0 patch, 0 minor, 0 major.\n' })
  })

  describe('a change that breaks a merchant', () => {
    const cambios = [
      ['an operation removed', 'openapi/comercios/openapi.yaml', /^ {2}\/api\/v1\/eventos: .*\n/m, '', 'was removed'],
      [
        'a new required field of a request',
        `${SCHEMAS_FOLDER}/guias.yaml`,
        'required: [telefono, departamento, municipio]',
        'required: [telefono, departamento, municipio, direccion]',
        'became required: `direccion`',
      ],
      [
        'a field of an answer removed',
        `${SCHEMAS_FOLDER}/guias.yaml`,
        /^ {4}intentos:\n(?: {6}.*\n)+/m,
        '',
        'Property `intentos` of `GuiaDeAviso` was removed',
      ],
      ['an enum narrowed', `${SCHEMAS_FOLDER}/catalogo.yaml`, 'CO, MX]', 'CO]', "lost values: 'MX'"],
      [
        'a closed enum widened',
        `${SCHEMAS_FOLDER}/basicos.yaml`,
        '[test, live]',
        '[test, live, otro]',
        "gained values: 'otro'",
      ],
      ['a limit lowered', `${SCHEMAS_FOLDER}/guias.yaml`, 'maxItems: 100', 'maxItems: 99', "from '100' to '99'"],
    ] as const
    let message: Awaited<ReturnType<typeof revisar>>
    beforeAll(async () => {
      message = await reviewAfterChange(
        [...cambios, ['', `${SCHEMAS_FOLDER}/guias.yaml`, /^ {4}- intentos\n/m, '']],
        '2.0.0',
      )
    })
    it.each(cambios)('(%s) is refused for every version', (_, _archivo, _antes, _despues, motivo) => {
      expect(message.bien).toBe(false)
      expect(message.output).toContain('These changes break clients of /api/v1')
      expect(message.output).toContain(motivo)
    })
  })

  describe('a change that only adds', () => {
    const cambios = [
      [
        'an optional field of a request',
        `${SCHEMAS_FOLDER}/guias.yaml`,
        /^(GuiaParaCrear:\n[\s\S]*?\n {2}properties:\n)/m,
        '$1    nuevo: { type: string }\n',
      ],
      [
        'a field of an answer, always there',
        `${SCHEMAS_FOLDER}/guias.yaml`,
        /^(GuiaDeAviso:\n[\s\S]*?\n {4}- guia\n[\s\S]*?\n {2}properties:\n)/m,
        '$1    nuevo: { type: string }\n',
      ],
      ['a value of a vocabulary that may grow', `${SCHEMAS_FOLDER}/catalogo.yaml`, 'CO, MX]', 'CO, MX, BZ]'],
      ['a wider limit', `${SCHEMAS_FOLDER}/guias.yaml`, 'maxItems: 100', 'maxItems: 200'],
      [
        'an operation',
        'openapi/comercios/openapi.yaml',
        /^( {2})\/api\/v1\/eventos: (.*)$/m,
        '$&\n$1/api/v1/sucesos: $2',
      ],
    ] as const
    let message: Awaited<ReturnType<typeof revisar>>
    beforeAll(async () => {
      message = await reviewAfterChange(cambios, '1.5.0')
    })
    it.each(cambios)('(%s) is let through with the version that it needs', () => {
      expect(message).toMatchObject({ bien: true, output: expect.stringContaining(' 0 major.') })
    })
  })

  it.each([
    ['an addition', `${SCHEMAS_FOLDER}/catalogo.yaml`, 'CO, MX]', 'CO, MX, BZ]', '1.5.0'],
    ['other words', `${SCHEMAS_FOLDER}/catalogo.yaml`, 'Pueden añadirse países.', 'Habrá más.', '1.4.3'],
  ])('%s is refused without its version', async (_, file, before, after, version) => {
    await change(file, before, after)
    const { bien: isGreen, output } = await revisar()
    expect(isGreen).toBe(false)
    expect(output).toContain(`need ${version} at least`)
  })

  it('another major path may be anything, with a major version', async () => {
    await change('openapi/comercios/openapi.yaml', /\/api\/v1\//g, '/api/v2/')
    await add('1.5.0')
    expect(await revisar()).toMatchObject({ bien: false, output: expect.stringContaining('need 2.0.0 at least') })
    await git('checkout', '--quiet', '.')
    await change('openapi/comercios/openapi.yaml', /\/api\/v1\//g, '/api/v2/')
    await add('2.0.0')
    expect(await revisar()).toMatchObject({ bien: true })
  })
})
