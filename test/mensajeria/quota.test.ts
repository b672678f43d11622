import { beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../server/platform/time/units.ts'
import type { Comercio } from '../environment.ts'
import { buildGuiaWithoutDestino, RECOGIDA } from '../factories.ts'
import { createTelefono, useChannel } from './channel.ts'

const canal = useChannel()
const { environment, listAcceptedMensajes, leer, waitForQuiet } = canal
let comercio: Comercio
let otro: Comercio
beforeAll(async () => {
  comercio = await environment.nuevoComercio('live')
  otro = await environment.nuevoComercio('live')
})

const lote = async (de: Comercio, telefono: string, cuantas: number) => {
  const guias = Array.from({ length: cuantas }, () => buildGuiaWithoutDestino({ telefono: `+${telefono}` }))
  const { resultados } = await de.api.guias.crearLote({ recogida: RECOGIDA, guias })
  return resultados.map((uno) => ({ guia: uno.ok ? uno.guia : '' }))
}
const solicitud = async (de: Comercio, guia: { guia: string }) => (await leer(de, guia)).ubicacion.solicitud

describe('one telephone', () => {
  it.each(['enviado', 'entregado', 'leido', 'dudoso'])(
    'gets no sixth request in an hour after five that are %s',
    async (estado) => {
      const telefono = createTelefono()
      await lote(comercio, telefono, 5)
      await waitForQuiet()
      expect(listAcceptedMensajes({ telefono })).toHaveLength(5)
      await canal.query('update mensaje set estado = $1 where telefono in ($2, $3)', [estado, telefono, `+${telefono}`])
      const [sexta] = await lote(comercio, telefono, 1)
      await waitForQuiet()
      expect(listAcceptedMensajes({ telefono })).toHaveLength(5)
      expect((await solicitud(comercio, sexta!))!.estado).toBe('pendiente')
    },
  )

  it('gets five requests an hour and twenty a day from all merchants; each goes out, later and once', async () => {
    const telefono = createTelefono()
    const mias = await lote(comercio, telefono, 24)
    const suyas = await lote(otro, telefono, 4)
    await waitForQuiet()
    const recibidas = () => listAcceptedMensajes({ telefono }).length
    expect(recibidas()).toBe(5)
    const estados = await Promise.all(
      [...mias.map((una) => [comercio, una] as const), ...suyas.map((una) => [otro, una] as const)].map(
        async ([de, una]) => (await solicitud(de, una))!,
      ),
    )
    const esperan = estados.filter(({ estado }) => estado === 'pendiente')
    expect([esperan.length, estados.filter(({ estado }) => estado === 'enviado').length]).toEqual([23, 5])
    for (const { motivo } of esperan)
      expect(motivo).toMatch(/^Ese teléfono ya recibió 5 solicitudes en una hora o 20 en un día/)
    // Somebody else's phone isn't touched.
    const libre = createTelefono()
    await lote(comercio, libre, 1)
    await waitForQuiet()
    expect(listAcceptedMensajes({ telefono: libre })).toHaveLength(1)

    for (let hora = 1; hora <= 4; hora++) {
      const antes = recibidas()
      canal.advance(HOUR_MS + HOUR_MS / 2)
      await waitForQuiet()
      expect(recibidas() - antes).toBeLessThanOrEqual(5)
    }
    expect(recibidas()).toBeGreaterThan(10)
    expect(recibidas()).toBeLessThanOrEqual(20)
    for (let dias = 0; recibidas() < 28 && dias < 8; dias++) {
      canal.advance(DAY_MS / 2)
      await waitForQuiet()
    }
    expect(recibidas()).toBe(28)
    for (const una of mias) {
      const { estado, motivo } = (await solicitud(comercio, una))!
      expect([estado, motivo]).toEqual(['enviado', null])
      expect(await canal.tipos(comercio, una)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
    }
  })
})
