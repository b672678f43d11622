// What the console does for a person who asks what is kept of her, or asks to be forgotten.

import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isDistributed } from '../../server/data/db.ts'
import { Bitacora } from '../../server/domain/bitacora/bitacora.ts'
import { linkChains } from '../../server/domain/bitacora/linkChain.ts'
import { eraseTelefono } from '../../server/domain/personas/eraseTelefono.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { uploadArchivo } from '../archivos/images.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { type Comercio, MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, readTestSettings, waitUntil } from '../factories.ts'
import { answerWith, useReceivers } from '../webhooks/receiver.ts'
import { findTablesWith } from './tables.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()

const TELEFONO = '+50255557788'
const OWN_DATA = /55557788|Quetzalina|Calzada Irrepetible|Portón ámbar|Vecino Testigo|9988 77777 0101/
const DE_ELLA = {
  telefono: TELEFONO,
  destinatario: 'Quetzalina Paz',
  direccion: 'Calzada Irrepetible 7-77',
  indicaciones: 'Portón ámbar',
  metadatos: { comprador: 'Quetzalina Paz' },
}

const tablesWith = (pattern: RegExp) => findTablesWith(environment.db, pattern)
const SECRETOS = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
const admin = (...args: string[]) => runInProcess(args, consoleEnvironment(environment))
const json = (output: string) => JSON.parse(output)

/** Delivered by an operator, with whatever is kept of that on the way; its PDF is made. */
async function deliver({ api, llave }: Comercio, guia: string, nombre: string) {
  await environment.request('POST', `/api/v1/guias/${guia}/ubicacion`, {
    llave,
    body: { lat: 14.71889, lng: -90.64417 },
  })
  await environment.asOperador('POST', `/guias/${guia}/eventos`, {
    tipo: 'guia.nota',
    descripcion: `Llamar a ${nombre}`,
  })
  for (const estado of ['recolectado', 'en_ruta'])
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })
  const [foto, firma] = [
    await uploadArchivo(environment, guia),
    await uploadArchivo(environment, guia, { tipo: 'firma' }),
  ]
  const { status } = await environment.asOperador('POST', `/guias/${guia}/entrega`, {
    recibido_por: { nombre, documento: nombre === 'Otra Persona' ? '1' : '9988 77777 0101', relacion: 'vecino' },
    fotos: [foto.body.archivo],
    firma: firma.body.archivo,
    lat: 14.7189,
    lng: -90.6442,
  })
  expect(status).toBe(201)
  return waitUntil(async () => {
    const { pdf } = await api.guias.pruebaEntrega(guia)
    return pdf ?? undefined
  })
}

const archivosOf = async (folder: string) =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))

/** What a provider sent, worked on already or not. */
const entrante = (body: string, done: boolean) =>
  environment.db.pool.query('insert into entrante values ($1, $2, $3, now(), $4)', [
    randomUUID(),
    Buffer.from(body),
    body,
    done ? new Date() : null,
  ])

/** As if her merchant's server, which isn't on this machine, had repeated what it was sent. */
async function repeatInResponses(guia: string) {
  const { rowCount } = await environment.db.pool.query(
    `update webhook_aviso set exito = (exito::jsonb || '{"cuerpo": "{\\"a\\": \\"+50255557788\\"}"}')::json
     where evento like $1 and exito is not null`,
    [`evt_${guia}_%`],
  )
  expect(rowCount).toBeGreaterThan(0)
  await environment.db.pool.query(
    `insert into webhook_intento (comercio_id, modo, webhook, guia_id, secuencia, id, numero, tardio, causa, iniciado_en, url,
       secretos, total_ms, cuerpo, cuerpo_truncado, detalle)
     select comercio_id, modo, webhook, guia_id, secuencia, gen_random_uuid(), 1, false, causa, now(), 'x', '{}', 1,
       'gracias, Quetzalina', false, 'Quetzalina' from webhook_aviso where evento = $1`,
    [`evt_${guia}_1`],
  )
}

const verificar = async () => {
  await linkChains({
    db: environment.db,
    clock: () => new Date(),
    log: createLog('silent'),
    secretos: SECRETOS,
    settings: readTestSettings(),
  })
  return admin('bitacora', 'verificar', '--json')
}

