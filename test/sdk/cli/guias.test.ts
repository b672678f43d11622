import type { RequestListener } from 'node:http'
import { VERSION } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../../factories.ts'
import { findFreePort } from '../../ports.ts'
import { NO_PAUSE_COMMAND, serveRequests, useCli } from './run.ts'

const cli = useCli()
const { write, guias } = cli

describe('guias', () => {
  it('explains itself and each of its orders, within the width of a terminal', FULL_RUN_ONLY, async () => {
    const all = await guias(['--help'])
    expect([all.codigo, all.errores]).toEqual([0, ''])
    const commandsIn = (ayuda: string) =>
      [...ayuda.matchAll(/^ {2}([a-z][a-z-]+) {2,}\S/gm)].map(([, command]) => command!)
    const commands = commandsIn(all.output)
    expect(commands).toEqual([
      'crear',
      'lote',
      'listar',
      'ver',
      'ubicar',
      'reenviar-solicitud',
      'corregir',
      'reintentar',
      'devolver',
      'cancelar',
      'etiquetas',
      'prueba',
      'rastrear',
      'webhooks',
      'escuchar',
      'disparar',
      'completar',
    ])
    const ofWebhooks = await guias(['webhooks', '--help'])
    const webhookCommands = commandsIn(ofWebhooks.output).map((command) => `webhooks ${command}`)
    expect(webhookCommands).toEqual(
      ['listar', 'ver', 'crear', 'cambiar', 'probar', 'pausar', 'reanudar', 'rotar-secreto', 'avisos', 'reenviar']
        .concat('recuperar', 'eliminar')
        .map((command) => `webhooks ${command}`),
    )
    const texts = [all.output, ofWebhooks.output]
    for (const command of [...commands.filter((one) => one !== 'webhooks'), ...webhookCommands]) {
      const { codigo, output } = await guias([...command.split(' '), '--help'])
      expect([codigo, output.startsWith(`Uso: guias ${command}`)]).toEqual([0, true])
      texts.push(output)
    }
    for (const text of texts) {
      expect(text).toMatch(
        /Termina con 0 si todo fue bien, 1 si el servicio .*\n.* 2 si la orden o sus datos no valen, y 130/,
      )
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
    }
    expect(await guias(['--version'])).toMatchObject({ codigo: 0, output: `${VERSION}\n` })
    expect(await guias([])).toMatchObject({ codigo: 2, output: '', errores: expect.stringContaining('Uso:') })
    expect(await guias(['webhooks'])).toMatchObject({ codigo: 2, output: '', errores: expect.stringContaining('Uso:') })
  })

  it.each<[string, string[], string, Record<string, string>?]>([
    ['an unknown order', ['facturar'], 'No conozco la orden «facturar». Las que hay: crear, lote'],
    ['one that is nearly one', ['listr'], '¿Quiso decir «guias listar»?'],
    ['one that is nearly one of a group', ['webhooks', 'probra'], '¿Quiso decir «guias webhooks probar»?'],
    ['options before the order', ['--json', 'listar'], 'Primero va la orden'],
    ['one that every object has', ['toString'], 'No conozco la orden'],
    ['an unknown option', ['crear', '--telefonos', 'x'], '--telefonos. ¿Quiso decir --telefono?'],
    ['an option without its value', ['crear', '--telefono'], '--telefono <número>'],
    ['a value for an option that takes none', ['listar', '--todas=si'], '--todas no lleva ningún valor'],
    ['an argument for an order that takes none', ['listar', 'todas'], 'solo lleva opciones'],
    ['too few arguments', ['rastrear'], 'Falta un argumento: guias rastrear <guia>'],
    ['too many', ['rastrear', 'A', 'B'], 'Sobra «B»'],
    ['the key as an argument', ['rastrear', 'A', '--llave', 'guia_test_secreto'], 'GUIAS_LLAVE'],
    ['no key', ['rastrear', 'A'], 'Falta su llave', { GUIAS_LLAVE: '' }],
    ['no file with the key', ['rastrear', 'A', '--llave-archivo', 'no-hay'], 'no-hay'],
    ['a key in the place of an argument', ['rastrear', 'A', 'guia_live_secreto'], 'Sobra «guia_live_…»'],
    ['no address', ['rastrear', 'A', '--url', 'nada'], '--url debe ser una dirección'],
    ['no address in the environment', ['rastrear', 'A'], 'GUIAS_URL debe ser una dirección', { GUIAS_URL: 'nada' }],
    [
      'a live key without an address',
      ['listar'],
      'en --url o en la variable GUIAS_URL',
      { GUIAS_LLAVE: 'guia_live_x', GUIAS_URL: '' },
    ],
    ['no whole number', ['listar', '--limite', '1.5'], '--limite debe ser un número entero'],
    ['a code that is none', ['ver', '..'], 'guia debe ser un texto'],
    ['no number', ['rastrear', 'A', '--intervalo', 'mucho'], '--intervalo'],
    ['no file', ['lote', 'no-hay.csv'], 'no-hay.csv'],
    ['no destination', ['escuchar', '--reenviar', 'ftp://x'], '--reenviar'],
    ['no date', ['escuchar', '--desde', 'ayer'], '--desde'],
    ['no secret', ['escuchar', '--reenviar', 'http://x.test', '--secreto', 'corto'], 'whsec_'],
    ['an event that nobody can provoke', ['disparar', 'guia.nota'], 'guias disparar --help'],
    ['what another order does', ['disparar', 'webhook.prueba'], 'guias webhooks probar'],
  ])('ends with 2 for %s', async (_, args, dice, env = {}) => {
    const { codigo, output, errores } = await guias(args, { env })
    expect([codigo, output]).toEqual([2, ''])
    expect(errores).toContain(dice)
    expect(errores).not.toMatch(/_secreto|\n\s+at |baseUrl/)
  })

  it('ends with 1 when the service refuses, in JSON if asked', async () => {
    const { codigo, errores } = await guias(['rastrear', 'NADA', '--json'])
    expect(codigo).toBe(1)
    expect(JSON.parse(errores)).toMatchObject({
      error: 'ErrorNoEncontrado',
      codigo: 'guia_desconocida',
      estado_http: 404,
      pasajero: false,
    })
    expect(JSON.parse((await guias(['listar', '--json', '--limite', 'x'])).errores)).toMatchObject({
      error: 'ErrorDeUso',
    })
    const bad = await guias(['rastrear', 'NADA'], { env: { GUIAS_LLAVE: `${cli.comercio.llave}x` } })
    expect([bad.codigo, bad.errores]).toEqual([
      1,
      expect.stringMatching(/no acepta su llave.*GUIAS_LLAVE, o --llave-archivo/),
    ])
    expect(bad.errores).not.toContain(cli.comercio.llave)
    const shortOne = await cli.environment.createLlave(cli.comercio, { alcances: ['guias:leer'] })
    const caseWithoutAlcance = await guias(['webhooks', 'listar'], { env: { GUIAS_LLAVE: shortOne } })
    expect([caseWithoutAlcance.codigo, caseWithoutAlcance.errores]).toEqual([
      1,
      expect.stringMatching(/alcance webhooks:admin.*GUIAS_LLAVE/),
    ])
  })

  it('ends with 1 when nobody answers, and says that nothing was sent and which setting gave the address', async () => {
    const nobody = `http://127.0.0.1:${await findFreePort()}`
    const resultWithOption = await guias(['listar', '--url', nobody], { program: NO_PAUSE_COMMAND })
    expect([resultWithOption.codigo, resultWithOption.errores]).toEqual([
      1,
      `Error: No se pudo conectar con ${nobody}: ahí no escucha nadie (ECONNREFUSED). No se envió nada. Revise --url, y que el servicio esté en marcha.\n`,
    ])
    const withVariable = await guias(['listar'], { program: NO_PAUSE_COMMAND, env: { GUIAS_URL: nobody } })
    expect(withVariable.errores).toContain('No se envió nada. Revise GUIAS_URL,')
    const runWithoutPort = await guias(['listar', '--url', 'http://127.0.0.1:1'], { program: NO_PAUSE_COMMAND })
    expect(runWithoutPort.errores).toContain('ese puerto no se usa para la web. No se envió nada')
    const caseWithoutName = await guias(['listar', '--url', 'http://no-existe.invalid'], { program: NO_PAUSE_COMMAND })
    expect([caseWithoutName.codigo, caseWithoutName.errores]).toEqual([1, expect.stringContaining('No se envió nada')])
  })

  it.each<[string, RequestListener, RegExp]>([
    ['a cut connection', (req) => req.socket.destroy(), /^Error: Se cortó la conexión con \S+\. Pudo haber recibido/],
    [
      'a page of a proxy',
      (_, res) => res.writeHead(200).end('<html>'),
      /\(200\) es una página web.* Revise --url y si hay un proxy/,
    ],
    [
      'a proxy that asks to wait',
      (_, res) => res.writeHead(503, { 'Retry-After': '90' }).end(''),
      /\(503\) vino vacío .*Repita la orden en 90 s\./,
    ],
    [
      'too many requests',
      (_, res) =>
        res
          .writeHead(429, { 'Retry-After': '75' })
          .end('{"codigo":"demasiadas_solicitudes","mensaje":"Use Retry-After."}'),
      /^Error: Demasiadas solicitudes.* en 75 s\. \(codigo: demasiadas_solicitudes\)\n$/,
    ],
    [
      'another path',
      (_, res) => res.writeHead(404).end('{"codigo":"ruta_desconocida","mensaje":"No hay ninguna operación."}'),
      /revise --url \(o GUIAS_URL\)/,
    ],
  ])('tells of %s in its own words', async (_, handle, dice) => {
    const url = await serveRequests(handle)
    const { codigo, output, errores } = await guias(['listar', '--url', url], { program: NO_PAUSE_COMMAND })
    expect([codigo, output, errores]).toEqual([1, '', expect.stringMatching(dice)])
    // Neither the SDK's words nor those of HTTP.
    expect(errores).not.toMatch(/baseUrl|tiempoLimite|plazoTotal|signal|HTTP|Retry-After|external_ref|GET |POST /)
  })

  it('takes the key from a file too', async () => {
    const file = await write('llave.txt', `${cli.comercio.llave}\n`)
    const { codigo } = await guias(['disparar', 'aceptado', '--llave-archivo', file], { env: { GUIAS_LLAVE: '' } })
    expect(codigo).toBe(0)
  })
})
