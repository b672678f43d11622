import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newsAfter, readSnapshots } from '../../server/data/newEvents.ts'

const client = new pg.Client(inject('postgres'))
beforeAll(() => client.connect())
afterAll(() => client.end())

/** Transactions with numbers near to each other. */
const XID = fc.bigInt({ min: 1n, max: 60n })
const SNAPSHOT = fc.tuple(XID, XID, fc.uniqueArray(XID, { maxLength: 12 })).map(([one, other, between]) => {
  const [min, max] = one < other ? [one, other] : [other, one]
  const running = between.filter((xid) => xid >= min && xid < max).sort((a, b) => Number(a - b))
  return `${min}:${max}:${running.join(',')}`
})

it('leaves out the events that PostgreSQL calls visible in the snapshot, each part by its own', async () => {
  await fc.assert(
    fc.asyncProperty(SNAPSHOT, SNAPSHOT, async (...snapshots) => {
      const events = snapshots.flatMap((_, part) =>
        Array.from({ length: 62 }, (_, i) => ({ guia: `${part}-${i}`, xid: BigInt(i + 1), part })),
      )
      const { rows } = await client.query<{ guia: string }>(
        `select part - 1 || '-' || i - 1 as guia
         from unnest($1::pg_snapshot[]) with ordinality s (s, part), generate_series(1, 62) i
         where not pg_visible_in_snapshot(i::text::xid8, s) order by part, i`,
        [snapshots],
      )
      const left = newsAfter(snapshots, { snapshots, events, more: false })
      expect(left.events.map(({ guia }) => guia)).toEqual(rows.map(({ guia }) => guia))
    }),
    { numRuns: 200 },
  )
})

/** Texts that are snapshots, or nearly so. */
const NUMBERS = fc.array(fc.bigInt({ min: 0n, max: 9n }), { maxLength: 4 })
const TEXT = fc.oneof(
  SNAPSHOT,
  fc.tuple(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 9n }), NUMBERS).map((a) => a.join(':')),
  fc.constantFrom(`1:${2n ** 63n}:`, `1:${2n ** 63n - 1n}:`, '1:1:', '1:2', '01:2:', '1:2:1,', ' 1:2:1', ''),
)

it('takes from a client no snapshot that PostgreSQL cannot read, and every one that it writes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(TEXT, { minLength: 200, maxLength: 200 }), async (texts) => {
      const { rows } = await client.query<{ text: string; valid: boolean; same: boolean | null }>(
        `select text, valid, case when valid then text::pg_snapshot::text = text end as same
         from (select text, pg_input_is_valid(text, 'pg_snapshot') as valid from unnest($1::text[]) text offset 0) t`,
        [texts],
      )
      for (const { text, valid, same } of rows) {
        const taken = readSnapshots(text) !== undefined
        if (taken) expect([text, valid]).toEqual([text, true])
        if (same) expect([text, taken]).toEqual([text, true])
      }
    }),
    { numRuns: 20 },
  )
})
