import { expect, it } from 'vitest'
import { MINUTO } from '../duraciones.ts'
import { usarEntorno } from '../entorno.ts'
import { entrarCon, galletas, nuevaPersona, pedirCodigo } from './persona.ts'
import { sinPrograma } from './sinPrograma.ts'

const entorno = usarEntorno()

it('the sign-in says after the fifth failure that it is over, and leads to another one', async () => {
  const ana = await nuevaPersona(entorno)
  const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
  const aMedias = galletas((await entrarCon(entorno, entrada, codigo)).cabeceras).split('; ')[0]!
  const { ir, guardadas } = sinPrograma(entorno, aMedias)
  for (let i = 0; i < 4; i++)
    expect((await ir('/entrar/segundo-factor', { codigo: '000000' })).texto).toContain('El código no vale')
  const ultima = await ir('/entrar/segundo-factor', { codigo: '000000' })
  expect([ultima.status, ultima.texto]).toEqual([401, expect.stringContaining('Demasiados intentos')])
  expect(ultima.texto).toContain('href="../entrar"')
  expect(guardadas.has('guias_a_medias')).toBe(false)
})

it('the proof of presence says after the fifth failure that the session was closed', async () => {
  const ana = await nuevaPersona(entorno)
  entorno.adelantar(6 * MINUTO)
  const { ir, guardadas } = sinPrograma(entorno, ana.cookie)
  for (let i = 0; i < 4; i++) expect((await ir('/cuenta/presencia/codigo', { codigo: '000000' })).status).toBe(401)
  const ultima = await ir('/cuenta/presencia/codigo', { codigo: '000000' })
  expect([ultima.status, ultima.texto]).toEqual([401, expect.stringContaining('La sesión se cerró')])
  expect(guardadas.has('guias_sesion')).toBe(false)
})
