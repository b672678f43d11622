// Every place that holds a person of a guide: it is exported, and nothing of it is left after the erasure.

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuiaParaCrear, ResultadoCreado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { indexGuias } from '../../server/domain/busqueda/index.ts'
import { soundOf } from '../../server/domain/busqueda/words.ts'
import { decryptChanges } from '../../server/domain/records/correccionCipher.ts'
import { uploadArchivo } from '../archivos/images.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, RECOGIDA, waitUntil } from '../factories.ts'
import { SECRETOS } from '../ubicacion/requests.ts'
import { answerWith, useReceivers } from '../webhooks/receiver.ts'
import { listClassifiedColumns, listErasedColumns, readSchemaColumns } from './places.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()

/** A person whose name, telephone and place stand nowhere else. */
interface MarkedPersona {
  /** Her name. A place has it with a number of its own. */
  nombre: string
  telefono: string
  lat: number
  lng: number
}
const markedEntry = (nombre: string, n: number): MarkedPersona => ({
  nombre,
  telefono: `+5025555630${n}`,
  lat: 14.7 + n / 1000 + 0.000357,
  lng: -90.6 - n / 1000 - 0.000468,
})
/** Finds her in a text. Search keys have her name by its sound. */
const patternOf = ({ nombre, telefono, lat, lng }: MarkedPersona) =>
  new RegExp([nombre, soundOf(nombre.toLowerCase()), telefono.slice(1), lat, lng].join('|').replaceAll('.', '\\.'))

const execute = async (...args: string[]) => {
  const { output, errores } = await runInProcess(['persona', ...args, '--json'], consoleEnvironment(environment))
  expect(errores).toBe('')
  return { texto: output, documento: JSON.parse(output) }
}

/** Columns of any table, of the queue too, with what they hold of a person. */
async function findColumnsWith(pattern: RegExp): Promise<Map<string, string>> {
  const { pool } = environment.db
  const { rows: tables } = await pool.query<{ esquema: string; tabla: string }>(
    `select table_schema as esquema, table_name as tabla from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  const findings = new Map<string, string>()
  const anotar = (column: string, text: string) => {
    if (pattern.test(text)) findings.set(column, `${findings.get(column) ?? ''}${text}`)
  }
  for (const { esquema: schemaName, tabla: tableName } of tables) {
    const { rows } = await pool.query<{ columna: string; texto: string }>(
      `select j.key as columna, j.value as texto from ${schemaName}.${tableName} t, jsonb_each_text(to_jsonb(t)) j
       where j.value ~ $1`,
      [pattern.source],
    )
    for (const { columna: columnName, texto: text } of rows)
      anotar(schemaName === 'public' ? `${tableName}.${columnName}` : schemaName, text)
  }
  const { rows: corregidas } = await pool.query(
    'select guia_id, secuencia, cambios from evento where cambios is not null',
  )
  for (const { cambios, ...evento } of corregidas)
    anotar('evento.cambios', JSON.stringify(decryptChanges(SECRETOS, evento, cambios)))
  const { rows: firmados } = await pool.query('select manifiesto from prueba_entrega where manifiesto is not null')
  for (const { manifiesto } of firmados)
    anotar('prueba_entrega.manifiesto', Buffer.from(manifiesto.split('.')[1], 'base64url').toString())
  return findings
}
const namesOf = async (persona: MarkedPersona) => [...(await findColumnsWith(patternOf(persona))).keys()].sort()

const archivosOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))

/** Expects that nothing of a person is left in tables, queues, files and logs. */
async function expectNothingOf(persona: MarkedPersona, archivos: readonly string[] = []) {
  expect(await namesOf(persona)).toEqual([])
  const guardados = archivosOf(environment.dataDir)
  expect(guardados.filter((path) => archivos.some((file) => path.endsWith(file)))).toEqual([])
  for (const path of guardados) expect(readFileSync(path, 'latin1')).not.toMatch(patternOf(persona))
  expect(environment.log.join('')).not.toMatch(patternOf(persona))
}

/** What comes from outside of the service, or from a camera: her provider's words, servers' answers, the place of a photo. */
async function outsider(guia: string, { nombre, telefono, lat, lng }: MarkedPersona) {
  const { pool } = environment.db
  await pool.query('update mensaje set motivo = $2, proveedor_id = $3 where guia = $1', [
    guia,
    `${nombre}1`,
    `wamid.${telefono}`,
  ])
  await pool.query(
    `update webhook_aviso set exito = (exito::jsonb || jsonb_build_object('cuerpo', $2::text))::json
     where evento like $1 and exito is not null`,
    [`evt_${guia}_%`, `${nombre}2`],
  )
  await pool.query(
    `insert into webhook_intento (comercio_id, modo, webhook, guia_id, secuencia, id, numero, tardio, causa, iniciado_en,
       url, secretos, total_ms, cuerpo, cabeceras, cuerpo_truncado, detalle)
     select comercio_id, modo, webhook, guia_id, secuencia, gen_random_uuid(), 1, false, causa, now(), 'x', '{}', 1,
       $2, jsonb_build_object('x-quien', $3::text), false, $4 from webhook_aviso where evento = $1`,
    [`evt_${guia}_1`, `${nombre}3`, `${nombre}4`, `${nombre}5`],
  )
  await pool.query(
    `update archivo a set lat = $2, lng = $3 from guia g where g.guia = $1 and g.comercio_id = a.comercio_id
       and g.modo = a.modo and g.id = a.guia_id`,
    [guia, lat, lng],
  )
  // A short link whose site did not answer is tried again tomorrow.
  await pool.query(
    `insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
     select comercio_id, modo, id, gen_random_uuid(), $2, now() + interval '1 day' from guia where guia = $1
     on conflict (comercio_id, modo, guia_id) do update set maps_url = excluded.maps_url`,
    [guia, `https://maps.app.goo.gl/${nombre}6`],
  )
}

