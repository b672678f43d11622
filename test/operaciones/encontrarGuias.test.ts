import { describe, expect, it } from 'vitest'
import { indexGuias } from '../../server/domain/busqueda/index.ts'
import { LOCK_KEY } from '../../server/domain/busqueda/keys.ts'
import { eraseOldPersonas } from '../../server/domain/personas/erase.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, EN_POSTGRES, waitUntil } from '../factories.ts'
import { buildMensajeDeps } from '../mensajeria/channel.ts'

// Its own job writes no keys meanwhile.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
/** Writes the keys of all guides. An event is left for the next run while an older transaction of any database is open. */
const indexAll = () =>
  waitUntil(async () => {
    while (await indexGuias({ db: environment.db.asRole('guias_trabajos') }));
    const { rows } = await environment.db.pool.query<{ todos: boolean }>(
      `select not exists (select from evento e where secuencia > 0 and not exists (
         select from busqueda_avance a where (e.xid, e.guia_id, e.secuencia) <= (a.xid, a.guia_id, a.secuencia))) as todos`,
    )
    return rows[0]!.todos
  })
const search = async (text: string, limite?: number) => {
  const query = new URLSearchParams({ texto: text, ...(limite && { limite: `${limite}` }) })
  return (await environment.asOperador('GET', `/busqueda?${query}`)).body
}
const findings = async (text: string): Promise<[string, string][]> =>
  (await search(text)).datos.map(({ guia, coincidencia }: Record<string, string>) => [guia, coincidencia])

/** Creates guides of a new merchant with these fields, and returns their codes. */
async function create(...guias: Parameters<typeof buildGuia>[0][]) {
  const comercio = await environment.createComercio()
  const codigos: string[] = []
  for (const one of guias) codigos.push((await comercio.api.guias.crear(buildGuia(one))).guia)
  await indexAll()
  return { ...comercio, codigos }
}

