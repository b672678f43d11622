// A person whose telephone a correction has replaced.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decryptChanges } from '../../server/domain/records/correccionCipher.ts'
import { uploadArchivo } from '../archivos/images.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { SECRETOS } from '../ubicacion/requests.ts'
import { answerWith, useReceivers } from '../webhooks/receiver.ts'
import { findTablesWith } from './tables.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()

const DE_ANA = { telefono: '+50255551111', destinatario: 'Anacleta Uno', direccion: 'Calle Primera 1' }
const DE_LUIS = { telefono: '+50255552222', destinatario: 'Ludovico Dos', direccion: 'Calle Segunda 2' }
const DE_EVA = { telefono: '+50255553333', destinatario: 'Evangelina Tres', direccion: 'Calle Tercera 3' }
const OWN_DATA = {
  ana: /55551111|Anacleta|Primera/,
  luis: /55552222|Ludovico|Segunda/,
  eva: /55553333|Evangelina|Tercera/,
}

const persona = async (kind: string, telefono: string, ...more: string[]) => {
  const { output } = await runInProcess(
    ['persona', kind, '--telefono', telefono, '--json', ...more],
    consoleEnvironment(environment),
  )
  return JSON.parse(output)
}

/** Answers of a merchant's server that name the recipient. Of a receiver on this machine nothing is kept. */
async function saveAnswers(guia: string) {
  const caller = `case when secuencia < 4 then 'Anacleta' when secuencia < 7 then 'Ludovico' else 'Evangelina' end`
  await environment.db.pool.query(
    `with e as (
       update webhook_aviso set exito = (exito::jsonb || jsonb_build_object('cuerpo', ${caller}))::json
       where evento like $1 returning *
     )
     insert into webhook_intento (comercio_id, modo, webhook, guia_id, secuencia, id, numero, tardio, causa, iniciado_en, url,
       secretos, total_ms, cuerpo, cuerpo_truncado, detalle)
     select comercio_id, modo, webhook, guia_id, secuencia, gen_random_uuid(), 1, false, 'automatica', now(), 'http://x', '{1}', 1,
       ${caller}, false, ${caller} from e`,
    [`evt_${guia}_%`],
  )
}

/** A guide that was Ana's, then Luis's and is Eva's, with the body of each webhook. */
async function ofThree() {
  const { api } = await environment.createComercio()
  const receptor = await openReceiver(answerWith(204))
  const { webhook } = await api.webhooks.crear({ url: receptor.url })
  const { lat, lng, ...guiaWithoutPlace } = buildGuia({ ...DE_ANA, contenido: 'Zapatos' })
  const { guia } = await api.guias.crear(guiaWithoutPlace as ReturnType<typeof buildGuia>)
  await environment.waitForQuiet()
  await environment.asOperador('POST', `/guias/${guia}/eventos`, {
    tipo: 'guia.nota',
    descripcion: 'Anacleta no contesta',
  })
  await api.guias.corregir(guia, DE_LUIS)
  await environment.waitForQuiet()
  await api.guias.corregir(guia, { indicaciones: 'Preguntar por Ludovico' })
  await api.guias.corregir(guia, { ...DE_EVA, indicaciones: null })
  await environment.waitForQuiet()
  await saveAnswers(guia)
  const cuerpos = async () => {
    const { secuencia } = await api.guias.obtener(guia)
    const numbers = Array.from({ length: secuencia }, (_, i) => i + 1)
    const aviso = (n: number) => api.webhooks.obtenerAviso(webhook, `avi_${webhook.slice(3)}_${guia}_${n}`)
    return Promise.all(numbers.map(async (n) => JSON.parse((await aviso(n)).cuerpo!).datos.guia))
  }
  return { api, guia, cuerpos, receptor }
}

/** The decrypted corrections of a guide, as text. */
async function correccionesOf(guia: string) {
  const { rows } = await environment.db.pool.query(
    'select guia_id, secuencia, cambios from evento where guia = $1 and cambios is not null order by secuencia',
    [guia],
  )
  return rows.map((row) => JSON.stringify(decryptChanges(SECRETOS, row, row.cambios))).join('\n')
}

