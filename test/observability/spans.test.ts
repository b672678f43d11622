import { afterEach, expect, it } from 'vitest'
import { currentSpan, inSpan, type Span, setTracer } from '../../server/platform/tracing.ts'

afterEach(() => setTracer(undefined))

/** A tracer that keeps the name of each span, its parent and whether it failed. */
function keepSpans() {
  const ended: [name: string, parent: string | null | undefined, failed: boolean | undefined][] = []
  setTracer({
    start: (name, { parent }): Span => ({
      traceparent: `of ${name}`,
      traceId: 'a',
      rename() {},
      set() {},
      end: (failed) => void ended.push([name, parent, failed]),
    }),
    close: async () => {},
  })
  return ended
}

it('a span ends with its work, inside the span that is under way, and says if the work failed', async () => {
  const ended = keepSpans()
  const work = inSpan('outer', {}, async (span) => {
    expect(currentSpan()).toBe(span)
    await inSpan('good', {}, async () => {})
    await inSpan('bad', {}, () => Promise.reject(new Error('no')))
  })
  await expect(work).rejects.toThrow('no')
  expect(ended.map(([name, parent, failed]) => [name, parent, failed === true])).toEqual([
    ['good', 'of outer', false],
    ['bad', 'of outer', true],
    ['outer', undefined, true],
  ])
  expect(currentSpan()).toBeUndefined()
})

it('work without a tracer has no span', async () => {
  expect(await inSpan('alone', {}, async (span) => span)).toBeUndefined()
})
