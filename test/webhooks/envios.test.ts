import { Webhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { describe, expect, it } from 'vitest'
import { entregasSinTrabajo } from '../../server/webhooks/pendientes.ts'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { hasta, unaGuia } from '../fabricas.ts'
import { contestar, type Receptor, usarReceptores } from './receptor.ts'

const entorno = usarEntorno()
const nuevoReceptor = usarReceptores()

const registrar = async (comercio: Comercio, { url }: Pick<Receptor, 'url'>, mas: Record<string, unknown> = {}) => {
  const { status, cuerpo } = await entorno.pedir('POST', '/api/v1/webhooks', {
    llave: comercio.llave,
    cuerpo: { url, ...mas },
  })
  expect(status, JSON.stringify(cuerpo)).toBe(201)
  return cuerpo as { id: string; secreto: string }
}
const llamar = (comercio: Comercio, metodo: string, ruta: string, cuerpo?: unknown) =>
  entorno.pedir(metodo, `/api/v1/webhooks${ruta}`, { llave: comercio.llave, cuerpo })

describe('a webhook', () => {
  it('reaches its receiver, signed so that two independent libraries agree', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    const { secreto } = await registrar(comercio, receptor)
    const guia = await comercio.api.guias.crear(unaGuia())
    const recibido = await hasta(async () => receptor.recibidos[0])
    expect(recibido.json).toMatchObject({
      id: `evt_${guia.guia}_1`,
      tipo: 'guia.aceptado',
      datos: { guia, evento: { secuencia: 1 } },
    })
    const cabeceras = recibido.cabeceras as Record<string, string>
    expect(new Webhook(secreto).verify(recibido.cuerpo, cabeceras)).toEqual(recibido.json)
    expect(new Svix(secreto).verify(recibido.cuerpo, cabeceras)).toEqual(recibido.json)
    expect(() => new Webhook(secreto).verify(`${recibido.cuerpo} `, cabeceras)).toThrow()
    await hasta(async () =>
      (await entregasSinTrabajo({ db: entorno.db, reloj: () => new Date() })) === 0 ? true : undefined,
    )
  })

  it('is tried again until it is taken, with the same id and body', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor(contestar(500, {}, 'ay'))
    const { id } = await registrar(comercio, receptor)
    const { guia } = await comercio.api.guias.crear(unaGuia())
    await hasta(async () => receptor.recibidos[0])
    receptor.responder = contestar(204)
    entorno.adelantar(8_000)
    await hasta(async () => receptor.recibidos[1])
    expect(receptor.recibidos[1]!.cuerpo).toBe(receptor.recibidos[0]!.cuerpo)
    const entrega = await hasta(async () => {
      const { cuerpo } = await llamar(comercio, 'GET', `/${id}/entregas/ent_${id.slice(3)}_${guia}_1`)
      return cuerpo.estado === 'entregada' ? cuerpo : undefined
    })
    expect(entrega).toMatchObject({
      intentos: 2,
      ultimo_status: 204,
      historial: [
        { numero: 2, status: 204, error: null },
        { numero: 1, status: 500, error: 'http', respuesta: { cuerpo: 'ay' } },
      ],
    })
  })
})
