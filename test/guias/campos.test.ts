import { expect, it } from 'vitest'
import { CAMPOS, derivar } from '../../server/domain/guias/campos.ts'
import { huellasDe } from '../../server/domain/guias/huellas.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { usarEntorno } from '../entorno.ts'

const entorno = usarEntorno()

it('declares every column of the table with its type', async () => {
  const { rows } = await entorno.db.pool.query(
    `select column_name as nombre, udt_name as tipo from information_schema.columns
     where table_schema = 'public' and table_name = 'guia' order by 1`,
  )
  expect(rows).toEqual(
    Object.entries(CAMPOS)
      .map(([nombre, { tipo }]) => ({ nombre, tipo }))
      .sort((a, b) => (a.nombre < b.nombre ? -1 : 1)),
  )
})

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
