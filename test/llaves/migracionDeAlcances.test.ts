// Existing keys with `administrar` when the version comes that lets a key grant only scopes that it has.

import { expect, it } from 'vitest'
import { linkChains } from '../../server/domain/bitacora/linkChain.ts'
import { verificarCadenas } from '../../server/domain/bitacora/verificar.ts'
import { guardarLlaveDeOperador } from '../../server/domain/llaves/llave.ts'
import { exigirOperador } from '../../server/domain/operadores/operador.ts'
import type { AlcanceDeOperacion } from '../../server/generado/contrato/tipos/index.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { readMigrations } from '../../server/startup/migrations.ts'
import { HORA } from '../duraciones.ts'
import { MASTER_KEY, usarEntorno } from '../entorno.ts'
import { ajustesCon, hasta } from '../fabricas.ts'
import { administrar } from './administrar.ts'

// Links of the audit record are made when they are asked for.
const entorno = usarEntorno({}, () => ({ WORKERS: '0' }))
const { crearOperador } = administrar(entorno)

const migrarOtraVez = async () => {
  const migracion = (await readMigrations()).find(({ nombre }) => nombre.endsWith('_alcances_de_administrar'))
  await entorno.db.pool.query(migracion!.sql)
}
const alcancesDe = async (id: string) => {
  const { rows } = await entorno.db.pool.query('select alcances from llave where id = $1', [id.slice('llave_'.length)])
  return rows[0].alcances
}

it('gives them the scopes that their operator’s keys in force hold together, with a line each', async () => {
  const llaveDe = async (operador: string, alcances: AlcanceDeOperacion[], vence_en: Date | null = null) => {
    const { id: operadorId } = await exigirOperador(entorno.db, operador)
    const de = { operadorId, operador, alcances, vence_en }
    return (await guardarLlaveDeOperador(entorno.db, entorno.reloj(), de)).id
  }
  const revocada = async (id: string) => {
    expect((await entorno.operar('POST', `/llaves/${id}/revocar`)).status).toBe(200)
    return id
  }
  const ayer = new Date(Date.now() - 24 * HORA)
  const [uno, otro, fuera] = [await crearOperador(), await crearOperador(), await crearOperador()]
  const administra = await llaveDe(uno, ['administrar'])
  const sinMas = await llaveDe(uno, ['ver'])
  const operan = await llaveDe(uno, ['operar', 'ver'])
  const vencida = await llaveDe(uno, ['administrar', 'caja'], ayer)
  const muerta = await revocada(await llaveDe(uno, ['administrar', 'caja']))
  const sola = await llaveDe(otro, ['administrar', 'ver'])
  const deRevocado = await llaveDe(fuera, ['administrar'])
  await llaveDe(fuera, ['caja'])
  expect((await entorno.operar('POST', `/operadores/${fuera}/revocar`)).status).toBe(200)

  await migrarOtraVez()
  expect(await alcancesDe(administra)).toEqual(['administrar', 'ver', 'operar'])
  for (const [id, alcances] of [
    [sinMas, ['ver']],
    [operan, ['operar', 'ver']],
    [vencida, ['administrar', 'caja']],
    [muerta, ['administrar', 'caja']],
    [sola, ['administrar', 'ver']],
    [deRevocado, ['administrar']],
  ] as const)
    expect([id, await alcancesDe(id)]).toEqual([id, alcances])

  const lineas = async () => (await entorno.operar('GET', '/bitacora?accion=ampliarAlcances')).cuerpo.datos
  expect(await lineas()).toEqual([
    {
      linea: expect.stringMatching(/^bit_[0-9A-HJKMNP-TV-Z]{12}$/),
      accion: 'ampliarAlcances',
      quien: { tipo: 'trabajo', identificador: null, llave: null },
      sobre: { tipo: 'llave', identificador: administra },
      comercio: null,
      modo: null,
      campos: ['alcances'],
      antes: { alcances: ['administrar'] },
      despues: { alcances: ['administrar', 'ver', 'operar'] },
      id_solicitud: null,
      red: null,
      creado_en: expect.any(String),
    },
  ])
  // It finds nothing more to do.
  await migrarOtraVez()
  expect(await lineas()).toHaveLength(1)

  // The line is chained and verified like any other.
  const { db, reloj } = entorno
  const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
  await hasta(async () => {
    await linkChains({ db, reloj, log: createLog('silent'), secretos, ajustes: ajustesCon() })
    const { rows } = await db.pool.query(
      "select (select count(*) from bitacora) = (select sum(lineas) from eslabon where registro = 'bitacora') as todo",
    )
    return rows[0].todo
  })
  const verificada = await verificarCadenas(
    { db, secretos, reloj },
    { desde: new Date(0), hasta: new Date('9999-01-01') },
  )
  expect(verificada.faltas).toEqual([])
})
