import { describe, expect, it } from 'vitest'
import { MAQUINA_DE_ESTADOS } from '../../../server/generado/contrato/vocabulario.ts'
import { unaGuia } from '../../fabricas.ts'
import { usarCli } from './correr.ts'

const cli = usarCli()
const { entorno, guias } = cli

describe('guias disparar', () => {
  it.each(Object.keys(MAQUINA_DE_ESTADOS.transiciones))('takes a test guide to %s', async (estado) => {
    const { codigo, salida, errores } = await guias(['disparar', `guia.${estado}`, '--json'])
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(salida).estado).toBe(estado)
  })

  it.each(['solicitada', 'confirmada', 'vencida', 'fallida'])('and its location to %s', async (estado) => {
    const { codigo, salida, errores } = await guias(['disparar', `ubicacion.${estado}`, '--json'])
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(salida).ubicacion.estado).toBe(estado)
  })

  it('goes on from where a guide stands, and tells what it may go to', async () => {
    const { guia } = await cli.comercio.api.guias.crear(unaGuia())
    await guias(['disparar', 'recolectado', '--guia', guia])
    expect((await guias(['disparar', 'entregado', '--guia', guia])).salida).toBe(
      `${guia}  entregado, ubicación confirmada\n`,
    )
    const tarde = await guias(['disparar', 'en_ruta', '--guia', guia])
    expect([tarde.codigo, tarde.errores]).toEqual([1, expect.stringContaining('transicion_invalida')])
    const viva = await entorno.nuevaLlave(cli.comercio, { modo: 'live' })
    const { codigo, errores } = await guias(['disparar', 'recolectado', '--guia', guia], { env: { GUIAS_LLAVE: viva } })
    expect([codigo, errores]).toEqual([1, expect.stringMatching(/guia_desconocida/)])
  })
})
