import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction, isDistributed } from '../../server/data/db.ts'
import { linkChains } from '../../server/domain/bitacora/linkChain.ts'
import { SEAL_TYPE } from '../../server/domain/bitacora/seal.ts'
import { verifyChains } from '../../server/domain/bitacora/verificar.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { signJws } from '../../server/platform/signing/jws.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES, readTestSettings } from '../factories.ts'
import { chainAll } from './chains.ts'

// Its own job does nothing meanwhile: here links are made when they are asked for.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
let days = 0
const clock = () => new Date(environment.clock().getTime() + days * DAY_MS)
const linkChainNow = () =>
  linkChains({ db: environment.db, clock, log: createLog('silent'), secretos, settings: readTestSettings() })
const avanzar = () => chainAll(environment.db, linkChainNow)
const WHOLE_PERIOD = { desde: new Date(0), hasta: new Date('9999-01-01') }
const verificar = (tiempo = WHOLE_PERIOD) => verifyChains({ db: environment.db, secretos, clock }, tiempo)
const query = async <T extends object>(sql: string, values: unknown[] = []) =>
  (await environment.db.pool.query<T>(sql, values)).rows
const eslabones = async () => Number((await query<{ n: string }>('select count(*) n from eslabon'))[0]!.n)

/** The triggers by which a table is only added to; what Citus distributes has none. */
async function setTriggers(table: string, kind: 'disable' | 'enable'): Promise<void> {
  if (table !== 'evento' || !isDistributed(environment.db)) await query(`alter table ${table} ${kind} trigger user`)
}

/** What somebody with the database in his hands does, and what it was before. */
async function forge(table: string, act: string, deshacer: string): Promise<string[]> {
  await setTriggers(table, 'disable')
  await query(`create table copia as ${deshacer}`)
  await query(act)
  const { faltas } = await verificar()
  await query(`delete from ${table}`)
  await query(`insert into ${table} select * from copia`)
  await query('drop table copia')
  await setTriggers(table, 'enable')
  expect((await verificar()).faltas).toEqual([])
  return faltas
}
const change = (table: string, act: string) => forge(table, act, `select * from ${table}`)

const columnsOf = async (table: string) => {
  const sql = 'select column_name as columna from information_schema.columns where table_name = $1'
  return (await query<{ columna: string }>(sql, [table])).map(({ columna: columnName }) => columnName)
}

let guia: string
let lines: { id: string; linea: string }[]
beforeEach(async () => {
  const comercio = await environment.createComercio()
  guia = (await comercio.api.guias.crear(buildGuia())).guia
  await environment.asOperador('POST', `/guias/${guia}/eventos`, {
    estado: 'recolectado',
    descripcion: 'en la puerta de Ana',
  })
  await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta', lat: 14.6, lng: -90.5 })
  for (const nombre of ['Uno', 'Dos', 'Tres']) await environment.asOperador('POST', '/operadores', { nombre })
  await avanzar()
  lines = await query('select id, linea from bitacora order by xid desc, id desc limit 3')
})