// The test runs the job itself, and knows no parts of a cluster. `pages/central` finds a guide there.
describe('GET /operaciones/v1/busqueda', EN_POSTGRES, () => {
  it('finds guides of all merchants by the words of the name and the place, the newest first', async () => {
    const one = await create({ destinatario: 'Petronila Xicará Jiménez', municipio: 'Mixco' })
    const other = await create({ destinatario: 'Petronila Xicará', municipio: 'Villa Nueva' })
    const [a, b] = [one.codigos[0]!, other.codigos[0]!]
    expect(await findings('petronila xicara')).toEqual([
      [b, 'exacta'],
      [a, 'exacta'],
    ])
    for (const text of ['GIMENES, Petronila', 'Petronila mixco', 'jiménez xikara']) {
      expect(await findings(text)).toEqual([[a, 'exacta']])
    }
    const { datos, hay_mas: hasMore } = await search('petronila xicara', 1)
    expect([datos.map(({ comercio }: { comercio: string }) => comercio), hasMore]).toEqual([[other.comercio], true])
    expect((await search('petronila xicara', 2)).hay_mas).toBe(false)
  })

  it('puts whole words before beginnings, and these before words with a typing error', async () => {
    const { codigos } = await create(
      { destinatario: 'Zunilda Terraza' },
      { destinatario: 'Zunilda Terrazabal' },
      { destinatario: 'Zunilda Tarraza' },
    )
    expect(await findings('zunilda terraza')).toEqual([
      [codigos[0], 'exacta'],
      [codigos[1], 'comienzo'],
      [codigos[2], 'parecida'],
    ])
    expect((await findings('zunlida tarrada')).map(([guia]) => guia)).toEqual([codigos[2]])
    expect(await findings('zunilda inexistente')).toEqual([])
  })

  it('finds a typing error in a word of four sounds, and none in a shorter one', async () => {
    const { codigos } = await create({ destinatario: 'Nery Tot' })
    expect(await findings('nrey tot')).toEqual([[codigos[0], 'parecida']])
    expect(await findings('nery tat')).toEqual([])
  })

  it('finds a reference in any spelling, by its beginning and by its last part', async () => {
    const { codigos } = await create({ external_ref: 'ORQ-2026-77001' }, { external_ref: 'ORQ-2026-77002' })
    for (const text of ['orq 2026 77001', 'ORQ202677001', '77001'])
      expect(await findings(text)).toEqual([[codigos[0], 'exacta']])
    expect(await findings('orq-2026-77')).toEqual([
      [codigos[1], 'comienzo'],
      [codigos[0], 'comienzo'],
    ])
  })

  it('finds a reference by its last part after another word, with the letter O for a zero', async () => {
    const { codigos } = await create({ external_ref: 'TZU-2026-04055' })
    for (const text of ['pedido 04055', '2026-04055', 'TZU-2026-O4O55'])
      expect(await findings(text)).toEqual([[codigos[0], 'parecida']])
    expect(await findings('pedido 05')).toEqual([])
  })

  it('finds names as they sound, and surnames that are written together', async () => {
    const { codigos } = await create({ destinatario: 'Ximena Xoquin' }, { destinatario: 'Arnulfo del Águila' })
    expect(await findings('simena shokin')).toEqual([[codigos[0], 'exacta']])
    for (const text of ['arnulfo delaguila', 'delaguila'])
      expect(await findings(text)).toEqual([[codigos[1], 'parecida']])
  })

  it('finds a telephone by its first digits, with its country or without', async () => {
    const { codigos } = await create({ telefono: '+50258817733' }, { telefono: '+50258817799' })
    for (const text of ['5881 77', '+502 5881-77', '50258817', '58817'])
      expect((await findings(text)).toSorted()).toEqual(codigos.map((guia) => [guia, 'comienzo']).toSorted())
    expect(await findings('+5025881773')).toEqual([[codigos[0], 'comienzo']])
    expect(await findings('5881')).toEqual([])
    expect(await findings('+58817')).toEqual([])
  })

  it('finds a telephone in any spelling, also with a wrong digit', async () => {
    const { codigos } = await create({ telefono: '+50259217733' })
    for (const text of ['5921 7733', '5921-7733', '+502 5921 7733', '(502) 59217733', '0050259217733'])
      expect(await findings(text)).toEqual([[codigos[0], 'exacta']])
    for (const text of ['Tel. 5921 7733', 'cel: 59217733', 'WhatsApp 5921-7733', 'https://wa.me/50259217733'])
      expect(await findings(text)).toEqual([[codigos[0], 'exacta']])
    for (const text of ['5921 7734', '5912 7733', '+502 5921 733']) {
      expect(await findings(text)).toEqual([[codigos[0], 'parecida']])
    }
  })

  it('finds a code in any spelling, before the keys are written', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ destinatario: 'Telésfora Quej' }))
    expect(await findings(`${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8).toLowerCase()}`)).toEqual([
      [guia, 'codigo'],
    ])
    expect(await findings('telesfora quej')).toEqual([])
    await indexAll()
    expect(await findings('telesfora quej')).toEqual([[guia, 'exacta']])
  })

  it('finds a corrected guide by its new name and telephone alone', async () => {
    const { api, codigos } = await create(
      buildGuiaWithoutDestino({ destinatario: 'Robustiana Coc', telefono: '+50259217744' }),
    )
    await api.guias.corregir(codigos[0]!, { destinatario: 'Eulogia Coc', telefono: '+50259217755' })
    await indexAll()
    expect(await findings('robustiana')).toEqual([])
    expect(await findings('eulogia coc')).toEqual([[codigos[0], 'exacta']])
    expect((await findings('5921 7755')).map(([guia]) => guia)).toEqual([codigos[0]])
  })

  it('forgets the words of a person who is erased, also if all keys are written anew', async () => {
    const { codigos } = await create({ destinatario: 'Hermenegilda Tzul', external_ref: 'HERME-1' })
    await environment.asOperador('POST', `/guias/${codigos[0]}/cancelar`, { razon: 'Llamó el comercio' })
    await indexAll()
    const clock = () => new Date(environment.clock().getTime() + 366 * 86_400_000)
    await eraseOldPersonas({ ...buildMensajeDeps(environment), clock })
    const keys = () =>
      environment.db.pool.query(
        `select from busqueda b join guia_indice i using (comercio_id, modo, id) where guia = $1`,
        [codigos[0]],
      )
    expect((await keys()).rowCount).toBe(0)
    await environment.db.pool.query('delete from busqueda_avance')
    await indexAll()
    expect((await keys()).rowCount).toBe(0)
    expect(await findings('hermenegilda')).toEqual([])
    expect(await findings(codigos[0]!)).toEqual([[codigos[0], 'codigo']])
  })

  it('forgets also the words that are being written while the person is erased', async () => {
    const { codigos } = await create({ destinatario: 'Hermelinda Tzoc' })
    await environment.asOperador('POST', `/guias/${codigos[0]}/cancelar`, { razon: 'Llamó el comercio' })
    await indexAll()
    const { pool } = environment.db
    const { rows } = await pool.query(
      'delete from busqueda b using guia_indice i where guia = $1 and b.id = i.id returning b.*, claves::text as claves',
      [codigos[0]],
    )
    const clock = () => new Date(environment.clock().getTime() + 366 * 86_400_000)
    const { comercio_id, modo, id, claves: keys } = rows[0]
    const writer = await pool.connect()
    await writer.query('begin')
    await writer.query(`select pg_advisory_xact_lock(${LOCK_KEY})`)
    await writer.query('insert into busqueda (comercio_id, modo, id, claves) values ($1, $2, $3, $4)', [
      comercio_id,
      modo,
      id,
      keys,
    ])
    const olvido = eraseOldPersonas({ ...buildMensajeDeps(environment), clock })
    await waitUntil(async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
      )
      return rowCount === 1
    })
    await writer.query('commit')
    writer.release()
    await olvido
    expect((await pool.query('select from busqueda where id = $1', [id])).rowCount).toBe(0)
  })

  it.each(['', '  ', '—', 'x'.repeat(101)])('returns 400 for «%s»', async (text) => {
    const { codigo, errores } = await search(text)
    expect([codigo, errores[0].campo]).toEqual(['parametro_invalido', 'texto'])
  })

  it.each(["' | 'a':*", 'de la', '& ! <-> :*', '٣٤٥', 'ß', '\\'])(
    'finds nothing, and fails not, for «%s»',
    async (text) => {
      expect((await environment.asOperador('GET', `/busqueda?texto=${encodeURIComponent(`${text} zz9`)}`)).status).toBe(
        200,
      )
    },
  )
})
