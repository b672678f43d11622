/**
 * `npm run test:faults [-- webhooks|despliegue [scenario…]]`: every fault in full size, and a table of what was lost (0); with
 * SMALL=1 in the size of `npm test`.
 */
import { REHEARSAL_SCENARIOS } from '../deployment/rehearsal.ts'
import type { ScenarioResult } from './ledger.ts'
import { closeAll } from './steps.ts'
import { SCENARIOS as webhooks } from './webhooks.ts'

const SUITES = { webhooks, despliegue: REHEARSAL_SCENARIOS }

const report = (text: string) => process.stderr.write(`${text}\n`)

let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    if (isInterrupted) return
    isInterrupted = true
    await closeAll()
    process.exit(130)
  })
}

const [suite = 'webhooks', ...keys] = process.argv.slice(2)
if (!(suite in SUITES)) {
  report(`No hay pruebas de resistencia de «${suite}»: ${Object.keys(SUITES).join(', ')}.`)
  process.exit(2)
}
const chosenScenarios = SUITES[suite as keyof typeof SUITES].filter(
  ({ clave: key }) => keys.length === 0 || keys.includes(key),
)
const results: ScenarioResult[] = []
for (const { clave: key, titulo, missing, run, ci, complete } of chosenScenarios) {
  report(`${key}: ${titulo}…`)
  const motivo = await missing?.()
  if (motivo) {
    report(`  not tried: ${motivo}`)
    continue
  }
  const startedAt = performance.now()
  const result = await run(process.env.SMALL ? ci : complete).catch((error: Error): ScenarioResult => {
    const faults = [error.stack ?? error.message]
    return { scenario: key, trial: '—', lost: 0, duplicateCount: 0, recoverySeconds: 0, fallas: faults, notas: [] }
  })
  if (isInterrupted) await new Promise(() => {})
  results.push(result)
  for (const nota of result.notas) report(`  ${nota}`)
  for (const fault of result.fallas) report(`  ✗ ${fault}`)
  report(`  ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
}

const tableRows = [
  ['escenario', 'probado', 'perdido', 'duplicado', 'recuperado en (s)', ''],
  ...results.map(({ scenario, trial, lost, duplicateCount, recoverySeconds, fallas: faults }) => [
    scenario,
    trial,
    `${lost}`,
    `${duplicateCount}`,
    recoverySeconds.toFixed(1),
    faults.length === 0 ? '✓' : `✗ ${faults.length}`,
  ]),
]
const columnWidths = tableRows[0]!.map((_, i) => Math.max(...tableRows.map((row) => row[i]!.length)))
for (const row of tableRows)
  console.log(
    row
      .map((cell, i) => cell.padEnd(columnWidths[i]!))
      .join('  ')
      .trimEnd(),
  )
process.exit(results.some(({ lost, fallas: faults }) => lost > 0 || faults.length > 0) ? 1 : 0)
