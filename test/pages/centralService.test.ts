import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { PROMISE_FAULTS } from '../observability/promises.ts'

const environment = useEnvironment()
let ana: TestPersona
beforeAll(async () => {
  ana = await createTestPersona(environment)
})
const ver = (caller = ana) => createScriptlessBrowser(environment, caller.cookie).visit('/central/equipo/servicio')

describe('the page of the service', () => {
  it('says that all is well at rest, and stands below the team', async () => {
    await environment.waitForQuiet()
    const { texto: text } = await ver()
    for (const message of ['Todo está bien.', 'Mensajes que llevan cinco minutos sin salir', 'Leído el'])
      expect(text).toContain(message)
    expect((await createScriptlessBrowser(environment, ana.cookie).visit('/central/equipo')).texto).toContain(
      '/central/equipo/servicio"',
    )
  })

  it('says what is beyond its limit, and where the steps to take are', async () => {
    // The repairs release locks without which the service cannot close, also after a failed expectation.
    for (const gauge of ['guias_decisiones_vencidas', 'guias_cola_atraso_segundos']) {
      const repair = await PROMISE_FAULTS[gauge]!(environment)
      onTestFinished(async () => void (await repair()))
    }
    const { texto: text } = await ver()
    expect(text).toContain('Algo pasa de lo normal')
    expect(text).toMatch(
      /Decisiones cuyo plazo pasó<.*? 1, límite 0 · pasa de lo normal<.*?docs\/operacion\/alertas\/decisiones-vencidas\.md/s,
    )
    expect(text).toMatch(
      /Cola «recuperaciones».*? 1, hace 60 min, límite 5 min · pasa de lo normal<.*?docs\/operacion\/alertas\/cola-atrasada\.md/s,
    )
    // What needs a person comes first.
    expect(text.lastIndexOf('· pasa de lo normal')).toBeLessThan(text.indexOf('· bien'))
  })

  it('is for persons who administer', async () => {
    expect((await ver(await createTestPersona(environment, { alcances: ['ver', 'operar'] }))).status).toBe(404)
  })
})
