import type { CorreccionDeGuia } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { readSchema } from '../contract/schema.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, RECOGIDA, RECOGIDA_VIEW } from '../factories.ts'
import { apiFault } from '../webhooks/webhooks.ts'

const environment = shareEnvironment()
const LUGAR = { lat: 14.72013, lng: -90.64125 }

async function fresh(body = buildGuia({ destinatario: 'Ana Pérez', indicaciones: 'Portón verde' })) {
  const comercio = await environment.createComercio()
  const { api } = comercio
  const createdGuia = await api.guias.crear(body)
  const escanear = async (...estados: string[]) => {
    for (const estado of estados)
      expect((await environment.asOperador('POST', `/guias/${createdGuia.guia}/eventos`, { estado })).status).toBe(201)
  }
  const eventos = async () => (await api.guias.obtener(createdGuia.guia, { limite: 100 })).eventos.datos
  const tipos = async () => (await eventos()).map(({ tipo }) => tipo)
  return { comercio, api, createdGuia, guia: createdGuia.guia, escanear, eventos, tipos }
}

describe('PATCH /api/v1/guias/{guia}', () => {
  it('changes the fields that are present and no others, and null clears one', async () => {
    const { api, createdGuia, guia, eventos } = await fresh()
    const corrected = await api.guias.corregir(guia, {
      telefono: '5987-1234',
      destinatario: 'Luis Ajú',
      indicaciones: null,
      direccion: 'Calle 2',
    })
    const { advertencias, actualizado_en, ...rest } = corrected
    expect(rest).toEqual({
      ...createdGuia,
      telefono: '+50259871234',
      destinatario: 'Luis Ajú',
      indicaciones: null,
      direccion: 'Calle 2',
      secuencia: 2,
      advertencias: undefined,
      actualizado_en: undefined,
    })
    expect([advertencias.map(({ codigo }) => codigo), actualizado_en > createdGuia.actualizado_en]).toEqual([
      ['lugar_por_revisar'],
      true,
    ])
    const [, evento] = await eventos()
    expect(evento).toMatchObject({
      tipo: 'guia.corregida',
      campos: ['/telefono', '/destinatario', '/direccion', '/indicaciones'],
      secuencia: 2,
      estado: 'aceptado',
    })
    expect(JSON.stringify(evento)).not.toMatch(/59871234|Luis|Calle/)
  })

  it('changes and clears each text that may be absent', async () => {
    const { api, guia, eventos } = await fresh()
    const texts = Object.entries(readSchema('CorreccionDeGuia').properties).flatMap(([name, { type }]) =>
      String(type) === 'string,null' ? [name] : [],
    )
    expect(texts.length).toBeGreaterThan(0)
    for (const name of texts)
      for (const value of ['Otro texto', null]) {
        expect(await api.guias.corregir(guia, { [name]: value } as CorreccionDeGuia)).toMatchObject({ [name]: value })
        expect((await eventos()).at(-1)).toMatchObject({ tipo: 'guia.corregida', campos: [`/${name}`] })
      }
  })

  it('writes nothing if the guide already has these values', async () => {
    const { api, createdGuia, guia, tipos } = await fresh()
    const { telefono, destinatario, lat, lng } = createdGuia
    for (const correccion of [
      { telefono: '3148 1676' },
      { destinatario, direccion: null },
      { lat: lat!, lng: lng!, telefono: telefono! },
      { recogida: { nombre: RECOGIDA.nombre, contacto: null } },
      { destinatario, estricto: true },
    ] as CorreccionDeGuia[]) {
      const view = await api.guias.corregir(guia, correccion)
      expect(view.secuencia).toBe('lat' in correccion ? 2 : view.secuencia)
    }
    // The same coordinates, said by the merchant himself, are a place of another origin.
    expect(await tipos()).toEqual(['guia.aceptado', 'ubicacion.confirmada'])
  })

  it('confirms a corrected destination; a place is one value', async () => {
    const { api, guia, eventos } = await fresh()
    const relocation = await api.guias.corregir(guia, LUGAR)
    expect(relocation).toMatchObject({
      ...LUGAR,
      maps_url: null,
      secuencia: 3,
      ubicacion: { estado: 'confirmada', origen: 'comercio', ...LUGAR },
    })
    const linkedGuia = await api.guias.corregir(guia, { maps_url: 'https://www.google.com/maps?q=14.70811,-90.50042' })
    expect(linkedGuia).toMatchObject({
      lat: null,
      lng: null,
      maps_url: 'https://www.google.com/maps?q=14.70811,-90.50042',
      ubicacion: { estado: 'confirmada', lat: 14.70811, lng: -90.50042 },
    })
    expect((await eventos()).filter(({ tipo, lat }) => tipo === 'guia.corregida' && lat !== null)).toEqual([])
    expect((await eventos()).map(({ tipo, campos: fields }) => [tipo, fields])).toEqual([
      ['guia.aceptado', null],
      ['guia.corregida', ['/lat', '/lng']],
      ['ubicacion.confirmada', null],
      ['guia.corregida', ['/lat', '/lng', '/maps_url']],
      ['ubicacion.confirmada', null],
    ])
  })

  it('keeps the confirmed place if only the address or the municipality changes, and warns until it is confirmed', async () => {
    const { api, guia } = await fresh()
    const relocation = await api.guias.corregir(guia, { municipio: 'Mixco', departamento: 'Guatemala' })
    expect(relocation.ubicacion).toMatchObject({ estado: 'confirmada', origen: 'coordenadas', lat: 14.71889 })
    expect(relocation.ubicacion.distancia_km).toBeGreaterThan(5)
    const codigos = (one: typeof relocation) => one.advertencias.map(({ codigo }) => codigo)
    expect(codigos(relocation)).toEqual(['lugar_por_revisar'])
    expect(codigos(await api.guias.corregir(guia, { direccion: 'Calle 9' }))).toEqual(['lugar_por_revisar'])
    const confirmed = await api.guias.confirmarUbicacion(guia, { lat: 14.63077, lng: -90.60711 })
    expect(codigos(confirmed)).toEqual([])
  })

  it('judges the guide as it becomes: unknown municipality, place far away, landline', async () => {
    const { api, guia } = await fresh(buildGuia())
    const codigos = async (correccion: CorreccionDeGuia) =>
      (await api.guias.corregir(guia, correccion)).advertencias.map(({ codigo }) => codigo)
    expect(await codigos({ municipio: 'San Juan Sacatepeques' })).toEqual(['lugar_por_revisar', 'destino_desconocido'])
    expect(await codigos({ departamento: 'Petén', municipio: 'Flores' })).toEqual([
      'lugar_por_revisar',
      'fuera_del_departamento',
    ])
    expect(await codigos({ departamento: 'Guatemala', municipio: 'Mixco' })).toEqual(['lugar_por_revisar'])
    const { api: other, guia: sentRequest } = await fresh(buildGuiaWithoutDestino() as never)
    const fixedOne = await other.guias.corregir(sentRequest, { telefono: '2232 1234' })
    expect(fixedOne.advertencias.map(({ codigo }) => codigo)).toEqual(['telefono_fijo'])
  })

  it('rejects an implausible place if it is strict, and names the field that made it so', async () => {
    const { api, guia } = await fresh(buildGuia())
    const faltas = async (correccion: CorreccionDeGuia) =>
      (await apiFault(api.guias.corregir(guia, { ...correccion, estricto: true }))).errores.map(
        ({ campo: field, codigo }: { campo: string; codigo: string }) => `${field} ${codigo}`,
      )
    expect(await faltas({ lat: 14.63, lng: 90.6 })).toEqual(['/lng lugar_inverosimil'])
    expect(await faltas({ departamento: 'Petén', municipio: 'Flores' })).toEqual(['/departamento lugar_inverosimil'])
    expect((await api.guias.obtener(guia)).secuencia).toBe(1)
    // What was implausible before does not stop another correction.
    await api.guias.corregir(guia, { departamento: 'Petén', municipio: 'Flores' })
    expect((await api.guias.corregir(guia, { telefono: '5987 1234', estricto: true })).telefono).toBe('+50259871234')
  })

  it('is as strict as the account of its merchant, unless the request says otherwise', async () => {
    const { comercio, api, guia } = await fresh()
    await environment.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: true } })
    const place = { lat: 14.63, lng: 90.6 }
    // The service may remember the account as it was for a moment.
    await expect.poll(async () => (await api.cuenta.obtener()).estricto).toBe(true)
    expect(await apiFault(api.guias.corregir(guia, place))).toMatchObject({
      codigo: 'validacion',
      errores: [{ campo: '/lng', codigo: 'lugar_inverosimil' }],
    })
    expect((await api.guias.corregir(guia, { ...place, estricto: false })).ubicacion.lng).toBe(90.6)
  })

  it('corrects the pickup while nobody has collected the parcel', async () => {
    const { api, guia, escanear, eventos } = await fresh()
    const recogida = { contacto: 'Ana Tzul', telefono: '5555 9876', maps_url: 'https://maps.google.com/?q=14.6,-90.5' }
    const corrected = await api.guias.corregir(guia, { recogida })
    expect(corrected.recogida).toEqual({
      ...RECOGIDA_VIEW,
      lat: null,
      lng: null,
      maps_url: recogida.maps_url,
      contacto: 'Ana Tzul',
      telefono: '+50255559876',
    })
    expect((await eventos()).at(-1)!.campos).toEqual(
      ['lat', 'lng', 'maps_url', 'contacto', 'telefono'].map((member) => `/recogida/${member}`),
    )
    expect((await api.guias.corregir(guia, { recogida: { contacto: null } })).recogida.contacto).toBeNull()
    await escanear('recolectado')
    const error = await apiFault(api.guias.corregir(guia, { recogida: { contacto: 'Otra' }, telefono: '5987 1234' }))
    expect(error).toMatchObject({ estadoHttp: 409, codigo: 'no_corregible', estado: 'recolectado' })
    expect(error.admitidaEn).toEqual(['aceptado'])
    expect(error.problema.mensaje).toBe(
      'La guía está en recolectado y la recogida ya no se corrige. Envíe los demás campos sin recogida.',
    )
    expect((await api.guias.corregir(guia, { telefono: '5987 1234' })).telefono).toBe('+50259871234')
    await escanear('en_ruta')
    expect((await apiFault(api.guias.corregir(guia, { recogida: { contacto: 'Otra' } }))).problema.mensaje).toBe(
      'La guía está en en_ruta y la recogida ya no se corrige.',
    )
  })

  it('is possible until the courier leaves, and again after a failed attempt', async () => {
    const { api, guia, escanear } = await fresh()
    const puede = (number: number) =>
      api.guias.corregir(guia, { direccion: `Calle ${number}` }).then(
        () => 'sí',
        ({ problema }) => `${problema.codigo}: ${problema.mensaje}`,
      )
    const seen: string[] = [await puede(0)]
    for (const [i, estado] of ['recolectado', 'en_bodega', 'en_transito', 'en_ruta'].entries()) {
      await escanear(estado)
      seen.push(await puede(i + 1))
    }
    await environment.asOperador('POST', `/guias/${guia}/eventos`, {
      estado: 'intento_fallido',
      motivo: 'destinatario_ausente',
    })
    seen.push(await puede(9))
    await escanear('en_devolucion')
    seen.push(await puede(10))
    await escanear('extraviado')
    seen.push(await puede(11))
    expect(seen).toEqual([
      'sí',
      'sí',
      'sí',
      'sí',
      'no_corregible: La guía está en en_ruta. Esa corrección se admite otra vez tras un intento fallido.',
      'sí',
      'no_corregible: La guía está en en_devolucion y ya no se corrige. Si hace falta, hable con el servicio de mensajería.',
      'no_corregible: La guía está en extraviado. Esa corrección se admite otra vez cuando el paquete aparezca.',
    ])
  })

  it('requires the sequence that was read, if one is sent', async () => {
    const { api, guia } = await fresh()
    expect((await api.guias.corregir(guia, { destinatario: 'Luis', secuencia: 1 })).secuencia).toBe(2)
    const error = await apiFault(api.guias.corregir(guia, { destinatario: 'Eva', secuencia: 1 }))
    expect(error).toMatchObject({ estadoHttp: 409, codigo: 'carrera_perdida', secuencia: 2, intentos: 1 })
    expect((await api.guias.obtener(guia)).destinatario).toBe('Luis')
  })

  it.each<[string, object, string]>([
    ['nothing', {}, ' valor_no_admitido'],
    ['only a country', { pais: 'GT' }, ' valor_no_admitido'],
    ['only what goes with a correction', { secuencia: 1, estricto: true }, ' valor_no_admitido'],
    ['a cleared telephone', { telefono: null }, '/telefono tipo_invalido'],
    ['a cleared municipality', { municipio: null }, '/municipio tipo_invalido'],
    ['a cleared destination', { lat: null, lng: null }, '/lat tipo_invalido /lng tipo_invalido'],
    ['half a place', { lat: 14.6 }, '/lng incompatible'],
    ['an unreadable telephone', { telefono: '12' }, '/telefono formato_invalido'],
    ['an unreadable pickup telephone', { recogida: { telefono: '12' } }, '/recogida/telefono formato_invalido'],
    ['a reference', { external_ref: 'OTRA' }, '/external_ref desconocido'],
    ['invisible characters', { destinatario: '\u200b' }, '/destinatario formato_invalido'],
  ])('rejects %s and names the field', async (_description, body, faltas) => {
    const { comercio, guia } = await fresh()
    const response = await environment.request('PATCH', `/api/v1/guias/${guia}`, { llave: comercio.llave, body })
    const listedFaults = response.body.errores.map(
      (one: { campo: string; codigo: string }) => `${one.campo} ${one.codigo}`,
    )
    expect([response.status, listedFaults.join(' ')]).toEqual([422, faltas])
  })

  it('says that the telephone cannot be cleared', async () => {
    const { api, guia } = await fresh()
    const error = await apiFault(api.guias.corregir(guia, { telefono: null } as never))
    expect(error.errores[0]!.mensaje).toBe(
      'no puede ser null; debe ser un texto de 40 caracteres como mucho, por ejemplo +50255551234',
    )
  })

  it('returns the guide when its creation is repeated with the data before the correction', async () => {
    const body = buildGuia({ destinatario: 'Ana Pérez' })
    const { api, guia } = await fresh(body)
    await api.guias.corregir(guia, { destinatario: 'Luis Ajú', telefono: '5987 1234' })
    const repeated = await api.guias.crear(body).conRespuesta()
    expect([repeated.estadoHttp, repeated.datos.guia, repeated.datos.destinatario]).toEqual([200, guia, 'Luis Ajú'])
    const error = await apiFault(api.guias.crear({ ...body, destinatario: 'Luis Ajú' }))
    expect(error).toMatchObject({ codigo: 'external_ref_en_conflicto', guia })
  })

  it('stops after 30 corrections, and still accepts what changes nothing', async () => {
    const { api, guia } = await fresh()
    for (let n = 1; n <= 30; n++) await api.guias.corregir(guia, { direccion: `Calle ${n}` })
    expect((await api.guias.corregir(guia, { direccion: 'Calle 30' })).secuencia).toBe(31)
    const error = await apiFault(api.guias.corregir(guia, { direccion: 'Calle 31' }))
    expect(error).toMatchObject({ estadoHttp: 409, codigo: 'limite_de_correcciones' })
  })
})
