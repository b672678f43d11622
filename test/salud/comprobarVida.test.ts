import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'

const entorno = compartirEntorno()

describe('GET /healthz', () => {
  it('says that the process lives, to anybody', async () => {
    const { status, cuerpo } = await entorno.pedir('GET', '/healthz')
    expect([status, cuerpo]).toEqual([200, { ok: true }])
  })
})
