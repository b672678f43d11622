// What `despliegue/` says, held against what it is about: images and units can't be started here, but what they start can.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../server/platform/config/config.ts'
import { ROOT } from '../../server/platform/root.ts'
import { COMPOSE_SERVICES, fillVariables, IMAGE_DEFAULTS, OWN_SERVICES, readArchivo } from './compose.ts'

const isInPath = (program: string) => spawnSync(program, ['--version']).error === undefined

const unidades = readdirSync(new URL('despliegue/systemd', ROOT))
const dockerfile = readArchivo('despliegue/Dockerfile')

const FIJOS: Readonly<Record<string, string>> = {
  MASTER_KEYS: Buffer.alloc(32).toString('base64'),
  MESSAGING: 'whatsapp',
  SMTP_URL: 'smtps://a:b@correo.ejemplo.com',
  MAIL_FROM: 'avisos@ejemplo.com',
  DOMINIO: 'guias.ejemplo.com',
  DOMINIO_ARCHIVOS: 'archivos.ejemplo.com',
}

const OTHER_VARIABLES = { POSTGRES_PASSWORD: 'x', S3_ACCESS_KEY_ID: 'x', S3_SECRET_ACCESS_KEY: 'x' }

/** A value for each variable that whoever deploys has to give. */
const VALORES = new Proxy<Record<string, string>>({}, { get: (_unused, name) => FIJOS[String(name)] ?? 'x' })

