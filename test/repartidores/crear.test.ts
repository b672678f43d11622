import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { useRepartidorSignUps } from './phone.ts'

const entorno = shareEnvironment()
const { create: crear } = useRepartidorSignUps(entorno)

describe('couriers, for operators', () => {
  it('are made with a code that is shown once', async () => {
    const { status, cuerpo } = await crear({ nombre: 'Carlos Méndez', telefono: '+502 5555-1234' })
    expect(status).toBe(201)
    expect(cuerpo).toEqual({
      repartidor: expect.stringMatching(/^rep_[0-9A-HJKMNP-TV-Z]{12}$/),
      nombre: 'Carlos Méndez',
      telefono: '+50255551234',
      activo: true,
      creado_en: expect.stringMatching(/Z$/),
      codigo: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/),
    })
    const { codigo, ...suyo } = cuerpo
    const lista = await entorno.operar('GET', '/repartidores?limite=1')
    expect(lista.cuerpo.datos).toEqual([suyo])
    // Nor does it stand in the database in a form that could be guessed at without the server's key.
    const { rows } = await entorno.db.pool.query('select * from repartidor')
    expect(JSON.stringify(rows)).not.toContain(codigo.replace('-', ''))
    const { hash } = await import('node:crypto')
    expect(JSON.stringify(rows)).not.toContain(hash('sha256', codigo.replace('-', '')).slice(0, 20))
  })

  it('need a name, and a phone only if it is one', async () => {
    expect((await crear({})).cuerpo.errores).toMatchObject([{ campo: '/nombre', codigo: 'requerido' }])
    expect((await crear({ nombre: 'x', telefono: '5555' })).cuerpo.errores[0].campo).toBe('/telefono')
    expect((await crear({ nombre: 'x', codigo: 'ELEGIDO' })).cuerpo.errores[0].codigo).toBe('desconocido')
    expect((await crear({ nombre: 'Sin teléfono' })).cuerpo.telefono).toBeNull()
  })
})
