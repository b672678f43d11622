import { VERSION } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { puertoLibre } from '../../puertos.ts'
import { SIN_PAUSAS, usarCli } from './correr.ts'

const cli = usarCli()
const { escribir, guias } = cli

describe('guias', () => {
  it('explains itself and each of its orders', async () => {
    const todo = await guias(['--help'])
    expect([todo.codigo, todo.errores]).toEqual([0, ''])
    const ordenes = [...todo.salida.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, orden]) => orden!)
    expect(ordenes).toEqual(['crear', 'lote', 'rastrear', 'escuchar', 'disparar'])
    const ayudas = await Promise.all(ordenes.map((orden) => guias([orden, '--help'])))
    for (const [i, { codigo, salida }] of ayudas.entries()) {
      expect([codigo, salida.startsWith(`Uso: guias ${ordenes[i]}`)]).toEqual([0, true])
      expect(salida).toContain('Termina con: 0')
    }
    expect(await guias(['--version'])).toMatchObject({ codigo: 0, salida: `${VERSION}\n` })
    expect(await guias([])).toMatchObject({ codigo: 2, salida: '', errores: expect.stringContaining('Uso:') })
  })

  it.each<[string, string[], string, Record<string, string>?]>([
    ['an unknown order', ['borrar'], 'No conozco la orden «borrar»'],
    ['one that every object has', ['toString'], 'No conozco la orden'],
    ['an unknown option', ['crear', '--telefonos', 'x'], '--telefonos'],
    ['an option without its value', ['crear', '--telefono'], '--telefono'],
    ['too few arguments', ['rastrear'], 'Falta un argumento'],
    ['too many', ['rastrear', 'A', 'B'], 'Sobra «B»'],
    ['the key as an argument', ['rastrear', 'A', '--llave', 'guia_test_secreto'], 'GUIAS_LLAVE'],
    ['no key', ['rastrear', 'A'], 'Falta su llave', { GUIAS_LLAVE: '' }],
    ['no file with the key', ['rastrear', 'A', '--llave-archivo', 'no-hay'], 'no-hay'],
    ['no address', ['rastrear', 'A', '--base-url', 'nada'], 'baseUrl'],
    ['no number', ['rastrear', 'A', '--intervalo', 'mucho'], '--intervalo'],
    ['no file', ['lote', 'no-hay.csv'], 'no-hay.csv'],
    ['no destination', ['escuchar', '--reenviar', 'ftp://x'], '--reenviar'],
    ['no date', ['escuchar', '--desde', 'ayer'], '--desde'],
    ['no secret', ['escuchar', '--reenviar', 'http://x.test', '--secreto', 'corto'], 'whsec_'],
    ['an event that nobody can provoke', ['disparar', 'guia.nota'], 'guias disparar --help'],
    ['whom to try', ['disparar', 'webhook.prueba'], '--webhook'],
  ])('ends with 2 for %s', async (_, args, dice, env = {}) => {
    const { codigo, salida, errores } = await guias(args, { env })
    expect([codigo, salida]).toEqual([2, ''])
    expect(errores).toContain(dice)
    expect(errores).not.toMatch(/test_secreto|\n\s+at /)
  })

  it('ends with 1 when the service refuses, with 3 when nobody answers; in JSON if asked', async () => {
    const { codigo, errores } = await guias(['rastrear', 'NADA', '--json'])
    expect(codigo).toBe(1)
    expect(JSON.parse(errores)).toMatchObject({ error: 'ErrorNoEncontrado', codigo: 'guia_desconocida', status: 404 })
    const nadie = ['rastrear', 'NADA', '--base-url', `http://127.0.0.1:${await puertoLibre()}`]
    expect(await guias(nadie, { programa: SIN_PAUSAS })).toMatchObject({
      codigo: 3,
      errores: expect.stringContaining('ECONNREFUSED'),
    })
    const mala = await guias(['rastrear', 'NADA'], { env: { GUIAS_LLAVE: `${cli.comercio.llave}x` } })
    expect(mala.codigo).toBe(1)
    expect(mala.errores).not.toContain(cli.comercio.llave)
  })

  it('takes the key from a file too', async () => {
    const archivo = await escribir('llave.txt', `${cli.comercio.llave}\n`)
    const { codigo } = await guias(['disparar', 'aceptado', '--llave-archivo', archivo], { env: { GUIAS_LLAVE: '' } })
    expect(codigo).toBe(0)
  })
})
