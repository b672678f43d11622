// A process that runs on while a migration is applied: what it has prepared is of before.

import { expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { unaGuia } from '../fabricas.ts'

const entorno = usarEntorno()

it('a column that comes later breaks none of the statements that are prepared', async () => {
  const { api } = await entorno.nuevoComercio()
  /** On every connection of the process. */
  const trabajar = () =>
    Promise.all(
      Array.from({ length: 12 }, async () => {
        const { guia } = await api.guias.crear(unaGuia())
        for (const estado of ['recolectado', 'en_ruta'] as const) await api.simulador.avanzar(guia, { estado })
        return (await api.guias.obtener(guia)).eventos.datos.length
      }),
    )
  const antes = await trabajar()
  await entorno.db.pool.query(
    ['guia', 'evento', 'comercio', 'llave', 'archivo', 'prueba_entrega', 'webhook', 'bitacora']
      .map((tabla) => `alter table ${tabla} add column llego_despues text`)
      .join('; '),
  )
  expect(await trabajar()).toEqual(antes)
})
