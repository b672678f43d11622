import { describe, expect, it } from 'vitest'
import { unaGuia } from '../../fabricas.ts'
import { usarCli } from './correr.ts'

const cli = usarCli()
const { guias } = cli

describe('guias ver', () => {
  it('shows a guide with what is worth reviewing and its history', async () => {
    const creada = await cli.comercio.api.guias.crear(
      unaGuia({ destinatario: 'Marisol\u200b', municipio: 'Vila Nueva', direccion: 'Vía 5, zona 4' }),
    )
    for (const estado of ['recolectado', 'en_ruta'] as const)
      await cli.comercio.api.simulador.avanzar(creada.guia, { estado })
    await cli.comercio.api.simulador.avanzar(creada.guia, { estado: 'intento_fallido', motivo: 'sin_pago' })
    const { codigo, salida, errores } = await guias(['ver', creada.guia.toLowerCase()])
    expect([codigo, errores]).toEqual([0, ''])
    const lineas = salida.split('\n')
    expect(lineas[0]).toBe(`${creada.guia}  intento_fallido  (de prueba)`)
    for (const dicha of [
      `  Referencia    ${creada.external_ref}`,
      '  Destinatario  Marisol , +50231481676',
      '  Destino       Vía 5, zona 4, Vila Nueva, Guatemala',
      '  Ubicación     confirmada por coordenadas: 14.71889, -90.64417',
      '  Recogida      Bodega Zona 12, 14.583611, -90.548611',
      `  Rastreo       ${creada.url_rastreo}`,
      '  Intentos      1',
    ])
      expect(lineas).toContain(dicha)
    expect(salida).toMatch(/^ {2}Revise {8}municipio: «Vila Nueva».*¿Villa Nueva\?$/m)
    expect(salida).toMatch(/^Historial\n {2}\S+ \S+ {2}guia\.aceptado {15}Guía aceptada\n/m)
    expect(salida).toMatch(/guia\.intento_fallido {6}.* \(sin_pago\)\n.*guia\.resolucion_pendiente {2}.*\n$/)
  })

  it('gives in JSON the guide as the service does, with the whole of its history', async () => {
    const { guia } = await cli.comercio.api.guias.crear(unaGuia())
    for (let n = 0; n < 101; n++)
      await cli.entorno.operar('POST', `/guias/${guia}/eventos`, { tipo: 'guia.nota', descripcion: `Nota ${n}` })
    const { eventos, ...resto } = JSON.parse((await guias(['ver', guia, '--json'])).salida)
    const { eventos: primeros, ...esperada } = await cli.comercio.api.guias.obtener(guia)
    expect(resto).toEqual(esperada)
    expect(eventos.datos.slice(0, primeros.datos.length)).toEqual(primeros.datos)
    expect([eventos.datos.length, eventos.cursor_siguiente]).toEqual([102, null])
  })
})
