// The story of a parcel is drawn alike on the three pages of recipients.
import { describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino } from '../factories.ts'
import { createTelefono } from '../mensajeria/channel.ts'
import { useUbicacionRequests } from '../ubicacion/requests.ts'
import { evaluateIn } from './inspect.ts'

const environment = shareEnvironment()
const { createAskedGuia, send } = useQuestions(environment)
const { createGuia, linkOf } = useUbicacionRequests(environment)

const LEFT_EDGES = `['.marca a', '#relato > :first-child', '#relato > :last-child']
  .map((part) => Math.round(document.querySelector(part).getBoundingClientRect().left))`

it('says no more what was decided once the parcel is at its end', async () => {
  const { guia, enlace } = await createAskedGuia()
  await send(enlace, { eleccion: 'rechazo', seguro: '1' })
  const read = async () => (await fetch(environment.url + enlace)).text()
  expect(await read()).toContain('Qué se decidió')
  const returned = await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'devuelto' })
  expect(returned.status).toBe(201)
  expect(await read()).toContain('Devuelto')
  expect(await read()).not.toContain('Qué se decidió')
})

describe.skipIf(!hasBrowser)('the story of a parcel', () => {
  it('has its columns and the brand at the same place on each page of a wide window', async () => {
    const asked = await createAskedGuia()
    const decided = await createAskedGuia()
    await send(decided.enlace, { eleccion: 'otro_dia' })
    const comercio = await environment.createComercio('test')
    const placed = await linkOf(
      await createGuia(comercio, buildGuiaWithoutDestino({ telefono: `+${createTelefono()}` })),
    )
    await send(placed, { metodo: 'mapa', lat: '14.6341', lng: '-90.6055' })
    const context = await openContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    for (const address of [`/r/${asked.guia}`, asked.enlace, decided.enlace, placed]) {
      await page.goto(environment.url + address)
      expect([address, await evaluateIn<number[]>(page, LEFT_EDGES)]).toEqual([address, [136, 136, 776]])
    }
    await context.close()
  })
})
