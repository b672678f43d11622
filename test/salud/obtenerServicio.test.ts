import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MEASURES, measuresOf } from '../../server/domain/measures.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { PROMISE_FAULTS } from '../observability/promises.ts'

const environment = useEnvironment()
const read = async () => (await environment.asOperador('GET', '/servicio')).body
const measure = async (name: string) =>
  (await read()).medidas.find((one: { nombre: string }) => one.nombre === name) as Record<string, unknown>
const admin = (...args: string[]) => runInProcess(args, consoleEnvironment(environment))

describe('GET /operaciones/v1/servicio', () => {
  it('says that all is well at rest, and names every measure', async () => {
    await environment.waitForQuiet()
    const { bien: isHealthy, listo, medidas } = await read()
    expect({ bien: isHealthy, listo }).toEqual({ bien: true, listo: true })
    const names = measuresOf({}).map(({ nombre }) => nombre)
    expect(medidas.map(({ nombre }: { nombre: string }) => nombre)).toEqual(names)
    expect(measuresOf({ backup: '/respaldos' })).toEqual(MEASURES)
  })

  it('says what is wrong, and where the steps to take are', async () => {
    const repair = await PROMISE_FAULTS.guias_decisiones_vencidas!(environment)
    expect(await measure('guias_decisiones_vencidas')).toMatchObject({
      valor: 1,
      limite: 0,
      bien: false,
      pagina: 'docs/operacion/alertas/decisiones-vencidas.md',
    })
    expect(await read()).toMatchObject({ bien: false, listo: true })
    await repair()
    await waitUntil(async () => (await read()).bien)
  })

  it('tells the queues whose jobs wait', async () => {
    const repair = await PROMISE_FAULTS.guias_cola_atraso_segundos!(environment)
    expect((await read()).colas).toContainEqual({
      cola: 'recuperaciones',
      trabajos: 1,
      bien: false,
      espera_segundos: expect.any(Number),
    })
    await repair()
  })

  it('is for keys with the scope administrar alone', async () => {
    const llave = await environment.createOperacionLlave(['ver', 'operar'])
    expect((await environment.request('GET', '/operaciones/v1/servicio', { llave })).status).toBe(403)
  })

  it('says that no worker has started yet while the queue has no tables', async () => {
    await environment.db.pool.query('alter schema pgboss rename to aparte')
    try {
      expect(await environment.asOperador('GET', '/servicio')).toMatchObject({
        status: 503,
        body: { codigo: 'no_disponible', mensaje: expect.stringMatching(/npm run worker/) },
      })
      const { codigo, errores } = await admin('estado')
      expect({ codigo, errores }).toEqual({ codigo: 1, errores: expect.stringMatching(/npm run worker/) })
    } finally {
      await environment.db.pool.query('alter schema aparte rename to pgboss')
    }
  })

  it('names pages that exist', () => {
    for (const { pagina } of MEASURES)
      if (pagina) expect(readFileSync(`docs/operacion/alertas/${pagina}.md`, 'utf8')).toMatch(/^# /)
  })
})

describe('npm run admin -- estado', () => {
  it('shows it on one screen, and ends with 1 if something is wrong', async () => {
    const isHealthy = await admin('estado')
    expect(isHealthy.codigo, isHealthy.output).toBe(0)
    expect(isHealthy.output).toContain('Todo está bien.')
    expect(isHealthy.output.split('\n').length).toBeLessThan(24)
    const repair = await PROMISE_FAULTS.guias_decisiones_vencidas!(environment)
    const bad = await admin('estado')
    expect(bad.codigo).toBe(1)
    // What needs a person comes first.
    expect(bad.output.lastIndexOf('✘')).toBeLessThan(bad.output.indexOf('✔'))
    expect(bad.output).toMatch(
      /✘ Decisiones cuyo plazo pasó +1, límite 0 {2}docs\/operacion\/alertas\/decisiones-vencidas\.md/,
    )
    await repair()
  })
})
