import { expect, it } from 'vitest'
import { placePrivacy, pruebaPrivacy } from '../../server/pages/privacy.ts'
import { useEnvironment } from '../environment.ts'

const entorno = useEnvironment({}, () => ({ LOCATION_RETENTION_DAYS: '90', PROOF_RETENTION_DAYS: '1095' }))

it('says for how long in words, by what is configured', () => {
  expect([1, 90, 365, 366, 730].map((dias) => /se borra (.*) después/.exec(placePrivacy(dias))?.[1])).toEqual([
    'un día',
    '90 días',
    'un año',
    '366 días',
    '2 años',
  ])
  expect(pruebaPrivacy(730)).toBe('Se usa solo como prueba de esta entrega; se borra 2 años después.')
})

it('stands where data are asked for', async () => {
  const leer = async (ruta: string) => (await fetch(entorno.url + ruta)).text()
  expect(await leer('/u/nada')).toContain(`<footer><p>${placePrivacy(90)}</p></footer>`)
  // The neighbour is a person's datum, which is kept for a year.
  expect(await leer('/d/nada')).toContain(`<footer><p>${placePrivacy(365)}</p></footer>`)
  expect(await leer('/repartidor')).toContain(`data-privacidad="${pruebaPrivacy(1_095)}"`)
})
