import { describe, expect, it } from 'vitest'
import { STATE_MACHINE } from '../../../server/generated/contract/vocabulary.ts'
import { buildGuia } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { environment, guias } = cli

describe('guias disparar', () => {
  it.each(Object.keys(STATE_MACHINE.transiciones))('takes a test guide to %s', async (estado) => {
    const { codigo, output, errores } = await guias(['disparar', `guia.${estado}`, '--json'])
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(output).estado).toBe(estado)
  })

  it.each(['solicitada', 'confirmada', 'vencida', 'fallida'])('and its location to %s', async (estado) => {
    const { codigo, output, errores } = await guias(['disparar', `ubicacion.${estado}`, '--json'])
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(output).ubicacion.estado).toBe(estado)
  })

  it.each([
    ['otro_dia', 'intento_fallido', 'reintentar'],
    ['otro_lugar', 'intento_fallido', 'reintentar'],
    ['vecino', 'intento_fallido', 'reintentar'],
    ['rechazo', 'en_devolucion', 'devolver'],
    ['ninguna', 'en_devolucion', 'devolver'],
  ])('and decides %s for its recipient', async (eleccion, estado, accion) => {
    const { codigo, output, errores } = await guias(['disparar', `decision.${eleccion}`])
    expect([codigo, errores]).toEqual([0, ''])
    expect(output).toMatch(new RegExp(`^[0-9A-Z]{12}  ${estado}, ubicación confirmada, ${accion}\n$`))
  })

  it('decides about a guide, with a neighbour and a day', async () => {
    const { api } = cli.comercio
    const { guia } = await api.guias.crear(buildGuia())
    await guias(['disparar', 'intento_fallido', '--guia', guia])
    const { fecha_desde } = (await api.guias.obtener(guia)).decision!
    const options = ['--guia', guia, '--vecino', 'Rosa Caal', '--fecha', fecha_desde!]
    expect((await guias(['disparar', 'decision.vecino', ...options])).errores).toBe('')
    expect(await api.guias.obtener(guia)).toMatchObject({
      indicaciones: 'Dejar con un vecino: Rosa Caal',
      decision: { fecha: fecha_desde, por: 'destinatario' },
    })
    const other = await guias(['disparar', 'decision.rechazo', '--guia', guia])
    expect([other.codigo, other.errores]).toEqual([1, expect.stringContaining('ya decidió')])
    expect((await guias(['disparar', 'decision.nada'])).codigo).toBe(2)
  })

  it('delivers without a signature', async () => {
    const { output } = await guias(['disparar', 'entregado', '--sin-firma', 'se_nego', '--json'])
    expect(await cli.comercio.api.guias.pruebaEntrega(JSON.parse(output).guia)).toMatchObject({
      firma: null,
      sin_firma: 'se_nego',
    })
  })

  it('goes on from where a guide stands, and tells what it may go to', async () => {
    const { guia, external_ref } = await cli.comercio.api.guias.crear(buildGuia())
    await guias(['disparar', 'recolectado', '--guia', external_ref!])
    expect((await guias(['disparar', 'entregado', '--guia', guia])).output).toBe(
      `${guia}  entregado, ubicación confirmada\n`,
    )
    const late = await guias(['disparar', 'en_ruta', '--guia', guia])
    expect([late.codigo, late.errores]).toEqual([1, expect.stringContaining('transicion_invalida')])
    const alive = await environment.createLlave(cli.comercio, { modo: 'live' })
    const { codigo, errores } = await guias(['disparar', 'recolectado', '--guia', guia], {
      env: { GUIAS_LLAVE: alive },
    })
    expect([codigo, errores]).toEqual([1, expect.stringMatching(/guia_desconocida/)])
  })
})