const received = ({ nombre, telefono }: MarkedPersona) =>
  environment.db.pool.query('insert into entrante values ($1, $2, $3, now(), now())', [
    randomUUID(),
    Buffer.from(telefono),
    `{"from":"${telefono.slice(1)}","name":"${nombre}7"}`,
  ])

async function createComercioWithWebhook(): Promise<Comercio> {
  const comercio = await environment.createComercio()
  await comercio.api.webhooks.crear({ url: (await openReceiver(answerWith(204))).url })
  return comercio
}

const evento = async (guia: string, body: object, key?: string) => {
  const response = await environment.asOperador('POST', `/guias/${guia}/eventos`, body, key)
  expect([response.body.codigo, response.status]).toEqual([undefined, 201])
}

const recogidaOf = ({ nombre, telefono }: MarkedPersona, n: number) => ({
  ...RECOGIDA,
  nombre: `Casa de ${nombre}${n}`,
  contacto: `${nombre}${n + 1}`,
  telefono,
  direccion: `Calle ${nombre}${n + 2}`,
  indicaciones: `Tocar donde ${nombre}${n + 3}`,
})

/** Attempts a delivery. A photo was taken at the door. */
async function attempt(guia: string, descripcion: string) {
  const { archivo } = (await uploadArchivo(environment, guia)).body
  await evento(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente', descripcion, fotos: [archivo] })
  return archivo as string
}

/** A delivered guide that holds its recipient in each place that can hold one. */
async function createGuiaOfRecipient(persona: MarkedPersona): Promise<string> {
  const { nombre, telefono, lat, lng } = persona
  const comercio = await createComercioWithWebhook()
  const { api } = comercio
  const { external_ref: _, ...sentRequest } = buildGuiaWithoutDestino({
    telefono,
    destinatario: `${nombre} Paz`,
    direccion: `Calle ${nombre}8`,
    contenido: `Caja de ${nombre}9`,
    indicaciones: `Casa de ${nombre}10`,
    metadatos: { comprador: `${nombre}11` },
    recogida: recogidaOf(persona, 12),
  })
  const foreign = buildGuia()
  const options = { claveDeIdempotencia: `${nombre}28` }
  const { resultados } = await api.guias.crearLote({ guias: [foreign, sentRequest as GuiaParaCrear] }, options)
  const { guia } = resultados[1] as ResultadoCreado
  await environment.waitForQuiet()
  await evento(guia, { estado: 'recolectado' })
  const razon = `${nombre}16 dijo dónde vive`
  await evento(guia, { estado: 'en_ruta', forzar: { razon } }, `${nombre}17`)
  await evento(guia, { tipo: 'guia.nota', descripcion: `Llamó ${nombre}18`, lat, lng })
  await attempt(guia, `No abrió ${nombre}19`)
  await environment.asOperador('POST', `/guias/${guia}/notas`, { texto: `Habló ${nombre}20` }, `${nombre}21`)
  const correccion = {
    indicaciones: `Dejar con un vecino: ${nombre}22`,
    lat,
    lng,
    maps_url: `https://www.google.com/maps?q=${lat},${lng}&de=${nombre}24`,
  }
  await api.guias.corregir(guia, correccion, { claveDeIdempotencia: `${nombre}23` })
  await api.guias.confirmarUbicacion(guia, { lat, lng, referencia: `Frente a ${nombre}25` })
  await evento(guia, { estado: 'en_ruta' })
  const [foto, firma] = [
    await uploadArchivo(environment, guia),
    await uploadArchivo(environment, guia, { tipo: 'firma' }),
  ]
  const receivedBy = { nombre: `${nombre}26`, documento: `${nombre}27`, relacion: 'vecino' }
  const entrega = { recibido_por: receivedBy, fotos: [foto.body.archivo], firma: firma.body.archivo, lat, lng }
  expect((await environment.asOperador('POST', `/guias/${guia}/entrega`, entrega)).status).toBe(201)
  await waitUntil(async () => (await api.guias.pruebaEntrega(guia)).manifiesto)
  await environment.waitForQuiet()
  const findableSql =
    'select from busqueda b join guia g on g.comercio_id = b.comercio_id and g.id = b.id where g.guia = $1'
  await waitUntil(async () => {
    await indexGuias({ db: environment.db })
    return ((await environment.db.pool.query(findableSql, [guia])).rowCount ?? 0) > 0
  })
  await outsider(guia, persona)
  return guia
}

/** A guide under way that holds a former recipient in each place that can hold one. */
async function previousDigest(persona: MarkedPersona, next: string): Promise<string> {
  const { nombre, telefono, lat, lng } = persona
  const { api } = await createComercioWithWebhook()
  const { guia } = await api.guias.crear(
    buildGuiaWithoutDestino({ telefono, destinatario: `${nombre} Paz`, metadatos: { comprador: `${nombre}11` } }),
  )
  await environment.waitForQuiet()
  await evento(guia, { estado: 'recolectado' })
  await evento(guia, { estado: 'en_ruta', forzar: { razon: `${nombre}16 dijo dónde vive` } })
  await api.guias.confirmarUbicacion(guia, { lat, lng, referencia: `Frente a ${nombre}25` })
  const foto = await attempt(guia, `No abrió ${nombre}19`)
  await environment.asOperador('POST', `/guias/${guia}/notas`, { texto: `Habló ${nombre}20` })
  await environment.waitForQuiet()
  await outsider(guia, persona)
  // As if the delivery to a neighbour was undone.
  const manifiesto = Buffer.from(JSON.stringify({ posicion: { lat, lng } })).toString('base64url')
  await environment.db.pool.query(
    `insert into prueba_entrega (comercio_id, modo, guia_id, id, secuencia, recibido_por, lat, lng, fotos, pdf, manifiesto,
       evidencia, proximo_en, entregado_en, registrado_en, rectificada_en)
     select comercio_id, modo, id, gen_random_uuid(), secuencia, jsonb_build_object('nombre', $2::text), $3, $4, $5, $6, $7,
       '{}', now(), now(), now(), now() from guia where guia = $1`,
    [guia, `${nombre}26`, lat, lng, [foto], foto, `x.${manifiesto}.x`],
  )
  const { secuencia } = await api.guias.obtener(guia)
  expect(secuencia).toBeGreaterThan(3)
  await api.guias.corregir(guia, { telefono: next, destinatario: 'Otra Persona', lat: 14.75, lng: -90.65 })
  await environment.waitForQuiet()
  return guia
}

describe('a place that holds a person', () => {
  it('is one of the classified columns of the schema', () => {
    expect(listClassifiedColumns()).toEqual(readSchemaColumns())
  })

  it('as a recipient is exported, and erased by the telephone', async () => {
    const persona = markedEntry('Zurikata', 1)
    const guia = await createGuiaOfRecipient(persona)
    await received(persona)
    await environment.waitForQuiet()
    const before = await findColumnsWith(patternOf(persona))
    expect([...before.keys()].sort()).toEqual(listErasedColumns('destinatario'))
    const { texto: text, documento } = await execute('exportar', '--telefono', persona.telefono)
    expect(documento.guias.map((one: { guia: string }) => one.guia)).toEqual([guia])
    const messages = [...[...before.values()].join().matchAll(/Zurikata\d+/g)].map(([message]) => message)
    expect([...new Set(messages)].filter((message) => !text.includes(message))).toEqual([])
    expect(messages.length).toBeGreaterThan(27)
    const { documento: erasure } = await execute('olvidar', '--telefono', persona.telefono, '--si')
    expect(erasure).toMatchObject({ guias: 1, entrantes: 1, en_curso: [] })
    await expectNothingOf(persona, documento.guias[0].archivos)
  })

  it('without a telephone is exported, and erased by the guide', async () => {
    const persona = markedEntry('Ekironda', 2)
    const guia = await createGuiaOfRecipient(persona)
    // A correction replaced her telephone, and the delivery was hers all the same.
    await environment.db.pool.query(
      `insert into telefono_anterior (comercio_id, modo, guia_id, secuencia, telefono)
       select comercio_id, modo, id, secuencia, telefono from guia where guia = $1`,
      [guia],
    )
    const before = await findColumnsWith(patternOf(persona))
    expect([...before.keys()].sort()).toEqual(listErasedColumns('guia'))
    const { texto: text, documento } = await execute('exportar', '--guia', guia.toLowerCase())
    const messages = [...[...before.values()].join().matchAll(/Ekironda\d+/g)].map(([message]) => message)
    expect([...new Set(messages)].filter((message) => !text.includes(message))).toEqual([])
    const { documento: erasure } = await execute('olvidar', '--guia', guia, '--si')
    expect(erasure).toMatchObject({ guias: 1, en_curso: [] })
    await expectNothingOf(persona, documento.guias[0].archivos)
  })

  it('as a former recipient is exported, and erased by the former telephone', async () => {
    const persona = markedEntry('Befranio', 3)
    const guia = await previousDigest(persona, '+50255556399')
    await received(persona)
    // The search forgets the former recipient once its job has read the correction.
    const before = await waitUntil(async () => {
      const columns = await findColumnsWith(patternOf(persona))
      return !columns.has('busqueda.claves') && columns
    })
    expect([...before.keys()].sort()).toEqual(listErasedColumns('anterior'))
    const { texto: text, documento } = await execute('exportar', '--telefono', persona.telefono)
    const messages = [...[...before.values()].join().matchAll(/Befranio\d+/g)].map(([message]) => message)
    expect([...new Set(messages)].filter((message) => !text.includes(message))).toEqual([])
    expect(documento.anteriores[0].metadatos).toEqual({ comprador: 'Befranio11' })
    // The present recipient does not get the metadata of the creation.
    expect((await execute('exportar', '--telefono', '+50255556399')).texto).not.toMatch(/Befranio11/)
    const { documento: erasure } = await execute('olvidar', '--telefono', persona.telefono, '--si')
    expect(erasure).toMatchObject({ guias: 0, anteriores: 1, sin_metadatos: [guia] })
    await expectNothingOf(persona, documento.anteriores[0].periodos[0].archivos)
  })

  it('as the contact of a pickup, present or former, is exported, and erased by the contact’s telephone', async () => {
    const persona = markedEntry('Cotulipe', 4)
    const { api } = await createComercioWithWebhook()
    const recogida = recogidaOf(persona, 12)
    const { guia: currentGuia } = await api.guias.crear(buildGuia({ recogida }))
    const { guia: anterior } = await api.guias.crear(buildGuia({ recogida: recogidaOf(persona, 32) }))
    const other = { ...RECOGIDA, contacto: 'Otro Contacto', telefono: '+50255556398' }
    await api.guias.corregir(anterior, { recogida: { ...other, direccion: null, indicaciones: null } })
    await environment.waitForQuiet()
    await environment.db.pool.query(
      `update webhook_aviso set exito = (exito::jsonb || '{"cuerpo": "Cotulipe12"}')::json where evento like $1`,
      [`evt_${currentGuia}_%`],
    )
    await environment.db.pool.query(
      `insert into webhook_intento (comercio_id, modo, webhook, guia_id, secuencia, id, numero, tardio, causa, iniciado_en,
         url, secretos, total_ms, cuerpo, cabeceras, cuerpo_truncado, detalle)
       select comercio_id, modo, webhook, guia_id, secuencia, gen_random_uuid(), 1, false, causa, now(), 'x', '{}', 1,
         'Cotulipe12', '{"x": "Cotulipe12"}', false, 'Cotulipe12' from webhook_aviso where evento = $1`,
      [`evt_${currentGuia}_1`],
    )
    const before = await findColumnsWith(patternOf(persona))
    expect([...before.keys()].sort()).toEqual(listErasedColumns('recogida'))
    const { texto: text, documento } = await execute('exportar', '--telefono', persona.telefono)
    const messages = [...[...before.values()].join().matchAll(/Cotulipe\d+/g)].map(([message]) => message)
    expect([...new Set(messages)].filter((message) => !text.includes(message))).toEqual([])
    expect(text).not.toMatch(/Otro Contacto|31481676/)
    expect(documento.recogidas.map(({ guia }: { guia: string }) => guia)).toEqual([currentGuia, anterior])

    // The pickup of a guide under way stays, because the parcel may return there.
    const { documento: first } = await execute('olvidar', '--telefono', persona.telefono, '--si')
    expect(first).toMatchObject({ guias: 0, recogidas: 1, en_curso: [currentGuia] })
    expect((await api.guias.obtener(currentGuia)).recogida).toMatchObject(recogida)
    await api.guias.cancelar(currentGuia)
    const { documento: second } = await execute('olvidar', '--telefono', persona.telefono, '--si')
    expect(second).toMatchObject({ guias: 0, recogidas: 1, en_curso: [] })
    await expectNothingOf(persona)
    // The recipients' data stays, and so does the present contact.
    expect(await api.guias.obtener(currentGuia)).toMatchObject({ telefono: '+50231481676', datos_borrados_en: null })
    expect((await api.guias.obtener(anterior)).recogida).toMatchObject(other)
  })

  it('stays in a guide under way, which the erasure names', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ destinatario: 'Marimba Sol' }))
    const { documento } = await execute('olvidar', '--guia', guia, '--si')
    expect(documento).toMatchObject({ guias: 0, en_curso: [guia] })
    expect((await api.guias.obtener(guia)).destinatario).toBe('Marimba Sol')
  })
})