describe('the chains', () => {
  it('go on from link to link, and rest when there is nothing new', async () => {
    const before = await eslabones()
    await avanzar()
    expect(await eslabones()).toBe(before)
    await environment.asOperador('POST', '/operadores', { nombre: 'Otro' })
    await avanzar()
    expect(await eslabones()).toBe(before + 1)
    expect(await verificar()).toMatchObject({ faltas: [], eslabones: before + 1 })
  })

  it('name the line that was changed, removed, added or moved', async () => {
    const [third, second, first] = lines as [(typeof lines)[0], (typeof lines)[0], (typeof lines)[0]]
    const faultOf = (line: string) => expect.stringContaining(` ${line} (eslabón `)
    expect(await change('bitacora', `update bitacora set accion = 'x' where id = '${second.id}'`)).toEqual([
      expect.stringMatching(`^bitacora: cambió ${second.linea} `),
    ])
    expect(await change('bitacora', `delete from bitacora where id = '${second.id}'`)).toEqual([
      expect.stringMatching(`^bitacora: falta ${second.id} `),
    ])
    const other = `insert into bitacora select gen_random_uuid(), 'bit_FALSA', comercio_id, modo, accion, quien_tipo, quien,
      llave, sobre_tipo, sobre, campos, antes, despues, id_solicitud, red, creado_en, xid
      from bitacora where id = '${second.id}'`
    expect(await change('bitacora', other)).toEqual([expect.stringMatching('^bitacora: se agregó bit_FALSA ')])
    const relocation = `update bitacora b set xid = o.xid from bitacora o
      where (b.id, o.id) in (('${first.id}', '${third.id}'), ('${third.id}', '${first.id}'))`
    // Where they lie in different links, what lies between them is said to have moved, too.
    expect(await change('bitacora', relocation)).toEqual(
      expect.arrayContaining([faultOf(first.linea), faultOf(third.linea)]),
    )
  })

  it('name the line that no link can have, or none has long after it was written', async () => {
    const other = (line: string, xid: string, hace: string) =>
      `insert into bitacora select gen_random_uuid(), '${line}', comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo,
        sobre, campos, antes, despues, id_solicitud, red, now() - interval '${hace}', ${xid}
       from bitacora where id = '${lines[0]!.id}'`
    expect(await change('bitacora', other('bit_FUTURA', "'9000000000000000000'", '0'))).toEqual([
      'bitacora: bit_FUTURA es de una transacción que aún no existe',
    ])
    const currentXid = 'pg_current_xact_id()'
    expect(await change('bitacora', other('bit_RECIENTE', currentXid, '1 minute'))).toEqual([])
    expect(await change('bitacora', other('bit_SUELTA', currentXid, '2 hours'))).toEqual([
      'bitacora: bit_SUELTA sigue sin eslabón más de una hora después',
    ])
  })

  it('name the event that is of no transaction yet', EN_POSTGRES, async () => {
    expect(
      await change('evento', `update evento set xid = '9000000000000000000' where guia = '${guia}' and secuencia = 3`),
    ).toEqual(expect.arrayContaining([`evento: evt_${guia}_3 es de una transacción que aún no existe`]))
  })

  it('name the event that was changed or removed', async () => {
    const isEvento = (secuencia: number) => `guia = '${guia}' and secuencia = ${secuencia}`
    expect(await change('evento', `update evento set autor = 'op_OTRO' where ${isEvento(2)}`)).toEqual([
      expect.stringMatching(`^evento: cambió evt_${guia}_2 `),
    ])
    expect(await change('evento', `delete from evento where ${isEvento(3)}`)).toEqual([
      expect.stringMatching(`^evento: falta evt_${guia}_3 `),
    ])
  })

  it('name the audit line in which any digested column was changed', async () => {
    const columns = {
      linea: "'bit_OTRA'",
      comercio_id: 'gen_random_uuid()',
      modo: "'live'",
      accion: "'x'",
      quien_tipo: "'x'",
      quien: "'x'",
      llave: "'x'",
      sobre_tipo: "'x'",
      sobre: "'x'",
      campos: "'{x}'",
      antes: `'{"x": 1}'`,
      despues: `'{"x": 1}'`,
      id_solicitud: "'x'",
      red: "'x'",
      creado_en: "creado_en + interval '1 ms'",
    }
    expect([...(await columnsOf('bitacora'))].sort()).toEqual([...Object.keys(columns), 'id', 'xid'].sort())
    for (const _ of Object.keys(columns)) await environment.asOperador('POST', '/operadores', { nombre: 'Otro' })
    await avanzar()
    const ultimas = await query<{ id: string; linea: string }>(
      'select id, linea from bitacora order by xid desc, id desc limit $1',
      [Object.keys(columns).length],
    )
    // Each column is changed in a line of its own.
    const cambios = Object.entries(columns).map(
      ([column, value], i) => `update bitacora set ${column} = ${value} where id = '${ultimas[i]!.id}'`,
    )
    const faltas = await change('bitacora', cambios.join(';'))
    const mentionedNames = Object.keys(columns).filter((column, i) => {
      const line = column === 'linea' ? 'bit_OTRA' : ultimas[i]!.linea
      return faltas.some((missing) => missing.startsWith(`bitacora: cambió ${line} `))
    })
    expect(mentionedNames).toEqual(Object.keys(columns))
  })

  it('name the event in which any digested column was changed', EN_POSTGRES, async () => {
    const columns = {
      comercio_id: 'gen_random_uuid()',
      modo: "'live'",
      guia: "'000000000000'",
      tipo: "'guia.x'",
      estado: "'extraviado'",
      estado_anterior: "'extraviado'",
      motivo: "'x'",
      autor: "'op_X'",
      custodio: "'rep_X'",
      ocurrido_en: "ocurrido_en + interval '1 ms'",
      registrado_en: "registrado_en + interval '1 ms'",
    }
    // Later erasure changes these, the reporter's own digest covers them, or only a body's form or a trace depends on them.
    const freeColumns = [
      'cambios',
      'datos',
      'descripcion',
      'external_ref',
      'forma',
      'foto',
      'huella',
      'idempotencia',
      'lat',
      'lng',
      'traza',
    ]
    expect([...(await columnsOf('evento'))].sort()).toEqual(
      [...Object.keys(columns), ...freeColumns, 'guia_id', 'secuencia', 'xid'].sort(),
    )
    for (const _ of Object.keys(columns))
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { tipo: 'guia.nota', descripcion: 'Otra' })
    await avanzar()
    const cambios = Object.entries(columns).map(
      ([column, value], i) => `update evento set ${column} = ${value} where guia = '${guia}' and secuencia = ${i + 4}`,
    )
    const faltas = await change(
      'evento',
      `set session_replication_role = replica; ${cambios.join(';')}; reset session_replication_role`,
    )
    const mentionedNames = Object.keys(columns).filter((_, i) =>
      faltas.some((missing) => missing.startsWith(`evento: cambió evt_${guia}_${i + 4} `)),
    )
    expect(mentionedNames).toEqual(Object.keys(columns))
  })

  it('aren’t broken by erasing what is personal', async () => {
    await query(`update evento set descripcion = null, lat = null, lng = null, datos = null, foto = '{}',
      external_ref = null`)
    expect((await verificar()).faltas).toEqual([])
  })

  it('have only what no transaction under way can come before', async () => {
    const before = await verificar()
    await inTransaction(environment.db, async (_consultar, client) => {
      await client.query('select pg_current_xact_id()')
      await environment.asOperador('POST', '/operadores', { nombre: 'Mientras' })
      await linkChainNow()
      expect((await verificar()).lineas).toBe(before.lineas)
    })
    await avanzar()
    expect((await verificar()).lineas).toBe(before.lineas + 1)
  })

  it('take many lines in links of a bounded size', async () => {
    const before = await verificar()
    await query(`insert into bitacora (id, linea, accion, quien_tipo, creado_en)
      select gen_random_uuid(), 'bit_' || n, 'x', 'trabajo', now() from generate_series(1, 11000) n`)
    await avanzar()
    const after = await verificar()
    expect(after).toMatchObject({ faltas: [], eslabones: before.eslabones + 11, lineas: before.lineas + 11_000 })
    const [bytes] = await query<{ n: number }>(
      'select (sum(pg_column_size(eslabon)) / sum(lineas))::int n from eslabon',
    )
    expect(bytes!.n).toBeLessThan(40)
  })
})

