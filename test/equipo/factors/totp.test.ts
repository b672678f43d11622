import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { reencryptTotp, stepOf } from '../../../server/domain/equipo/factors/totp.ts'
import { seal } from '../../../server/platform/sealing.ts'
import { createSecrets } from '../../../server/platform/secrets.ts'
import { MASTER_KEY, useEnvironment } from '../../environment.ts'
import { createTestPersona } from '../persona.ts'
import { computeStepCode } from '../totp.ts'

const environment = useEnvironment()
const OLD_KEY = Buffer.from(MASTER_KEY, 'base64')

describe('the code of an app', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
  ])('at second %d is that of RFC 6238', async (second, codigo) => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    const secretos = createSecrets([OLD_KEY])
    const persona = 'de nadie'
    const sealedSecret = seal(secretos, 'segundo_factor', `totp ${persona}`, Buffer.from(secret))
    const deps = { secretos, clock: () => new Date(second * 1_000) }
    expect(await stepOf(deps, persona, sealedSecret, codigo)).toBe(Math.floor(second / 30))
    expect(computeStepCode(secret, Math.floor(second / 30))).toBe(codigo)
    await expect(stepOf(deps, 'otra persona', sealedSecret, codigo)).rejects.toThrow()
  })
})

it('secrets are encrypted again after a change of the master keys', async () => {
  const ana = await createTestPersona(environment)
  const fresh = randomBytes(32)
  const read = async () =>
    (
      await environment.db.pool.query(
        'select f.persona_id, f.secreto from segundo_factor f join persona p on p.id = f.persona_id where persona = $1',
        [ana.persona],
      )
    ).rows[0]
  const deps = { db: environment.db, log: { info() {}, error() {} } as never }
  await reencryptTotp({ ...deps, secretos: createSecrets([fresh, OLD_KEY]) })
  const { persona_id, secreto } = await read()
  const depsWith = (key: Buffer) => ({ secretos: createSecrets([key]), clock: environment.clock })
  expect(await stepOf(depsWith(fresh), persona_id, secreto, ana.app!.de(0))).toBeDefined()
  expect(await stepOf(depsWith(OLD_KEY), persona_id, secreto, ana.app!.de(0))).toBeUndefined()
})
