import { describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { guias } = cli

describe('guias ver', () => {
  it('shows a guide with what is worth reviewing and its history', async () => {
    const created = await cli.comercio.api.guias.crear(
      buildGuia({ destinatario: 'Marisol\u200b', municipio: 'Vila Nueva', direccion: 'Vía 5, zona 4' }),
    )
    for (const estado of ['recolectado', 'en_ruta'] as const)
      await cli.comercio.api.simulador.avanzar(created.guia, { estado })
    await cli.comercio.api.simulador.avanzar(created.guia, { estado: 'intento_fallido', motivo: 'sin_pago' })
    const { codigo, output, errores } = await guias(['ver', created.guia.toLowerCase()])
    expect([codigo, errores]).toEqual([0, ''])
    const lines = output.split('\n')
    expect(lines[0]).toBe(`${created.guia}  intento_fallido  (de prueba)`)
    for (const expectedLine of [
      `  Referencia    ${created.external_ref}`,
      '  Destinatario  Marisol , +50231481676',
      '  Destino       Vía 5, zona 4, Vila Nueva, Guatemala',
      '  Ubicación     confirmada por coordenadas: 14.71889, -90.64417',
      '  Recogida      Bodega Zona 12, 14.583611, -90.548611',
      `  Rastreo       ${created.url_rastreo}`,
      '  Intentos      1',
    ])
      expect(lines).toContain(expectedLine)
    expect(output).toMatch(/^ {2}Revise {8}municipio: «Vila Nueva».*¿Villa Nueva\?$/m)
    expect(output).toMatch(/^Historial\n {2}\S+ \S+ UTC-6 {2}guia\.aceptado {15}Guía aceptada\n/m)
    expect(output).toMatch(/guia\.intento_fallido {4}.* \(sin_pago\)\n.*guia\.decision_pendiente {2}.*\n$/)
  })

  it('shows the contact of the pickup and the decision, within 80 columns', async () => {
    const indicaciones = 'Entrada por la rampa del sótano, frente a la garita; toque el timbre de la puerta azul'
    const recogida = {
      nombre: 'Bodega',
      lat: 14.58,
      lng: -90.54,
      contacto: 'Ana Tzul',
      telefono: '5555 1234',
      indicaciones,
    }
    const { guia } = await cli.comercio.api.guias.crear(buildGuia({ recogida: { ...recogida, direccion: 'Calle 1' } }))
    for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'] as const)
      await cli.comercio.api.simulador.avanzar(guia, { estado })
    const { output } = await guias(['ver', guia])
    expect(output).toContain(
      `  Recogida      Bodega, 14.58, -90.54
                Ana Tzul, +50255551234
                Calle 1
                Entrada por la rampa del sótano, frente a la garita; toque el
                timbre de la puerta azul
`,
    )
    expect(output).toMatch(/^ {2}Decisión {6}pendiente, reintentar o devolver, hasta \d{4}-\d\d-\d\d \d\d:\d\d UTC-6$/m)
    await cli.comercio.api.guias.devolver(guia, { razon: 'No lo quiere' })
    expect((await guias(['ver', guia])).output).toMatch(/^ {2}Decisión {6}aplicada por comercio, devolver$/m)
    const guiaSola = output.slice(0, output.indexOf('Historial'))
    expect(guiaSola.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it('gives in JSON the guide as the service does, with the whole of its history', async () => {
    const { guia } = await cli.comercio.api.guias.crear(buildGuia())
    for (let n = 0; n < 101; n++)
      await cli.environment.asOperador('POST', `/guias/${guia}/eventos`, {
        tipo: 'guia.nota',
        descripcion: `Nota ${n}`,
      })
    const { eventos, ...rest } = JSON.parse((await guias(['ver', guia, '--json'])).output)
    const { eventos: firstEntries, ...expected } = await cli.comercio.api.guias.obtener(guia)
    expect(rest).toEqual(expected)
    expect(eventos.datos.slice(0, firstEntries.datos.length)).toEqual(firstEntries.datos)
    expect([eventos.datos.length, eventos.cursor_siguiente]).toEqual([102, null])
  })

  it('takes a reference in the place of the code', async () => {
    const { guia, external_ref } = await cli.comercio.api.guias.crear(buildGuia({ external_ref: 'PEDIDO 7/á+1' }))
    const view = await guias(['ver', external_ref!])
    expect([view.codigo, view.output.split('\n')[0]]).toEqual([0, `${guia}  aceptado  (de prueba)`])
    expect((await guias(['rastrear', external_ref!])).output).toContain(`${guia}  aceptado`)
  })

  it('prefers the code, if a guide has it and another has it as its reference', async () => {
    const { guia } = await cli.comercio.api.guias.crear(buildGuia())
    await cli.comercio.api.guias.crear(buildGuia({ external_ref: guia }))
    expect((await guias(['ver', guia])).output.split('\n')[0]).toBe(`${guia}  aceptado  (de prueba)`)
  })

  it.each(['REF-QUE-NO-ESTA', 'X'.repeat(300)])('says that %.20s is neither', async (text) => {
    for (const command of ['ver', 'rastrear']) {
      const { codigo, errores } = await guias([command, text])
      expect([codigo, errores]).toEqual([
        1,
        expect.stringMatching(
          `«${text}» no es el código ni la referencia de ninguna guía suya.*codigo: guia_desconocida`,
        ),
      ])
    }
  })
})
