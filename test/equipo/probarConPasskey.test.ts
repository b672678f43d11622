import { describe, expect, it } from 'vitest'
import { MINUTO } from '../duraciones.ts'
import { hasta } from '../fabricas.ts'
import {
  agregarPasskey,
  dicho,
  entrarConPasskey,
  firmar,
  INCORRECTA,
  prepararRegistro,
  RUTA,
  usarPasskeys,
} from './autenticador.ts'
import { galletas, nuevaDireccion, nuevaPersona, type PersonaDePrueba, porPagina } from './persona.ts'

const { agregar, entorno } = usarPasskeys()
const probar = (cookie: string, cuerpo: unknown) => porPagina(entorno, cookie, ['POST', `${RUTA}/presencia`, cuerpo])
const invitar = ({ pedir }: PersonaDePrueba) =>
  pedir('POST', '/operaciones/v1/invitaciones', { correo: nuevaDireccion(), nombre: 'x', alcances: ['ver'] })

describe('a person with a passkey', () => {
  it('proves with it to be there, and needs the proof to add and to remove one', async () => {
    const [ana, otra] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
    const { autenticador, passkey } = await agregarPasskey(entorno, ana)
    const ajeno = await agregarPasskey(entorno, otra)
    const empezada = await prepararRegistro(entorno, ana)
    entorno.adelantar(4 * MINUTO)
    const abierta = await entrarConPasskey(entorno, await firmar(entorno, autenticador))
    entorno.adelantar(MINUTO + 1)
    await hasta(async () => (await invitar(ana)).status === 403)
    const tarde = [403, 'presencia_requerida']
    expect(dicho(await ana.pedir('POST', `${RUTA}/registro`))).toEqual(tarde)
    expect(dicho(await agregar(empezada.cookie, empezada.cuerpo))).toEqual(tarde)
    expect(dicho(await ana.pedir('DELETE', `${RUTA}/${passkey}`))).toEqual(tarde)
    // A sign-in with a passkey is a proof by itself.
    const fresca = galletas(abierta.cabeceras)
    expect((await porPagina(entorno, fresca, ['POST', `${RUTA}/registro`])).status).toBe(200)
    const deOtra = await firmar(entorno, ajeno.autenticador)
    expect(dicho(await probar(`${ana.cookie}; ${deOtra.cookie}`, deOtra.cuerpo))).toEqual(INCORRECTA)
    const propia = await firmar(entorno, autenticador)
    const probada = await probar(`${ana.cookie}; ${propia.cookie}`, propia.cuerpo)
    expect([probada.status, probada.cuerpo.sesion]).toEqual([200, ana.sesion])
    await hasta(async () => (await invitar(ana)).status === 201)
    expect(dicho(await probar(`${ana.cookie}; ${propia.cookie}`, propia.cuerpo))).toEqual(INCORRECTA)
    const deOtroSitio = { cabeceras: { Origin: 'https://malo.example' } }
    const ajena = await ana.pedir('POST', `${RUTA}/presencia`, propia.cuerpo, deOtroSitio)
    expect(dicho(ajena)).toEqual([403, 'origen_no_permitido'])
  })
})
