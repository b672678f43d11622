import { describe, expect, it } from 'vitest'
import { MINUTO } from '../duraciones.ts'
import { usarEntorno } from '../entorno.ts'
import { correoPendiente, nuevaPersona, personaDeComercio } from './persona.ts'
import { sinPrograma } from './sinPrograma.ts'

const entorno = usarEntorno()

describe('two tabs of one browser', () => {
  it('sign in with the later code alone, once, and end no session of the other', async () => {
    const ana = await personaDeComercio(entorno)
    const { ir, guardadas } = sinPrograma(entorno)
    const pedir = async () => {
      await ir('/entrar', { correo: ana.correo })
      return (await correoPendiente(entorno, 'codigo', ana.correo)).codigo as string
    }
    const [primero, segundo] = [await pedir(), await pedir()]
    expect((await ir('/entrar/codigo', { codigo: primero })).status).toBe(primero === segundo ? 303 : 401)
    expect(await ir('/entrar/codigo', { codigo: segundo })).toMatchObject({ status: 303, a: '/cuenta' })
    const sesion = guardadas.get('guias_sesion')
    // The tab that is left behind sends its code, and then loads the account.
    expect((await ir('/entrar/codigo', { codigo: segundo })).status).toBe(401)
    expect([guardadas.get('guias_sesion'), (await ir('/cuenta')).status]).toEqual([sesion, 200])
  })

  it('prove presence in one, and go on in both', async () => {
    const ana = await personaDeComercio(entorno)
    const { ir } = sinPrograma(entorno, ana.cookie)
    entorno.adelantar(5 * MINUTO + 1)
    await ir('/cuenta/presencia', { volver: '/cuenta' })
    await ir('/cuenta/presencia', { volver: '/cuenta' })
    const { codigo } = await correoPendiente(entorno, 'codigo', ana.correo)
    expect((await ir('/cuenta/presencia/codigo', { codigo, volver: '/cuenta' })).status).toBe(303)
    const otra = await ir('/cuenta/presencia/codigo?volver=/cuenta')
    expect([otra.status, otra.a]).toEqual([303, '/cuenta'])
  })

  it('that leave at once are both out', async () => {
    const ana = await nuevaPersona(entorno)
    const { ir } = sinPrograma(entorno, ana.cookie)
    const salir = () => ir('/cuenta', { accion: 'salir', cual: '' })
    const salidas = await Promise.all([salir(), salir()])
    expect(salidas.map(({ a }) => a)).toEqual(['/entrar', '/entrar'])
    expect((await ir('/cuenta')).a).toBe('/entrar')
  })
})
