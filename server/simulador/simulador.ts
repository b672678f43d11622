import { Problema } from '../errores.ts'
import type { Identidades } from '../http/identidad.ts'

/** @throws Problema 403 `solo_en_test`, whether or not the guide exists: the key is what is wrong. */
export function exigirModoTest({ modo }: Identidades['llaveDeComercio']) {
  if (modo === 'test') return
  throw new Problema(
    'solo_en_test',
    `La llave es de modo ${modo}. Use una llave guia_test_… y una guía creada con ella.`,
  )
}
