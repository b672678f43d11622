/**
 * `npm run test:faults [-- webhooks|despliegue [scenario…]]`: every fault in full size, and a table of what was lost (0); with
 * CHICO=1 in the size of `npm test`.
 */
import { REHEARSAL_SCENARIOS as despliegue } from '../deployment/rehearsal.ts'
import type { ScenarioResult } from './ledger.ts'
import { closeAll } from './steps.ts'
import { SCENARIOS as webhooks } from './webhooks.ts'

const SUITES = { webhooks, despliegue }

const decir = (texto: string) => process.stderr.write(`${texto}\n`)

let interrumpido = false
for (const senal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(senal, async () => {
    if (interrumpido) return
    interrumpido = true
    await closeAll()
    process.exit(130)
  })
}

const [suite = 'webhooks', ...claves] = process.argv.slice(2)
if (!(suite in SUITES)) {
  decir(`No hay pruebas de resistencia de «${suite}»: ${Object.keys(SUITES).join(', ')}.`)
  process.exit(2)
}
const elegidos = SUITES[suite as keyof typeof SUITES].filter(
  ({ clave }) => claves.length === 0 || claves.includes(clave),
)
const resultados: ScenarioResult[] = []
for (const { clave, titulo, missing: falta, correr, ci, complete: completo } of elegidos) {
  decir(`${clave}: ${titulo}…`)
  const motivo = await falta?.()
  if (motivo) {
    decir(`  not tried: ${motivo}`)
    continue
  }
  const inicio = performance.now()
  const resultado = await correr(process.env.CHICO ? ci : completo).catch((error: Error): ScenarioResult => {
    const fallas = [error.stack ?? error.message]
    return { escenario: clave, probado: '—', lost: 0, duplicado: 0, recuperado: 0, fallas, notas: [] }
  })
  if (interrumpido) await new Promise(() => {})
  resultados.push(resultado)
  for (const nota of resultado.notas) decir(`  ${nota}`)
  for (const falla of resultado.fallas) decir(`  ✗ ${falla}`)
  decir(`  ${((performance.now() - inicio) / 1000).toFixed(0)} s`)
}

const tableRows = [
  ['escenario', 'probado', 'perdido', 'duplicado', 'recuperado en (s)', ''],
  ...resultados.map(({ escenario, probado, lost, duplicado, recuperado, fallas }) => [
    escenario,
    probado,
    `${lost}`,
    `${duplicado}`,
    recuperado.toFixed(1),
    fallas.length === 0 ? '✓' : `✗ ${fallas.length}`,
  ]),
]
const anchos = tableRows[0]!.map((_, i) => Math.max(...tableRows.map((row) => row[i]!.length)))
for (const row of tableRows)
  console.log(
    row
      .map((celda, i) => celda.padEnd(anchos[i]!))
      .join('  ')
      .trimEnd(),
  )
process.exit(resultados.some(({ lost, fallas }) => lost > 0 || fallas.length > 0) ? 1 : 0)
