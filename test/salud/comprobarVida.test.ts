import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()

describe('GET /healthz', () => {
  it('says that the process lives, to anybody', async () => {
    const { status, body } = await environment.request('GET', '/healthz')
    expect([status, body]).toEqual([200, { ok: true }])
  })
})
