import { beforeAll, describe, expect, it } from 'vitest'
import { leerDocumento, leerOperaciones } from '../../server/contrato/contrato.ts'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { hasta, sinDestino, unaGuia } from '../fabricas.ts'

const AYER = new Date(Date.now() - 86_400_000).toISOString()
const entorno = usarEntorno()
// Every route of merchants that names something, whatever the contract adds later.
const conId = leerOperaciones(leerDocumento()).filter(
  ({ seguridad, ruta }) => seguridad?.esquema === 'llaveDeComercio' && ruta.includes('{'),
)
/** Bodies that their operation accepts. */
const CUERPOS: Record<string, unknown> = {
  cambiarWebhook: { descripcion: 'Tienda' },
  recuperarEntregas: { desde: AYER, ensayo: true },
  confirmarUbicacion: { lat: 14.6, lng: -90.5 },
}
// What destroys goes last: the others still need their thing.
conId.sort((a, b) => Number(a.metodo === 'delete') - Number(b.metodo === 'delete'))

let dueno: Comercio
let extrano: Comercio
let sinLugar: string
const ids: Record<string, string> = {}
beforeAll(async () => {
  dueno = await entorno.nuevoComercio()
  extrano = await entorno.nuevoComercio()
  const webhook = await pedir('', { url: 'http://127.0.0.1:9/nadie' })
  ids.webhook = webhook.id
  const guia = await dueno.api.guias.crear(unaGuia())
  ids.guia = guia.guia
  ids.entrega = `ent_${webhook.id.slice(3)}_${guia.guia}_1`
  ids.recuperacion = (await pedir(`/${webhook.id}/recuperar`, { desde: AYER })).id
  sinLugar = (await dueno.api.guias.crear(sinDestino())).guia
})
/** What the owner's route names: only of a guide without a place is the place asked for. */
const idDe = (operacion: string, nombre: string) =>
  operacion === 'reenviarSolicitud' && nombre === 'guia' ? sinLugar : ids[nombre]!
const pedir = async (ruta: string, cuerpo: unknown, metodo = 'POST') =>
  (await entorno.pedir(metodo, `/api/v1/webhooks${ruta}`, { llave: dueno.llave, cuerpo })).cuerpo

/** Everything that is stored, so that "changes nothing" is not a figure of speech. */
const foto = async () => {
  const { rows } =
    await entorno.db.pool.query(`select (select json_agg(g order by id) from guia g) g, (select json_agg(e order by guia_id, secuencia) from evento e) e,
    (select json_agg(m order by id) from mensaje m) m, (select json_agg(w order by webhook) from webhook w) w,
    (select json_agg(s order by webhook, version) from webhook_secreto s) s, (select json_agg(n order by guia_id, secuencia) from entrega n) n,
    (select json_agg(r) from recuperacion r) r, (select json_agg(l order by huella) from enlace_ubicacion l) l,
    (select json_agg(k order by guia_id) from enlace_corto k) k`)
  return JSON.stringify(rows)
}

/** The same, once nothing is under way: what changes from here on is somebody's doing. */
const quieto = async () => {
  await pedir(`/${ids.webhook}`, { estado: 'pausado' }, 'PATCH')
  return hasta(async () => {
    const antes = await foto()
    await new Promise((resolve) => setTimeout(resolve, 600))
    return antes === (await foto()) ? antes : undefined
  })
}

