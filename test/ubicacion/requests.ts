import type { Evento, Guia, GuiaIndividual } from '@guias/sdk'
import { expect } from 'vitest'
import { tokenOf } from '../../server/domain/ubicacion/ubicacion.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { type Comercio, MASTER_KEY, type TestEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'

export const SECRETOS = createSecrets([Buffer.from(MASTER_KEY, 'base64')])

/** What tests of location requests do again and again. */
export function useUbicacionRequests(environment: TestEnvironment) {
  /** Of every link that was made here, to be looked for where they have no business. */
  const tokens: string[] = []
  const helpers = {
    tokens,
    /** The link that a guide's newest request carries, or that of an earlier one. */
    async linkOf(guia: string, number?: number) {
      const { rows } = await environment.db.pool.query(
        `select id, kid from mensaje where guia = $1 and tipo = 'solicitud_ubicacion' and ($2::int is null or numero = $2)
         order by numero desc limit 1`,
        [guia, number ?? null],
      )
      const { token } = tokenOf(SECRETOS, rows[0].id, rows[0].kid)!
      tokens.push(token)
      return `/u/${token}`
    },
    ver: (path: string, method = 'GET') => fetch(environment.url + path, { method }),
    /** As the page's form does. */
    send: (path: string, fields: Record<string, string>) =>
      fetch(environment.url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields),
      }),
    read: (comercio: Comercio, guia: string) => comercio.api.guias.obtener(guia, { limite: 100 }),
    /** Waits until the guide is so. */
    esperar: (comercio: Comercio, guia: string, isExpected: (guia: Guia) => boolean) =>
      waitUntil(async () => {
        const readGuia = await helpers.read(comercio, guia)
        return isExpected(readGuia) && readGuia
      }),
    /** A guide whose message was handed over. */
    async createGuia(comercio: Comercio, fields: Partial<GuiaIndividual> = {}) {
      const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino(fields))
      await helpers.esperar(comercio, guia, ({ ubicacion }) => ubicacion.solicitud?.estado === 'enviado')
      return guia
    },
    async scanEstados(guia: string, ...estados: string[]) {
      for (const estado of estados) {
        const { status, body } = await environment.asOperador(
          'POST',
          `/guias/${guia}/eventos`,
          buildEstadoReport(estado),
        )
        expect([estado, status, body.codigo]).toEqual([estado, 201, undefined])
      }
    },
    mensajes: async (comercio: Comercio) =>
      (
        await environment.db.pool.query('select * from mensaje where comercio_id = $1 order by guia, numero', [
          comercio.id,
        ])
      ).rows,
    /** Everything that is kept of a guide. */
    async rows(guia: string) {
      const readRows = async (text: string) => (await environment.db.pool.query(text, [guia])).rows
      return {
        guia: await readRows('select g.* from guia g where guia = $1'),
        evento: await readRows('select * from evento where guia = $1 order by secuencia'),
        mensaje: await readRows('select * from mensaje where guia = $1 order by numero'),
        enlace_ubicacion: await readRows(
          'select l.* from enlace_ubicacion l join guia g on g.comercio_id = l.comercio_id and g.id = l.guia_id where g.guia = $1 order by l.numero',
        ),
        enlace_corto: await readRows(
          'select k.* from enlace_corto k join guia g on g.comercio_id = k.comercio_id and g.id = k.guia_id where g.guia = $1 order by k.id',
        ),
      }
    },
  }
  return helpers
}

const DESDE: Record<string, readonly string[]> = {
  solicitada: ['solicitada', 'vencida', 'fallida'],
  confirmada: ['solicitada', 'vencida', 'fallida', 'confirmada'],
  vencida: ['solicitada'],
  fallida: ['solicitada'],
}

/** No gaps, no forbidden step of the place, nothing after an end; and the guide says what its last event says. */
export function checkHistory(guia: Guia & { eventos: { datos: Evento[] } }, initialEstado = 'solicitada') {
  const eventos = guia.eventos.datos
  const eventSummary = eventos.map(({ tipo }) => tipo).join(' ')
  expect(
    eventos.map(({ secuencia }) => secuencia),
    eventSummary,
  ).toEqual(eventos.map((_, i) => i + 1))
  let place = initialEstado
  for (const { tipo } of eventos) {
    const [axis, newState = ''] = tipo.split('.')
    if (axis !== 'ubicacion') continue
    expect(DESDE[newState], eventSummary).toContain(place)
    place = newState
  }
  expect(guia.ubicacion.estado, eventSummary).toBe(place)
  expect(guia.secuencia, eventSummary).toBe(eventos.length)
  const final = eventos.findIndex(({ tipo }) => tipo === 'guia.cancelado')
  if (final !== -1) expect(final, eventSummary).toBe(eventos.length - 1)
  if (guia.ubicacion.estado === 'confirmada') expect(guia.ubicacion.origen, eventSummary).not.toBeNull()
  else expect([guia.ubicacion.origen, guia.ubicacion.lat, guia.ubicacion.lng], eventSummary).toEqual([null, null, null])
}
