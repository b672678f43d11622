import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { registerCleanup } from '../harness/cleanup.ts'
import { type Bench, FLAGS, isReady, startProgram } from '../harness/environment.ts'
import { runLoad } from '../harness/load.ts'
import { cpuOf, readMemory, waitForIdle } from '../harness/process.ts'
import type { Measurement } from '../harness/report.ts'
import { interleave, summarize } from '../harness/rounds.ts'
import { buildCreateLoad, buildReportRow } from './create.ts'

const SERVER_PATH = 'server/generated/main.mjs'

const measureStart = (bench: Bench) =>
  bench.withDatabase(async ({ url, createComercios }) => {
    await createComercios(1)
    const externalEnv = { DATABASE_URL: url, MASTER_KEYS: bench.masterKeys[0]!.toString('base64'), MESSAGING: 'buzon' }
    /** CPU seconds of each start of the server without npm */
    const cpu: number[] = []
    const measure = async (program: string, args: readonly string[], env: NodeJS.ProcessEnv, recordsCpu = false) => {
      const startedProgram = await startProgram(program, args, env, bench.folder, { group: true })
      if (recordsCpu) {
        await waitForIdle(startedProgram.pid)
        cpu.push(cpuOf(startedProgram.pid) ?? Number.NaN)
      }
      await startedProgram.finish()
      while (await isReady(startedProgram.url)) await sleep(20) // npm's shell exits before the service
      return startedProgram.secondsUntilReady
    }
    const cells = {
      // Start time of any Node program on this machine.
      emptyNode: async () => {
        const startedAt = performance.now()
        spawnSync(process.execPath, ['-e', '0'])
        return (performance.now() - startedAt) / 1_000
      },
      server: () => measure(process.execPath, [...FLAGS, SERVER_PATH], externalEnv, true),
      npm: () => measure('npm', ['start'], externalEnv),
      embedded: async () => {
        const folder = mkdtempSync(join(tmpdir(), 'guias-bench-'))
        const removeFolder = registerCleanup(() => rm(folder, { recursive: true, force: true }))
        await chmod(folder, 0o711)
        const seconds = await measure(process.execPath, [...FLAGS, SERVER_PATH], {
          DATABASE_URL: undefined,
          MASTER_KEYS: undefined,
          MESSAGING: undefined,
          DATA_DIR: join(folder, 'datos'),
        })
        await removeFolder()
        return seconds
      },
    }
    await interleave(1, cells) // fills the compile cache; `npm start` regenerates outdated files
    cpu.length = 0
    const values = await interleave(bench.options.rounds, cells)
    const buildStartRow = (measurement: string, program: number[], valor: number) => ({
      measurement,
      unit: 's',
      program: summarize(program),
      target: { comparison: '≤' as const, value: valor, isAbsolute: true },
    })
    return {
      rows: [
        buildStartRow('arranque del servidor, con la base en marcha', values.server, 0.5),
        buildReportRow(
          'arranque del servidor, con la base en marcha',
          's',
          'node -e 0',
          { program: values.server, reference: values.emptyNode },
          { comparison: '≤', value: 15 },
        ),
        buildStartRow('CPU del arranque del servidor', cpu, 0.8),
        buildStartRow('arranque con npm start, con la base en marcha', values.npm, 0.8),
        buildStartRow('primer arranque, base embebida', values.embedded, 2),
      ],
    }
  })

const measureMemory = (bench: Bench) =>
  bench.withDatabase(async (base) => {
    const loadMinutes = Math.max(2, bench.options.memoryMinutes)
    const comercios = await base.createComercios(1)
    const { url, pid } = await base.service()
    const samples: { x: number; mb: number }[] = []
    const startedAt = performance.now()
    const sampling = setInterval(
      () => samples.push({ x: (performance.now() - startedAt) / MINUTE_MS, mb: readMemory(pid) ?? Number.NaN }),
      1_000,
    )
    try {
      await runLoad(buildCreateLoad(url, comercios, 32, loadMinutes * 60))
    } finally {
      clearInterval(sampling)
    }
    // Uses the samples of a whole half minute, because memory varies with garbage collection.
    const samplesBefore = (minute: number) =>
      samples.filter(({ x }) => x > minute - 0.5 && x <= minute).map(({ mb }) => mb)
    const [afterFirstMinute, atEnd] = [summarize(samplesBefore(1)), summarize(samplesBefore(loadMinutes))]
    const reason = atEnd.median / afterFirstMinute.median
    return {
      rows: [
        {
          measurement: `memoria tras ${loadMinutes} minutos a plena carga`,
          unit: 'MB',
          program: atEnd,
          reference: { name: 'tras 1 minuto', series: afterFirstMinute },
          ratio: { median: reason, min: atEnd.min / afterFirstMinute.max, max: atEnd.max / afterFirstMinute.min },
          target: { comparison: '≤' as const, value: 1.1 },
        },
      ],
    }
  })

export const processMeasurements: Measurement[] = [
  { clave: 'arranque', descripcion: 'segundos desde que se lanza hasta que está listo', measure: measureStart },
  {
    clave: 'memoria',
    descripcion: 'memoria a plena carga (pide --memoria, 2 o más)',
    separate: ({ memoryMinutes: loadMinutes }) => loadMinutes === 0,
    measure: measureMemory,
  },
]
