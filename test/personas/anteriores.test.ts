// A person whose telephone a correction has replaced.

import { describe, expect, it } from 'vitest'
import { descifrarCambios } from '../../server/domain/guias/correcciones.ts'
import { correrAqui } from '../consola.ts'
import { MASTER_KEY, usarEntorno } from '../entorno.ts'
import { hasta, unaGuia } from '../fabricas.ts'
import { SECRETOS } from '../ubicacion/solicitudes.ts'
import { contestarCon, usarReceptores } from '../webhooks/receptor.ts'
import { tablasCon } from './tablas.ts'

const entorno = usarEntorno()
const nuevoReceptor = usarReceptores()

const DE_ANA = { telefono: '+50255551111', destinatario: 'Anacleta Uno', direccion: 'Calle Primera 1' }
const DE_LUIS = { telefono: '+50255552222', destinatario: 'Ludovico Dos', direccion: 'Calle Segunda 2' }
const DE_EVA = { telefono: '+50255553333', destinatario: 'Evangelina Tres', direccion: 'Calle Tercera 3' }
const SUYO = { ana: /55551111|Anacleta|Primera/, luis: /55552222|Ludovico|Segunda/, eva: /55553333|Evangelina|Tercera/ }

const persona = async (que: string, telefono: string, ...mas: string[]) => {
  const { salida } = await correrAqui(['persona', que, '--telefono', telefono, '--json', ...mas], {
    DATABASE_URL: entorno.databaseUrl,
    MASTER_KEYS: MASTER_KEY,
    DATA_DIR: entorno.dataDir,
  })
  return JSON.parse(salida)
}

/** A guide that was Ana's, then Luis's and is Eva's, with the body of each webhook. */
async function deTres() {
  const { api } = await entorno.nuevoComercio()
  const receptor = await nuevoReceptor(contestarCon(204))
  const { webhook } = await api.webhooks.crear({ url: receptor.url })
  const { lat, lng, ...sinLugar } = unaGuia({ ...DE_ANA, contenido: 'Zapatos' })
  const { guia } = await api.guias.crear(sinLugar as ReturnType<typeof unaGuia>)
  await entorno.quietud()
  await entorno.operar('POST', `/guias/${guia}/eventos`, { tipo: 'guia.nota', descripcion: 'Anacleta no contesta' })
  await api.guias.corregir(guia, DE_LUIS)
  await entorno.quietud()
  await api.guias.corregir(guia, { indicaciones: 'Preguntar por Ludovico' })
  await api.guias.corregir(guia, { ...DE_EVA, indicaciones: null })
  await entorno.quietud()
  const cuerpos = async () => {
    const { secuencia } = await api.guias.obtener(guia)
    const numeros = Array.from({ length: secuencia }, (_, i) => i + 1)
    const entrega = (n: number) => api.webhooks.obtenerEntrega(webhook, `ent_${webhook.slice(3)}_${guia}_${n}`)
    return Promise.all(numeros.map(async (n) => JSON.parse((await entrega(n)).cuerpo!).datos.guia))
  }
  return { api, guia, cuerpos, receptor }
}

/** The decrypted corrections of a guide, as text. */
async function correccionesDe(guia: string) {
  const { rows } = await entorno.db.pool.query(
    'select guia_id, secuencia, cambios from evento where guia = $1 and cambios is not null order by secuencia',
    [guia],
  )
  return rows.map((fila) => JSON.stringify(descifrarCambios(SECRETOS, fila, fila.cambios))).join('\n')
}

