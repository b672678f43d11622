import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PERMISSIONS } from '../../server/domain/equipo/permissions.ts'
import { useEnvironment } from '../environment.ts'
import { createCorreoAddress, createTestPersona, findPendingCorreo } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const entorno = useEnvironment()
const linea = ({ nombre, allows: permite }: { nombre: string; allows: string }) =>
  `<li><b>${nombre}.</b> ${permite}</li>`

describe('the scopes of persons in words', () => {
  it('are those of the table of words', () => {
    const texto = readFileSync(new URL('../../docs/palabras.md', import.meta.url), 'utf8')
    const filas = [...texto.matchAll(/^\| `(\w+)` «(.+)» \| (.+) \|$/gm)]
    const tabla = Object.fromEntries(
      filas.map(([, alcance, nombre, permite]) => [alcance, { nombre, allows: permite }]),
    )
    expect(tabla).toEqual(PERMISSIONS)
  })

  it('stand in an account, and in the invitation before it is accepted', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const correo = createCorreoAddress()
    const invitar = { correo, nombre: 'Ana', comercio, alcances: ['despacho', 'cobros'] }
    await entorno.operar('POST', '/invitaciones', invitar)
    const { enlace } = await findPendingCorreo(entorno, 'invitacion', correo)
    const invitacion = (await createScriptlessBrowser(entorno).visit(new URL(enlace).pathname)).texto
    for (const alcance of ['despacho', 'cobros'] as const) expect(invitacion).toContain(linea(PERMISSIONS[alcance]))
    expect(invitacion).not.toContain(PERMISSIONS.propietario.allows)
    await createTestPersona(entorno, { correo, comercio, alcances: ['lectura'] })
    const ana = await createTestPersona(entorno, { correo, alcances: ['ver', 'administrar'] })
    const cuenta = (await createScriptlessBrowser(entorno, ana.cookie).visit('/cuenta')).texto
    for (const alcance of ['lectura', 'ver', 'administrar'] as const)
      expect(cuenta).toContain(linea(PERMISSIONS[alcance]))
    expect(cuenta).not.toMatch(/>[^<]*\b(ver, administrar|lectura)\b[^<]*</)
  })
})
