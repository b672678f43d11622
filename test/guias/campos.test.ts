import { expect, it } from 'vitest'
import { CAMPOS, derivar } from '../../server/domain/guias/campos.ts'
import { huellasDe } from '../../server/domain/guias/huellas.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

it('derives every list from the table, also for a field that is added', () => {
  const antes = derivar(CAMPOS)
  const notas = {
    tipo: 'text',
    escribe: 'correccion',
    nuevo: true,
    digerido: true,
    mostrado: true,
    personal: true,
  } as const
  const despues = derivar({ ...CAMPOS, notas })
  expect(despues).toEqual({
    nuevos: [...antes.nuevos, 'notas'],
    recordset: `${antes.recordset}, notas text`,
    digeridos: [...antes.digeridos, 'notas'],
    mostrados: [...antes.mostrados, 'notas'],
    deCuerpo: [...antes.deCuerpo, 'notas'],
    enFoto: antes.enFoto,
    borrados: `${antes.borrados}, notas = null`,
    corregibles: [...antes.corregibles, 'notas'],
  })
  const enFoto = derivar({ ...CAMPOS, turno: { tipo: 'int4', escribe: 'servicio', mostrado: true, enEvento: 'foto' } })
  expect(enFoto).toEqual({ ...antes, mostrados: [...antes.mostrados, 'turno'], enFoto: [...antes.enFoto, 'turno'] })
  const secretos = createSecrets([Buffer.alloc(32, 7)])
  expect(huellasDe({ notas: 'Frágil' }, secretos, despues.digeridos)).toMatch(/^[0-9a-f]{8} notas:[\w-]{16}$/)
})
