import { expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'

const environment = useEnvironment({}, () => ({ SUPPORT_PHONE: '+502 2345-6789' }))
const caseWithout = useEnvironment()

it('brings the central’s number, where there is one, to be called without coverage, too', async () => {
  const page = async ({ url }: typeof environment) => (await fetch(`${url}/repartidor`)).text()
  expect(await page(environment)).toMatch(/data-central="[^"]*2345[^"]*6789" data-llamar="\+50223456789"/)
  expect(await page(caseWithout)).toContain('data-central="" data-llamar=""')
})
