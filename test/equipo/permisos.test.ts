import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PERMISOS } from '../../server/domain/equipo/permisos.ts'
import { usarEntorno } from '../entorno.ts'
import { correoPendiente, nuevaDireccion, nuevaPersona } from './persona.ts'
import { sinPrograma } from './sinPrograma.ts'

const entorno = usarEntorno()
const linea = ({ nombre, permite }: { nombre: string; permite: string }) => `<li><b>${nombre}.</b> ${permite}</li>`

describe('the scopes of persons in words', () => {
  it('are those of the table of words', () => {
    const texto = readFileSync(new URL('../../docs/palabras.md', import.meta.url), 'utf8')
    const filas = [...texto.matchAll(/^\| `(\w+)` «(.+)» \| (.+) \|$/gm)]
    const tabla = Object.fromEntries(filas.map(([, alcance, nombre, permite]) => [alcance, { nombre, permite }]))
    expect(tabla).toEqual(PERMISOS)
  })

  it('stand in an account, and in the invitation before it is accepted', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const correo = nuevaDireccion()
    const invitar = { correo, nombre: 'Ana', comercio, alcances: ['despacho', 'cobros'] }
    await entorno.operar('POST', '/invitaciones', invitar)
    const { enlace } = await correoPendiente(entorno, 'invitacion', correo)
    const invitacion = (await sinPrograma(entorno).ir(new URL(enlace).pathname)).texto
    for (const alcance of ['despacho', 'cobros'] as const) expect(invitacion).toContain(linea(PERMISOS[alcance]))
    expect(invitacion).not.toContain(PERMISOS.propietario.permite)
    await nuevaPersona(entorno, { correo, comercio, alcances: ['lectura'] })
    const ana = await nuevaPersona(entorno, { correo, alcances: ['ver', 'administrar'] })
    const cuenta = (await sinPrograma(entorno, ana.cookie).ir('/cuenta')).texto
    for (const alcance of ['lectura', 'ver', 'administrar'] as const) expect(cuenta).toContain(linea(PERMISOS[alcance]))
    expect(cuenta).not.toMatch(/>[^<]*\b(ver, administrar|lectura)\b[^<]*</)
  })
})
