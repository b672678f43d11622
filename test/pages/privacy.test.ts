import { expect, it } from 'vitest'
import { placePrivacy, pruebaPrivacy } from '../../server/pages/privacy.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { useEnvironment } from '../environment.ts'
import { useUbicacionRequests } from '../ubicacion/requests.ts'

const environment = useEnvironment({}, () => ({ LOCATION_RETENTION_DAYS: '90', PROOF_RETENTION_DAYS: '1095' }))
const { createAskedGuia } = useQuestions(environment)
const { createGuia, linkOf } = useUbicacionRequests(environment)

it('says for how long in words, by what is configured', () => {
  expect([1, 90, 365, 366, 730].map((days) => /se borra (.*) después/.exec(placePrivacy(days))?.[1])).toEqual([
    'un día',
    '90 días',
    'un año',
    '366 días',
    '2 años',
  ])
  expect(pruebaPrivacy(730)).toBe('Se usa solo como prueba de esta entrega; se borra 2 años después.')
})

it('stands where data are asked for', async () => {
  const read = async (path: string) => (await fetch(environment.url + path)).text()
  const guia = await createGuia(await environment.createComercio())
  expect(await read(await linkOf(guia))).toContain(`<footer><p>${placePrivacy(90)}</p></footer>`)
  // The neighbour is a person's datum, which is kept for a year.
  expect(await read((await createAskedGuia()).enlace)).toContain(`<footer><p>${placePrivacy(365)}</p></footer>`)
  expect(await read('/repartidor')).toContain(`data-privacidad="${pruebaPrivacy(1_095)}"`)
})
