import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { checkDigit } from '../../server/platform/codes/guideCode.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { SHOWN_SHIPMENT, serveDetachedRastreo } from './trackingApart.ts'

const environment = shareEnvironment()

const ver = (codigo: string, init: RequestInit = {}) =>
  fetch(`${environment.url}/r/${codigo}`, { redirect: 'manual', ...init })
const html = async (codigo: string) => (await ver(codigo)).text()
const _text = (page: string) => page.replace(/<style>[\s\S]*?<\/style>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')

describe('the page for an unknown code', () => {
  it('is the same helpful page for every fault of the code', async () => {
    const { api } = await environment.createComercio('live')
    const { guia } = await api.guias.crear(buildGuia())
    const unknownGuia = await ver(newGuideCode())
    const body = await unknownGuia.text()
    expect(unknownGuia.status).toBe(404)
    expect(body).toContain('No encontramos ese envío')
    expect(body).toMatch(/<form class="buscador" method="get" action="\.\.\/r">/)
    const wrongCheckDigit = guia.slice(0, 11) + (checkDigit(guia.slice(0, 11)) === '0' ? '1' : '0')
    const badCases = [
      wrongCheckDigit,
      'corto',
      'ñ',
      '%C3%B1',
      '%ZZ',
      'x'.repeat(5_000),
      '<script>',
      guia.slice(1),
      `${guia}A`,
    ]
    for (const bad of badCases) {
      const response = await ver(bad)
      expect([bad.slice(0, 20), response.status]).toEqual([bad.slice(0, 20), 404])
      expect(await response.text()).toBe(body)
    }
    // From further down the way up is longer, that is all.
    expect((await html(`${guia}/x`)).replaceAll('../../', '../')).toBe(body)
    expect((await fetch(`${environment.url}/r?guia=nada`)).status).toBe(404)
    expect((await fetch(`${environment.url}/r?guia=${guia}&guia=${guia}`)).status).toBe(404)
  })

  it.each([
    ['7k3m-9qx2', 'Escribió 8 letras y números: faltan 4.'],
    ['7', 'Escribió 1 letra o número: faltan 11.'],
    ['00000000000A0', 'Escribió 13 letras y números: son 12.'],
    ['000000u00000', 'Los códigos no llevan «U».'],
    ['000000000001', 'Tiene una letra o un número cambiado.'],
  ])('says the likely mistake in %s beside the field', async (typedText, fault) => {
    const response = await fetch(`${environment.url}/r?guia=${typedText}`)
    const page = await response.text()
    expect(response.status).toBe(404)
    expect(/<p class="error" id="error-guia">(.*?)<\/p>/.exec(page)?.[1]).toContain(fault)
    expect(page).toContain(`value="${typedText}"`)
  })

  it('is the first page when the code is missing', async () => {
    for (const path of ['/r', '/r/', '/r?guia=']) {
      const response = await fetch(environment.url + path)
      expect([response.status, response.url]).toEqual([200, `${environment.url}/`])
      expect(await response.text()).toContain('Código de la guía')
    }
  })

  it('can’t be searched through: the limit comes before the answer, for good guesses, too', async () => {
    let readCount = 0
    const separateOne = await serveDetachedRastreo(async (codigo) => {
      readCount++
      return codigo === SHOWN_SHIPMENT.guia ? SHOWN_SHIPMENT : undefined
    })
    const from = (ip: string, codigo: string) =>
      fetch(`${separateOne.url}/r/${codigo}`, { headers: { 'X-Forwarded-For': ip } })
    for (let i = 0; i < 120; i++) {
      const codigo = i % 2 ? newGuideCode() : 'nada'
      expect((await from('198.51.100.7', codigo)).status).toBe(404)
    }
    const count = readCount
    const refusals = await Promise.all(
      [SHOWN_SHIPMENT.guia, newGuideCode(), 'nada'].map((c) => from('198.51.100.7', c)),
    )
    expect(refusals.map(({ status }) => status)).toEqual([429, 429, 429])
    expect(refusals[0]!.headers.get('retry-after')).toBe('1')
    expect(new Set(await Promise.all(refusals.map((one) => one.text()))).size).toBe(1)
    expect(readCount).toBe(count)
    expect((await from('198.51.100.8', SHOWN_SHIPMENT.guia)).status).toBe(200)
    // A subscriber's whole network is one address.
    for (let i = 0; i < 120; i++) await from(`2001:db8:1:2::${i.toString(16)}`, 'nada')
    expect((await from('2001:db8:1:2:ffff::1', SHOWN_SHIPMENT.guia)).status).toBe(429)
    expect((await from('2001:db8:1:3::1', SHOWN_SHIPMENT.guia)).status).toBe(200)
    separateOne.advance(500)
    expect((await from('198.51.100.7', SHOWN_SHIPMENT.guia)).status).toBe(200)
    separateOne.close()
  })

  it('is not what a fault of ours looks like', async () => {
    const separateOne = await serveDetachedRastreo(() => Promise.reject(new Error('no database for 41239876')))
    const response = await fetch(`${separateOne.url}/r/${newGuideCode()}`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10'])
    const page = await response.text()
    expect(page).toContain('Algo nos falló')
    expect(page).not.toContain('41239876')
    separateOne.close()
  })
})