describe('a person whose telephone was corrected', () => {
  it('gets what was his, and nothing of the person before or after', async () => {
    const { guia } = await deTres()
    const { guias, anteriores } = await persona('exportar', DE_LUIS.telefono)
    expect(guias).toEqual([])
    expect(anteriores.map((una: { guia: string }) => una.guia)).toContain(guia)
    const texto = JSON.stringify(anteriores.find((una: { guia: string }) => una.guia === guia))
    for (const dicho of ['+50255552222', 'Ludovico Dos', 'Calle Segunda 2', 'Preguntar por Ludovico'])
      expect(texto).toContain(dicho)
    expect(texto).not.toMatch(SUYO.ana)
    expect(texto).not.toMatch(SUYO.eva)
    const deEva = JSON.stringify(await persona('exportar', DE_EVA.telefono))
    expect(deEva).toContain('Evangelina Tres')
    expect(deEva).not.toMatch(SUYO.luis)
  })

  it('is forgotten everywhere, and the present one keeps everything', async () => {
    const { api, guia, cuerpos, receptor } = await deTres()
    const antes = await cuerpos()
    expect(antes.map(({ telefono }) => telefono.slice(-4))).toEqual([
      ...['1111', '1111', '1111', '2222', '2222', '2222', '3333', '3333'],
    ])
    expect(await tablasCon(entorno.db, SUYO.luis)).not.toEqual([])
    const olvidada = await persona('olvidar', DE_LUIS.telefono, '--si')
    expect([olvidada.guias, olvidada.anteriores > 0]).toEqual([0, true])
    expect(await tablasCon(entorno.db, SUYO.luis)).toEqual([])
    const correcciones = await correccionesDe(guia)
    expect(correcciones).not.toMatch(SUYO.luis)
    expect(correcciones).toMatch(SUYO.ana)
    expect(correcciones).toMatch(SUYO.eva)
    const despues = await cuerpos()
    expect(despues.map(({ telefono }) => telefono?.slice(-4) ?? null)).toEqual([
      ...['1111', '1111', '1111', null, null, null, '3333', '3333'],
    ])
    // The bodies of the others' events are what they were.
    for (const i of [0, 6, 7]) expect(despues[i]).toEqual(antes[i])
    expect(await api.guias.obtener(guia)).toMatchObject({ ...DE_EVA, contenido: 'Zapatos' })
    // The request to the present telephone still works.
    await hasta(async () => receptor.recibidos.length >= 8)
    expect((await api.guias.obtener(guia)).ubicacion.solicitud?.estado).toBe('enviado')
    expect((await persona('olvidar', DE_LUIS.telefono, '--si')).anteriores).toBe(0)
  })

  it('is forgotten if the telephone was corrected first, and his name and address later', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia({ ...DE_ANA, contenido: 'Blusas' }))
    await api.guias.corregir(guia, { telefono: DE_LUIS.telefono })
    await api.guias.corregir(guia, { destinatario: DE_LUIS.destinatario, direccion: DE_LUIS.direccion })
    await api.guias.corregir(guia, { telefono: DE_EVA.telefono })
    await api.guias.corregir(guia, { destinatario: DE_EVA.destinatario, direccion: DE_EVA.direccion })
    const deAna = JSON.stringify((await persona('exportar', DE_ANA.telefono)).anteriores)
    for (const dicho of ['Anacleta Uno', 'Calle Primera 1']) expect(deAna).toContain(dicho)
    const deLuis = JSON.stringify((await persona('exportar', DE_LUIS.telefono)).anteriores)
    expect(deLuis).not.toMatch(SUYO.ana)
    await persona('olvidar', DE_ANA.telefono, '--si')
    expect(await tablasCon(entorno.db, SUYO.ana)).toEqual([])
    const correcciones = await correccionesDe(guia)
    expect(correcciones).not.toMatch(SUYO.ana)
    expect(correcciones).toMatch(/Ludovico Dos/)
    expect(await api.guias.obtener(guia)).toMatchObject(DE_EVA)
  })

  it('is forgotten with a place that was his alone; a place that is still the guide’s stays', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia({ ...DE_ANA, lat: 14.71111, lng: -90.61111 }))
    await api.guias.confirmarUbicacion(guia, { lat: 14.72222, lng: -90.62222, referencia: 'Casa de Anacleta' })
    await api.guias.corregir(guia, { ...DE_LUIS, lat: 14.73333, lng: -90.63333 })
    await persona('olvidar', DE_ANA.telefono, '--si')
    expect(await tablasCon(entorno.db, /14\.71111|14\.72222|Casa de Anacleta/)).toEqual([])
    const { ubicacion, lat } = await api.guias.obtener(guia)
    expect([ubicacion.lat, lat]).toEqual([14.73333, 14.73333])
    const { guia: misma } = await api.guias.crear(unaGuia({ ...DE_ANA, lat: 14.74444, lng: -90.64444 }))
    await api.guias.corregir(misma, { telefono: DE_LUIS.telefono })
    await persona('olvidar', DE_ANA.telefono, '--si')
    expect((await api.guias.obtener(misma)).ubicacion.lat).toBe(14.74444)
  })

  it('is erased as the guide’s own recipient if the telephone came back', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia(DE_EVA))
    await api.guias.corregir(guia, { telefono: '+50255554444' })
    await api.guias.corregir(guia, { telefono: DE_EVA.telefono })
    const { en_curso } = await persona('olvidar', DE_EVA.telefono, '--si')
    expect(en_curso).toContain(guia)
    await api.guias.cancelar(guia)
    await persona('olvidar', DE_EVA.telefono, '--si')
    expect((await api.guias.obtener(guia)).telefono).toBeNull()
    const { rows } = await entorno.db.pool.query('select from telefono_anterior where telefono = $1', ['+50255554444'])
    expect(rows).toEqual([])
  })
})