describe('compose', () => {
  it('has two APIs and two workers', () => {
    expect(OWN_SERVICES.map(({ nombre }) => nombre)).toEqual(['api-1', 'api-2', 'trabajos-1', 'trabajos-2'])
  })

  it.each(OWN_SERVICES)('configures $nombre as the service understands it', ({ nombre, environment }) => {
    const env = Object.fromEntries(Object.entries(environment!).map(([n, value]) => [n, fillVariables(value, VALORES)]))
    const config = readConfig(env, '/guias')
    expect(config).toMatchObject({
      proxies: 1,
      storage: { tipo: 's3', bucket: 'guias' },
      correo: { url: 'smtps://a:b@correo.ejemplo.com', desde: 'avisos@ejemplo.com' },
      mensajeria: { tipo: 'whatsapp', phoneNumberId: 'x', token: 'x', appSecret: 'x', verifyToken: 'x' },
    })
    expect(config.workers).toBe(nombre.startsWith('trabajos'))
  })

  it('starts without an account of WhatsApp only where the mailbox is asked for', () => {
    const { environment } = OWN_SERVICES[0]!
    const withVariables = (values: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(environment!).map(([n, value]) => [
          n,
          fillVariables(value, { ...FIJOS, ...OTHER_VARIABLES, ...values }),
        ]),
      )
    expect(readConfig(withVariables({ MESSAGING: 'buzon' }), '/guias').mensajeria).toEqual({ tipo: 'buzon' })
    expect(() => readConfig(withVariables({}), '/guias')).toThrow(/WHATSAPP_TOKEN: hace falta con MESSAGING=whatsapp/)
    expect(() => withVariables({ MESSAGING: '' })).toThrow('MESSAGING has no value')
  })

  it('has a proxy that knows every API by its name', () => {
    const apis = OWN_SERVICES.flatMap(({ nombre }) => (nombre.startsWith('api') ? [`${nombre}:3000`] : []))
    expect(readArchivo('despliegue/Caddyfile')).toContain(`reverse_proxy ${apis.join(' ')} {`)
  })

  it('sets nothing that nobody reads', () => {
    const manual = [...readArchivo('docs/operacion/configuration.md').matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(
      ([, name]) => name,
    )
    const setVariables = [
      ...OWN_SERVICES.flatMap(({ environment }) => Object.keys(environment!)),
      ...unidades.flatMap((one) =>
        [...readArchivo(`despliegue/systemd/${one}`).matchAll(/\b([A-Z_]+)=\S/g)].map(([, n]) => n),
      ),
      ...[...dockerfile.matchAll(/\b([A-Z_]+)=\S/g)].map(([, name]) => name),
    ]
    expect(setVariables.length).toBeGreaterThan(20)
    for (const name of setVariables) if (name !== 'NODE_ENV') expect(manual).toContain(name)
  })

  it('pins every image', () => {
    for (const { image } of Object.values(COMPOSE_SERVICES)) expect(image).toMatch(/:(?:\d+\.\d+|\$\{VERSION)/)
  })

  it('shows every value that has to be given', () => {
    const requests = [...readArchivo('despliegue/compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
    const variableNames = [...readArchivo('despliegue/env.ejemplo').matchAll(/^(\w+)=/gm)].map(([, name]) => name!)
    expect([...new Set(requests)].sort()).toEqual(variableNames.sort())
  })
})

describe('the command of a service or unit', () => {
  const commands = [
    ...OWN_SERVICES.map(({ command }) => (command ?? IMAGE_DEFAULTS.order).join(' ')),
    ...unidades.map((one) => /^ExecStart=\S*\/node (.+)$/m.exec(readArchivo(`despliegue/systemd/${one}`))![1]!),
  ].map((command: string) => command.replace(/^node /, '').replace('/srv/guias/actual/', ''))

  it('is what `npm start` and `npm run worker` start', () => {
    const { start, worker } = JSON.parse(readArchivo('package.json')).scripts
    const knownNames = [start, worker].map((command: string) => command.replace(/^node /, ''))
    for (const command of commands) expect(knownNames).toContain(command)
    for (const command of commands) expect(existsSync(new URL(command.split(' ').at(-1)!, ROOT))).toBe(true)
  })

  it('has in its image what production takes (docs/operacion/installing.md)', () => {
    const [, list = ''] = /^cp -r (.+) \/srv\/guias$/m.exec(readArchivo('docs/operacion/installing.md')) ?? []
    const last = dockerfile.split(/^FROM /m).at(-1)!
    const copiedPaths = [...last.matchAll(/^COPY --from=\w+ \/guias\/(\S+)/gm)].map(([, kind]) => kind!)
    // The lock file and npm's settings are for installing, which is done before.
    const installFiles = ['package-lock.json', '.npmrc']
    const expectedItems = list.split(' ').filter((one) => !installFiles.includes(one))
    expect(copiedPaths.sort()).toEqual([...expectedItems, 'node_modules'].sort())
    expect(last).toMatch(/^USER node$/m)
  })

  it('runs on the Node of the project', () => {
    const { node } = JSON.parse(readArchivo('package.json')).dependencies
    for (const [, version] of dockerfile.matchAll(/^FROM node:(\S+?)-/gm)) expect(version).toBe(node)
  })
})

it.each(unidades)('%s starts again for as long as the database is away', (one) => {
  const [, unit = '', service = ''] = readArchivo(`despliegue/systemd/${one}`).split(/^\[\w+\]$/m)
  expect(unit).toContain('\nStartLimitIntervalSec=0\n')
  expect(service).toContain('\nRestart=always\n')
})

it.skipIf(!isInPath('systemd-analyze'))('units are what systemd understands', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guias-unidades-'))
  const backupUnits = readdirSync(new URL('despliegue/respaldos', ROOT)).filter((one) => /\.(service|timer)$/.test(one))
  expect(backupUnits.length).toBeGreaterThan(8)
  const all = [
    ...unidades.map((one) => ({ candidate: one, de: 'systemd' })),
    ...backupUnits.map((one) => ({ candidate: one, de: 'respaldos' })),
  ]
  for (const { candidate: one, de } of all) {
    const text = readArchivo(`despliegue/${de}/${one}`)
    // What they start isn't installed there.
    const textWithPrograms = text.replaceAll('/srv/guias/actual/', fileURLToPath(ROOT))
    await writeFile(join(folder, one), textWithPrograms.replaceAll(/\/usr\/bin\/(pgbackrest|restic)/g, '/bin/true'))
  }
  const paths = all.map(({ candidate: one }) => join(folder, one))
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
  const unitLines = stderr
    .split('\n')
    .filter((line) => all.some(({ candidate: one }) => line.includes(basename(one, '.service'))))
  expect(unitLines).toEqual([])
  await rm(folder, { recursive: true })
})

it.skipIf(!isInPath('caddy'))('the proxy is what Caddy understands', () => {
  const { status, stderr } = spawnSync(
    'caddy',
    ['validate', '--adapter', 'caddyfile', '--config', fileURLToPath(new URL('despliegue/Caddyfile', ROOT))],
    { encoding: 'utf8', env: { ...process.env, DOMINIO: 'a.example.com', DOMINIO_ARCHIVOS: 'b.example.com' } },
  )
  expect(status, stderr).toBe(0)
})