describe('a person whose telephone was corrected', () => {
  it('gets what was his, and nothing of the person before or after', async () => {
    const { guia } = await ofThree()
    const { guias, anteriores } = await persona('exportar', DE_LUIS.telefono)
    expect(guias).toEqual([])
    expect(anteriores.map((one: { guia: string }) => one.guia)).toContain(guia)
    const text = JSON.stringify(anteriores.find((one: { guia: string }) => one.guia === guia))
    for (const message of ['+50255552222', 'Ludovico Dos', 'Calle Segunda 2', 'Preguntar por Ludovico'])
      expect(text).toContain(message)
    // An answer of the merchant's server to each event of his, stored with the delivery or as an attempt.
    expect(text.match(/"cuerpo": ?"Ludovico"/g)?.length).toBeGreaterThanOrEqual(3)
    expect(text).not.toMatch(OWN_DATA.ana)
    expect(text).not.toMatch(OWN_DATA.eva)
    const ofEva = JSON.stringify(await persona('exportar', DE_EVA.telefono))
    expect(ofEva).toContain('Evangelina Tres')
    expect(ofEva).toMatch(/"cuerpo": ?"Evangelina"/)
    expect(ofEva).not.toMatch(OWN_DATA.luis)
    // Nor what a note said of Ana, and the server answered to her events.
    expect(ofEva).not.toMatch(OWN_DATA.ana)
    expect(JSON.stringify(await persona('exportar', DE_ANA.telefono))).toContain('Anacleta no contesta')
  })

  it('is not given to the next one with the photos of an attempt at his door', async () => {
    const { api } = await environment.createComercio()
    const telefono = '+50255554444'
    const { guia } = await api.guias.crear(buildGuia({ telefono: '+50255556666' }))
    const attempt = async () => {
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta' })
      const { archivo } = (await uploadArchivo(environment, guia)).body
      const fallido = { estado: 'intento_fallido', motivo: 'sin_respuesta', fotos: [archivo] }
      expect((await environment.asOperador('POST', `/guias/${guia}/eventos`, fallido)).status).toBe(201)
      return archivo
    }
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
    const anterior = await attempt()
    await api.guias.corregir(guia, { telefono })
    const ownAttempt = await attempt()
    const [exportedGuia] = (await persona('exportar', telefono)).guias
    expect(exportedGuia).toMatchObject({
      guia,
      archivos: [ownAttempt],
      tablas: { prueba_intento: [{ fotos: [ownAttempt] }] },
    })
    expect(exportedGuia.tablas.archivo.map(({ archivo }: { archivo: string }) => archivo)).toEqual([ownAttempt])
    const folder = join(environment.dataDir, 'expediente')
    const [saved] = (await persona('exportar', '+50255556666', '--carpeta', folder)).anteriores
    expect(saved.periodos).toMatchObject([
      { archivos: [anterior], tablas: { prueba_intento: [{ fotos: [anterior] }] } },
    ])
    expect(saved.periodos[0].tablas.archivo).toHaveLength(1)
    expect(await readdir(folder)).toEqual([anterior])
    await persona('olvidar', '+50255556666', '--si')
    expect(await findTablesWith(environment.db, new RegExp(anterior))).toEqual([])
    expect((await persona('exportar', telefono)).guias[0].archivos).toEqual([ownAttempt])
  })

  it('gets the corrected values of the time since the telephone is his', async () => {
    const { api } = await environment.createComercio()
    const telefono = '+50255559999'
    const { guia } = await api.guias.crear(buildGuia({ telefono: '+50255550000', direccion: 'De otra persona' }))
    await api.guias.corregir(guia, { telefono, direccion: 'Avenida Media 4' })
    await api.guias.corregir(guia, { direccion: 'Avenida Final 9' })
    const [{ correcciones }] = (await persona('exportar', telefono)).guias
    const registrado_en = expect.stringMatching(/Z$/)
    expect(correcciones).toEqual([
      { secuencia: 2, registrado_en, telefono: { despues: telefono }, direccion: { despues: 'Avenida Media 4' } },
      { secuencia: 3, registrado_en, direccion: { antes: 'Avenida Media 4', despues: 'Avenida Final 9' } },
    ])
  })

  it('leaves the notes that were written after the correction', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ telefono: '+50255557777' }))
    const anotar = (text: string) => environment.asOperador('POST', `/guias/${guia}/notas`, { texto: text })
    await anotar('El de antes no contesta')
    await api.guias.corregir(guia, { telefono: '+50255558888' })
    await anotar('La de ahora contesta')
    await persona('olvidar', '+50255557777', '--si')
    const { body } = await environment.asOperador('GET', `/guias/${guia}/notas`)
    expect(body.datos.map(({ texto: text }: { texto: string }) => text)).toEqual(['La de ahora contesta'])
  })

  it('is forgotten everywhere, and the present one keeps everything', async () => {
    const { api, guia, cuerpos, receptor } = await ofThree()
    const before = await cuerpos()
    expect(before.map(({ telefono }) => telefono.slice(-4))).toEqual([
      '1111',
      '1111',
      '1111',
      '2222',
      '2222',
      '2222',
      '3333',
      '3333',
    ])
    expect(await findTablesWith(environment.db, OWN_DATA.luis)).not.toEqual([])
    const erasure = await persona('olvidar', DE_LUIS.telefono, '--si')
    expect([erasure.guias, erasure.anteriores > 0]).toEqual([0, true])
    expect(await findTablesWith(environment.db, OWN_DATA.luis)).toEqual([])
    const correcciones = await correccionesOf(guia)
    expect(correcciones).not.toMatch(OWN_DATA.luis)
    expect(correcciones).toMatch(OWN_DATA.ana)
    expect(correcciones).toMatch(OWN_DATA.eva)
    const after = await cuerpos()
    expect(after.map(({ telefono }) => telefono?.slice(-4) ?? null)).toEqual([
      '1111',
      '1111',
      '1111',
      null,
      null,
      null,
      '3333',
      '3333',
    ])
    // The bodies of the others' events are what they were.
    for (const i of [0, 6, 7]) expect(after[i]).toEqual(before[i])
    expect(await api.guias.obtener(guia)).toMatchObject({ ...DE_EVA, contenido: 'Zapatos' })
    // The request to the present telephone still works.
    await waitUntil(async () => receptor.receivedWebhooks.length >= 8)
    expect((await api.guias.obtener(guia)).ubicacion.solicitud?.estado).toBe('enviado')
    expect((await persona('olvidar', DE_LUIS.telefono, '--si')).anteriores).toBe(0)
  })

  it('is forgotten if the telephone was corrected first, and his name and address later', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ ...DE_ANA, contenido: 'Blusas' }))
    await api.guias.corregir(guia, { telefono: DE_LUIS.telefono })
    await api.guias.corregir(guia, { destinatario: DE_LUIS.destinatario, direccion: DE_LUIS.direccion })
    await api.guias.corregir(guia, { telefono: DE_EVA.telefono })
    await api.guias.corregir(guia, { destinatario: DE_EVA.destinatario, direccion: DE_EVA.direccion })
    const ofAna = JSON.stringify((await persona('exportar', DE_ANA.telefono)).anteriores)
    for (const message of ['Anacleta Uno', 'Calle Primera 1']) expect(ofAna).toContain(message)
    const luisGuia = JSON.stringify((await persona('exportar', DE_LUIS.telefono)).anteriores)
    expect(luisGuia).not.toMatch(OWN_DATA.ana)
    await persona('olvidar', DE_ANA.telefono, '--si')
    expect(await findTablesWith(environment.db, OWN_DATA.ana)).toEqual([])
    const correcciones = await correccionesOf(guia)
    expect(correcciones).not.toMatch(OWN_DATA.ana)
    expect(correcciones).toMatch(/Ludovico Dos/)
    expect(await api.guias.obtener(guia)).toMatchObject(DE_EVA)
  })

  it('is forgotten with a place that was his alone; a place that is still the guide’s stays', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ ...DE_ANA, lat: 14.71111, lng: -90.61111 }))
    await api.guias.confirmarUbicacion(guia, { lat: 14.72222, lng: -90.62222, referencia: 'Casa de Anacleta' })
    await api.guias.corregir(guia, { ...DE_LUIS, lat: 14.73333, lng: -90.63333 })
    await persona('olvidar', DE_ANA.telefono, '--si')
    expect(await findTablesWith(environment.db, /14\.71111|14\.72222|Casa de Anacleta/)).toEqual([])
    const { ubicacion, lat } = await api.guias.obtener(guia)
    expect([ubicacion.lat, lat]).toEqual([14.73333, 14.73333])
    const { guia: sameGuia } = await api.guias.crear(buildGuia({ ...DE_ANA, lat: 14.74444, lng: -90.64444 }))
    await api.guias.corregir(sameGuia, { telefono: DE_LUIS.telefono })
    await persona('olvidar', DE_ANA.telefono, '--si')
    expect((await api.guias.obtener(sameGuia)).ubicacion.lat).toBe(14.74444)
  })

  it('is forgotten with a short link of his that nobody has followed yet', async () => {
    const { api } = await environment.createComercio()
    const maps_url = 'https://maps.app.goo.gl/deAnacleta'
    const { lat, lng, ...guiaWithoutPlace } = buildGuia({ ...DE_ANA, maps_url })
    const { guia } = await api.guias.crear(guiaWithoutPlace as ReturnType<typeof buildGuia>)
    await api.guias.corregir(guia, { telefono: DE_LUIS.telefono, lat: lat!, lng: lng! })
    // It did not answer, and is tried again tomorrow.
    await environment.db.pool.query(
      `insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
       select comercio_id, modo, id, gen_random_uuid(), $2, now() + interval '1 day' from guia where guia = $1
       on conflict (comercio_id, modo, guia_id) do update set proximo_en = excluded.proximo_en`,
      [guia, maps_url],
    )
    await persona('olvidar', DE_ANA.telefono, '--si')
    expect(await findTablesWith(environment.db, /deAnacleta/)).toEqual([])
  })

  it('is erased as the guide’s own recipient if the telephone came back', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia(DE_EVA))
    await api.guias.corregir(guia, { telefono: '+50255554444' })
    await api.guias.corregir(guia, { telefono: DE_EVA.telefono })
    const { en_curso } = await persona('olvidar', DE_EVA.telefono, '--si')
    expect(en_curso).toContain(guia)
    await api.guias.cancelar(guia)
    await persona('olvidar', DE_EVA.telefono, '--si')
    expect((await api.guias.obtener(guia)).telefono).toBeNull()
    const { rows } = await environment.db.pool.query('select from telefono_anterior where telefono = $1', [
      '+50255554444',
    ])
    expect(rows).toEqual([])
  })
})
