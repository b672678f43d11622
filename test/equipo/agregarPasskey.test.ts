import { describe, expect, it } from 'vitest'
import { type Desvios, dicho, INCORRECTA, prepararRegistro, RUTA, usarPasskeys } from './autenticador.ts'
import { nuevaPersona } from './persona.ts'

const { agregar, entorno } = usarPasskeys()
const otroSitio: Desvios[] = [{ origen: 'https://malo.example' }, { dominio: 'malo.example' }]

describe('adding a passkey', () => {
  it.each<Desvios>([
    ...otroSitio,
    { reto: 'A'.repeat(43) },
    { tipo: 'webauthn.get' },
    { verificada: false },
    { fmt: 'android-safetynet' },
  ])('takes no answer with %o', async (mal) => {
    const { cookie, cuerpo } = await prepararRegistro(entorno, await nuevaPersona(entorno), mal)
    expect(dicho(await agregar(cookie, cuerpo))).toEqual(INCORRECTA)
  })

  it('takes a challenge once, of the same person, and no credential that a person has', async () => {
    const [ana, otra] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
    const { autenticador, cookie, cuerpo } = await prepararRegistro(entorno, ana)
    const reto = cookie.split('; ').at(-1)
    expect(dicho(await agregar(`${otra.cookie}; ${reto}`, cuerpo))).toEqual(INCORRECTA)
    expect((await agregar(cookie, cuerpo)).status).toBe(201)
    expect(dicho(await agregar(cookie, cuerpo))).toEqual(INCORRECTA)
    const copia = await prepararRegistro(entorno, otra, {}, autenticador)
    expect(dicho(await agregar(copia.cookie, copia.cuerpo))).toEqual(INCORRECTA)
  })

  it('stops at ten passkeys, also if ten arrive at once', async () => {
    const ana = await nuevaPersona(entorno)
    const empezadas: Awaited<ReturnType<typeof prepararRegistro>>[] = []
    for (let i = 0; i < 14; i++) empezadas.push(await prepararRegistro(entorno, ana))
    for (const { cookie, cuerpo } of empezadas.slice(0, 4)) expect((await agregar(cookie, cuerpo)).status).toBe(201)
    const hechas = await Promise.all(empezadas.slice(4).map(({ cookie, cuerpo }) => agregar(cookie, cuerpo)))
    const codigos = hechas.map(({ status, cuerpo }) => (status === 201 ? 201 : `${status} ${cuerpo.codigo}`)).sort()
    expect(codigos).toEqual([
      ...Array.from({ length: 6 }, () => 201),
      ...Array.from({ length: 4 }, () => '409 passkey_no_admitida'),
    ])
    expect((await ana.pedir('GET', RUTA)).cuerpo.datos).toHaveLength(10)
    expect(dicho(await ana.pedir('POST', `${RUTA}/registro`))).toEqual([409, 'passkey_no_admitida'])
  })
})
