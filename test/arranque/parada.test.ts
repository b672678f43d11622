import { expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'

const entorno = usarEntorno()

it('waits for the housekeeping that its start began: a stop right after it complains of nothing', async () => {
  for (let vez = 0; vez < 5; vez++) await entorno.reiniciar()
  expect(entorno.log.filter((linea) => /"level":[45]0/.test(linea))).toEqual([])
})
