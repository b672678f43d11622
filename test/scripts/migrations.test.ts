// What `npm run check` says of a migration that the version before couldn't live with.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'

const inRoot = (path: string) => fileURLToPath(new URL(path, ROOT))

/** The rules that a migration breaks. */
function faltas(sql: string): string[] {
  const args = ['--config', inRoot('prisma/squawk.toml'), '--reporter', 'json', '--stdin-filepath', 'migration.sql']
  const { stdout, stderr } = spawnSync(inRoot('node_modules/.bin/squawk'), args, { input: sql, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return (JSON.parse(stdout) as { rule_name: string }[]).map(({ rule_name }) => rule_name)
}

describe('a migration', () => {
  it.each([
    ['drops a column', 'alter table guia drop column telefono', 'ban-drop-column'],
    ['renames one', 'alter table guia rename column telefono to fono', 'renaming-column'],
    ['drops a table', 'drop table mensaje', 'ban-drop-table'],
    ['renames one', 'alter table mensaje rename to recado', 'renaming-table'],
    [
      'asks for a column that nobody writes yet',
      'alter table guia add column x text not null',
      'adding-required-field',
    ],
    ['forbids null', 'alter table guia alter column telefono set not null', 'adding-not-nullable-field'],
    ['changes a type', 'alter table guia alter column intentos type bigint', 'changing-column-type'],
    ['locks writers out', 'create index x on guia (telefono)', 'require-concurrent-index-creation'],
    ['locks everybody out', 'drop index guia_telefono_id_idx', 'require-concurrent-index-deletion'],
    [
      'reads a table while nobody may write',
      'alter table guia add constraint x check (lat > 0)',
      'constraint-missing-not-valid',
    ],
  ])('that %s is named', (_description, sql, rule) => {
    expect(faltas(`${sql};`)).toEqual([rule])
    expect(faltas(`-- Nobody has read it since 0.2.0.\n-- squawk-ignore ${rule}\n${sql};`)).toEqual([])
  })

  it.each([
    'create table nueva (id uuid primary key, x text not null); create index nueva_x on nueva (x)',
    'alter table guia add column x text',
    "alter table guia add column x text not null default ''",
    'create index concurrently x on guia (telefono)',
    'alter table guia add constraint x check (lat > 0) not valid',
    'alter table guia validate constraint x',
  ])('may %s', (sql) => {
    expect(faltas(`${sql};`)).toEqual([])
  })

  it('that does what it mustn’t says why in the line before', () => {
    const folder = inRoot('prisma/migrations/')
    for (const name of readdirSync(folder).filter((one) => /^\d/.test(one))) {
      const lines = readFileSync(`${folder}${name}/migration.sql`, 'utf8').split('\n')
      for (const [n, line] of lines.entries())
        if (line.includes('squawk-ignore')) expect(lines[n - 1], `${name}:${n}`).toMatch(/^-- [A-Z].+\.$/)
    }
  })
})
