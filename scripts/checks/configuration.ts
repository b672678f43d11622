/**
 * Writes the table of configuration variables in `docs/operacion/configuration.md` from `server/platform/config/variables.ts`. With
 * `--comprobar`, writes nothing and fails if the table is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ConfigTable, ConfigVariable } from '../../server/platform/config/table.ts'
import { VARIABLES } from '../../server/platform/config/variables.ts'

const MANUAL_URL = new URL('../../docs/operacion/configuration.md', import.meta.url)
const [START, FIN] = ['<!-- variables: written by scripts/checks/configuration.ts -->\n', '<!-- /variables -->']

function describeDefault({ defaultValue, defaultNote }: ConfigVariable<unknown>): string {
  if (defaultNote !== undefined) return defaultNote
  if (defaultValue === undefined) return 'unset'
  return String(typeof defaultValue === 'boolean' ? Number(defaultValue) : defaultValue)
}

const renderRows = (table: ConfigTable, condition = ''): string[] =>
  Object.values(table).flatMap((row) => [
    `| \`${row.name}\` | ${describeDefault(row)} | ${condition}${row.meaning} |\n`,
    ...(row.groups ?? []).flatMap((group) => renderRows(group.table, `with \`${group.using}\`: `)),
  ])

const manual = readFileSync(MANUAL_URL, 'utf8')
const [before, ...rest] = manual.split(START)
const renderedTable = ['| variable | default | meaning |\n', '|---|---|---|\n', ...renderRows(VARIABLES)].join('')
const after = rest.join(START).slice(rest.join(START).indexOf(FIN))
const newText = `${before}${START}${renderedTable}${after}`
if (!process.argv.includes('--comprobar')) writeFileSync(MANUAL_URL, newText)
else if (newText !== manual) {
  console.error('docs/operacion/configuration.md is stale: node scripts/checks/configuration.ts')
  process.exitCode = 1
}
