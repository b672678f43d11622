import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, waitUntil } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { guias } = cli
/** Whom nobody answers, and who has no key: what still works needs no network. */
const OFFLINE_OPTIONS = { env: { GUIAS_LLAVE: '', GUIAS_URL: 'http://127.0.0.1:1' } }

describe('guias prueba', () => {
  let [one, other, pending] = ['', '', '']
  const deliveredGuia = async () => {
    const { api } = cli.comercio
    const { guia } = await api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const) await api.simulador.avanzar(guia, { estado })
    await waitUntil(async () => (await api.guias.pruebaEntrega(guia)).pdf)
    return guia
  }
  beforeAll(async () => {
    ;[one, other] = await Promise.all([deliveredGuia(), deliveredGuia()])
    pending = (await cli.comercio.api.guias.crear(buildGuia())).guia
  })
  const read = (guia: string, file: string) => readFile(join(cli.folder, `prueba-${guia}`, file))
  const comprobar = (guia: string, ...args: string[]) =>
    guias(['prueba', guia, '--verificar', ...args], OFFLINE_OPTIONS)

  it('downloads photos, signature, PDF, manifest and keys, and not twice unless it is told to', async () => {
    const { codigo, output, errores } = await guias(['prueba', one.toLowerCase()])
    expect([codigo, errores]).toEqual([0, ''])
    expect(output).toMatch(new RegExp(`^${one} {2}\\S+ \\S+ UTC\\S* {2}recibió .*\\n {2}prueba-${one}: foto-1\\.jpg, `))
    expect((await readdir(join(cli.folder, `prueba-${one}`))).sort()).toEqual([
      'claves.json',
      'firma.png',
      'foto-1.jpg',
      'manifiesto.jws',
      'prueba.json',
      'prueba.pdf',
    ])
    expect((await read(one, 'prueba.pdf')).toString('latin1', 0, 5)).toBe('%PDF-')
    const { pdf, fotos, sal } = JSON.parse((await read(one, 'prueba.json')).toString())
    expect([pdf.url, fotos[0].url, fotos[0].sha256.length, sal]).toEqual([undefined, undefined, 64, expect.any(String)])
    const second = await guias(['prueba', one])
    expect([second.codigo, second.errores]).toEqual([
      2,
      expect.stringMatching(/ya existe: .*--verificar.*--carpeta.*--forzar/),
    ])
    expect(await guias(['prueba', one, '--forzar', '--json'])).toMatchObject({
      codigo: 0,
      output: expect.stringContaining(one),
    })
    expect((await readdir(cli.folder)).filter((name) => name.includes('parte'))).toEqual([])
  })

  it('verifies what was downloaded offline and without a key, and downloads what is not there', async () => {
    const bothResult = await guias(['prueba', one, other, '--verificar'])
    expect([bothResult.codigo, bothResult.errores]).toEqual([0, ''])
    for (const guia of [one, other])
      expect(bothResult.output).toMatch(new RegExp(`^Auténtica {2}${guia}, .* 3 archivos`, 'm'))
    const sola = await comprobar(one, '--json')
    expect([sola.codigo, JSON.parse(sola.output)]).toEqual([
      0,
      expect.objectContaining({
        guia: one,
        autentica: true,
        completa: true,
        manifiesto: expect.objectContaining({ guia: one }),
      }),
    ])
    const separateOne = join(cli.folder, 'aparte.json')
    await writeFile(separateOne, await read(one, 'claves.json'))
    expect((await comprobar(one, '--claves', separateOne)).codigo).toBe(0)
  })

  it('says what is wrong with what is not authentic', async () => {
    const pathOf = (file: string) => join(cli.folder, `prueba-${other}`, file)
    const good = {
      foto: await read(other, 'foto-1.jpg'),
      jws: await read(other, 'manifiesto.jws'),
      claves: await read(other, 'claves.json'),
    }
    const fault = async (dice: RegExp) => {
      const { codigo, output, errores } = await comprobar(other)
      expect([codigo, output, errores]).toEqual([1, '', expect.stringMatching(dice)])
      expect(errores).toMatch(new RegExp(`^NO es auténtica {2}${other}: `))
    }
    await appendFile(pathOf('foto-1.jpg'), 'x')
    await fault(/foto-1\.jpg no es el que se firmó/)
    await writeFile(pathOf('foto-1.jpg'), good.foto)
    const [head = '', body = '', firma = ''] = good.jws.toString().split('.')
    const otherManifest = Buffer.from(
      Buffer.from(body, 'base64url')
        .toString()
        .replace(/"lat":\d/, '"lat":9'),
    ).toString('base64url')
    await writeFile(pathOf('manifiesto.jws'), [head, otherManifest, firma].join('.'))
    await fault(/la firma no corresponde al manifiesto/)
    await writeFile(pathOf('manifiesto.jws'), await read(one, 'manifiesto.jws'))
    await fault(new RegExp(`de la guía ${one} y no de ${other}`))
    await writeFile(pathOf('manifiesto.jws'), good.jws)
    await writeFile(pathOf('claves.json'), '{"keys":[]}')
    await fault(/--forzar, o dé otras con --claves/)
    await writeFile(pathOf('claves.json'), '{')
    expect(await comprobar(other)).toMatchObject({ codigo: 2, errores: expect.stringContaining('no es JSON') })
    await writeFile(pathOf('claves.json'), good.claves)
    await rm(pathOf('firma.png'))
    expect(await comprobar(other)).toMatchObject({
      codigo: 1,
      errores: expect.stringContaining('faltan 1 de los archivos'),
    })
    await rm(pathOf('manifiesto.jws'))
    expect(await comprobar(other)).toMatchObject({ codigo: 2, errores: expect.stringContaining('--forzar') })
  })

  it('goes on with the other guides when one has no proof', async () => {
    const sola = await guias(['prueba', pending])
    expect([sola.codigo, sola.errores]).toEqual([1, expect.stringContaining('prueba_no_disponible')])
    const { codigo, output, errores } = await guias(['prueba', pending, one, '--carpeta', 'varias', '--verificar'])
    expect([codigo, output]).toEqual([1, expect.stringContaining(`Auténtica  ${one}`)])
    expect(errores).toMatch(new RegExp(`^${pending} {2}.*prueba_no_disponible`))
    expect(await readdir(join(cli.folder, 'varias'))).toEqual([`prueba-${one}`])
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
