import { expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { hasta } from '../fabricas.ts'
import { entrarDelTodo, galletas, nuevaPersona, porPagina } from './persona.ts'

const entorno = usarEntorno()
const RUTA = '/operaciones/v1/sesiones'

it('ends a session of the same person in another browser', async () => {
  const ana = await nuevaPersona(entorno)
  const otra = await entrarDelTodo(entorno, ana)
  expect((await ana.pedir('DELETE', `${RUTA}/${otra.cuerpo.sesion}`)).status).toBe(204)
  const cookie = galletas(otra.cabeceras)
  await hasta(async () => (await porPagina(entorno, cookie, ['GET', '/operaciones/v1/sesion'])).status === 401)
  expect((await ana.pedir('GET', '/operaciones/v1/sesion')).status).toBe(200)
})

it('answers 404 for a session of another person', async () => {
  const [ana, otra] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
  const { status, cuerpo } = await ana.pedir('DELETE', `${RUTA}/${otra.sesion}`)
  expect([status, cuerpo.codigo]).toEqual([404, 'sesion_desconocida'])
})