describe('the seals', () => {
  it('say each day where the chains stand, signed, and each names the one before', async () => {
    days = 1
    await avanzar()
    await avanzar()
    await environment.asOperador('POST', '/operadores', { nombre: 'Del segundo día' })
    await avanzar()
    days = 2
    await avanzar()
    days = 3
    await avanzar()
    expect(await verificar()).toMatchObject({ seals: 2, faltas: [] })
    expect(await query('select kid from clave_publica')).toHaveLength(1)
    const [first] = await query<{ jws: string }>('select jws from sello order by dia')
    const fake = `${first!.jws.slice(0, -4)}AAAA`
    expect(await change('sello', `update sello set jws = '${fake}' where jws = '${first!.jws}'`)).toContainEqual(
      expect.stringContaining('la firma no es del servicio'),
    )
  })

  it('tell that one between two others was removed', async () => {
    for (let n = 0; n < 3; n++) {
      await environment.asOperador('POST', '/operadores', { nombre: 'De otro día' })
      await avanzar()
      days++
      await avanzar()
    }
    const [last, middleValue] = await query<{ dia: string }>(
      'select dia::text as dia from sello order by sello.dia desc',
    )
    expect(await change('sello', `delete from sello where dia = '${middleValue!.dia}'`)).toEqual([
      `sello del ${last!.dia}: falta el anterior, o es otro`,
    ])
  })

  it('are made with our master keys alone: a key that somebody put into the database makes none', async () => {
    await avanzar()
    const [sello] = await query<{ jws: string }>('select jws from sello order by dia desc')
    const contenido = JSON.parse(Buffer.from(sello!.jws.split('.')[1]!, 'base64url').toString())
    const { jws, publicKey } = await signJws(createSecrets([randomBytes(32)]), SEAL_TYPE, contenido)
    await query('insert into clave_publica (kid, jwk, creado_en) values ($1, $2, now())', [publicKey.kid, publicKey])
    expect(await change('sello', `update sello set jws = '${jws}' where jws = '${sello!.jws}'`)).toContainEqual(
      expect.stringContaining('la firma no es del servicio'),
    )
    await query('delete from clave_publica where kid = $1', [publicKey.kid])
  })

  it('tell that a chain was made anew', async () => {
    const act = `update eslabon set hash = sha256(hash) where registro = 'bitacora' and numero =
      (select max(numero) from eslabon where registro = 'bitacora' and creado_en::date = (select min(dia) from sello))`
    const faltas = await change('eslabon', act)
    expect(faltas).toContainEqual(expect.stringMatching(/^bitacora: el eslabón \d+ no es el de sus líneas$/))
    expect(faltas).toContainEqual(expect.stringMatching(/^sello del .*: el eslabón \d+ de bitacora es otro$/))
    const faultsWithoutOne = await change('eslabon', `delete from eslabon where registro = 'bitacora' and numero = 2`)
    expect(faultsWithoutOne).toContainEqual('bitacora: falta el eslabón 2')
  })
})
