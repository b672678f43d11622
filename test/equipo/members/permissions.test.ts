import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PERMISSIONS } from '../../../server/domain/equipo/members/permissions.ts'
import { useEnvironment } from '../../environment.ts'
import { createCorreoAddress, createTestPersona, findPendingCorreo } from '../persona.ts'
import { createScriptlessBrowser } from '../withoutScript.ts'

const environment = useEnvironment()
const line = ({ nombre, allows }: { nombre: string; allows: string }) => `<li><b>${nombre}.</b> ${allows}</li>`

describe('the scopes of persons in words', () => {
  it('are those of the table of words', () => {
    const text = readFileSync(new URL('../../../docs/palabras.md', import.meta.url), 'utf8')
    const rows = [...text.matchAll(/^\| `(\w+)` «(.+)» \| (.+) \|$/gm)]
    const table = Object.fromEntries(rows.map(([, alcance, nombre, allows]) => [alcance, { nombre, allows }]))
    expect(table).toEqual(PERMISSIONS)
  })

  it('stand in an account, and in the invitation before it is accepted', async () => {
    const { comercio } = await environment.createComercio()
    const correo = createCorreoAddress()
    const invitar = { correo, nombre: 'Ana', comercio, alcances: ['despacho', 'cobros'] }
    await environment.asOperador('POST', '/invitaciones', invitar)
    const { enlace } = await findPendingCorreo(environment, 'invitacion', correo)
    const invitacion = (await createScriptlessBrowser(environment).visit(new URL(enlace).pathname)).texto
    for (const alcance of ['despacho', 'cobros'] as const) expect(invitacion).toContain(line(PERMISSIONS[alcance]))
    expect(invitacion).not.toContain(PERMISSIONS.propietario.allows)
    await createTestPersona(environment, { correo, comercio, alcances: ['lectura'] })
    const ana = await createTestPersona(environment, { correo, alcances: ['ver', 'administrar'] })
    const cuentaPage = (await createScriptlessBrowser(environment, ana.cookie).visit('/cuenta')).texto
    for (const alcance of ['lectura', 'ver', 'administrar'] as const)
      expect(cuentaPage).toContain(line(PERMISSIONS[alcance]))
    expect(cuentaPage).not.toMatch(/>[^<]*\b(ver, administrar|lectura)\b[^<]*</)
  })
})
