import { describe, expect, it } from 'vitest'
import { purgeAprobaciones } from '../../server/domain/aprobaciones/prune.ts'
import type { Deps } from '../../server/domain/deps.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, requestInvitacionAprobacion } from '../equipo/persona.ts'

const environment = useEnvironment()

describe('approvals', () => {
  it('are listed newest first, in pages', async () => {
    const [ana] = [await createTestPersona(environment), await createTestPersona(environment)]
    const sentRequests: string[] = []
    for (let i = 0; i < 3; i++) sentRequests.unshift((await requestInvitacionAprobacion(ana)).aprobacion)
    const first = (await environment.asOperador('GET', '/aprobaciones?limite=2')).body
    const cursor = encodeURIComponent(first.cursor_siguiente)
    const second = (await environment.asOperador('GET', `/aprobaciones?limite=2&cursor=${cursor}`)).body
    const codigos = [...first.datos, ...second.datos].map(({ aprobacion }) => aprobacion)
    expect([codigos, second.cursor_siguiente]).toEqual([sentRequests, null])
  })

  it('lose their content when they expire, of which who asked is told, and their row 30 days later', async () => {
    const [ana] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { aprobacion, correo } = await requestInvitacionAprobacion(ana)
    const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
    const settingValues = { urlDePersonas: environment.url } as Deps['settings']
    const readTableRows = async (elapsed: number) => {
      const clock = () => new Date(environment.clock().getTime() + elapsed)
      const newId = createIdGenerator(clock)
      await purgeAprobaciones({
        db: environment.db,
        clock,
        newId,
        secretos,
        settings: settingValues,
        notifyJobs: () => undefined,
      })
      const { rows } = await environment.db.pool.query('select contenido from aprobacion where aprobacion = $1', [
        aprobacion,
      ])
      return rows.map(({ contenido }) => contenido !== null)
    }
    expect(await readTableRows(71 * HOUR_MS)).toEqual([true])
    expect(await findPendingCorreo(environment, 'decision', ana.correo)).toBeUndefined()
    expect(await readTableRows(73 * HOUR_MS)).toEqual([false])
    expect(await findPendingCorreo(environment, 'decision', ana.correo)).toMatchObject({
      quien: null,
      que: expect.stringContaining(correo),
      razon: null,
    })
    expect(await readTableRows((33 * 24 + 1) * HOUR_MS)).toEqual([])
  })
})
