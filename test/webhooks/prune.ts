import { cleanWebhooks } from '../../server/domain/webhooks/sweeper.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { MASTER_KEY, type TestEnvironment } from '../environment.ts'
import { readTestSettings } from '../factories.ts'

/** A round of housekeeping, now. */
export const cleanUpNow = ({ db, clock }: TestEnvironment, keys: readonly string[] = [MASTER_KEY]) =>
  cleanWebhooks({
    db,
    log: createLog('silent'),
    clock,
    secretos: createSecrets(keys.map((key) => Buffer.from(key, 'base64'))),
    settings: readTestSettings(),
  })
