import type { Identities } from '../../api/http/identity.ts'
import { Problema } from '../../platform/errors.ts'

/**
 * Rejects a live key, whether or not its guide exists.
 * @throws Problema 403 `solo_en_test`
 */
export function requireTestModo({ modo }: Identities['llaveDeComercio']) {
  if (modo === 'test') return
  throw new Problema(
    'solo_en_test',
    `La llave es de modo ${modo}. Use una llave guia_test_… y una guía creada con ella.`,
  )
}