describe('a person', () => {
  it('gets all that is kept of her, and is forgotten everywhere; nobody else is', async () => {
    const [ceiba, other] = [await environment.createComercio(), await environment.createComercio()]
    await ceiba.api.webhooks.crear({ url: (await openReceiver(answerWith(204))).url })
    const sentRequest = buildGuiaWithoutDestino(DE_ELLA) as ReturnType<typeof buildGuia>
    const { guia } = await ceiba.api.guias.crear(sentRequest)
    const pdf = await deliver(ceiba, guia, 'Vecino Testigo')
    const foreign = await ceiba.api.guias.crear(buildGuia())
    const foreignPdf = await deliver(ceiba, foreign.guia, 'Otra Persona')
    const activeGuia = await other.api.guias.crear(buildGuia(DE_ELLA))
    const onlyOwnGuia = await other.api.guias.crear(buildGuia(DE_ELLA))
    await other.api.guias.cancelar(onlyOwnGuia.guia, { razon: 'Quetzalina ya no lo quiere' })
    await environment.waitForQuiet()
    await repeatInResponses(guia)
    await environment.asOperador('POST', `/guias/${guia}/notas`, { texto: 'Llamó Quetzalina' })
    await entrante('{"messages":[{"from":"50255557788","text":"Soy Quetzalina"}]}', true)
    await entrante('{"messages":[{"from":"150255557788","text":"otro"}]}', true)
    expect(await verificar()).toMatchObject({ codigo: 0 })
    const all = ['entrante', 'evento', 'guia', 'mensaje', 'nota', 'prueba_entrega', 'webhook_aviso', 'webhook_intento']
    expect(await tablesWith(OWN_DATA)).toEqual(all.map((table) => `public.${table}`))

    const folder = join(environment.dataDir, '..', `expediente-${guia}`)
    const { codigo, output } = await admin('persona', 'exportar', '--telefono', TELEFONO, '--carpeta', folder)
    const documento = json(output)
    expect(codigo).toBe(0)
    expect(documento.guias.map((one: { guia: string }) => one.guia)).toEqual([guia, activeGuia.guia, onlyOwnGuia.guia])
    expect(Object.keys(documento.guias[0].tablas).sort()).toEqual(
      [
        ...all.filter((table) => table !== 'entrante'),
        'archivo',
        'clave_idempotencia',
        'enlace_corto',
        'enlace_ubicacion',
        'prueba_intento',
      ].sort(),
    )
    expect(documento.guias[0].tablas.guia.metadatos).toEqual(DE_ELLA.metadatos)
    const { personaRetention, ubicacionRetention } = readTestSettings()
    const dateAfterEnd = (days: number) =>
      new Date(Date.parse(documento.guias[0].tablas.guia.estado_en) + days * 86_400_000).toISOString()
    expect(documento.guias[0].hasta).toEqual({
      personas: dateAfterEnd(personaRetention),
      ubicaciones: dateAfterEnd(ubicacionRetention),
      prueba: expect.stringMatching(/Z$/),
    })
    expect(documento.guias[1].hasta).toEqual({ personas: null, ubicaciones: null, prueba: null })
    expect(JSON.stringify(documento.guias[0].tablas)).toMatch(/gracias, Quetzalina/)
    expect(documento.guias[0].tablas.prueba_entrega[0].recibido_por.documento).toBe('9988 77777 0101')
    expect(documento.entrante).toHaveLength(1)
    expect(JSON.stringify(documento)).not.toMatch(/huella|Otra Persona/)
    expect((await archivosOf(folder)).length).toBe(3)
    const ofOne = json(
      (await admin('persona', 'exportar', '--telefono', TELEFONO, '--comercio', other.comercio)).output,
    )
    expect(ofOne.guias).toHaveLength(2)

    // A program has to say so.
    const erase = (...more: string[]) => admin('persona', 'olvidar', '--telefono', TELEFONO, '--json', ...more)
    expect(await erase()).toMatchObject({ codigo: 2, errores: expect.stringContaining('Falta --si') })
    const first = await erase('--si')
    expect([first.codigo, json(first.output)]).toEqual([
      1,
      {
        guias: 2,
        anteriores: 0,
        sin_metadatos: [],
        recogidas: 0,
        entrantes: 1,
        entrantes_pendientes: 0,
        en_curso: [activeGuia.guia],
        repartidores: [],
      },
    ])
    expect(await tablesWith(OWN_DATA)).toEqual(['public.entrante', 'public.guia'])
    await other.api.guias.cancelar(activeGuia.guia)
    expect((await erase('--si')).codigo).toBe(0)
    expect(json((await erase('--si')).output).guias).toBe(0)
    await environment.db.pool.query(`delete from entrante where cuerpo like '%150255557788%'`)
    expect(await tablesWith(OWN_DATA)).toEqual([])

    // Her files are gone, the other's are there.
    const names = (await archivosOf(join(environment.dataDir, 'archivos'))).map((path) => path.split('/').at(-1))
    const ownArchivos = documento.guias[0].archivos as string[]
    expect(names.filter((name) => ownArchivos.includes(name!))).toEqual([])
    expect(names.filter((name) => name!.startsWith('arch_'))).toHaveLength(3)
    for (const path of await archivosOf(environment.dataDir))
      expect((await readFile(path)).toString('utf8')).not.toMatch(OWN_DATA)

    // What was delivered still was; whoever has her PDF is told the truth, and the other's is genuine.
    expect(await ceiba.api.guias.crear(sentRequest)).toMatchObject({ guia, estado: 'entregado', telefono: null })
    await expect(ceiba.api.guias.crear({ ...sentRequest, municipio: 'Mixco' })).rejects.toMatchObject({
      estadoHttp: 409,
    })
    const { llave } = ceiba
    const prueba = await environment.request('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave })
    expect([prueba.status, prueba.body.mensaje]).toEqual([404, expect.stringMatching(/se borró .* a petición/)])
    const comprobar = async (target: string, sha256: string) =>
      (await environment.request('POST', `/verificar/${target}/comprobar`, { body: { sha256 } })).body.resultado
    expect(await comprobar(guia, pdf.sha256)).toBe('sin_prueba')
    expect(await comprobar(foreign.guia, foreignPdf.sha256)).toBe('autentica')
    expect(await (await fetch(`${environment.url}/verificar/${guia}`)).text()).toContain(
      'se borró a petición de la persona',
    )
    expect(await verificar()).toMatchObject({ codigo: 0 })
    const lines = json((await admin('bitacora', 'listar', '--json')).output) as { accion: string }[]
    const acciones = lines.map(({ accion }) => accion).filter((accion) => accion.endsWith('Persona'))
    // What is erased has a line for each place where it was.
    const borrados = isDistributed(environment.db) ? 4 : 3
    expect(acciones.sort()).toEqual([...Array(2).fill('exportarPersona'), ...Array(borrados).fill('olvidarPersona')])
  })

  it('goes on where it was when what was at it died', async () => {
    const { api, id } = await environment.createComercio()
    const telefono = '+50255557766'
    const lote = (n: number) => Array.from({ length: n }, () => buildGuia({ telefono }))
    await api.guias.crearLote({ guias: lote(100) })
    await api.guias.crearLote({ guias: lote(5) })
    await environment.waitForQuiet()
    await environment.db.pool.query(`update guia set estado = 'cancelado' where comercio_id = $1`, [id])
    const remaining = async () =>
      Number(
        (await environment.db.pool.query('select count(*) from guia where telefono = $1', [telefono])).rows[0].count,
      )
    const newId = createIdGenerator(() => new Date())
    const bitacora = new Bitacora({ db: environment.db, log: createLog('silent'), newId })
    let times = 0
    const clock = () => {
      if (++times === 2) throw new Error('died')
      return new Date()
    }
    const consola = { identity: null, requestId: 'x', red: '' }
    const dyingErasure = eraseTelefono({ db: environment.db, clock, bitacora, secretos: SECRETOS }, consola, {
      telefono,
      comercio_id: id,
    })
    await expect(dyingErasure).rejects.toThrow('died')
    expect(await remaining()).toBe(5)
    const { codigo, output } = await admin('persona', 'olvidar', '--telefono', telefono, '--si', '--json')
    expect([codigo, json(output).guias, await remaining()]).toEqual([0, 5, 0])
  })

  it('waits for what her provider sent and nobody has worked on yet', async () => {
    await environment.reset({ WORKERS: '0' })
    await entrante('{"from":"50255557799"}', false)
    const { codigo, output } = await admin('persona', 'olvidar', '--telefono', '+50255557799', '--si', '--json')
    expect([codigo, json(output)]).toMatchObject([1, { guias: 0, entrantes: 0, entrantes_pendientes: 1 }])
  })

  it('includes inbound bodies with the WhatsApp form of a Mexican telephone', async () => {
    await entrante('{"from":"5215512345678"}', true)
    const { codigo, output } = await admin('persona', 'olvidar', '--telefono', '+525512345678', '--si', '--json')
    expect([codigo, json(output)]).toMatchObject([0, { entrantes: 1, entrantes_pendientes: 0 }])
  })

  it('is asked for by a telephone that can be one', async () => {
    for (const kind of ['exportar', 'olvidar'])
      expect(
        await admin('persona', kind, '--telefono', '+5025', ...(kind === 'olvidar' ? ['--si'] : [])),
      ).toMatchObject({
        codigo: 1,
        errores: expect.stringContaining('--telefono: '),
      })
    const kind = ['persona', 'exportar']
    const ambos = 'Diga --telefono o --guia, uno de los dos'
    expect(await admin(...kind)).toMatchObject({ codigo: 2, errores: expect.stringContaining(ambos) })
    expect(await admin(...kind, '--telefono', TELEFONO, '--guia', 'X')).toMatchObject({
      errores: expect.stringContaining(ambos),
    })
    expect(await admin(...kind, '--guia', 'X', '--comercio', 'com_1')).toMatchObject({
      errores: expect.stringContaining('una guía es de un solo comercio'),
    })
    const resultWithoutGuia = await admin(...kind, '--guia', '7K3M9QX2A1B4')
    expect([resultWithoutGuia.codigo, resultWithoutGuia.errores]).toEqual([1, expect.stringContaining('guía')])
  })
})