describe('another merchant’s things', () => {
  it('has routes to try', () => {
    expect(conId.length).toBeGreaterThan(2)
    // A new kind of id needs its own thing to try here.
    for (const { ruta } of conId)
      for (const [, nombre] of ruta.matchAll(/\{(\w+)\}/g)) expect(ids).toHaveProperty(nombre!)
  })

  it.each(conId.map((operacion) => [operacion.id, operacion] as const))(
    '%s: 404, the same as unknown, and nothing changes',
    async (operacion, { metodo, ruta }) => {
      const cuerpo = CUERPOS[operacion]
      const pedir = async (llave: string, id: (nombre: string) => string) => {
        const {
          status,
          cuerpo: respuesta,
          cabeceras,
        } = await entorno.pedir(
          metodo.toUpperCase(),
          ruta.replace(/\{(\w+)\}/g, (_m, nombre) => id(nombre)),
          { llave, cuerpo },
        )
        const { id_solicitud: _1, instance: _2, ...resto } = respuesta
        const visibles = [...cabeceras.keys()]
          .filter((nombre) => !['date', 'x-request-id'].includes(nombre))
          .map((nombre) => [nombre, cabeceras.get(nombre)])
        return { status, resto, visibles }
      }
      const antes = await quieto()
      const desconocida = await pedir(extrano.llave, () => '000000000000')
      expect(desconocida.status).toBe(404)
      expect(await pedir(extrano.llave, (nombre) => idDe(operacion, nombre))).toEqual(desconocida)
      // The owner's key of the other mode is a stranger too.
      expect(
        await pedir(await entorno.nuevaLlave(dueno, { modo: 'live' }), (nombre) => idDe(operacion, nombre)),
      ).toEqual(desconocida)
      expect(await pedir(extrano.llave, () => 'no-es-nada')).toEqual(desconocida)
      expect(await foto()).toBe(antes)
      expect(
        (
          await entorno.pedir(
            metodo.toUpperCase(),
            ruta.replace(/\{(\w+)\}/g, (_m, nombre) => idDe(operacion, nombre)),
            { llave: dueno.llave, cuerpo },
          )
        ).status,
      ).toBeLessThan(300)
    },
  )

  it('are in no list of mine', async () => {
    const { api } = extrano
    expect((await api.guias.listar()).datos).toEqual([])
    expect(
      (await api.guias.listar({ external_ref: (await dueno.api.guias.obtener(ids.guia!)).external_ref! })).datos,
    ).toEqual([])
    expect((await api.eventos.listar()).datos).toEqual([])
  })
})

describe('the schema', () => {
  it('keys every table of a merchant by the merchant first', async () => {
    // The last three are look-ups: by a public code, by a link's digest, and what a provider wrote to nobody in particular.
    const excepciones = [
      'comercio',
      'operador',
      'llave',
      '_prisma_migrations',
      'guia_indice',
      'enlace_ubicacion',
      'entrante',
    ]
    const { rows } = await entorno.db.pool.query<{ tabla: string; tipo: string; columnas: string[] }>(`
      select c.conrelid::regclass::text tabla, c.contype::text tipo,
        array(select a.attname::text from unnest(c.conkey) with ordinality k(n, i) join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.n order by i) columnas
      from pg_constraint c join pg_class t on t.oid = c.conrelid
      where c.contype in ('p', 'u', 'f') and t.relnamespace = 'public'::regnamespace and t.relkind = 'r'`)
    const deComercios = rows.filter(({ tabla }) => !excepciones.includes(tabla))
    expect(new Set(deComercios.map(({ tabla }) => tabla))).toEqual(
      new Set([
        'guia',
        'evento',
        'mensaje',
        'webhook',
        'webhook_secreto',
        'entrega',
        'entrega_intento',
        'recuperacion',
        'enlace_corto',
      ]),
    )
    expect(deComercios.filter(({ columnas }) => columnas[0] !== 'comercio_id')).toEqual([])
  })

  it('reads no table of a merchant without naming the merchant', async () => {
    const { readFileSync, globSync } = await import('node:fs')
    const tabla =
      '\\b(?:from|update|into|join) (?:guia|evento|mensaje|webhook|webhook_secreto|entrega|entrega_intento|recuperacion|enlace_corto)\\b'
    const textos = new RegExp(`\`([^\`]*${tabla}[^\`]*)\`|'([^'\\n]*${tabla}[^'\\n]*)'`, 'g')
    const sentencias = globSync('server/**/*.ts', { exclude: (nombre) => nombre.includes('generado') }).flatMap(
      (archivo) =>
        [...readFileSync(archivo, 'utf8').matchAll(textos)].map(([, largo, corto]) => [archivo, (largo ?? corto)!]),
    )
    expect(sentencias.length).toBeGreaterThan(5)
    // Named exceptions: the operator's list and metrics, the feeder and the housekeeping, which work for all merchants; what
    // a provider tells, who knows no merchant; and the feed's own order.
    const paraTodos = [
      'server/eventos/flujo.ts',
      'server/guias/lista.ts',
      'server/mensajeria/mensaje.ts',
      'server/mensajeria/procesarEntrantes.ts',
      'server/metricas.ts',
      'server/ubicacion/resolverEnlaces.ts',
      'server/webhooks/avanzarRecuperacion.ts',
      'server/webhooks/limpiar.ts',
    ]
    expect(
      sentencias.filter(([archivo, sql]) => !sql!.includes('comercio_id') && !paraTodos.includes(archivo!)),
    ).toEqual([])
  })
})
