import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { entrar, nuevoMovil } from './movil.ts'

const entorno = compartirEntorno()
const crear = (cuerpo: object = { nombre: 'Carlos Méndez' }) => entorno.operar('POST', '/repartidores', cuerpo)

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

  it('are listed newest first, page by page', async () => {
    const nombres = ['Ana', 'Beto', 'Chus']
    for (const nombre of nombres) await crear({ nombre })
    const primera = await entorno.operar('GET', '/repartidores?limite=2')
    const segunda = await entorno.operar('GET', `/repartidores?limite=1&cursor=${primera.cuerpo.cursor_siguiente}`)
    expect([...primera.cuerpo.datos, ...segunda.cuerpo.datos].map(({ nombre }) => nombre)).toEqual(nombres.reverse())
  })

  it('get another code, which ends the old one', async () => {
    const { repartidor, codigo } = (await crear()).cuerpo
    const { status, cuerpo } = await entorno.operar('POST', `/repartidores/${repartidor}/codigo`)
    expect([status, cuerpo.repartidor, cuerpo.activo]).toEqual([201, repartidor, true])
    expect(cuerpo.codigo).not.toBe(codigo)
    expect((await entrar(entorno, codigo)).status).toBe(401)
    expect((await entrar(entorno, cuerpo.codigo)).status).toBe(201)
  })

  it('are deactivated, twice as well as once, and come back with another code', async () => {
    const movil = await nuevoMovil(entorno)
    for (const _vez of [1, 2]) {
      const { status, cuerpo } = await entorno.operar('POST', `/repartidores/${movil.repartidor}/desactivar`)
      expect([status, cuerpo.activo, 'codigo' in cuerpo]).toEqual([200, false, false])
    }
    expect((await entrar(entorno, movil.codigo)).cuerpo.codigo).toBe('codigo_incorrecto')
    const { codigo } = (await entorno.operar('POST', `/repartidores/${movil.repartidor}/codigo`)).cuerpo
    expect((await entrar(entorno, codigo)).status).toBe(201)
    expect((await entrar(entorno, movil.codigo)).status).toBe(401)
  })

  it('are unknown by any other name', async () => {
    for (const nombre of ['rep_000000000000', 'x', encodeURIComponent("'; drop table repartidor")]) {
      for (const que of ['codigo', 'desactivar']) {
        const { status, cuerpo } = await entorno.operar('POST', `/repartidores/${nombre}/${que}`)
        expect([nombre, que, status, cuerpo.codigo]).toEqual([nombre, que, 404, 'repartidor_desconocido'])
      }
    }
  })
})
