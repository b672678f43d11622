import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { PoliticaDeEvidencia } from '../../../server/generated/contract/types/index.ts'
import {
  evidenceFor,
  evidenceParts,
  findMissingEvidence,
  needsOwnEvidence,
} from '../../../server/pages/courier/browser/evidence.ts'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { captureScreen, hasBrowser } from '../../browser.ts'
import type { Comercio } from '../../environment.ts'
import { buildGuia, waitUntil } from '../../factories.ts'
import { parsePdf } from '../../pruebasEntrega/readPdf.ts'
import { checkBars, checkLargeText } from '../inspect.ts'
import {
  checkWindow,
  createColorFoto,
  createTestRepartidor,
  drawFirma,
  dumpPhoneDatabase,
  evaluateOnPhone,
  fillEntrega,
  goHome,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  openStep,
  pagina,
  phoneBridge,
  phoneContext,
  phoneEnvironment,
  signInOnPage,
  titulo,
  usePhone,
  waitForDone,
  waitForInstall,
} from './phone.ts'

const politica = (cambios: Partial<PoliticaDeEvidencia> = {}): PoliticaDeEvidencia => ({
  fotos_minimas: 1,
  firma: 'opcional',
  documento: 'opcional',
  ...cambios,
})

describe('the evidence of one delivery of several parcels', () => {
  const rulesFor = (cambios: Partial<PoliticaDeEvidencia>, isSamePerson = true) => ({
    politica: politica(cambios),
    isSamePerson,
  })

  it('is the strictest of all, without signature and document of other receivers', () => {
    expect(
      evidenceFor([rulesFor({ fotos_minimas: 2, firma: 'no' }), rulesFor({ firma: 'obligatoria', documento: 'no' })]),
    ).toEqual({
      fotos_minimas: 2,
      firma: 'obligatoria',
      documento: 'opcional',
    })
    const otherReceiver = rulesFor({ fotos_minimas: 4, firma: 'obligatoria', documento: 'obligatoria' }, false)
    expect(evidenceFor([rulesFor({ firma: 'no', documento: 'no' }), otherReceiver])).toEqual({
      fotos_minimas: 4,
      firma: 'no',
      documento: 'no',
    })
    expect(evidenceFor([{ politica: undefined, isSamePerson: true }])).toEqual(politica())
  })

  it('takes a parcel apart whose own receiver has to sign or to show a document', () => {
    for (const target of [{ firma: 'obligatoria' }, { documento: 'obligatoria' }] as const)
      expect([needsOwnEvidence(rulesFor(target, false)), needsOwnEvidence(rulesFor(target))]).toEqual([true, false])
    expect([
      needsOwnEvidence(rulesFor({}, false)),
      needsOwnEvidence({ politica: undefined, isSamePerson: false }),
    ]).toEqual([false, false])
  })

  it('goes with a parcel as far as its merchant admits it', () => {
    expect(evidenceParts(rulesFor({ firma: 'obligatoria' }))).toEqual({ firma: true, documento: true, reason: true })
    expect(evidenceParts(rulesFor({ firma: 'no', documento: 'no' }))).toEqual({
      firma: false,
      documento: false,
      reason: false,
    })
    expect(evidenceParts(rulesFor({ firma: 'obligatoria' }, false))).toEqual({
      firma: false,
      documento: false,
      reason: false,
    })
  })

  it('says how many photos are missing', () => {
    const nothing = { fotos: [], strokes: null, sin_firma: '', documento: '' }
    expect(findMissingEvidence(politica(), nothing)).toEqual({ fotos: 'Tome una foto por lo menos.' })
    expect(findMissingEvidence(politica({ fotos_minimas: 3 }), { ...nothing, fotos: [1, 2] })).toEqual({
      fotos: 'Falta 1 foto: el comercio pide 3 por lo menos.',
    })
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let comercio: Comercio
  usePhone()
  beforeAll(async () => {
    comercio = await phoneEnvironment.createComercio()
  })

  const request = (evidencia: PoliticaDeEvidencia) =>
    phoneEnvironment.asOperador('PATCH', `/comercios/${comercio.comercio}`, { evidencia })
  const waitForPdf = (guia: string) =>
    waitUntil(async () => {
      const prueba = await comercio.api.guias.pruebaEntrega(guia).catch(() => undefined)
      return prueba && prueba.pdf !== null && prueba
    })
  const bytesOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
  async function start(evidencia: PoliticaDeEvidencia) {
    await request(evidencia)
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, comercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    return { guia, repartidor }
  }
  const tomarFoto = async (number: number) => {
    await pagina.locator('input[type=file]').setInputFiles(await createColorFoto())
    await pagina.getByAltText(`Foto ${number}`, { exact: true }).waitFor()
  }

  it('tells that a required signature is missing, and delivers with the reason, which every document states', async () => {
    const { guia } = await start(politica({ firma: 'obligatoria' }))
    await openStep(guia, 'fotos')
    await tomarFoto(1)
    await locateButton('Seguir').tap()
    await pagina.getByLabel('Nombre').fill('María López')
    await locateButton('Seguir').tap()
    await pagina.getByText('La pide el comercio.').waitFor()
    await locateButton('Seguir').tap()
    await pagina.getByText('Pida la firma, o elija por qué no la hay.').waitFor()
    await checkWindow('firma-obligatoria')
    const explanation = pagina.getByLabel('Si no firma, ¿por qué?')
    await explanation.selectOption('Sin contacto')
    // A signature takes the reason's place.
    await drawFirma()
    expect(await explanation.count()).toBe(0)
    await locateButton('Borrar').tap()
    expect(await explanation.inputValue()).toBe('')
    await explanation.selectOption('Se negó')
    await expect.poll(dumpPhoneDatabase).toContain('"se_nego"')
    await pagina.reload()
    await expect.poll(() => explanation.inputValue()).toBe('se_nego')
    await locateButton('Seguir').tap()
    await pagina.getByText('Sin firma: se negó').first().waitFor()
    await pagina.getByText('precisión de unos 8 m').waitFor()
    await locateButton('Confirmar la entrega').tap()
    await waitForDone('Entregado')
    const prueba = await waitForPdf(guia)
    expect(prueba).toMatchObject({
      firma: null,
      sin_firma: 'se_nego',
      evidencia: { firma: 'obligatoria', faltas: [], pagina_anterior: false },
    })
    const pdf = await bytesOf(prueba.pdf!.url)
    expect(parsePdf(pdf).texto).toContain('Sin firma: se negó')

    const folder = await mkdtemp(join(tmpdir(), 'guias-evidencia-'))
    try {
      await writeFile(join(folder, 'prueba.pdf'), pdf)
      const verificar = await phoneContext.newPage()
      await verificar.goto(`${phoneBridge.url}/verificar/${guia}`)
      await verificar.getByLabel('Elegir el PDF').setInputFiles(join(folder, 'prueba.pdf'))
      await verificar.getByText('No: se negó').waitFor()
      await verificar.close()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('asks for as many photos and the document as the merchant needs', async () => {
    const { guia } = await start({ fotos_minimas: 3, firma: 'no', documento: 'obligatoria' })
    await openStep(guia, 'fotos')
    await pagina.getByText('De 3 a 10.').waitFor()
    await tomarFoto(1)
    await locateButton('Seguir').tap()
    await pagina.getByText('Faltan 2 fotos: el comercio pide 3 por lo menos.').waitFor()
    await checkWindow('faltan-fotos')
    await tomarFoto(2)
    await tomarFoto(3)
    await locateButton('Seguir').tap()
    await pagina.getByLabel('Nombre').fill('María López')
    await locateButton('Seguir').tap()
    await titulo('Documento').waitFor()
    expect(await pagina.locator('canvas.firma').count()).toBe(0)
    await locateButton('Seguir').tap()
    await pagina.getByText('Escriba el número del documento de quien recibe.').waitFor()
    await checkWindow('documento-obligatorio')
    await checkBars(pagina)
    await checkLargeText(pagina)
    await captureScreen(pagina, 'repartidor-documento-obligatorio-letras')
    await pagina.setViewportSize({ width: 360, height: 740 })
    await pagina.getByLabel('Número del documento').fill('2456 78901 0101')
    await locateButton('Seguir').tap()
    await locateButton('Confirmar la entrega').tap()
    await waitForDone('Entregado')
    expect(await waitForPdf(guia)).toMatchObject({
      fotos: [{}, {}, {}],
      firma: null,
      recibido_por: { documento: '2456 78901 0101' },
      evidencia: { fotos_minimas: 3, firma: 'no', documento: 'obligatoria', faltas: [], pagina_anterior: false },
    })
  })

  it('asks for neither signature nor document where the merchant admits none', async () => {
    const { guia } = await start({ fotos_minimas: 1, firma: 'no', documento: 'no' })
    await fillEntrega(guia)
    expect(await pagina.getByLabel(/documento/i).count()).toBe(0)
    expect(await pagina.locator('canvas.firma').count()).toBe(0)
    await locateButton('Confirmar la entrega').tap()
    await waitForDone('Entregado')
    expect(await waitForPdf(guia)).toMatchObject({ evidencia: { faltas: [], pagina_anterior: false } })
  })

  it('sends what an earlier page queued, which is accepted and marked', async () => {
    const { guia } = await start(politica())
    await waitForInstall()
    await openGuiaPage(guia)
    await phoneContext.setOffline(true)
    await fillEntrega(guia)
    await locateButton('Confirmar la entrega').tap()
    await titulo('Entregado').waitFor()
    // The queue as an earlier page left it: without the members that are new.
    await evaluateOnPhone(`new Promise((hecho) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = () => { const db = abierta.result
        const tx = db.transaction('actions', 'readwrite')
        const cursor = tx.objectStore('actions').openCursor()
        cursor.onsuccess = () => { if (!cursor.result) return
          const { evidencia, sin_firma, ...entrega } = cursor.result.value.entrega
          cursor.result.update({ ...cursor.result.value, entrega }); cursor.result.continue() }
        tx.oncomplete = () => { db.close(); hecho(1) } } })`)
    await request(politica({ firma: 'obligatoria' }))
    await phoneContext.setOffline(false)
    await goHome()
    const prueba = await waitForPdf(guia)
    expect(prueba).toMatchObject({
      firma: null,
      sin_firma: null,
      evidencia: { firma: 'obligatoria', faltas: ['firma'], pagina_anterior: true },
    })
    expect(parsePdf(await bytesOf(prueba.pdf!.url)).texto).toContain('falta: la firma')
  })

  it('judges what was queued without coverage by what was asked for at the door', async () => {
    const { guia } = await start(politica())
    await waitForInstall()
    await openGuiaPage(guia)
    await phoneContext.setOffline(true)
    await fillEntrega(guia)
    await locateButton('Confirmar la entrega').tap()
    await titulo('Entregado').waitFor()
    await request(politica({ fotos_minimas: 2 }))
    await phoneContext.setOffline(false)
    await goHome()
    expect(await waitForPdf(guia)).toMatchObject({
      evidencia: { fotos_minimas: 2, faltas: ['fotos'], pagina_anterior: true },
    })
  })

  it('takes apart a parcel of the same door whose own receiver has to sign', async () => {
    const { guia, repartidor } = await start(politica({ firma: 'obligatoria' }))
    const neighbour = await comercio.api.guias.crear(buildGuia({ destinatario: 'Luis Pérez' }))
    for (const estado of ['recolectado', 'en_ruta'])
      await phoneEnvironment.asOperador('POST', `/guias/${neighbour.guia}/eventos`, { estado, repartidor })
    await goHome()
    await pagina.reload()
    await titulo('2 por entregar').waitFor()
    await fillEntrega(guia, { firmar: true })
    await pagina.getByRole('checkbox').check()
    await locateButton('Lo recibe Luis Pérez').tap()
    await locateButton('Confirmar las 2 entregas').tap()
    await pagina.getByText('Pide la firma o el documento de quien lo recibe: entréguelo aparte.').waitFor()
    await checkWindow('firma-aparte')
    await pagina.getByRole('checkbox').uncheck()
    await locateButton('Confirmar la entrega').tap()
    await waitForDone('Entregado')
    expect(await waitForPdf(guia)).toMatchObject({ firma: {}, evidencia: { faltas: [] } })
    await openGuiaPage(neighbour.guia)
    await link('Entregar').waitFor()
  })
})
