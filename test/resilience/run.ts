/**
 * `npm run test:faults [-- webhooks|despliegue [scenario…]]`: every fault in full size, and a table of what was lost (0); with
 * SMALL=1 in the size of `npm test`.
 */
import { REHEARSAL_SCENARIOS } from '../deployment/rehearsal.ts'
import type { ScenarioResult } from './ledger.ts'
import { closeAll } from './steps.ts'
import { SCENARIOS as webhooks } from './webhooks.ts'

const SUITES = { webhooks, despliegue: REHEARSAL_SCENARIOS }

const report = (texto: string) => process.stderr.write(`${texto}\n`)

let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    if (isInterrupted) return
    isInterrupted = true
    await closeAll()
    process.exit(130)
  })
}

const [suite = 'webhooks', ...claves] = process.argv.slice(2)
if (!(suite in SUITES)) {
  report(`No hay pruebas de resistencia de «${suite}»: ${Object.keys(SUITES).join(', ')}.`)
  process.exit(2)
}
const chosenScenarios = SUITES[suite as keyof typeof SUITES].filter(
  ({ clave }) => claves.length === 0 || claves.includes(clave),
)
const resultados: ScenarioResult[] = []
for (const { clave, titulo, missing: falta, run, ci, complete } of chosenScenarios) {
  report(`${clave}: ${titulo}…`)
  const motivo = await falta?.()
  if (motivo) {
    report(`  not tried: ${motivo}`)
    continue
  }
  const startedAt = performance.now()
  const resultado = await run(process.env.SMALL ? ci : complete).catch((error: Error): ScenarioResult => {
    const fallas = [error.stack ?? error.message]
    return { scenario: clave, trial: '—', lost: 0, duplicateCount: 0, recoverySeconds: 0, fallas, notas: [] }
  })
  if (isInterrupted) await new Promise(() => {})
  resultados.push(resultado)
  for (const nota of resultado.notas) report(`  ${nota}`)
  for (const falla of resultado.fallas) report(`  ✗ ${falla}`)
  report(`  ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
}

const tableRows = [
  ['escenario', 'probado', 'perdido', 'duplicado', 'recuperado en (s)', ''],
  ...resultados.map(({ scenario, trial, lost, duplicateCount, recoverySeconds, fallas }) => [
    scenario,
    trial,
    `${lost}`,
    `${duplicateCount}`,
    recoverySeconds.toFixed(1),
    fallas.length === 0 ? '✓' : `✗ ${fallas.length}`,
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
process.exit(resultados.some(({ lost, fallas }) => lost > 0 || fallas.length > 0) ? 1 : 0)
