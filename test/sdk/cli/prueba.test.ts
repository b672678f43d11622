import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, hasta } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { guias } = cli
/** Whom nobody answers, and who has no key: what still works needs no network. */
const SIN_RED = { env: { GUIAS_LLAVE: '', GUIAS_URL: 'http://127.0.0.1:1' } }

describe('guias prueba', () => {
  let [una, otra, pendiente] = ['', '', '']
  const entregada = async () => {
    const { api } = cli.comercio
    const { guia } = await api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const) await api.simulador.avanzar(guia, { estado })
    await hasta(async () => (await api.guias.pruebaEntrega(guia)).pdf)
    return guia
  }
  beforeAll(async () => {
    ;[una, otra] = await Promise.all([entregada(), entregada()])
    pendiente = (await cli.comercio.api.guias.crear(buildGuia())).guia
  })
  const leer = (guia: string, archivo: string) => readFile(join(cli.folder, `prueba-${guia}`, archivo))
  const comprobar = (guia: string, ...args: string[]) => guias(['prueba', guia, '--verificar', ...args], SIN_RED)

  it('downloads photos, signature, PDF, manifest and keys, and not twice unless it is told to', async () => {
    const { codigo, output: salida, errores } = await guias(['prueba', una.toLowerCase()])
    expect([codigo, errores]).toEqual([0, ''])
    expect(salida).toMatch(new RegExp(`^${una} {2}\\S+ \\S+ UTC\\S* {2}recibió .*\\n {2}prueba-${una}: foto-1\\.jpg, `))
    expect((await readdir(join(cli.folder, `prueba-${una}`))).sort()).toEqual([
      'claves.json',
      'firma.png',
      'foto-1.jpg',
      'manifiesto.jws',
      'prueba.json',
      'prueba.pdf',
    ])
    expect((await leer(una, 'prueba.pdf')).toString('latin1', 0, 5)).toBe('%PDF-')
    const { pdf, fotos, sal } = JSON.parse((await leer(una, 'prueba.json')).toString())
    expect([pdf.url, fotos[0].url, fotos[0].sha256.length, sal]).toEqual([undefined, undefined, 64, expect.any(String)])
    const segunda = await guias(['prueba', una])
    expect([segunda.codigo, segunda.errores]).toEqual([
      2,
      expect.stringMatching(/ya existe: .*--verificar.*--carpeta.*--forzar/),
    ])
    expect(await guias(['prueba', una, '--forzar', '--json'])).toMatchObject({
      codigo: 0,
      output: expect.stringContaining(una),
    })
    expect((await readdir(cli.folder)).filter((nombre) => nombre.includes('parte'))).toEqual([])
  })

  it('verifies what was downloaded offline and without a key, and downloads what is not there', async () => {
    const ambas = await guias(['prueba', una, otra, '--verificar'])
    expect([ambas.codigo, ambas.errores]).toEqual([0, ''])
    for (const guia of [una, otra])
      expect(ambas.output).toMatch(new RegExp(`^Auténtica {2}${guia}, .* 3 archivos`, 'm'))
    const sola = await comprobar(una, '--json')
    expect([sola.codigo, JSON.parse(sola.output)]).toEqual([
      0,
      expect.objectContaining({
        guia: una,
        autentica: true,
        completa: true,
        manifiesto: expect.objectContaining({ guia: una }),
      }),
    ])
    const aparte = join(cli.folder, 'aparte.json')
    await writeFile(aparte, await leer(una, 'claves.json'))
    expect((await comprobar(una, '--claves', aparte)).codigo).toBe(0)
  })

  it('says what is wrong with what is not authentic', async () => {
    const en = (archivo: string) => join(cli.folder, `prueba-${otra}`, archivo)
    const bueno = {
      foto: await leer(otra, 'foto-1.jpg'),
      jws: await leer(otra, 'manifiesto.jws'),
      claves: await leer(otra, 'claves.json'),
    }
    const falla = async (dice: RegExp) => {
      const { codigo, output: salida, errores } = await comprobar(otra)
      expect([codigo, salida, errores]).toEqual([1, '', expect.stringMatching(dice)])
      expect(errores).toMatch(new RegExp(`^NO es auténtica {2}${otra}: `))
    }
    await appendFile(en('foto-1.jpg'), 'x')
    await falla(/foto-1\.jpg no es el que se firmó/)
    await writeFile(en('foto-1.jpg'), bueno.foto)
    const [cabeza = '', cuerpo = '', firma = ''] = bueno.jws.toString().split('.')
    const otro = Buffer.from(
      Buffer.from(cuerpo, 'base64url')
        .toString()
        .replace(/"lat":\d/, '"lat":9'),
    ).toString('base64url')
    await writeFile(en('manifiesto.jws'), [cabeza, otro, firma].join('.'))
    await falla(/la firma no corresponde al manifiesto/)
    await writeFile(en('manifiesto.jws'), await leer(una, 'manifiesto.jws'))
    await falla(new RegExp(`de la guía ${una} y no de ${otra}`))
    await writeFile(en('manifiesto.jws'), bueno.jws)
    await writeFile(en('claves.json'), '{"keys":[]}')
    await falla(/--forzar, o dé otras con --claves/)
    await writeFile(en('claves.json'), '{')
    expect(await comprobar(otra)).toMatchObject({ codigo: 2, errores: expect.stringContaining('no es JSON') })
    await writeFile(en('claves.json'), bueno.claves)
    await rm(en('firma.png'))
    expect(await comprobar(otra)).toMatchObject({
      codigo: 1,
      errores: expect.stringContaining('faltan 1 de los archivos'),
    })
    await rm(en('manifiesto.jws'))
    expect(await comprobar(otra)).toMatchObject({ codigo: 2, errores: expect.stringContaining('--forzar') })
  })

  it('goes on with the other guides when one has no proof', async () => {
    const sola = await guias(['prueba', pendiente])
    expect([sola.codigo, sola.errores]).toEqual([1, expect.stringContaining('prueba_no_disponible')])
    const {
      codigo,
      output: salida,
      errores,
    } = await guias(['prueba', pendiente, una, '--carpeta', 'varias', '--verificar'])
    expect([codigo, salida]).toEqual([1, expect.stringContaining(`Auténtica  ${una}`)])
    expect(errores).toMatch(new RegExp(`^${pendiente} {2}.*prueba_no_disponible`))
    expect(await readdir(join(cli.folder, 'varias'))).toEqual([`prueba-${una}`])
  })

  it.each([
    [['../../etc'], 'no es el código de una guía'],
    [['Pedido-7'], '«Pedido-7» no es el código de una guía. Si es su número de pedido, guias ver dice el código.'],
    [['7K3M9QX2A1B4', '--claves', 'x.json'], '--claves va con --verificar'],
    [[], 'Falta el código'],
  ])('refuses %j', async (args, dice) => {
    expect(await guias(['prueba', ...args])).toMatchObject({ codigo: 2, errores: expect.stringContaining(dice) })
  })
})
