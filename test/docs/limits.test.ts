// The chapter «Límites» says the figures of the code.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MAX_JSON_BYTES, readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { JSON_LIMITS } from '../../server/api/http/strictJson.ts'
import { DEFAULT_RATES, KEYS_PER_MERCHANT, keyRate, MAX_SIMULTANEOUS } from '../../server/api/limits/rates.ts'
import { MAX_PER_TELEFONO } from '../../server/domain/mensajeria/phoneQuota.ts'
import { RESENDS_PER_GUIA } from '../../server/domain/ubicacion/resend.ts'
import { MAX_BATCH_FAULTS, MAX_FAULTS } from '../../server/platform/errors.ts'
import { ROOT } from '../../server/platform/root.ts'

const text = readFileSync(new URL('openapi/comercios/guia/10-limites.md', ROOT), 'utf8').replace(/\s+/g, ' ')
const ritmos = keyRate(DEFAULT_RATES)
const lote = readOperations(readDocument()).find(({ id }) => id === 'crearLote')!

describe('the chapter of limits', () => {
  it.each([
    ['bodies', `${MAX_JSON_BYTES / 1024} KB; ${lote.limite / 1024 ** 2} MB en lotes`],
    ['faults', `${MAX_FAULTS}; un lote, ${MAX_BATCH_FAULTS}`],
    [
      'requests of a second',
      `**${ritmos.solicitudes.perSecond} solicitudes por segundo** (${ritmos.solicitudes.burst}`,
    ],
    ['guides of a second', `**${ritmos.guias.perSecond} guías por segundo** (${ritmos.guias.burst} seguidas)`],
    ['labels', `${ritmos.documentos.perSecond} por segundo (${ritmos.documentos.burst} seguidas)`],
    ['recoveries', `cada ${1 / ritmos.recuperaciones.perSecond} segundos (${ritmos.recuperaciones.burst} seguidas)`],
    ['changes of webhooks', `a uno por segundo (${ritmos.cambios.burst} seguidos)`],
    ['all keys of a merchant', KEYS_PER_MERCHANT === 2 ? 'el doble de solicitudes y de guías' : '?'],
    ['requests at the same time', `más de ${MAX_SIMULTANEOUS + DEFAULT_RATES.solicitudes} solicitudes a la vez`],
    ['depth of JSON', `más de ${JSON_LIMITS.depth} niveles`],
    ['keys of JSON', `más de ${JSON_LIMITS.keyLength} caracteres`],
    ['members of JSON', `objetos de más de ${JSON_LIMITS.properties} miembros`],
    ['location requests', `${RESENDS_PER_GUIA} reenvíos por guía`],
    ['location requests of a telephone', `${MAX_PER_TELEFONO.hora} por hora y ${MAX_PER_TELEFONO.dia} al día`],
  ])('says the figure of %s', (_description, phrase) => expect(text).toContain(phrase))
})
