import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { useRepartidorSignUps } from './phone.ts'

const environment = shareEnvironment()
const { create } = useRepartidorSignUps(environment)

describe('couriers, for operators', () => {
  it('are made with a code that is shown once', async () => {
    const { status, body } = await create({ nombre: 'Carlos Méndez', telefono: '+502 5555-1234' })
    expect(status).toBe(201)
    expect(body).toEqual({
      repartidor: expect.stringMatching(/^rep_[0-9A-HJKMNP-TV-Z]{12}$/),
      nombre: 'Carlos Méndez',
      telefono: '+50255551234',
      activo: true,
      creado_en: expect.stringMatching(/Z$/),
      codigo: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/),
    })
    const { codigo, ...shown } = body
    const list = await environment.asOperador('GET', '/repartidores?limite=1')
    expect(list.body.datos).toEqual([shown])
    // Nor does it stand in the database in a form that could be guessed at without the server's key.
    const { rows } = await environment.db.pool.query('select * from repartidor')
    expect(JSON.stringify(rows)).not.toContain(codigo.replace('-', ''))
    const { hash } = await import('node:crypto')
    expect(JSON.stringify(rows)).not.toContain(hash('sha256', codigo.replace('-', '')).slice(0, 20))
  })

  it('need a name, and a phone only if it is one', async () => {
    expect((await create({})).body.errores).toMatchObject([{ campo: '/nombre', codigo: 'requerido' }])
    expect((await create({ nombre: 'x', telefono: '5555' })).body.errores[0].campo).toBe('/telefono')
    expect((await create({ nombre: 'x', codigo: 'ELEGIDO' })).body.errores[0].codigo).toBe('desconocido')
    expect((await create({ nombre: 'Sin teléfono' })).body.telefono).toBeNull()
  })
})
