import { beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../server/platform/time/units.ts'
import type { Comercio } from '../environment.ts'
import { buildGuiaWithoutDestino, RECOGIDA } from '../factories.ts'
import { createTelefono, useChannel } from './channel.ts'

const canal = useChannel()
const { environment, listAcceptedMensajes, read, waitForQuiet } = canal
let comercio: Comercio
let other: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
  other = await environment.createComercio('live')
})

const lote = async (owner: Comercio, telefono: string, count: number) => {
  const guias = Array.from({ length: count }, () => buildGuiaWithoutDestino({ telefono: `+${telefono}` }))
  const { resultados } = await owner.api.guias.crearLote({ recogida: RECOGIDA, guias })
  return resultados.map((one) => ({ guia: one.ok ? one.guia : '' }))
}
const solicitud = async (owner: Comercio, guia: { guia: string }) => (await read(owner, guia)).ubicacion.solicitud

describe('one telephone', () => {
  it.each(['enviado', 'entregado', 'leido', 'dudoso'])(
    'gets no sixth request in an hour after five that are %s',
    async (estado) => {
      const telefono = createTelefono()
      await lote(comercio, telefono, 5)
      await waitForQuiet()
      expect(listAcceptedMensajes({ telefono })).toHaveLength(5)
      await canal.query('update mensaje set estado = $1 where telefono in ($2, $3)', [estado, telefono, `+${telefono}`])
      const [sixthGuia] = await lote(comercio, telefono, 1)
      await waitForQuiet()
      expect(listAcceptedMensajes({ telefono })).toHaveLength(5)
      expect((await solicitud(comercio, sixthGuia!))!.estado).toBe('pendiente')
    },
  )

  it('gets five requests an hour and twenty a day from all merchants; each goes out, later and once', async () => {
    const telefono = createTelefono()
    const ownGuias = await lote(comercio, telefono, 24)
    const ownLote = await lote(other, telefono, 4)
    await waitForQuiet()
    const received = () => listAcceptedMensajes({ telefono }).length
    expect(received()).toBe(5)
    const estados = await Promise.all(
      [...ownGuias.map((one) => [comercio, one] as const), ...ownLote.map((one) => [other, one] as const)].map(
        async ([owner, one]) => (await solicitud(owner, one))!,
      ),
    )
    const waiters = estados.filter(({ estado }) => estado === 'pendiente')
    expect([waiters.length, estados.filter(({ estado }) => estado === 'enviado').length]).toEqual([23, 5])
    for (const { motivo } of waiters)
      expect(motivo).toMatch(/^Ese teléfono ya recibió 5 solicitudes en una hora o 20 en un día/)
    // Somebody else's phone isn't touched.
    const free = createTelefono()
    await lote(comercio, free, 1)
    await waitForQuiet()
    expect(listAcceptedMensajes({ telefono: free })).toHaveLength(1)

    for (let hour = 1; hour <= 4; hour++) {
      const before = received()
      canal.advance(HOUR_MS + HOUR_MS / 2)
      await waitForQuiet()
      expect(received() - before).toBeLessThanOrEqual(5)
    }
    expect(received()).toBeGreaterThan(10)
    expect(received()).toBeLessThanOrEqual(20)
    for (let days = 0; received() < 28 && days < 8; days++) {
      canal.advance(DAY_MS / 2)
      await waitForQuiet()
    }
    expect(received()).toBe(28)
    for (const one of ownGuias) {
      const { estado, motivo } = (await solicitud(comercio, one))!
      expect([estado, motivo]).toEqual(['enviado', null])
      expect(await canal.tipos(comercio, one)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
    }
  })
})
